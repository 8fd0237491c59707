// What is here, what is missing, and what that disables.
#pragma once

#include <string>
#include <vector>

namespace stave {

struct DoctorLine {
  enum class State : unsigned char { Ok, Missing, Broken };
  State state = State::Ok;
  std::string what;
  std::string detail;  // what was found, or what does not work without it
};

// Looks only; changes nothing and opens no device.
std::vector<DoctorLine> doctor();

}  // namespace stave
