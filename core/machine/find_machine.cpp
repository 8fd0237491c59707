#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "core/machine/machine.h"
#include "core/text/nearest.h"

namespace stave {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool is_name(std::string_view text) {
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  };
  return !text.empty() && text.front() != '.' && std::all_of(text.begin(), text.end(), fits);
}

}  // namespace

std::vector<std::string> machine_folders() {
  std::vector<std::string> folders;
  const auto add = [&](std::string folder) {
    if (is_folder(folder) && std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(std::move(folder));
  };
  if (const char* list = std::getenv("STAVE_MACHINES")) {
    std::string_view rest = list;
    while (!rest.empty()) {
      const std::size_t colon = rest.find(':');
      if (colon != 0) add(std::string(rest.substr(0, colon)));
      rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
    }
  }
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) add((executable.parent_path().parent_path() / "share/stave/machines").string());
#ifdef STAVE_SOURCE_MACHINES
  add(STAVE_SOURCE_MACHINES);
#endif
  return folders;
}

std::vector<MachineListing> list_machines() {
  std::vector<MachineListing> found;
  for (const std::string& folder : machine_folders()) {
    std::vector<MachineListing> here;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const fs::path& path = it->path();
      const std::string name = path.stem().string();
      if (path.extension() == ".toml" && is_name(name) && is_file(path.string())) here.push_back({name, path.string()});
    }
    for (MachineListing& listing : here)
      if (std::none_of(found.begin(), found.end(), [&](const MachineListing& f) { return f.name == listing.name; }))
        found.push_back(std::move(listing));
  }
  std::sort(found.begin(), found.end(),
            [](const MachineListing& a, const MachineListing& b) { return a.name < b.name; });
  return found;
}

Result<Machine> find_machine(const std::string& name_or_path) {
  if (name_or_path.find('/') != std::string::npos || name_or_path.ends_with(".toml")) return load_machine(name_or_path);
  const std::vector<std::string> folders = machine_folders();
  if (is_name(name_or_path))
    for (const std::string& folder : folders)
      if (const std::string path = fmt::format("{}/{}.toml", folder, name_or_path); is_file(path))
        return load_machine(path);
  std::vector<std::string> names;
  for (const MachineListing& listing : list_machines()) names.push_back(listing.name);
  Failure failure =
      error_at({}, "STV0608", "no machine is called '{}'; known are: {}{}", name_or_path.substr(0, 80),
               names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")), did_you_mean(name_or_path, names));
  failure.problems.front().notes.push_back(
      {fmt::format("looked for NAME.toml in: {}",
                   folders.empty() ? "no folder (set STAVE_MACHINES)" : fmt::format("{}", fmt::join(folders, ", "))),
       {}});
  return failure;
}

}  // namespace stave
