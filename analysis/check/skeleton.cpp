#include "analysis/check/skeleton.h"

#include <algorithm>

#include "core/lower/collective_contract.h"

namespace stave::check {
namespace {

void add_parts(const Expanded& e, CommandId id, Skeleton& out, Skeleton::Item& item) {
  if (const CollectiveAttributes* attributes = attributes_of(e[id])) {
    out.parts.add(id);
    const bool on_sms = attributes->algorithm != Algorithm::CopyEngine;
    item.on_sms |= on_sms;
    if (on_sms) item.ctas = std::max(item.ctas, attributes->max_ctas);
  }
  for (const CommandRegionId region : e[id].regions)
    for (const CommandId member : e.regions[region].commands) add_parts(e, member, out, item);
}

void turn_round(Skeleton& s) {
  std::vector<std::uint32_t> first(s.items.size() + 1, 0);
  for (const ItemId before : s.after) ++first[before.value + 1];
  for (std::size_t i = 0; i < s.items.size(); ++i) {
    s.items[ItemId{i}].dependents = {first[i], first[i + 1]};
    first[i + 1] += first[i];
  }
  s.dependents.raw().resize(s.after.size());
  for (std::uint32_t i = 0; i < s.items.size(); ++i)
    for (const Id<AfterTag> ref : s.items[ItemId{i}].after)
      s.dependents[Id<DependentTag>{first[s.after[ref].value]++}] = ItemId{i};
}

}  // namespace

Skeleton skeleton_of(const RankClass& rank_class, const Line& line, const Clocks& clocks) {
  const Expanded& e = rank_class.expanded;
  Skeleton out;
  std::vector<std::vector<ItemId>> of_stream(line.streams);
  const auto position = [&](ItemId item) { return line.nodes[out.items[item].node].position; };
  for (std::uint32_t i = 0; i < line.nodes.size(); ++i) {
    const LineNode& node = line.nodes[NodeIndex{i}];
    if (node.kind != LineNode::Kind::Collective) continue;
    Skeleton::Item item{.node = NodeIndex{i},
                        .command = node.command,
                        .communicator = communicator_of(e, node.command),
                        .on_sms = false};
    const std::size_t part = out.parts.size();
    add_parts(e, node.command, out, item);
    item.parts = out.parts.range_from(part);
    const std::size_t after = out.after.size();
    for (std::uint32_t s = 0; s < line.streams; ++s) {
      const std::vector<ItemId>& before = of_stream[s];
      const auto end = std::partition_point(before.begin(), before.end(), [&](ItemId other) {
        return position(other) < clocks.at(item.node, StreamId{s});
      });
      if (end != before.begin()) out.after.add(*std::prev(end));
    }
    item.after = out.after.range_from(after);
    of_stream[node.stream.value].push_back(out.items.add(item));
  }
  turn_round(out);
  return out;
}

}  // namespace stave::check
