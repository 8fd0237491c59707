#include "core/ir/expand_text.h"

#include <unordered_map>

#include "core/ir/expand_coord.h"

namespace stave {
namespace {

class Writer {
 public:
  explicit Writer(const Expanded& e) : e_(e) {
    std::unordered_map<StringId, int> uses;
    for (const Buffer& b : e.buffers) ++uses[b.name];
    for (const BufferId id : e.buffers.all()) {
      const Buffer& b = e.buffers[id];
      names_.push_back(uses[b.name] == 1 ? fmt::format("%{}", e.module->text(b.name))
                                         : fmt::format("%{}#{}", e.module->text(b.name), id.value));
    }
  }

  std::string view(const View& v) const {
    std::string offset;
    if (v.offset.varying)
      offset = fmt::format("+({})", coord_text(e_.coord_exprs, e_.mesh, v.offset));
    else if (v.offset.constant != 0)
      offset = fmt::format("+{}", v.offset.constant);
    return fmt::format("{}{} {}", names_[v.buffer.value], offset, type_text(v.dtype, e_.shape(v)));
  }

  void entry(std::string& out) const {
    out += fmt::format("entry @{} on {}\n", e_.module->text(e_.module->functions[e_.entry].name), ranks());
    for (const BufferId id : e_.buffers.all()) {
      const Buffer& b = e_.buffers[id];
      const std::string_view kind = b.kind == Buffer::Kind::Parameter ? name_of(b.direction)
                                    : b.kind == Buffer::Kind::Scratch ? "scratch"
                                                                      : "constant";
      out += fmt::format("  {} {} {}{}\n", kind, names_[id.value],
                         b.space == Space::Device ? "" : fmt::format("{} ", name_of(b.space)),
                         type_text(b.dtype, b.shape));
    }
    region(out, e_.body, 1);
  }

 private:
  // "ranks 0..3, 6"
  std::string ranks() const {
    std::string out = "ranks ";
    for (std::size_t i = 0; i < e_.ranks.size();) {
      std::size_t j = i;
      while (j + 1 < e_.ranks.size() && e_.ranks[j + 1] == e_.ranks[j] + 1) ++j;
      out += i == 0 ? "" : ", ";
      out += i == j ? fmt::format("{}", e_.ranks[i]) : fmt::format("{}..{}", e_.ranks[i], e_.ranks[j]);
      i = j + 1;
    }
    return out;
  }

  std::string token(TokenId id) const {
    return fmt::format("%{}", id && e_.tokens[id].name ? e_.module->text(e_.tokens[id].name) : "?");
  }

  void region(std::string& out, CommandRegionId id, std::size_t depth) const {
    for (const CommandId c : e_.regions[id].commands) command(out, c, depth);
  }

  void command(std::string& out, CommandId id, std::size_t depth) const {
    const Command& c = e_[id];
    out += std::string(depth * 2, ' ') + e_.path(id) + ": ";
    if (const auto* start = std::get_if<AsyncStart>(&c.payload))
      out += fmt::format("{} = async_start on {} {}", token(c.token),
                         start->stream.kind == StreamRef::Kind::Computation ? "computation" : "communication",
                         start->stream.number);
    else if (std::holds_alternative<AsyncDone>(c.payload))
      out += fmt::format("async_done {}", token(c.token));
    else
      out += info_of(kind_of_payload(c.payload)).name;
    const char* comma = " ";
    for (const ViewId v : c.operands) {
      out += comma + view(e_[v]);
      comma = ", ";
    }
    if (!c.results.empty()) out += " ->";
    comma = " ";
    for (const ViewId v : c.results) {
      out += comma + view(e_[v]);
      comma = ", ";
    }
    out += '\n';
    for (const CommandRegionId r : c.regions) {
      const StringId label = e_.regions[r].label;
      if (label) out += fmt::format("{}{}:\n", std::string(depth * 2 + 1, ' '), e_.module->text(label));
      region(out, r, depth + 1);
    }
  }

  const Expanded& e_;
  std::vector<std::string> names_;
};

}  // namespace

std::string type_text(Dtype dtype, std::span<const std::int64_t> shape) {
  std::string out = fmt::format("{}[", name_of(dtype));
  for (std::size_t i = 0; i < shape.size(); ++i) out += fmt::format("{}{}", i == 0 ? "" : ", ", shape[i]);
  return out + "]";
}

std::string view_text(const Expanded& expanded, const View& view) { return Writer(expanded).view(view); }

// Enough to find the place; chains of calls may be 256 long.
constexpr std::size_t max_context_notes = 12;

std::vector<Note> context_notes(const Expanded& e, FrameId frame, IterationId iteration) {
  const Module& m = *e.module;
  std::vector<Note> out;
  while (true) {
    std::string indices;
    for (; iteration; iteration = e.iterations[iteration].outer) {
      const Iteration& i = e.iterations[iteration];
      indices = fmt::format("{} = {}{}{}", m.text(i.index), i.value, indices.empty() ? "" : ", ", indices);
    }
    if (!indices.empty()) out.push_back({"with " + indices, {}});
    if (!frame || !e.frames[frame].caller) return out;
    const Frame& f = e.frames[frame];
    if (out.size() >= max_context_notes) {
      out.push_back({"and in more calls around it", {}});
      return out;
    }
    out.push_back(
        {fmt::format("in the call of @{}", m.text(m.functions[f.function].name)), m.place(m.ops[f.call].loc)});
    iteration = f.iteration;
    frame = f.caller;
  }
}

std::string expansion_text(const Expansion& expansion) {
  std::string out;
  for (const Expanded& e : expansion.classes) Writer(e).entry(out);
  return out;
}

}  // namespace stave
