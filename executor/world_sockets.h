// What World and the way into it share.
#pragma once

#include <string>
#include <vector>

#include "executor/world.h"

namespace stave {

inline constexpr std::uint32_t exchange = 0;  // the kind of all frames here

Failure left(std::uint32_t process);
// False: nothing came in time.
bool readable(int fd, World::Deadline deadline);
// A frame from `fd`, whose other end is `process`. STV0828.
Result<std::string> frame_of(int fd, std::uint32_t process, World::Deadline deadline, std::string_view what);

// Connections: process 0 has one to each other, in order; the others one to it. STV0828.
Result<std::vector<int>> accept_all(const WorldPlace& place, World::Deadline deadline);
Result<int> connect_to_first(const WorldPlace& place, World::Deadline deadline);

}  // namespace stave
