#include "workbench/doctor.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "core/machine/machine.h"
#include "executor/drivers.h"
#include "workbench/units_text.h"

namespace stave {
namespace {

using State = DoctorLine::State;

bool on_path(std::string_view program) {
  const char* path = std::getenv("PATH");
  std::string_view left = path == nullptr ? "" : path;
  while (!left.empty()) {
    const std::size_t colon = left.find(':');
    if (::access(fmt::format("{}/{}", left.substr(0, colon), program).c_str(), X_OK) == 0) return true;
    left = colon == std::string_view::npos ? "" : left.substr(colon + 1);
  }
  return false;
}

bool loads(const char* library) {
  void* handle = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

DoctorLine library(std::string what, const char* file, std::string without) {
  const bool there = loads(file);
  return {there ? State::Ok : State::Missing, std::move(what), there ? file : std::move(without)};
}

DoctorLine program(std::string_view name, std::string without) {
  const bool there = on_path(name);
  return {there ? State::Ok : State::Missing, std::string(name), there ? "found" : std::move(without)};
}

DoctorLine machine_line(const MachineListing& listing) {
  const Result<Machine> machine = load_machine(listing.path);
  if (!machine) return {State::Broken, "machine " + listing.name, machine.problems()[0].message};
  const std::string_view remark = measured_remark(*machine);
  return {State::Ok, "machine " + listing.name, std::string(remark.empty() ? "measured" : remark)};
}

DoctorLine disk_line() {
  struct statvfs info {};
  if (::statvfs(".", &info) != 0) return {State::Broken, "disk", "the current folder cannot be read"};
  const auto free = static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
  constexpr std::int64_t enough = std::int64_t{1} << 30;
  return {free < enough ? State::Broken : State::Ok, "disk",
          bytes_text(free) + " free here" + (free < enough ? "; large runs may not fit" : "")};
}

}  // namespace

std::vector<DoctorLine> doctor() {
  std::vector<DoctorLine> lines;
  lines.push_back({State::Ok, "stave", STAVE_VERSION});
  for (const DriverEntry& entry : drivers())
    lines.push_back({State::Ok, fmt::format("driver {}", entry.name), std::string(entry.create()->info().summary)});
  const std::vector<MachineListing> machines = list_machines();
  if (machines.empty())
    lines.push_back({State::Broken, "machines",
                     "none found: `stave sim` needs --machine FILE. STAVE_MACHINES names folders to look in"});
  for (const MachineListing& listing : machines) lines.push_back(machine_line(listing));
  lines.push_back(library("CUDA driver", "libcuda.so.1", "no GPU can be used; predictions and the CPU reference work"));
  lines.push_back(library("NCCL", "libnccl.so.2", "collectives on GPUs need it; predictions do not"));
  lines.push_back(program("sqlite3", "runs cannot be queried from the shell; `stave report` works"));
  lines.push_back(program("mlir-opt-16", "the MLIR form of `stave fmt` is not checked by the tests"));
  lines.push_back(disk_line());
  return lines;
}

}  // namespace stave
