// The ring all-reduce of simulate_bench.cpp with SimGrid (3.32 or later), as a
// peer: one actor a rank, one private link a direction, CM02 without cross
// traffic and TCP window, so that both simulate the same physics.
//   simgrid_ring RANKS [BYTES]
#include <simgrid/s4u.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace sg4 = simgrid::s4u;

int main(int argc, char** argv) {
  std::vector<std::string> args{argv[0], "--cfg=network/model:CM02", "--cfg=network/crosstraffic:0",
                                "--cfg=network/TCP-gamma:0", "--log=root.thres:warning"};
  std::vector<char*> raw;
  for (std::string& a : args) raw.push_back(a.data());
  int count = static_cast<int>(raw.size());
  raw.push_back(nullptr);
  sg4::Engine engine(&count, raw.data());
  const int n = argc > 1 ? std::atoi(argv[1]) : 8;
  const double bytes = argc > 2 ? std::atof(argv[2]) : 64.0 * 1024 * 1024;
  const int steps = 2 * (n - 1);

  sg4::NetZone* zone = sg4::create_full_zone("zone");
  std::vector<sg4::Host*> hosts;
  for (int r = 0; r < n; ++r) hosts.push_back(zone->create_host("h" + std::to_string(r), 1e9));
  for (int r = 0; r < n; ++r) {
    const int next = (r + 1) % n;
    const sg4::Link* link = zone->create_link("l" + std::to_string(r), 450e9)->set_latency(500e-9)->seal();
    zone->add_route(hosts[r]->get_netpoint(), hosts[next]->get_netpoint(), nullptr, nullptr, {sg4::LinkInRoute(link)},
                    false);
  }
  zone->seal();
  std::vector<sg4::Mailbox*> box;
  for (int r = 0; r < n; ++r) box.push_back(sg4::Mailbox::by_name("m" + std::to_string(r)));
  static int payload = 0;
  for (int r = 0; r < n; ++r)
    sg4::Actor::create("r" + std::to_string(r), hosts[r], [&, r] {
      for (int s = 0; s < steps; ++s) {
        sg4::CommPtr send = box[(r + 1) % n]->put_async(&payload, static_cast<uint64_t>(bytes / n));
        box[r]->get<int>();
        send->wait();
      }
    });
  const auto start = std::chrono::steady_clock::now();
  engine.run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double messages = static_cast<double>(n) * steps;
  std::printf("simgrid ranks %d messages %.0f simulated_us %.3f seconds %.4f messages/s %.0f\n", n, messages,
              sg4::Engine::get_clock() * 1e6, seconds, messages / seconds);
}
