#include "workbench/doctor.h"

#include <fmt/format.h>

#include "cli/common.h"
#include "cli/verbs.h"

namespace stave::cli {

Run define_doctor(CLI::App&) {
  return [] {
    bool broken = false;
    for (const DoctorLine& line : doctor()) {
      const std::string_view state = line.state == DoctorLine::State::Ok        ? "ok"
                                     : line.state == DoctorLine::State::Missing ? "missing"
                                                                                : "BROKEN";
      print(fmt::format("{:<8} {:<20} {}\n", state, line.what, line.detail));
      broken = broken || line.state == DoctorLine::State::Broken;
    }
    return broken ? exit_finding : exit_ok;
  };
}

}  // namespace stave::cli
