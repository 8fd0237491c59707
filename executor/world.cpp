#include "executor/world.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/timeline/pipe.h"
#include "executor/world_sockets.h"

namespace stave {
namespace {

int milliseconds_until(World::Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1'000'000));
}

}  // namespace

Failure left(std::uint32_t process) {
  return error_at({}, "STV0828", "process {} of this run has ended; the others cannot go on without it", process);
}

bool readable(int fd, World::Deadline deadline) {
  while (true) {
    pollfd ready{fd, POLLIN, 0};
    const int n = ::poll(&ready, 1, milliseconds_until(deadline));
    if (n >= 0 || errno != EINTR) return n > 0;
  }
}

Result<std::string> frame_of(int fd, std::uint32_t process, World::Deadline deadline, std::string_view what) {
  if (!readable(fd, deadline))
    return error_at({}, "STV0828", "process {} of this run does not answer ({})", process, what);
  Result<std::optional<PipeFrame>> frame = read_frame(fd);
  if (!frame || !*frame) return left(process);
  return std::move((*frame)->payload);
}

World::World(World&& other) noexcept
    : place_(std::move(other.place_)), peers_(std::exchange(other.peers_, {})), lost_(other.lost_) {}

World::~World() {
  for (const int fd : peers_)
    if (fd >= 0) ::close(fd);
}

Result<World> World::join(const WorldPlace& place, Deadline deadline) {
  if (!place.rendezvous.starts_with("tcp://") && !place.rendezvous.starts_with("file:"))
    return error_at({}, "STV0828", "rendezvous {}: write it as tcp://HOST:PORT or file:PATH", place.rendezvous);
  World world(place);
  if (place.process == 0) {
    TRY(world.peers_, accept_all(place, deadline));
  } else {
    TRY(const int fd, connect_to_first(place, deadline));
    world.peers_.push_back(fd);
  }
  return world;
}

Result<std::vector<std::string>> World::all_gather(std::string_view what, std::string_view bytes, Deadline deadline) {
  if (lost_) return error_at({}, "STV0828", "the processes of this run lost each other before ({})", what);
  Result<std::vector<std::string>> all = exchange_all(what, bytes, deadline);
  lost_ = !all;
  return all;
}

Result<std::vector<std::string>> World::exchange_all(std::string_view what, std::string_view bytes, Deadline deadline) {
  ByteWriter own;
  own.text(what);
  own.text(bytes);
  std::vector<std::string> all(place_.processes);
  if (place_.process != 0) {
    if (!write_frame(peers_[0], exchange, own.bytes())) return left(0);
    TRY(const std::string answer, frame_of(peers_[0], 0, deadline, what));
    ByteReader reader(answer);
    // What the first does, and what one does that does something else.
    for (const std::string_view said : {reader.text(), reader.text()})
      if (said != what)
        return error_at({}, "STV0829", "the processes of this run do different things: {} here, {} in another", what,
                        said);
    for (std::string& one : all) one = reader.text();
    return reader.fine() ? Result<std::vector<std::string>>(std::move(all)) : left(0);
  }
  all[0] = bytes;
  std::string other(what);  // what a process says that does something else
  for (std::uint32_t p = 1; p < place_.processes; ++p) {
    TRY(const std::string message, frame_of(peers_[p - 1], p, deadline, what));
    ByteReader reader(message);
    if (const std::string_view said = reader.text(); said != what) other = said;
    all[p] = reader.text();
  }
  ByteWriter answer;
  answer.text(what);
  answer.text(other);
  for (const std::string& one : all) answer.text(one);
  for (std::uint32_t p = 1; p < place_.processes; ++p)
    if (!write_frame(peers_[p - 1], exchange, answer.bytes())) return left(p);
  if (other != what)
    return error_at({}, "STV0829", "the processes of this run do different things: {} here, {} in another", what,
                    other);
  return all;
}

bool World::broken() const {
  for (const int fd : peers_) {
    pollfd state{fd, POLLRDHUP, 0};
    if (::poll(&state, 1, 0) > 0 && (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0) return true;
  }
  return false;
}

}  // namespace stave
