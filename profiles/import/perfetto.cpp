#include "profiles/import/perfetto.h"

#include "profiles/import/kineto_probe.h"
#include "profiles/import/perfetto_rows.h"
#include "profiles/import/trace_texts.h"
#include "profiles/import/wire_message.h"
#include "profiles/perfetto_messages.h"

namespace stave {
namespace {

class PerfettoImport final : public Import {
 public:
  PerfettoImport(TraceTexts texts, const ImportOptions& options) : texts_(std::move(texts)), options_(options) {}

  Result<void> probe(Progress* progress) {
    if (progress != nullptr) progress->begin("looking through", texts_.total_bytes());
    std::atomic<std::int64_t> read{0};
    TRY_VOID(texts_.each(
        [&](const TraceText& text) -> Result<void> {
          PerfettoProbe& probe = probes_.emplace_back();
          probe.name = text.name;
          probe.display = text.display;
          probe.source = text.source;
          return probe_perfetto(*text.bytes, probe, progress, &read);
        },
        [](const std::string&, const Problem&) {}, &read));
    std::int64_t events = 0;
    for (PerfettoProbe& probe : probes_) {
      events += probe.events;
      probe.first_rank = ranks_.all.size();
      ranks_.all.insert(ranks_.all.end(), std::make_move_iterator(probe.ranks.begin()),
                        std::make_move_iterator(probe.ranks.end()));
    }
    if (events == 0)
      return error_at({.file = probes_.empty() ? "" : probes_[0].display}, "STV0731",
                      "nothing can be read: it holds no track event and no GPU render stage");
    ranks_.settle(problems_, "");
    for (ImportRank& rank : ranks_.all)
      if (rank.hint.said && rank.info.rank == *rank.hint.said) rank.info.rank_from = "process name";
    return {};
  }

  RunInfo run() const override { return ranks_.run(options_.label); }

  Result<ImportReport> read(TimelineSink& sink, Progress* progress) override {
    if (progress != nullptr) progress->begin("importing", texts_.total_bytes());
    ImportReport report;
    report.format = "perfetto";
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
  Result<void> read_text(const TraceText& text, const PerfettoProbe& probe, RowBatches& rows, ImportReport& report,
                         Progress* progress, const std::atomic<std::int64_t>& read) {
    PerfettoPackets packets(*text.bytes, text.display, &problems_);
    PerfettoRows out(probe, std::span(ranks_.all).subspan(probe.first_rank, probe.ranks.size()), options_, rows,
                     problems_, report);
    PerfettoEvent event;
    const auto all = [&]() -> Result<void> {
      for (std::int64_t n = 1;; ++n) {
        TRY(const bool more, packets.next(event));
        if (!more) return {};
        if (event.track >= probe.places.size()) continue;
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
  std::vector<PerfettoProbe> probes_;
  ImportRanks ranks_;
};

}  // namespace

// No magic number: the first packets must read as packets, and one of them must
// have what packets of events and tracks have.
bool is_perfetto(std::string_view head) {
  namespace pb = perfetto;
  using namespace wire_message;
  bool known = false;
  // A packet that the head cuts is not looked at; an error in a later one is not this question.
  static_cast<void>(parsed([&] {
    pbf_message<pb::Trace> trace(head.data(), head.size());
    for (int i = 0; i < 32 && trace.next(); ++i) {
      if (trace.tag_and_type() != tag_and_type(pb::Trace::packet, bytes_type)) break;
      bool here = false;
      pbf_message<pb::Packet> packet(trace.get_message());
      while (packet.next()) {
        switch (packet.tag_and_type()) {
          case tag_and_type(pb::Packet::timestamp, varint):
          case tag_and_type(pb::Packet::sequence, varint):
          case tag_and_type(pb::Packet::track_event, bytes_type):
          case tag_and_type(pb::Packet::track_descriptor, bytes_type):
          case tag_and_type(pb::Packet::compressed_packets, bytes_type): here = true; break;
          default: break;
        }
        packet.skip();
      }
      known = known || here;
    }
  }));
  return known;
}

Result<std::unique_ptr<Import>> open_perfetto(std::span<const std::string> paths, const ImportOptions& options,
                                              Progress* progress) {
  TRY(TraceTexts texts, TraceTexts::find(paths, importer_named("perfetto").suffixes));
  auto import = std::make_unique<PerfettoImport>(std::move(texts), options);
  TRY_VOID(import->probe(progress));
  return std::unique_ptr<Import>(std::move(import));
}

}  // namespace stave
