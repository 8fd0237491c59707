#include "profiles/import/perfetto.h"

#include "profiles/import/kineto_probe.h"
#include "profiles/import/perfetto_rows.h"
#include "profiles/import/trace_texts.h"
#include "profiles/import/wire_import.h"
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
      // All times of a file are of the trace's one clock.
      for (ImportRank& rank : probe.ranks) rank.clock.clock = probe.first_rank;
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
    ImportReport start;
    start.format = "perfetto";
    return read_texts(texts_, ranks_, problems_, std::move(start), sink, progress,
                      [&](const TraceText& text, std::size_t i, RowBatches& rows, ImportReport& report,
                          const std::atomic<std::int64_t>& read) -> Result<void> {
                        const PerfettoProbe& probe = probes_[i];
                        PerfettoPackets events(*text.bytes, text.display, &problems_);
                        PerfettoRows out(probe, std::span(ranks_.all).subspan(probe.first_rank, probe.ranks.size()),
                                         options_, rows, problems_, report);
                        return take_events<PerfettoEvent>(events, out, rows, progress, read);
                      });
  }

 private:
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
