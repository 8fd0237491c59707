#include "profiles/import/chakra.h"

#include <charconv>

#include "profiles/import/chakra_rows.h"
#include "profiles/import/kineto_probe.h"
#include "profiles/import/trace_texts.h"
#include "profiles/import/wire_import.h"
#include "profiles/import/wire_message.h"

namespace stave {
namespace {

// Chakra's tools name a rank's file "workload.3.et".
std::optional<std::uint32_t> rank_before_suffix(std::string_view file) {
  const std::size_t suffix = file.rfind(".et");
  if (suffix == std::string_view::npos || suffix == 0) return std::nullopt;
  const std::size_t dot = file.rfind('.', suffix - 1);
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view digits = file.substr(dot + 1, suffix - dot - 1);
  std::uint32_t rank = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), rank);
  const bool whole = error == std::errc{} && end == digits.data() + digits.size();
  return whole && rank < (1U << 24) ? std::optional(rank) : std::nullopt;
}

class ChakraImport final : public Import {
 public:
  ChakraImport(TraceTexts texts, const ImportOptions& options) : texts_(std::move(texts)), options_(options) {}

  Result<void> probe(Progress* progress) {
    if (progress != nullptr) progress->begin("looking through", texts_.total_bytes());
    std::atomic<std::int64_t> read{0};
    TRY_VOID(texts_.each(
        [&](const TraceText& text) -> Result<void> {
          ChakraProbe& probe = probes_.emplace_back();
          probe.name = text.name;
          probe.display = text.display;
          ImportRank& rank = ranks_.all.emplace_back();
          rank.hint = {text.name, rank_before_suffix(text.name)};
          rank.info.source = text.source;
          return probe_chakra(*text.bytes, probe, rank, progress, &read);
        },
        [](const std::string&, const Problem&) {}, &read));
    std::int64_t nodes = 0, device_nodes = 0, timed = 0;
    for (const ChakraProbe& probe : probes_) {
      nodes += probe.nodes;
      device_nodes += probe.device_nodes;
      timed += probe.timed;
    }
    const std::string file = probes_.empty() ? "" : probes_[0].display;
    if (nodes == 0) return error_at({.file = file}, "STV0731", "nothing can be read: it holds no whole node");
    if (timed == 0)
      return error_at({.file = file}, "STV0772",
                      "none of its {} nodes ({} on a device) has a start time: it is a graph, not a timeline; make the "
                      "trace with times, or import the profiler's own trace",
                      nodes, device_nodes);
    ranks_.settle(problems_, "");
    for (ImportRank& rank : ranks_.all)
      if (rank.hint.said && rank.info.rank == *rank.hint.said) rank.info.rank_from = "file name";
    return {};
  }

  RunInfo run() const override { return ranks_.run(options_.label); }

  Result<ImportReport> read(TimelineSink& sink, Progress* progress) override {
    ImportReport start;
    start.format = "chakra";
    start.format_version = probes_[0].version;
    return read_texts(texts_, ranks_, problems_, std::move(start), sink, progress,
                      [&](const TraceText& text, std::size_t i, RowBatches& rows, ImportReport& report,
                          const std::atomic<std::int64_t>& read) -> Result<void> {
                        ChakraNodes events(*text.bytes, text.display, &problems_);
                        ChakraRows out(probes_[i], ranks_.all[i], options_, rows, problems_, report);
                        return take_events<ChakraNode>(events, out, rows, progress, read);
                      });
  }

 private:
  TraceTexts texts_;
  ImportOptions options_;
  ProblemCounts problems_;
  std::vector<ChakraProbe> probes_;
  ImportRanks ranks_;
};

}  // namespace

// No magic number: the metadata reads as a message with a version or attributes
// and nothing else, and a node with an id and a name follows.
bool is_chakra(std::string_view head) {
  namespace ck = chakra;
  using namespace wire_message;
  bool known = false;
  static_cast<void>(parsed([&] {
    const char* at = head.data();
    const char* const end = at + head.size();
    const auto next = [&]() -> std::string_view {
      const auto length = protozero::decode_varint(&at, end);
      const char* const begin = at;
      at += std::min<std::uint64_t>(length, static_cast<std::uint64_t>(end - at));
      return {begin, static_cast<std::size_t>(at - begin)};
    };
    const std::string_view first = next();
    int fields = 0;
    pbf_message<ck::GlobalMetadata> metadata(first.data(), first.size());
    for (; metadata.next(); ++fields) {
      const auto tag = metadata.tag_and_type();
      if (tag != tag_and_type(ck::GlobalMetadata::version, bytes_type) &&
          tag != tag_and_type(ck::GlobalMetadata::attributes, bytes_type))
        return;
      metadata.skip();
    }
    const std::string_view second = next();
    pbf_message<ck::Node> node(second.data(), second.size());
    if (fields == 0 || !node.next()) return;
    if (node.tag_and_type() == tag_and_type(ck::Node::id, varint)) {
      node.skip();
      if (!node.next()) return;
    }
    known = node.tag_and_type() == tag_and_type(ck::Node::name, bytes_type);
  }));
  return known;
}

Result<std::unique_ptr<Import>> open_chakra(std::span<const std::string> paths, const ImportOptions& options,
                                            Progress* progress) {
  TRY(TraceTexts texts, TraceTexts::find(paths, importer_named("chakra").suffixes));
  auto import = std::make_unique<ChakraImport>(std::move(texts), options);
  TRY_VOID(import->probe(progress));
  return std::unique_ptr<Import>(std::move(import));
}

}  // namespace stave
