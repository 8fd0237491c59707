// A run file, row by row into a new one: numbers and structure stay, texts go
// through a TextScrubber, and fields that name a person or a place stay empty.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>

#include "core/base/json.h"
#include "profiles/export/json_members.h"
#include "profiles/store_writer.h"
#include "workbench/scrub_file.h"
#include "workbench/scrub_text.h"

namespace stave {
namespace {

// Arguments of events whose words are the framework's, not the user's.
constexpr std::string_view kept_words[] = {"\"Collective name\"",     "\"dtype\"",          "\"Process Group Name\"",
                                           "\"Process Group Ranks\"", "\"cuda_sync_kind\"", "\"channel_type\"",
                                           "\"Input type\"",          "\"Input Dims\""};

bool holds_numbers_only(std::string_view value) {
  if (value == "true" || value == "false" || value == "null") return true;
  return value.find_first_not_of("0123456789+-.eE[], \n\t") == std::string_view::npos;
}

// To the end of each line, where it is no part of a string.
std::string without_comments(std::string_view text, std::string_view begins) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') in_string = false;
    if (text[i] == '"' && (i == 0 || text[i - 1] != '\\')) in_string = !in_string;
    if (!in_string && text.substr(i).starts_with(begins)) {
      while (i < text.size() && text[i] != '\n') ++i;
      if (i == text.size()) break;
    }
    out += text[i];
  }
  return out;
}

// Every text of a run goes by here before the first is written.
class LearnTexts final : public TimelineSink {
 public:
  explicit LearnTexts(TextScrubber& scrubber) : scrubber_(scrubber) {}

  Result<void> on_sources(std::span<const SourceInfo> batch) override {
    for (const SourceInfo& row : batch) scrubber_.learn(row.name);
    return {};
  }
  Result<void> on_ranks(std::span<const RankInfo> batch) override {
    for (const RankInfo& row : batch) scrubber_.add_host(row.host);
    return {};
  }
  Result<void> on_names(std::span<const std::string_view> batch) override {
    for (const std::string_view name : batch) scrubber_.learn(name);
    return {};
  }
  Result<void> on_tracks(std::span<const Track> batch) override {
    for (const Track& row : batch) scrubber_.learn(row.name);
    return {};
  }
  Result<void> on_commands(std::span<const TimelineCommand> batch) override {
    for (const TimelineCommand& row : batch) scrubber_.learn(row.key);
    return {};
  }
  Result<void> on_args(std::span<const ArgsDetail> batch) override {
    for (const ArgsDetail& row : batch) scrubber_.learn(row.json);
    return {};
  }
  Result<void> on_problems(std::span<const TimelineProblem> batch) override {
    for (const TimelineProblem& row : batch) {
      scrubber_.learn(row.message);
      scrubber_.learn(row.file);
    }
    return {};
  }
  Result<void> on_slices(std::span<const Slice>) override { return {}; }
  Result<void> on_flows(std::span<const SliceFlow>) override { return {}; }
  Result<void> on_kernels(std::span<const KernelDetail>) override { return {}; }
  Result<void> on_copies(std::span<const CopyDetail>) override { return {}; }
  Result<void> on_calls(std::span<const ApiDetail>) override { return {}; }
  Result<void> on_collectives(std::span<const CollectiveDetail>) override { return {}; }
  Result<void> on_costs(std::span<const CostPart>) override { return {}; }
  Result<void> on_counters(std::span<const CounterSample>) override { return {}; }
  Result<void> on_steps(std::span<const StepSpan>) override { return {}; }

 private:
  TextScrubber& scrubber_;
};

class ScrubRows final : public TimelineSink {
 public:
  ScrubRows(StoreWriter& to, TextScrubber& scrubber, Scrubbed& scrubbed)
      : to_(to), scrubber_(scrubber), scrubbed_(scrubbed) {}

  Result<void> on_sources(std::span<const SourceInfo> batch) override {
    std::vector<SourceInfo> rows(batch.begin(), batch.end());
    for (SourceInfo& row : rows) {
      row.name = fmt::format("source-{}", ++sources_);
      row.sha256.clear();
      row.format = clean(row.format);
      row.format_version = clean(row.format_version);
      ++scrubbed_.left_out["[name and hash of a source|names and hashes of sources]"];
    }
    return to_.on_sources(rows);
  }
  Result<void> on_ranks(std::span<const RankInfo> batch) override {
    std::vector<RankInfo> rows;
    for (const RankInfo& from : batch) {
      if (!from.host.empty()) ++scrubbed_.left_out["[host name|host names]"];
      if (from.pid) ++scrubbed_.left_out["[process id|process ids]"];
      if (!from.gpu_uuid.empty()) ++scrubbed_.left_out["[id of a GPU|ids of GPUs]"];
      RankInfo& row = rows.emplace_back();
      row.rank = from.rank;
      row.rank_from = clean(from.rank_from);
      row.device = from.device;
      row.gpu = clean(from.gpu);
      row.source = from.source;
      row.clock_offset = from.clock_offset;
      row.clock_error = from.clock_error;
      row.clock_from = clean(from.clock_from);
    }
    return to_.on_ranks(rows);
  }
  Result<void> on_names(std::span<const std::string_view> batch) override {
    std::vector<std::string> added;
    for (const std::string_view name : batch) {
      std::string text = clean(name);
      const std::size_t before = names_.size();
      ids_.push_back(names_.intern(text));
      if (names_.size() > before) added.push_back(std::move(text));
    }
    const std::vector<std::string_view> views(added.begin(), added.end());
    return views.empty() ? Result<void>() : to_.on_names(views);
  }
  Result<void> on_tracks(std::span<const Track> batch) override {
    std::vector<Track> rows(batch.begin(), batch.end());
    for (Track& row : rows) {
      row.name = clean(row.name);
      row.unit = clean(row.unit);
    }
    return to_.on_tracks(rows);
  }
  Result<void> on_commands(std::span<const TimelineCommand> batch) override {
    std::vector<TimelineCommand> rows(batch.begin(), batch.end());
    for (TimelineCommand& row : rows) {
      row.key = clean(row.key);
      row.op = clean(row.op);
    }
    return to_.on_commands(rows);
  }
  Result<void> on_slices(std::span<const Slice> batch) override {
    std::vector<Slice> rows(batch.begin(), batch.end());
    for (Slice& row : rows) row.name = id(row.name);
    return to_.on_slices(rows);
  }
  Result<void> on_flows(std::span<const SliceFlow> batch) override { return to_.on_flows(batch); }
  Result<void> on_kernels(std::span<const KernelDetail> batch) override {
    std::vector<KernelDetail> rows(batch.begin(), batch.end());
    for (KernelDetail& row : rows) row.demangled_name = id(row.demangled_name);
    return to_.on_kernels(rows);
  }
  Result<void> on_copies(std::span<const CopyDetail> batch) override { return to_.on_copies(batch); }
  Result<void> on_calls(std::span<const ApiDetail> batch) override { return to_.on_calls(batch); }
  Result<void> on_args(std::span<const ArgsDetail> batch) override {
    std::vector<ArgsDetail> rows;
    for (const ArgsDetail& from : batch)
      if (std::string json = args(from.json); !json.empty()) rows.push_back({from.slice, std::move(json)});
    return rows.empty() ? Result<void>() : to_.on_args(rows);
  }
  Result<void> on_collectives(std::span<const CollectiveDetail> batch) override {
    std::vector<CollectiveDetail> rows(batch.begin(), batch.end());
    for (CollectiveDetail& row : rows)
      for (StringId* name : {&row.communicator, &row.op, &row.dtype, &row.algorithm, &row.protocol}) *name = id(*name);
    return to_.on_collectives(rows);
  }
  Result<void> on_costs(std::span<const CostPart> batch) override {
    std::vector<CostPart> rows(batch.begin(), batch.end());
    for (CostPart& row : rows)
      for (StringId* name : {&row.part, &row.model, &row.source}) *name = id(*name);
    return to_.on_costs(rows);
  }
  Result<void> on_counters(std::span<const CounterSample> batch) override { return to_.on_counters(batch); }
  Result<void> on_steps(std::span<const StepSpan> batch) override {
    std::vector<StepSpan> rows(batch.begin(), batch.end());
    for (StepSpan& row : rows) row.label = clean(row.label);
    return to_.on_steps(rows);
  }
  Result<void> on_problems(std::span<const TimelineProblem> batch) override {
    std::vector<TimelineProblem> rows(batch.begin(), batch.end());
    for (TimelineProblem& row : rows) {
      row.message = clean(row.message);
      row.file = row.file.empty() ? "" : clean(row.file);
    }
    return to_.on_problems(rows);
  }

 private:
  std::string clean(std::string_view text) { return scrubber_.scrubbed(text); }
  StringId id(StringId name) const { return name ? ids_[name.value] : name; }

  // Numbers stay, and words of a few keys.
  std::string args(std::string_view json) {
    std::string out;
    each_json_member(json, [&](std::string_view key, std::string_view member) {
      std::string_view value = member.substr(key.size());
      value.remove_prefix(std::min(value.find_first_not_of(" \n\t:"), value.size()));
      while (!value.empty() && (value.back() == ' ' || value.back() == '\n')) value.remove_suffix(1);
      const bool words = std::find(std::begin(kept_words), std::end(kept_words), key) != std::end(kept_words);
      if (!holds_numbers_only(value) && !words) {
        ++scrubbed_.left_out["[argument of an event that is a text|arguments of events that are texts]"];
        return;
      }
      out += fmt::format("{}{}: {}", out.empty() ? "{" : ", ", clean(key), words ? clean(value) : std::string(value));
    });
    return out.empty() ? out : out + "}";
  }

  StoreWriter& to_;
  TextScrubber& scrubber_;
  Scrubbed& scrubbed_;
  Strings names_;
  std::vector<StringId> ids_;  // the new one, by the old one
  int sources_ = 0;
};

RunInfo scrubbed_info(const RunInfo& info, TextScrubber& scrubber, Scrubbed& scrubbed) {
  RunInfo out;
  out.label = scrubber.scrubbed(info.label);
  out.kind = info.kind;
  out.mode = info.mode;
  out.world_size = info.world_size;
  out.tool = scrubber.scrubbed(info.tool);
  out.tool_version = scrubber.scrubbed(info.tool_version);
  out.schedule_text = scrubber.scrubbed(without_comments(info.schedule_text, "//"));
  out.machine_text = scrubber.scrubbed(without_comments(info.machine_text, "#"));
  out.edit = scrubber.scrubbed(info.edit);
  if (!info.options_json.empty()) ++scrubbed.left_out["[run's options|options of runs]"];
  if (info.base_unix_ns) ++scrubbed.left_out["[date of a run|dates of runs]"];
  if (!info.schedule_text.empty())
    ++scrubbed.left_out["[schedule's and machine's comments|comments of schedules and machines]"];
  return out;
}

}  // namespace

Result<void> scrub_run_file(StoreReader& reader, const std::string& output, Scrubbed& scrubbed, Progress* progress) {
  TextScrubber scrubber;
  LearnTexts learn(scrubber);
  for (const StoredRun& run : reader.runs()) {
    for (const std::string* text : {&run.info.label, &run.info.options_json, &run.info.schedule_text,
                                    &run.info.machine_text, &run.info.edit, &run.info.tool})
      scrubber.learn(*text);
    TRY_VOID(reader.read(run.id, learn));
  }
  std::map<std::int64_t, std::int64_t> new_ids;
  for (const StoredRun& run : reader.runs()) {
    TRY_VOID(still_wanted(progress));
    RunInfo info = scrubbed_info(run.info, scrubber, scrubbed);
    if (run.info.parent_run)
      if (const auto parent = new_ids.find(*run.info.parent_run); parent != new_ids.end())
        info.parent_run = parent->second;
    TRY(StoreWriter writer, StoreWriter::create(output, info, new_ids.empty() ? IfExists::Replace : IfExists::Append));
    new_ids[run.id] = writer.run_id();
    ScrubRows rows(writer, scrubber, scrubbed);
    Result<void> done = reader.read(run.id, rows);
    if (done) done = writer.close();
    if (!done) {
      writer.discard();
      return done;
    }
  }
  scrubbed.replaced = scrubber.counts();
  return {};
}

}  // namespace stave
