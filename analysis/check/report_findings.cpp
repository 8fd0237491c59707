#include "analysis/check/report_findings.h"

#include <algorithm>

#include "analysis/check/scenes.h"
#include "analysis/check/values.h"
#include "core/lower/issue_names.h"

namespace stave::check {
namespace {

std::string bytes_text(std::int64_t begin, std::int64_t end) {
  return end - begin == 1 ? fmt::format("byte {}", begin) : fmt::format("bytes {} to {}", begin, end - 1);
}

std::string buffer_text(const Expanded& e, BufferId buffer) {
  return fmt::format("%{}", e.module->text(e.buffers[buffer].name));
}

std::string choice_text(const Expanded& e, const Choice& choice) {
  const Payload& payload = e[choice.command].payload;
  if (std::holds_alternative<While>(payload)) return choice.chosen == 0 ? "goes on" : "ends";
  if (std::holds_alternative<Cond>(payload)) return choice.chosen == 0 ? "takes `then`" : "takes `else`";
  return fmt::format("takes branch {}", choice.chosen);
}

void collect_starts(const Expanded& e, CommandRegionId region, CommandId start, std::vector<CommandId>& out) {
  for (const CommandId id : e.regions[region].commands) {
    out[id.value] = start;
    const CommandId inner = std::holds_alternative<AsyncStart>(e[id].payload) ? id : start;
    for (const CommandRegionId nested : e[id].regions) collect_starts(e, nested, inner, out);
  }
}

// Of a cycle over more, the first and the last are told.
constexpr std::size_t max_told_links = 4;

std::string ranks_text(const std::vector<Rank>& ranks) {
  std::string out;
  for (const Rank rank : ranks) out += fmt::format("{}{}", out.empty() ? "" : ", ", rank);
  return out;
}

bool is_of_memory(const Finding& finding) {
  return finding.problem.code == "STV1001" || finding.problem.code == "STV1002";
}

bool stops(const Finding& finding) { return !is_of_memory(finding) && finding.problem.severity == Severity::Error; }

}  // namespace

std::vector<CommandId> starts_around(const Expanded& e) {
  std::vector<CommandId> out(e.commands.size());
  collect_starts(e, e.body, {}, out);
  return out;
}

std::string FindingsReport::at_line(Rank rank, CommandId command) const {
  return fmt::format("`{}` (line {})", path(rank, command), of(rank).place(of(rank)[command]).line);
}

Finding* FindingsReport::add(Severity severity, std::string_view code, Rank rank, CommandId command,
                             std::string message) {
  const Expanded& e = of(rank);
  Key key(code, e[command].op.value);
  if (telling_reached_) reached_.insert(key);
  if (full() || !seen_.insert(key).second) return nullptr;
  keys_.push_back(std::move(key));
  Finding& finding = findings_.emplace_back();
  finding.problem = {severity, std::string(code), std::move(message), e.place(e[command]), {}};
  finding.command = e.path(command);
  finding.ranks = {rank};
  return &finding;
}

void FindingsReport::note(Finding& finding, Rank rank, CommandId command, std::string message) const {
  finding.problem.notes.push_back({std::move(message), of(rank).place(of(rank)[command])});
}

void FindingsReport::begin_line(const RankClass& rank_class) {
  if (!telling_reached_) ++lines_[&rank_class];
}

void FindingsReport::on_way(const RankClass& rank_class, const Key& key, const Choices& choices) {
  if (telling_reached_) return;
  const std::size_t line = lines_[&rank_class];
  const auto [at, added] = ways_.try_emplace(key, OnWays{&rank_class, choices, choices, line, 1});
  OnWays& ways = at->second;
  if (added || ways.rank_class != &rank_class || ways.last_line == line) return;
  ways.last_line = line;
  ++ways.count;
  std::erase_if(ways.common, [&](const Choice& choice) {
    return std::none_of(choices.begin(), choices.end(), [&](const Choice& other) {
      return other.command == choice.command && other.chosen == choice.chosen;
    });
  });
}

void FindingsReport::note_ways() {
  constexpr std::size_t most = 4;
  for (std::size_t i = 0; i < findings_.size(); ++i) {
    const auto at = ways_.find(keys_[i]);
    if (at == ways_.end()) continue;
    const OnWays& ways = at->second;
    if (ways.count == lines_[ways.rank_class]) continue;  // on all of them
    const Choices& choices = ways.common.empty() ? ways.first : ways.common;
    for (std::size_t c = 0; c < choices.size() && c < most; ++c)
      note(findings_[i], ways.rank_class->expanded.ranks[0], choices[c].command,
           fmt::format("in a run where this {}", choice_text(ways.rank_class->expanded, choices[c])));
  }
}

Findings FindingsReport::take() {
  note_ways();
  return std::move(findings_);
}

bool FindingsReport::has_stop() const {
  return std::any_of(findings_.begin(), findings_.end(), [](const Finding& finding) { return stops(finding); });
}

bool FindingsReport::has_memory_fault() const {
  return std::any_of(findings_.begin(), findings_.end(), [](const Finding& finding) { return is_of_memory(finding); });
}

void FindingsReport::rest_is_behind_stop() {
  const auto stop =
      std::find_if(findings_.begin(), findings_.end(), [](const Finding& finding) { return stops(finding); });
  for (std::size_t i = 0; i < findings_.size(); ++i) {
    Finding& finding = findings_[i];
    if (!is_of_memory(finding) || reached_.contains(keys_[i])) continue;
    finding.behind_stop = true;
    finding.problem.notes.push_back(
        {fmt::format("no run comes to it before {} at this line is mended", stop->problem.code), stop->problem.place});
  }
}

void FindingsReport::race(const RankClass& rank_class, const Line& line, const Race& race, const Choices& choices) {
  const Expanded& e = rank_class.expanded;
  const std::string first = e.path(race.first.command);
  const char* doing = !race.first.write ? "writes" : race.second.write ? "writes" : "reads";
  const char* done = race.first.write ? "writes" : "reads";
  Finding* finding =
      add(Severity::Error, "STV1001", race.rank, race.second.command,
          fmt::format("`{}` {} {} of {}, which `{}` {}, and nothing orders the two", e.path(race.second.command), doing,
                      bytes_text(race.begin, race.end), buffer_text(e, race.buffer), first, done));
  on_way(rank_class, {"STV1001", e[race.second.command].op.value}, choices);
  if (finding == nullptr) return;
  const auto stream = [&](const Access& access) {
    return to_text(rank_class.program.streams[line.nodes[access.node].stream.value]);
  };
  finding->scene = scene_of_race(rank_class, line, race);
  note(*finding, race.rank, race.first.command,
       fmt::format("`{}` {} them on {}, `{}` runs on {}", first, done, stream(race.first), e.path(race.second.command),
                   stream(race.second)));
  const std::vector<CommandId> starts = starts_around(e);
  CommandId start = starts[race.first.command.value];
  if (start && start != starts[race.second.command.value]) {
    const Token& token = e.tokens[e[start].token];
    const std::string name = fmt::format("%{}", e.module->text(token.name));
    finding->fix = fmt::format("put `async_done {}` before line {}", name, finding->problem.place.line);
    if (token.done) note(*finding, race.rank, token.done, fmt::format("{} is waited for here only", name));
  }
}

void FindingsReport::unwritten(const RankClass& rank_class, const UnwrittenRead& read, const Choices& choices) {
  const Expanded& e = rank_class.expanded;
  const Buffer& buffer = e.buffers[read.buffer];
  Finding* finding = add(Severity::Error, "STV1002", read.rank, read.access.command,
                         fmt::format("`{}` reads {} of {}, which nothing has written", e.path(read.access.command),
                                     bytes_text(read.begin, read.end), buffer_text(e, read.buffer)));
  on_way(rank_class, {"STV1002", e[read.access.command].op.value}, choices);
  if (finding == nullptr) return;
  finding->problem.notes.push_back({buffer.kind == Buffer::Kind::Scratch ? "scratch is undefined at entry"
                                                                         : "an `out` parameter is undefined at entry",
                                    e.module->place(buffer.loc)});
  finding->fix = fmt::format("write {} first, with memzero for example", buffer_text(e, read.buffer));
}

bool FindingsReport::not_uniform(Rank a, Rank b, const std::vector<Choices>& choices, std::string consequence,
                                 CommandId command) {
  if (choices.empty() || plan_.class_of_rank[a] != plan_.class_of_rank[b]) return false;
  const auto [mine, theirs] =
      std::mismatch(choices[a].begin(), choices[a].end(), choices[b].begin(), choices[b].end(),
                    [](const Choice& x, const Choice& y) { return x.command == y.command && x.chosen == y.chosen; });
  if (mine == choices[a].end() || theirs == choices[b].end() || mine->command != theirs->command) return false;
  const Expanded& e = of(a);
  const std::string why = why_not_uniform(e, mine->command);
  Finding* finding =
      add(Severity::Error, "STV1011", a, mine->command,
          fmt::format("`{}` guards collectives, but nothing proves that its predicate is equal on ranks {} and {}{}{}",
                      path(a, mine->command), a, b, why.empty() ? "" : ": it comes from ", why));
  if (finding == nullptr) return true;
  finding->ranks = {std::min(a, b), std::max(a, b)};
  finding->scene =
      scene_of_parting(plan_, {a, b, mine->command, choice_text(e, *mine), choice_text(e, *theirs), command});
  note(*finding, a, command, std::move(consequence));
  note(*finding, a, mine->command,
       fmt::format("in a run where it {} on rank {} and {} on rank {}", choice_text(e, *mine), a,
                   choice_text(e, *theirs), b));
  finding->fix = why.rfind("parameter", 0) == 0
                     ? "declare the parameter uniform along the axis, or all_reduce the predicate first"
                     : "all_reduce the predicate first";
  return true;
}

void FindingsReport::mismatch(const Liveness::Mismatch& m, const Meetings&, const World&,
                              const std::vector<Choices>& choices) {
  const std::string text = fmt::format("ranks meet in different collectives: rank {} in {}: {}; rank {} in {}: {}",
                                       m.first.rank, at_line(m.first.rank, m.first.command), m.first_says, m.other.rank,
                                       at_line(m.other.rank, m.other.command), m.other_says);
  if (not_uniform(m.first.rank, m.other.rank, choices, text, m.first.command)) return;
  Finding* finding = add(Severity::Error, "STV1010", m.first.rank, m.first.command, text);
  if (finding == nullptr) return;
  finding->ranks = {m.first.rank, m.other.rank};
  finding->scene = scene_of_mismatch(plan_, m);
  note(*finding, m.other.rank, m.other.command, fmt::format("rank {}'s part", m.other.rank));
}

void FindingsReport::hang(const Liveness::Chain& chain, const Meetings& meetings, const World& world,
                          const std::vector<Choices>& choices) {
  if (chain.links.empty()) return;
  if (chain.cycle) return cycle(chain, world, choices);
  missing(chain.links.back(), meetings, world, choices);
}

void FindingsReport::cycle(const Liveness::Chain& chain, const World& world, const std::vector<Choices>& choices) {
  const Liveness::Link& first = chain.links[0];
  const CommandId command = command_of(world, first.at);
  std::string text;
  std::vector<Rank> ranks;
  bool sends = true;
  const std::size_t n = chain.links.size();
  for (std::size_t i = 0; i < n; ++i) {
    const Liveness::Link& link = chain.links[i];
    const CommandId here = command_of(world, link.at);
    const CommandId there = command_of(world, {link.missing, *link.part});
    if (n > max_told_links && i == max_told_links - 1 && i + 1 < n)
      text += fmt::format(", and so on for {} more ranks", n - max_told_links);
    if (i < max_told_links - 1 || i + 1 == n)
      text += fmt::format("{}{} waits for rank {} to come to {}",
                          text.empty() ? fmt::format("rank {} in ", link.at.rank)
                                       : ", where rank " + std::to_string(link.at.rank) + " in ",
                          at_line(link.at.rank, here), link.missing, at_line(link.missing, there));
    ranks.push_back(link.at.rank);
    const Payload& payload = of(link.at.rank)[here].payload;
    sends &= std::holds_alternative<Send>(payload) || std::holds_alternative<Recv>(payload);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  for (const Liveness::Link& link : chain.links)
    if (not_uniform(first.at.rank, link.missing, choices, "deadlock: " + text, command)) return;
  Finding* finding = add(Severity::Error, "STV1020", first.at.rank, command,
                         fmt::format("deadlock: {}, which waits for the first", text));
  if (finding == nullptr) return;
  finding->ranks = ranks;
  finding->scene = scene_of_cycle(plan_, world, chain);
  for (std::size_t i = 0; i < n && i < max_told_links; ++i) {
    const Liveness::Link& link = chain.links[i];
    const CommandId there = command_of(world, {link.missing, *link.part});
    note(*finding, link.missing, there,
         fmt::format("rank {} cannot start this before what it waits for has ended", link.missing));
  }
  finding->fix = sends ? "put the send and the recv into one collective_group, so that they start together"
                       : "issue the collectives in one order on all ranks";
}

void FindingsReport::missing(const Liveness::Link& link, const Meetings& meetings, const World& world,
                             const std::vector<Choices>& choices) {
  const Meeting& meeting = meetings.all[link.meeting];
  const auto mine = std::find_if(meeting.parts.begin(), meeting.parts.end(),
                                 [&](const MeetingPart& part) { return part.rank == link.at.rank; });
  const CommandId command = mine->command;
  std::string text;
  if (meeting.channel) {
    const bool is_send = link.at.rank == meeting.from;
    text =
        fmt::format("rank {} waits in {} for {} of rank {} on communicator {}, which has none left", link.at.rank,
                    at_line(link.at.rank, command), is_send ? "a recv" : "a send", link.missing, meeting.communicator);
  } else {
    text = fmt::format(
        "rank {} waits in {} for rank {}, which never comes to it: it is number {} of its ranks on communicator {}, "
        "and "
        "rank {} issues {}",
        link.at.rank, at_line(link.at.rank, command), link.missing, meeting.number + 1, meeting.communicator,
        link.missing, meeting.number);
  }
  if (not_uniform(link.at.rank, link.missing, choices, text, command)) return;
  Finding* finding =
      add(Severity::Error, meeting.channel ? "STV1013" : "STV1014", link.at.rank, command, std::move(text));
  if (finding == nullptr) return;
  finding->ranks = {std::min(link.at.rank, link.missing), std::max(link.at.rank, link.missing)};
  finding->scene = scene_of_missing(plan_, world, meetings, link);
  // The last that the missing rank has of the same kind says where its sequence ends.
  const Skeleton& skeleton = world.of(link.missing).skeleton;
  for (std::uint32_t i = static_cast<std::uint32_t>(skeleton.items.size()); i-- > 0;)
    for (const MeetingId id : meetings.of(world, link.missing, ItemId{i})) {
      const Meeting& other = meetings.all[id];
      if (other.clique != meeting.clique || other.communicator != meeting.communicator) continue;
      note(*finding, link.missing, skeleton.items[ItemId{i}].command,
           fmt::format("the last that rank {} issues there", link.missing));
      return;
    }
}

void FindingsReport::residence(const Residence& r, const Meetings& meetings, const World& world, std::int32_t sms) {
  if (r.holding.empty() || r.waiting.empty()) return;
  const RankItem& first = r.waiting[0];
  const CommandId command = command_of(world, first);
  std::string text;
  std::vector<Rank> ranks;
  for (const RankItem& at : r.holding) {
    const Skeleton::Item& item = world.of(at.rank).skeleton.items[at.item];
    text += fmt::format("{}rank {} holds {} of {} SMs for {}", text.empty() ? "" : ", ", at.rank,
                        std::min(item.ctas, sms), sms, at_line(at.rank, item.command));
    ranks.push_back(at.rank);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  Finding* finding =
      add(Severity::Error, "STV1021", first.rank, command,
          fmt::format("collectives can hold the SMs that the others need: {}; then {} fits nowhere on rank {}", text,
                      at_line(first.rank, command), first.rank));
  if (finding == nullptr) return;
  finding->ranks = std::move(ranks);
  finding->scene = scene_of_residence(plan_, world, meetings, r, sms);
  for (const RankItem& at : r.holding)
    note(*finding, at.rank, command_of(world, at), fmt::format("rank {} starts this first", at.rank));
  finding->fix = "order the two on every rank, put them on one communicator, or lower max_ctas";
}

void FindingsReport::overlap(const Overlap& o, const World& world) {
  const Skeleton& skeleton = world.of(o.first_rank).skeleton;
  const Skeleton::Item& a = skeleton.items[o.first];
  const Skeleton::Item& b = skeleton.items[o.second];
  Finding* finding = add(
      Severity::Warning, "STV1022", o.first_rank, b.command,
      fmt::format("{} on communicator {} and {} on communicator {} may be in flight together on ranks {} in either "
                  "order; where their kernels do not fit beside each other, they hang",
                  at_line(o.first_rank, a.command), a.communicator, at_line(o.first_rank, b.command), b.communicator,
                  ranks_text({std::min(o.first_rank, o.second_rank), std::max(o.first_rank, o.second_rank)})));
  if (finding == nullptr) return;
  finding->ranks = {std::min(o.first_rank, o.second_rank), std::max(o.first_rank, o.second_rank)};
  finding->scene = scene_of_overlap(plan_, world, o);
  note(*finding, o.first_rank, a.command,
       fmt::format("the hang: rank {} starts this and waits, rank {} starts the other and waits", o.first_rank,
                   o.second_rank));
  finding->fix = "say max_ctas on both, so that they are known to fit, order them, or use one communicator";
}

}  // namespace stave::check
