#include <algorithm>
#include <filesystem>

#include "profiles/import/byte_source.h"
#include "profiles/import/importer.h"
#include "profiles/import/kineto.h"
#include "profiles/import/nsys.h"
#include "profiles/import/trace_texts.h"

namespace stave {
namespace {

constexpr Importer table[] = {
    {"kineto", "Kineto (PyTorch profiler) or Chrome JSON: .json, .json.gz, .tar.gz, or a folder, one file a rank",
     is_chrome_json, open_chrome_json},
    {"nsys", "Nsight Systems, exported with `nsys export --type sqlite`: .sqlite", is_sqlite, open_nsys},
};

std::string known_formats() {
  std::string out;
  for (const Importer& importer : table) out += fmt::format("\n  {:8} {}", importer.name, importer.summary);
  return out;
}

// The first bytes of the first text in a file, decompressed.
Result<std::string> head_of(const std::string& path) {
  std::string head;
  TRY(TraceTexts texts, TraceTexts::find({&path, 1}));
  Result<void> read = texts.each(
      [&](const TraceText& text) -> Result<void> {
        head.resize(head_bytes);
        TRY(const std::size_t n, text.bytes->read(head));
        head.resize(n);
        return error_at({}, "STV0730", "enough");
      },
      [](const std::string&, const Problem&) {});
  if (!read && read.problems()[0].code != "STV0730") return Failure(std::move(read).problems());
  return head;
}

}  // namespace

std::span<const Importer> importers() { return table; }

Result<const Importer*> find_importer(std::span<const std::string> paths) {
  const Importer* found = nullptr;
  for (const std::string& path : paths) {
    if (path.ends_with(".nsys-rep") || path.ends_with(".qdrep"))
      return error_at(
          {.file = path}, "STV0732",
          "only Nsight Systems itself reads its reports; run: nsys export --type sqlite --output {0}.sqlite "
          "{1}, then: stave import {0}.sqlite (or give --with-nsys)",
          std::filesystem::path(path).stem().string(), path);
    TRY(const std::string head, head_of(path));
    const auto* const at =
        std::find_if(std::begin(table), std::end(table), [&](const Importer& one) { return one.recognise(head); });
    if (at == std::end(table))
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
