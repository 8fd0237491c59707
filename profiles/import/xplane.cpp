#include "profiles/import/xplane.h"

#include <fmt/format.h>

#include "profiles/import/kineto_probe.h"
#include "profiles/import/trace_texts.h"
#include "profiles/import/wire_import.h"
#include "profiles/import/xplane_messages.h"
#include "profiles/import/xplane_rows.h"

namespace stave {
namespace {

class XplaneImport final : public Import {
 public:
  XplaneImport(TraceTexts texts, const ImportOptions& options) : texts_(std::move(texts)), options_(options) {}

  // Twice: names stand behind the events that have them.
  Result<void> probe(Progress* progress) {
    const auto damaged = [](const std::string&, const Problem&) {};
    if (progress != nullptr) progress->begin("looking through", 2 * texts_.total_bytes());
    std::atomic<std::int64_t> read{0};
    TRY_VOID(texts_.each(
        [&](const TraceText& text) -> Result<void> {
          XplaneProbe& probe = probes_.emplace_back();
          probe.name = text.name;
          probe.display = text.display;
          probe.source = text.source;
          TRY_VOID(read_planes(*text.bytes, text.display, nullptr, probe.planes));
          return show_progress(progress, &read);
        },
        damaged, &read));
    std::size_t next = 0;
    TRY_VOID(texts_.each([&](const TraceText& text)
                             -> Result<void> { return probe_xplane(*text.bytes, probes_[next++], progress, &read); },
                         damaged, &read));
    std::int64_t events = 0;
    for (XplaneProbe& probe : probes_) {
      events += probe.events;
      probe.first_rank = ranks_.all.size();
      ranks_.all.insert(ranks_.all.end(), std::make_move_iterator(probe.ranks.begin()),
                        std::make_move_iterator(probe.ranks.end()));
    }
    if (events == 0)
      return error_at({.file = probes_.empty() ? "" : probes_[0].display}, "STV0731",
                      "nothing can be read: none of its planes has an event");
    ranks_.settle(problems_, probes_.size() == 1 ? "device order" : "");
    return {};
  }

  RunInfo run() const override { return ranks_.run(options_.label); }

  Result<ImportReport> read(TimelineSink& sink, Progress* progress) override {
    ImportReport start;
    start.format = "xplane";
    return read_texts(texts_, ranks_, problems_, std::move(start), sink, progress,
                      [&](const TraceText& text, std::size_t i, RowBatches& rows, ImportReport& report,
                          const std::atomic<std::int64_t>& read) -> Result<void> {
                        XplaneProbe& probe = probes_[i];
                        XplaneEvents events(*text.bytes, text.display, &problems_, probe.planes);
                        XplaneRows out(probe, std::span(ranks_.all).subspan(probe.first_rank, probe.ranks.size()),
                                       options_, rows, problems_, report);
                        return take_events<XplaneEvent>(events, out, rows, progress, read);
                      });
  }

 private:
  TraceTexts texts_;
  ImportOptions options_;
  ProblemCounts problems_;
  std::vector<XplaneProbe> probes_;
  ImportRanks ranks_;
};

// A varint at the front, which is taken off; none if there is none.
std::optional<std::uint64_t> take_varint(std::string_view& text) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < text.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if (byte >= 0x80) continue;
    text.remove_prefix(i + 1);
    return value;
  }
  return std::nullopt;
}

}  // namespace

// No magic number: a plane, whose name begins as all names of planes do.
bool is_xplane(std::string_view head) {
  constexpr auto bytes = static_cast<std::uint32_t>(WireType::Bytes);
  if (take_varint(head) != (xplane::space::planes << 3 | bytes) || !take_varint(head)) return false;
  while (true) {
    const std::optional<std::uint64_t> tag = take_varint(head);
    if (!tag) return false;
    if (*tag == (xplane::plane::name << 3 | bytes)) break;
    if (*tag >> 3 >= xplane::plane::name || (*tag & 7) != 0 || !take_varint(head)) return false;
  }
  const std::optional<std::uint64_t> length = take_varint(head);
  if (!length) return false;
  const std::string_view name = head.substr(0, static_cast<std::size_t>(*length));
  return name.starts_with("/device:") || name.starts_with("/host:") || name == "Task Environment";
}

Result<std::unique_ptr<Import>> open_xplane(std::span<const std::string> paths, const ImportOptions& options,
                                            Progress* progress) {
  TRY(TraceTexts texts, TraceTexts::find(paths, importer_named("xplane").suffixes));
  auto import = std::make_unique<XplaneImport>(std::move(texts), options);
  TRY_VOID(import->probe(progress));
  return std::unique_ptr<Import>(std::move(import));
}

}  // namespace stave
