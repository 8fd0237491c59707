#include "analysis/check/scenes.h"

#include <algorithm>
#include <map>
#include <set>

#include "analysis/check/report_findings.h"
#include "core/lower/issue_names.h"

namespace stave::check {
namespace {

using State = Scene::Box::State;
using Kind = Scene::Edge::Kind;

// More ranks than this are counted, not drawn.
constexpr std::size_t max_drawn_ranks = 6;

std::string stream_text(const RankClass& rank_class, StreamId stream) {
  return to_text(rank_class.program.streams[stream.value]);
}

// Of a command that is no node: where the text puts it.
std::string written_stream(const Expanded& e, const std::vector<CommandId>& starts, CommandId command) {
  const CommandId start = starts[command.value];
  return to_text(start ? std::get<AsyncStart>(e[start].payload).stream : StreamRef{});
}

std::uint32_t add_box(Scene& scene, const Expanded& e, Rank rank, CommandId command, std::string stream,
                      State state = State::Plain, std::string says = {}) {
  scene.boxes.push_back({state, rank, std::move(stream), e.path(command), e.place(e[command]).line, std::move(says)});
  return static_cast<std::uint32_t>(scene.boxes.size() - 1);
}

// Boxes of items of any ranks, in issue order on each.
class ItemBoxes {
 public:
  ItemBoxes(const Plan& plan, const World& world) : plan_(plan), world_(world) {}

  // What was said first stays.
  void add(RankItem at, State state = State::Plain, std::string says = {}) {
    items_.try_emplace(at, Looks{state, std::move(says)});
  }
  // Those of other ranks than `first` only while there is room.
  void into(Scene& scene, std::set<Rank> drawn = {}) {
    for (const auto& [at, looks] : items_) {
      if (drawn.size() == max_drawn_ranks && !drawn.contains(at.rank)) {
        left_out_.insert(at.rank);
        continue;
      }
      drawn.insert(at.rank);
      const ClassLine& line = world_.of(at.rank);
      const Skeleton::Item& item = line.skeleton.items[at.item];
      const RankClass& rank_class = plan_.of_rank(at.rank);
      boxes_[at] = add_box(scene, rank_class.expanded, at.rank, item.command,
                           stream_text(rank_class, line.line.nodes[item.node].stream), looks.state, looks.says);
    }
    scene.left_out = left_out_.size();
  }
  // After into(); nothing if one of them is not drawn.
  void join(Scene& scene, Kind kind, RankItem from, RankItem to) const {
    const auto a = boxes_.find(from), b = boxes_.find(to);
    if (a != boxes_.end() && b != boxes_.end() && a != b) scene.edges.push_back({kind, a->second, b->second});
  }
  std::string name(RankItem at) const {
    const std::string path = plan_.of_rank(at.rank).expanded.path(world_.of(at.rank).skeleton.items[at.item].command);
    return path.substr(path.rfind('/') + 1);
  }

 private:
  struct Looks {
    State state;
    std::string says;
  };
  const Plan& plan_;
  const World& world_;
  std::map<RankItem, Looks> items_;
  std::map<RankItem, std::uint32_t> boxes_;
  std::set<Rank> left_out_;
};

}  // namespace

Scene scene_of_race(const RankClass& rank_class, const Line& line, const Race& race) {
  const Expanded& e = rank_class.expanded;
  const std::vector<CommandId> starts = starts_around(e);
  const CommandId first = race.first.command, second = race.second.command;
  CommandId first_start = starts[first.value], second_start = starts[second.value];
  if (first_start == second_start) first_start = second_start = {};
  Scene scene;
  const auto access = [&](const Access& a) {
    return add_box(scene, e, race.rank, a.command, stream_text(rank_class, line.nodes[a.node].stream), State::Plain,
                   fmt::format("{} %{}, bytes {} to {}", a.write ? "writes" : "reads",
                               e.module->text(e.buffers[race.buffer].name), race.begin, race.end - 1));
  };
  const auto marker = [&](CommandId command) {
    return add_box(scene, e, race.rank, command, written_stream(e, starts, command));
  };
  const auto join = [&](std::uint32_t from, std::uint32_t to) { scene.edges.push_back({Kind::Ordered, from, to}); };
  const auto line_of = [&](CommandId command) { return e.place(e[command]).line; };
  const CommandId done = first_start ? e.tokens[e[first_start].token].done : CommandId{};
  const bool done_before = done && line_of(done) < line_of(second);

  const bool encloses = first_start && second_start && starts[first_start.value] == second_start;
  std::optional<std::uint32_t> outer, inner;
  if (encloses) outer = marker(second_start);
  if (first_start) inner = marker(first_start);
  const std::uint32_t a = access(race.first);
  if (inner) join(*inner, a);
  const auto finish = [&] {
    if (done) join(a, marker(done));
  };
  if (done_before) finish();
  if (second_start && !encloses) outer = marker(second_start);
  const std::uint32_t b = access(race.second);
  if (outer) join(*outer, b);
  if (!done_before) finish();
  scene.edges.push_back({Kind::Gap, a, b});
  scene.gap = "nothing orders the two";
  return scene;
}

Scene scene_of_parting(const Plan& plan, const Parting& p) {
  Scene scene;
  const Expanded& e = plan.of_rank(p.a).expanded;
  const std::vector<CommandId> starts = starts_around(e);
  const auto box = [&](Rank rank, CommandId command, State state, std::string says) {
    return add_box(scene, e, rank, command, written_stream(e, starts, command), state, std::move(says));
  };
  const std::uint32_t here = box(p.a, p.command, State::Plain, p.a_does);
  const std::uint32_t behind = box(p.a, p.waiting, State::Waiting, fmt::format("waits for rank {}", p.b));
  const std::uint32_t there = box(p.b, p.command, State::Plain, p.b_does);
  scene.edges = {{Kind::Ordered, here, behind}, {Kind::WaitsFor, behind, there}, {Kind::Gap, here, there}};
  scene.gap = "nothing proves that both go the same way";
  return scene;
}

Scene scene_of_mismatch(const Plan& plan, const Liveness::Mismatch& m) {
  Scene scene;
  const auto box = [&](const MeetingPart& part, const std::string& says) {
    const Expanded& e = plan.of_rank(part.rank).expanded;
    return add_box(scene, e, part.rank, part.command, written_stream(e, starts_around(e), part.command), State::Waiting,
                   says);
  };
  const std::uint32_t first = box(m.first, m.first_says);
  scene.edges = {{Kind::Gap, first, box(m.other, m.other_says)}};
  scene.gap = "they meet, and do not agree";
  return scene;
}

Scene scene_of_cycle(const Plan& plan, const World& world, const Liveness::Chain& chain) {
  ItemBoxes boxes(plan, world);
  const auto part = [](const Liveness::Link& link) { return RankItem{link.missing, *link.part}; };
  const auto next = [&](std::size_t i) { return chain.links[(i + 1) % chain.links.size()].at; };
  for (const Liveness::Link& link : chain.links)
    boxes.add(link.at, State::Waiting, fmt::format("waits for rank {}", link.missing));
  for (std::size_t i = 0; i < chain.links.size(); ++i)
    boxes.add(part(chain.links[i]), State::NotStarted, fmt::format("comes after {}, so never", boxes.name(next(i))));
  // What closes the cycle is drawn, whatever is left out between.
  std::set<Rank> first{chain.links.back().at.rank};
  for (const Liveness::Link& link : chain.links)
    if (first.size() < max_drawn_ranks) first.insert(link.at.rank);
  Scene scene;
  boxes.into(scene, std::move(first));
  for (std::size_t i = 0; i < chain.links.size(); ++i) {
    boxes.join(scene, Kind::WaitsFor, chain.links[i].at, part(chain.links[i]));
    boxes.join(scene, Kind::Ordered, next(i), part(chain.links[i]));
  }
  return scene;
}

Scene scene_of_missing(const Plan& plan, const World& world, const Meetings& meetings, const Liveness::Link& link) {
  const Meeting& meeting = meetings.all[link.meeting];
  ItemBoxes boxes(plan, world);
  boxes.add(link.at, State::Waiting, fmt::format("waits for rank {}", link.missing));
  // The last of this sequence that the missing rank has, and whom it met.
  std::optional<RankItem> last, met;
  const Skeleton& skeleton = world.of(link.missing).skeleton;
  for (std::uint32_t i = static_cast<std::uint32_t>(skeleton.items.size()); i-- > 0 && !last;)
    for (const MeetingId id : meetings.of(world, link.missing, ItemId{i})) {
      const Meeting& other = meetings.all[id];
      if (other.clique != meeting.clique || other.communicator != meeting.communicator ||
          other.channel != meeting.channel || other.from != meeting.from || other.to != meeting.to)
        continue;
      last = {link.missing, ItemId{i}};
      for (const MeetingPart& p : other.parts)
        if (p.rank == link.at.rank) met = {p.rank, p.item};
    }
  const std::string number = fmt::format("number {} of this sequence", meeting.number);
  if (met) boxes.add(*met, State::Plain, number);
  if (last) boxes.add(*last, State::Plain, met ? number : "");
  Scene scene;
  boxes.into(scene);
  if (last && met) boxes.join(scene, Kind::Meets, *met, *last);
  std::uint32_t waiting = 0;
  std::string stream = "main";
  for (std::uint32_t i = 0; i < scene.boxes.size(); ++i) {
    if (scene.boxes[i].state == State::Waiting) waiting = i;
    if (scene.boxes[i].rank == link.missing) stream = scene.boxes[i].stream;
  }
  const Expanded& e = plan.of_rank(link.at.rank).expanded;
  const auto mine = std::find_if(meeting.parts.begin(), meeting.parts.end(),
                                 [&](const MeetingPart& p) { return p.rank == link.at.rank; });
  const std::string_view op = !meeting.channel               ? info_of(kind_of_payload(e[mine->command].payload)).name
                              : link.at.rank == meeting.from ? "recv"
                                                             : "send";
  scene.boxes.push_back({State::Absent, link.missing, std::move(stream), std::string(op), 0,
                         meeting.channel ? fmt::format("rank {} has none left", link.missing)
                                         : fmt::format("rank {} issues {} only", link.missing, meeting.number)});
  scene.edges.push_back({Kind::WaitsFor, waiting, static_cast<std::uint32_t>(scene.boxes.size() - 1)});
  return scene;
}

Scene scene_of_residence(const Plan& plan, const World& world, const Meetings& meetings, const Residence& r,
                         std::int32_t sms) {
  ItemBoxes boxes(plan, world);
  const auto ctas = [&](RankItem at) { return std::min(world.of(at.rank).skeleton.items[at.item].ctas, sms); };
  for (const RankItem& at : r.holding)
    boxes.add(at, State::Waiting, fmt::format("holds {} of {} SMs, waits for its peers", ctas(at), sms));
  for (const RankItem& at : r.waiting) boxes.add(at, State::NotStarted, fmt::format("needs {} SMs to start", ctas(at)));
  Scene scene;
  boxes.into(scene);
  for (const RankItem& at : r.waiting) {
    for (const RankItem& other : r.holding)
      if (other.rank == at.rank) boxes.join(scene, Kind::WaitsFor, at, other);
    for (const MeetingId id : meetings.of(world, at.rank, at.item))
      for (const MeetingPart& part : meetings.all[id].parts)
        if (const RankItem peer{part.rank, part.item};
            std::find(r.holding.begin(), r.holding.end(), peer) != r.holding.end())
          boxes.join(scene, Kind::WaitsFor, peer, at);
  }
  return scene;
}

Scene scene_of_overlap(const Plan& plan, const World& world, const Overlap& o) {
  Scene scene;
  if (world.line_of_rank[o.first_rank] != world.line_of_rank[o.second_rank]) return scene;
  ItemBoxes boxes(plan, world);
  const auto one = [&](Rank rank, ItemId starts, ItemId waits) {
    boxes.add({rank, starts}, State::Waiting, "may start first here and hold SMs");
    boxes.add({rank, waits}, State::NotStarted, "may then find no room");
  };
  one(o.first_rank, o.first, o.second);
  one(o.second_rank, o.second, o.first);
  boxes.into(scene);
  const auto turn = [&](Rank here, Rank there, ItemId starts, ItemId waits) {
    boxes.join(scene, Kind::WaitsFor, {here, starts}, {there, starts});
    boxes.join(scene, Kind::WaitsFor, {here, waits}, {here, starts});
  };
  turn(o.first_rank, o.second_rank, o.first, o.second);
  turn(o.second_rank, o.first_rank, o.second, o.first);
  return scene;
}

}  // namespace stave::check
