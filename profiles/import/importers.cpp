#include <algorithm>
#include <filesystem>

#include "profiles/import/byte_source.h"
#include "profiles/import/chakra.h"
#include "profiles/import/importer.h"
#include "profiles/import/kineto.h"
#include "profiles/import/nsys.h"
#include "profiles/import/perfetto.h"
#include "profiles/import/trace_texts.h"
#include "profiles/import/xplane.h"

namespace stave {
namespace {

constexpr std::string_view json_names[] = {".json", ".trace"};
constexpr std::string_view perfetto_names[] = {".pftrace", ".perfetto-trace"};
constexpr std::string_view xplane_names[] = {".xplane.pb"};
constexpr std::string_view chakra_names[] = {".et"};

constexpr Importer table[] = {
    {"kineto", "Kineto (PyTorch profiler) or Chrome JSON: .json, .json.gz, .tar.gz, or a folder, one file a rank",
     json_names, is_chrome_json, open_chrome_json},
    {"nsys", "Nsight Systems, exported with `nsys export --type sqlite`: .sqlite", {}, is_sqlite, open_nsys},
    {"perfetto", "Perfetto: .pftrace, .perfetto-trace, also .gz, .tar.gz, or a folder", perfetto_names, is_perfetto,
     open_perfetto},
    {"xplane", "XLA's profiles (JAX, TensorFlow): .xplane.pb, also .gz, .tar.gz, or a folder, one file a process",
     xplane_names, is_xplane, open_xplane},
    {"chakra", "Chakra execution traces with times: .et, also .gz, .tar.gz, or a folder, one file a rank", chakra_names,
     is_chakra, open_chakra},
};

std::string known_formats() {
  std::string out;
  for (const Importer& importer : table) out += fmt::format("\n  {:8} {}", importer.name, importer.summary);
  return out;
}

// The first bytes of the first text in a file, decompressed.
Result<std::string> head_of(const std::string& path, std::span<const std::string_view> suffixes) {
  std::string head;
  TRY(TraceTexts texts, TraceTexts::find({&path, 1}, suffixes));
  Result<void> read = texts.each(
      [&](const TraceText& text) -> Result<void> {
        head.resize(head_bytes);
        std::size_t filled = 0;
        while (filled < head.size()) {
          TRY(const std::size_t n, text.bytes->read(std::span(head).subspan(filled)));
          if (n == 0) break;
          filled += n;
        }
        head.resize(filled);
        return error_at({}, "STV0730", "enough");
      },
      [](const std::string&, const Problem&) {});
  if (!read && read.problems()[0].code != "STV0730") return Failure(std::move(read).problems());
  return head;
}

// Whose files the path holds; null: nobody's.
Result<const Importer*> importer_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    std::vector<std::string_view> all;
    for (const Importer& one : table) all.insert(all.end(), one.suffixes.begin(), one.suffixes.end());
    TRY(const std::string head, head_of(path, all));
    for (const Importer& one : table)
      if (one.recognise(head)) return &one;
    return nullptr;
  }
  // A folder may hold several formats: of a profile and the JSON that was made of it, the profile says more.
  std::string names;
  for (auto one = std::rbegin(table); one != std::rend(table); ++one) {
    if (one->suffixes.empty()) continue;
    const Result<std::string> head = head_of(path, one->suffixes);
    if (head && one->recognise(*head)) return &*one;
    if (!head && head.problems()[0].code != "STV0731") return Failure(head.problems());
    names += fmt::format("{}{}", names.empty() ? "" : ", ", fmt::join(one->suffixes, ", "));
  }
  return error_at({.file = path}, "STV0731", "the folder holds no trace that is named as one: {}, also with .gz, or {}",
                  names, ".tar.gz");
}

}  // namespace

std::span<const Importer> importers() { return table; }

const Importer& importer_named(std::string_view name) {
  return *std::find_if(std::begin(table), std::end(table), [&](const Importer& one) { return one.name == name; });
}

Result<const Importer*> find_importer(std::span<const std::string> paths) {
  const Importer* found = nullptr;
  for (const std::string& path : paths) {
    if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep"))
      return error_at(
          {.file = path}, "STV0732",
          "only Nsight Systems itself reads its reports; run: nsys export --type sqlite --output {0}.sqlite "
          "{1}, then: stave import {0}.sqlite (or give --with-nsys)",
          std::filesystem::path(path).stem().string(), path);
    TRY(const Importer* const at, importer_of(path));
    if (at == nullptr)
      return error_at({.file = path}, "STV0730", "unknown format; these are known:{}", known_formats());
    if (found != nullptr && at != found)
      return error_at({.file = path}, "STV0733", "it is {}, the files before it are {}; import them one by one",
                      at->name, found->name);
    found = at;
  }
  if (found == nullptr)
    return error_at({}, "STV0730", "no file to import; these formats are known:{}", known_formats());
  return found;
}

}  // namespace stave
