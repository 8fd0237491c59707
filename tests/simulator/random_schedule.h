// Schedules for properties: anything that a prediction takes, on two tensors.
#pragma once

#include <fmt/format.h>
#include <rapidcheck.h>

#include "tests/simulator/schedule.h"

namespace stave {

inline std::string random_schedule(int ranks) {
  std::string text = fmt::format(
      "stave 1\nmesh x = {}\nsource @s = ptx \"k\"\nfunc @f(%a: inout f32[65536], %b: inout f32[65536]) {{\n", ranks);
  const int blocks = *rc::gen::inRange(1, 6);
  int token = 0;
  const auto commands = [&] {
    std::string body;
    const int n = *rc::gen::inRange(1, 4);
    for (int i = 0; i < n; ++i) {
      switch (*rc::gen::inRange(0, 6)) {
        case 0: body += "  all_reduce %a -> %a (axis = x, reduction = sum)\n"; break;
        case 1: body += "  collective_permute %a -> %b (axis = x, shift = 1)\n"; break;
        case 2: body += "  map %a -> %b (f = |x| x * 2.0)\n"; break;
        case 3:
          body += fmt::format("  custom_call %a -> %a (target = \"t\", cost = {{time = {}, ctas = {}, tiles = {}}})\n",
                              *rc::gen::inRange(1, 100000), *rc::gen::inRange(1, 20), *rc::gen::inRange(1, 200));
          break;
        case 4:
          body += fmt::format(
              "  kernel %a -> %b (source = @s, entry = \"k\", grid = [{}, 1, 1], block = [{}, 1, 1], shared_memory = "
              "{}, "
              "cost = {{time = {}}})\n",
              *rc::gen::inRange(1, 60), *rc::gen::inRange(1, 33) * 32, *rc::gen::inRange(0, 228) * 1000,
              *rc::gen::inRange(1, 100000));
          break;
        default: body += "  memzero -> %b\n";
      }
    }
    return body;
  };
  for (int i = 0; i < blocks; ++i) {
    if (*rc::gen::arbitrary<bool>()) {
      text += commands();
      continue;
    }
    const int t = token++;
    text += fmt::format("  %t{} = async_start (stream = {} {}) {{\n", t,
                        *rc::gen::arbitrary<bool>() ? "communication" : "computation", *rc::gen::inRange(0, 2));
    text +=
        commands() + "  }\n" + (*rc::gen::arbitrary<bool>() ? commands() : "") + fmt::format("  async_done %t{}\n", t);
  }
  return text + "}\n";
}

// Hosts, gaps and graphs cost something.
inline Machine busy_machine(int devices) {
  Machine m = plain_machine(devices);
  m.host.launch_ps.value = 3000;
  m.host.collective_launch_ps.value = 9000;
  m.host.event_record_ps.value = 150;
  m.host.event_wait_ps.value = 140;
  m.device.kernel_gap_ps.value = 1400;
  m.device.stream_gap_ps.value = 1500;
  m.graph.node_gap_ps.value = 600;
  return m;
}

}  // namespace stave
