#include "profiles/import/xplane.h"

#include <fmt/format.h>

#include "profiles/import/kineto_probe.h"
#include "profiles/import/trace_texts.h"
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
    if (progress != nullptr) progress->begin("importing", texts_.total_bytes());
    ImportReport report;
    report.format = "xplane";
    report.files = texts_.sources().size();
    report.ranks = static_cast<std::uint32_t>(ranks_.all.size());
    TRY_VOID(sink.on_sources(texts_.sources(report.format)));
    TRY_VOID(ranks_.send(sink));
    RowBatches rows(sink);
    std::atomic<std::int64_t> read{0};
    std::size_t next = 0;
    TRY_VOID(texts_.each([&](const TraceText& text)
                             -> Result<void> { return read_text(text, probes_[next++], rows, report, progress, read); },
                         [&](const std::string& file, const Problem& why) {
                           problems_.say(problem_kinds::damaged, {.file = file}, why.message);
                         },
                         &read));
    TRY_VOID(rows.flush());
    TRY_VOID(ranks_.send_steps(sink, report.steps));
    TRY_VOID(finish_import(rows, problems_, sink, report));
    return report;
  }

 private:
  Result<void> read_text(const TraceText& text, XplaneProbe& probe, RowBatches& rows, ImportReport& report,
                         Progress* progress, const std::atomic<std::int64_t>& read) {
    XplaneEvents events(*text.bytes, text.display, &problems_, probe.planes);
    XplaneRows out(probe, std::span(ranks_.all).subspan(probe.first_rank, probe.ranks.size()), options_, rows,
                   problems_, report);
    XplaneEvent event;
    const auto all = [&]() -> Result<void> {
      for (std::int64_t n = 1;; ++n) {
        TRY(const bool more, events.next(event));
        if (!more) return {};
        out.take(event);
        TRY_VOID(rows.flush_if_full());
        if (n % 4096 == 0) TRY_VOID(show_progress(progress, &read));
      }
    };
    Result<void> done = all();
    if (!done && done.problems()[0].code != "STV0734") return done;
    out.finish();
    return done;
  }

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
