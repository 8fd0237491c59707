#include "workbench/compare_json.h"

namespace stave {
namespace {

// One side's slice; keys end in `_NAME`, values are null without one.
struct SidePlace {
  std::optional<std::uint32_t> slice{}, rank{}, line{}, column{};
  std::optional<std::string_view> command{}, name{}, stream{};
};

SidePlace place_of(const Timeline& timeline, SliceId id) {
  if (!id) return {};
  const Slice& slice = timeline.slice(id);
  const Track& track = timeline.track(slice.track);
  SidePlace place{.slice = id.value,
                  .rank = track.rank,
                  .name = unless_empty(timeline.text(slice.name)),
                  .stream = unless_empty(track.name)};
  if (!slice.command) return place;
  const TimelineCommand& command = timeline.command(slice.command);
  place.command = unless_empty(command.key);
  place.line = unless_zero(command.line);
  place.column = unless_zero(command.column);
  return place;
}

void write_window(JsonWriter& json, std::string_view key, const Window& window) {
  json.key(key).begin_object();
  json.field("kind", window.kind).field("label", unless_empty(window.label));
  json.field("start_ps", window.span.begin.count()).field("end_ps", window.span.end.count()).end_object();
}

void write_contributions(JsonWriter& json, const Comparison& made) {
  json.key("contributions").begin_array();
  for (const Contribution& part : made.contributions) {
    const SidePlace a = place_of(made.timeline_a(), part.a), b = place_of(made.timeline_b(), part.b);
    const SidePlace& main = part.b ? b : a;
    json.begin_object().field("kind", name_of(part.kind)).field("command", main.command);
    json.field("name", main.name).field("rank", main.rank).field("delta_ps", part.delta.count());
    json.field("share_pct", percent(part.delta, made.delta)).field("a_slice", a.slice).field("b_slice", b.slice);
    json.field("a_rank", a.rank).field("b_rank", b.rank).field("a_stream", a.stream).field("b_stream", b.stream);
    json.field("a_line", a.line).field("a_column", a.column).field("b_line", b.line).field("b_column", b.column);
    json.end_object();
  }
  json.end_array();
}

void write_one_sided(JsonWriter& json, std::string_view key, const std::vector<OneSided>& names) {
  json.key(key).begin_array();
  for (const OneSided& of : names) {
    json.begin_object().field("name", unless_empty(of.name)).field("slices_count", of.count);
    json.field("total_ps", of.total.count()).end_object();
  }
  json.end_array();
}

void write_commands(JsonWriter& json, const Comparison& made) {
  json.key("commands").begin_array();
  for (const SliceChange& change : changes_of(made)) {
    const SidePlace b = place_of(made.timeline_b(), change.slices.b);
    json.begin_object().field("command", b.command).field("name", b.name).field("rank", b.rank);
    json.field("stream", b.stream).field("a_slice", change.slices.a.value).field("b_slice", change.slices.b.value);
    json.field("a_start_ps", change.a_start.count()).field("a_duration_ps", change.a_duration.count());
    json.field("a_gap_ps", change.a_gap.count());
    json.field("delta_start_ps", (change.b_start - change.a_start).count());
    json.field("delta_duration_ps", (change.b_duration - change.a_duration).count());
    json.field("delta_gap_ps", (change.b_gap - change.a_gap).count()).end_object();
  }
  json.end_array();
}

}  // namespace

std::string compare_json(const Comparison& made, const RunLabel& a, const RunLabel& b, const Problems& problems,
                         bool all) {
  JsonWriter json;
  begin_document(json, "stave.compare/1", problems);
  json.key("a");
  write_run(json, a);
  json.key("b");
  write_run(json, b);
  json.key("window").begin_object();
  write_window(json, "a", made.a.window);
  write_window(json, "b", made.b.window);
  json.end_object();
  json.field("aligned_by", made.alignment.by());
  json.field("matched_count", made.alignment.matched.size());
  json.field("only_a_count", made.alignment.only_a.size()).field("only_b_count", made.alignment.only_b.size());
  json.field("a_ps", made.a_length.count()).field("b_ps", made.b_length.count());
  json.field("delta_ps", made.delta.count()).field("delta_pct", made.delta_pct).field("noise_pct", made.noise_pct);
  json.field("verdict", name_of(made.verdict));
  write_contributions(json, made);
  json.key("families").begin_array();
  for (const FamilyError& family : made.families) {
    json.begin_object().field("family", family.family).field("n", family.n);
    json.field("a_ps", family.a.count()).field("b_ps", family.b.count());
    json.field("median_error_pct", family.median_pct).field("p90_error_pct", family.p90_pct);
    json.field("worst_error_pct", family.worst_pct).field("bias_pct", family.bias_pct).end_object();
  }
  json.end_array().key("links").begin_array();
  for (const LinkUse& link : made.links) {
    json.begin_object().field("link", link.link).field("a_bytes", link.a_bytes).field("b_bytes", link.b_bytes);
    json.field("a_busy_ps", link.a_busy.count()).field("b_busy_ps", link.b_busy.count()).end_object();
  }
  json.end_array();
  write_one_sided(json, "only_a", made.only_a);
  write_one_sided(json, "only_b", made.only_b);
  if (all)
    write_commands(json, made);
  else
    json.key("commands").null();
  json.end_object();
  return std::move(json).finish();
}

}  // namespace stave
