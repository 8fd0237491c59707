#include "tests/checker/random_schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

namespace stave {

namespace {

constexpr std::int64_t elements = 8;        // of each data buffer
constexpr std::int64_t most_inputs = 64;    // combinations of values of predicates' parameters
constexpr std::int64_t counter_values = 4;  // of an s32

// Slots of a buffer that somebody may be reading or writing, a bit each.
struct Slots {
  std::uint32_t reads = 0, writes = 0;
};

struct DataBuffer {
  std::string name;
  std::string declaration;
  bool scratch = false;
  bool writable = true;
  bool host = false;
  std::uint32_t written = 0;  // slots, as far as the text so far says
};

struct DataView {
  std::size_t buffer = 0;
  std::uint32_t slots = 0;  // on some rank
  std::string text;
};

struct OpenToken {
  std::string name;
  int level = 0;            // of the block that it was started in
  std::vector<Slots> uses;  // by buffer
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : state_(seed) {}

  RandomSchedule make() {
    RandomSchedule out;
    out.mode = static_cast<Mode>(std::min<std::uint64_t>(pick(5) / 2, 2));
    mode_ = out.mode;
    choose_mesh();
    choose_care();
    choose_buffers();
    left_ = 2 + static_cast<int>(std::max(pick(9), pick(9)));
    block(0, {}, 0, 0);
    out.text = text();
    return out;
  }

 private:
  // What stands around a statement.
  struct Around {
    bool conditional = false;  // a body of a cond, switch or while
    bool loop = false;
    bool apart = false;  // ranks may decide differently
    std::uint64_t axes_apart = 0;
  };

  // splitmix64 (Steele, Lea, Flood 2014).
  std::uint64_t pick(std::uint64_t below) {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
  }
  bool chance(std::uint64_t percent) { return pick(100) < percent; }
  template <class T>
  const T& one_of(const std::vector<T>& from) {
    return from[pick(from.size())];
  }

  // ---- the head ----

  void choose_mesh() {
    static const std::vector<std::vector<std::int64_t>> meshes{{1}, {2}, {2}, {2}, {2}, {3}, {3}, {2, 2}};
    mesh_ = one_of(meshes);
    ranks_ = 1;
    for (const std::int64_t size : mesh_) ranks_ *= size;
    if (ranks_ > 1 && chance(30)) split_ = 1 + static_cast<std::int64_t>(pick(static_cast<std::uint64_t>(ranks_ - 1)));
  }

  // How often what would race, or be read too early, or not be met, is avoided.
  void choose_care() {
    const auto percent = [&](std::uint64_t whole) { return chance(whole) ? 100 : chance(50) ? 80 : 0; };
    care_races_ = percent(20);
    care_reads_ = percent(70);
    care_ranks_ = percent(15);
    big_ = chance(ranks_ > 2 ? 10 : 30);
    branches_ = static_cast<std::int64_t>(2 + pick(2));
  }

  void choose_buffers() {
    const auto add = [&](std::string_view name, std::string_view how, bool scratch, bool writable, bool host) {
      DataBuffer b;
      b.name = name;
      b.declaration = fmt::format("{} {}f32[{}]", how, host ? "host " : "", elements);
      b.scratch = scratch;
      b.writable = writable;
      b.host = host;
      b.written = how == "in" || how == "inout" ? all_slots : 0;
      buffers_.push_back(b);
    };
    add("a", "in", false, false, false);
    const std::size_t n = 1 + pick(2);
    for (std::size_t i = 0; i < n; ++i) add(std::string(1, static_cast<char>('b' + i)), "inout", false, true, false);
    if (chance(50)) add("o", "out", false, true, false);
    if (chance(60)) add("s", "scratch", true, true, false);
    if (chance(30)) add("u", "scratch", true, true, false);
    if (chance(15)) add("h", "inout", false, true, true);
    used_.resize(1);
    used_[0].uses.resize(buffers_.size());
  }

  std::string text() const {
    std::string out = "stave 1\nmesh x = " + std::to_string(mesh_[0]);
    if (mesh_.size() > 1) out += ", y = " + std::to_string(mesh_[1]);
    out += "\n";
    for (int side = 0; side < (split_ ? 2 : 1); ++side) {
      out += fmt::format("func @{}(\n", side == 0 ? "f" : "g");
      std::vector<std::string> formals = predicates_;
      for (const DataBuffer& b : buffers_)
        if (!b.scratch) formals.push_back(fmt::format("%{}: {}", b.name, b.declaration));
      for (std::size_t i = 0; i < formals.size(); ++i)
        out += fmt::format("  {}{}\n", formals[i], i + 1 < formals.size() ? "," : "");
      out += ") {\n";
      for (const DataBuffer& b : buffers_)
        if (b.scratch) out += fmt::format("  %{} = {}\n", b.name, b.declaration);
      for (const std::string& line : scratches_) out += line;
      out += body_[static_cast<std::size_t>(side)] + "}\n";
    }
    if (split_) {
      const auto span = [](std::int64_t from, std::int64_t to) {
        return from == to ? std::to_string(from) : fmt::format("{} .. {}", from, to);
      };
      out += fmt::format("entry @f on {}\nentry @g on {}\n", span(0, *split_ - 1), span(*split_, ranks_ - 1));
    }
    return out;
  }

  // ---- lines, for both entries ----

  void line(int depth, std::string_view f) { line(depth, f, f); }
  void line(int depth, std::string_view f, std::string_view g) {
    const std::string indent(static_cast<std::size_t>(2 * depth + 2), ' ');
    if (!f.empty()) body_[0] += fmt::format("{}{}\n", indent, f);
    if (!g.empty()) body_[1] += fmt::format("{}{}\n", indent, g);
  }

  // ---- statements ----

  // Tokens of the blocks from `floor` on may be done in this one, of the others not.
  void block(int depth, Around around, int level, int floor) {
    const int statements = depth == 0 ? 30 : 1 + static_cast<int>(pick(around.conditional ? 2 : 3));
    for (int i = 0; i < statements && left_ > 0; ++i) statement(depth, around, level, floor);
    while (const auto token = some_token(level, level)) done(depth, *token);
  }

  std::optional<std::size_t> some_token(int from, int to) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < open_.size(); ++i)
      if (open_[i].level >= from && open_[i].level <= to) found.push_back(i);
    if (found.empty()) return std::nullopt;
    return one_of(found);
  }

  // What waits for the body that this stands in waits for the token too.
  void done(int depth, std::size_t token) {
    line(depth, fmt::format("async_done %{}", open_[token].name));
    add_uses(open_[token]);
    open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(token));
  }

  void add_uses(const OpenToken& token) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      used_.back().uses[i].reads |= token.uses[i].reads;
      used_.back().uses[i].writes |= token.uses[i].writes;
    }
  }

  void statement(int depth, Around around, int level, int floor) {
    if (chance(12))
      if (const auto token = some_token(level, level)) return done(depth, *token);
    if (chance(8))
      if (const auto token = some_token(floor, level - 1)) return done(depth, *token);
    const std::uint64_t kind = pick(100);
    if (kind < 24) return compute(depth, around);
    if (kind < 46) return collective_statement(depth, around);
    if (kind < 50) return group(depth, around);
    if (kind < 54) return channel(depth, around);
    if (depth >= 3) return compute(depth, around);
    if (kind < 88) return async(depth, around, level, floor);
    return conditional(depth, around, level);
  }

  void async(int depth, Around around, int level, int floor) {
    static const std::vector<std::string> streams{"computation 0", "computation 1", "communication 0"};
    const std::string name = fmt::format("t{}", tokens_++);
    line(depth, fmt::format("%{} = async_start (stream = {}) {{", name, one_of(streams)));
    used_.push_back({name, level, std::vector<Slots>(buffers_.size())});
    block(depth + 1, around, level + 1, floor);
    line(depth, "}");
    open_.push_back(std::move(used_.back()));
    used_.pop_back();
  }

  // ---- views ----

  bool free_now(std::size_t buffer, std::uint32_t slots, bool writes) const {
    for (const OpenToken& t : open_) {
      const Slots& s = t.uses[buffer];
      if ((s.writes & slots) != 0 || (writes && (s.reads & slots) != 0)) return false;
    }
    return true;
  }

  std::optional<DataView> view(std::int64_t count, bool writes, bool host, std::optional<std::size_t> not_of) {
    for (int attempt = 0; attempt < 12; ++attempt) {
      DataView v;
      v.buffer = pick(buffers_.size());
      const DataBuffer& b = buffers_[v.buffer];
      if (b.host != host || (writes && !b.writable) || v.buffer == not_of) continue;
      const auto slots_at = [&](std::int64_t first) {
        return ((1u << count) - 1u) << static_cast<std::uint32_t>(first);
      };
      const std::int64_t along = ranks_ > 1 && chance(15) ? static_cast<std::int64_t>(pick(mesh_.size())) : -1;
      if (along >= 0 && mesh_[static_cast<std::size_t>(along)] > 1 &&
          count * mesh_[static_cast<std::size_t>(along)] <= elements) {
        const std::int64_t size = mesh_[static_cast<std::size_t>(along)];
        const std::string axis = along == 0 ? "x" : "y";
        for (std::int64_t i = 0; i < size; ++i) v.slots |= slots_at(i * count);
        v.text = fmt::format("%{}[axis_index({}) * {}:+{}]", b.name, axis, count, count);
      } else {
        const std::int64_t step = chance(60) ? std::max<std::int64_t>(count, 2) : 1;
        const auto first =
            static_cast<std::int64_t>(pick(static_cast<std::uint64_t>((elements - count) / step + 1))) * step;
        v.slots = slots_at(first);
        v.text =
            count == elements ? fmt::format("%{}", b.name) : fmt::format("%{}[{}:{}]", b.name, first, first + count);
      }
      if (chance(care_races_) && !free_now(v.buffer, v.slots, writes)) continue;
      if (!writes && chance(care_reads_) && (b.written & v.slots) != v.slots) continue;
      return v;
    }
    return std::nullopt;
  }

  void use(const DataView& v, bool writes, Around around) {
    if (writes && !around.conditional) buffers_[v.buffer].written |= v.slots;
    Slots& s = used_.back().uses[v.buffer];
    (writes ? s.writes : s.reads) |= v.slots;
  }

  std::int64_t some_count() { return one_of(std::vector<std::int64_t>{1, 2, 4, 4, 8}); }

  // ---- commands ----

  void compute(int depth, Around around) {
    const std::int64_t count = some_count();
    const std::uint64_t kind = pick(10);
    const bool from_host = kind == 8 && !around.conditional, to_host = kind == 9 && !around.conditional;
    const auto to = view(count, true, to_host, std::nullopt);
    if (!to) return;
    if (kind < 2) {
      line(depth, fmt::format("memzero -> {}", to->text));
    } else {
      const auto from = view(count, false, from_host, to->buffer);
      if (!from) return;
      const auto second = view(count, false, false, to->buffer);
      if (kind < 4 && second) {
        line(depth, fmt::format("map {}, {} -> {} (f = |v, w| v + w)", from->text, second->text, to->text));
        use(*second, false, around);
      } else if (kind < 6 && !from_host && !to_host) {
        line(depth, fmt::format("map {} -> {} (f = |v| v * 2.0)", from->text, to->text));
      } else {
        line(depth, fmt::format("copy {} -> {}", from->text, to->text));
      }
      use(*from, false, around);
    }
    use(*to, true, around);
    --left_;
  }

  // ---- collectives ----

  struct Clique {
    std::string text;  // of the attributes
    std::int64_t size = 1;
    bool even = true;  // all groups have one size
    std::uint64_t axes = 1;
  };

  Clique clique() {
    Clique c;
    if (mesh_.size() > 1) {
      const std::uint64_t kind = pick(5);
      if (kind == 0) return {"axis = x", mesh_[0], true, 1};
      if (kind == 1) return {"axis = y", mesh_[1], true, 2};
      if (kind == 2) return {"axis = [x, y]", 4, true, 3};
      if (kind == 3) return {"axis = [x, y], groups = [[0, 3], [1, 2]]", 2, true, 3};
      return {"axis = [y, x]", 4, true, 3};
    }
    c = {"axis = x", mesh_[0], true, 1};
    if (mesh_[0] == 2 && chance(6)) return {"axis = x, groups = [[0], [1]]", 1, true, 1};
    if (mesh_[0] == 2 && chance(4)) return {"axis = x, groups = [[1, 0]]", 2, true, 1};
    if (mesh_[0] == 3 && chance(15)) return {"axis = x, groups = [[0, 2], [1]]", 1, false, 1};
    return c;
  }

  std::string extras(int number) {
    std::string out;
    if (number >= 0) out += fmt::format(", communicator = {}", number);
    if (big_ ? chance(70) : chance(5))
      out += fmt::format(", max_ctas = {}", one_of(std::vector<int>{1, 40, 66, 100, 132}));
    return out;
  }
  int communicator() { return chance(50) ? -1 : static_cast<int>(pick(3)); }

  bool may_meet(Around around, std::uint64_t axes) { return (around.axes_apart & axes) == 0 || !chance(care_ranks_); }

  // A collective by its words; `other` says what the second entry has instead.
  struct Words {
    std::string f, g;
  };
  std::optional<Words> collective(const Clique& c, int number, Around around, std::vector<DataView>* written) {
    const std::uint64_t kind = pick(c.even ? 6 : 2);
    const std::int64_t n = c.size;
    const std::int64_t count = one_of(std::vector<std::int64_t>{1, 1, 2});
    std::int64_t from_count = count, to_count = count;
    if (kind == 2) to_count = count * n;
    if (kind == 3) from_count = count * n;
    if (kind == 4) from_count = to_count = count * n;
    if (std::max(from_count, to_count) > elements) return std::nullopt;
    const auto from = view(from_count, false, false, std::nullopt);
    if (!from) return std::nullopt;
    const auto to = chance(20) && kind < 2 && buffers_[from->buffer].writable &&
                            (!chance(care_races_) || free_now(from->buffer, from->slots, true))
                        ? from
                        : view(to_count, true, false, from->buffer);
    if (!to) return std::nullopt;
    if (written != nullptr) {
      for (const DataView& w : *written)
        if (w.buffer == to->buffer || w.buffer == from->buffer) return std::nullopt;
      written->push_back(*to);
    }
    const std::string more = extras(number);
    const std::string views = fmt::format("{} -> {}", from->text, to->text);
    const std::string tail = fmt::format("{}{}", c.text, more);
    Words w;
    switch (kind) {
      case 0: w.f = fmt::format("all_reduce {} ({}, reduction = sum)", views, tail); break;
      case 1:
        w.f =
            fmt::format("broadcast {} ({}, root = {})", views, tail, c.even ? pick(static_cast<std::uint64_t>(n)) : 0);
        break;
      case 2: w.f = fmt::format("all_gather {} ({})", views, tail); break;
      case 3: w.f = fmt::format("reduce_scatter {} ({}, reduction = sum)", views, tail); break;
      case 4: w.f = fmt::format("all_to_all {} ({})", views, tail); break;
      default:
        if (n > 1 && chance(50)) {
          w.f = fmt::format("collective_permute {} ({}, pairs = [0 -> {}])", views, tail, n - 1);
        } else {
          w.f = fmt::format("collective_permute {} ({}, shift = 1)", views, tail);
        }
    }
    if (kind == 2 && chance(15)) w.f.insert(w.f.size() - 1, ", algorithm = copy_engine");
    w.g = w.f;
    use(*from, false, around);
    use(*to, true, around);
    if (split_ && !chance(care_ranks_)) deviate(w, views, tail);
    return w;
  }

  void deviate(Words& w, const std::string& views, const std::string& tail) {
    const auto replace = [&](std::string_view what, std::string_view with) {
      if (const std::size_t at = w.g.find(what); at != std::string::npos) w.g.replace(at, what.size(), with);
    };
    switch (pick(6)) {
      case 0: w.g.clear(); break;
      case 1: replace("reduction = sum", "reduction = max"); break;
      case 2: replace("root = 0", "root = 1"); break;
      case 3: w.g = fmt::format("collective_permute {} ({}, shift = 1)", views, tail); break;
      case 4: replace("communicator = 0", "communicator = 1"); break;
      default: w.f.clear(); break;
    }
  }

  void collective_statement(int depth, Around around) {
    const Clique c = clique();
    if (!may_meet(around, c.axes)) return;
    const auto words = collective(c, communicator(), around, nullptr);
    if (!words) return;
    // Two in a row may change places in the second entry.
    if (split_ && !chance(care_ranks_) && chance(50)) {
      const Clique other = chance(70) ? c : clique();
      if (const auto next = collective(other, communicator(), around, nullptr)) {
        line(depth, words->f, next->g);
        line(depth, next->f, words->g);
        left_ -= 2;
        return;
      }
    }
    line(depth, words->f, words->g);
    --left_;
  }

  void group(int depth, Around around) {
    const Clique c = clique();
    if (!may_meet(around, c.axes)) return;
    const int number = communicator();
    std::vector<DataView> written;
    std::vector<Words> parts;
    for (int i = 0; i < 2; ++i)
      if (auto words = collective(c, number, around, &written)) parts.push_back(*words);
    if (parts.empty() || parts[0].f.empty() || parts[0].g.empty()) return;
    line(depth, "collective_group {");
    for (const Words& words : parts) line(depth + 1, words.f, words.g);
    line(depth, "}");
    left_ -= static_cast<int>(parts.size());
  }

  // A send and a recv around the ring: together, in two orders, or wrongly.
  void channel(int depth, Around around) {
    const std::int64_t n = mesh_[0];
    if (n == 1 || !may_meet(around, 1)) return;
    const std::int64_t count = one_of(std::vector<std::int64_t>{1, 2});
    const auto from = view(count, false, false, std::nullopt);
    if (!from) return;
    const auto to = view(count, true, false, from->buffer);
    if (!to) return;
    use(*from, false, around);
    use(*to, true, around);
    const std::string more = extras(communicator());
    const std::string send =
        fmt::format("send {} (axis = x, peer = (axis_index(x) + 1) mod {}{})", from->text, n, more);
    const std::string recv =
        fmt::format("recv -> {} (axis = x, peer = (axis_index(x) + {}) mod {}{})", to->text, n - 1, n, more);
    left_ -= 2;
    const std::uint64_t kind = pick(10);
    if (split_ && mesh_.size() == 1 && kind < 4) {
      line(depth, send, recv);
      line(depth, recv, send);
    } else if (kind < 8 || chance(care_ranks_)) {
      line(depth, "collective_group {");
      line(depth + 1, send);
      line(depth + 1, recv);
      line(depth, "}");
    } else if (kind < 9) {
      line(depth, send);
      line(depth, recv);
    } else {
      line(depth, chance(50) ? send : recv);
    }
  }

  // ---- control flow ----

  // A parameter for predicates: how many values of how many ranks it has.
  struct Predicate {
    std::string name;
    std::string type;
    std::uint64_t axes_apart = 0;
    bool shared = true;  // several may read it
  };

  std::optional<Predicate> new_predicate(std::string_view type, std::int64_t values, std::string_view direction) {
    Predicate p;
    p.type = type;
    std::string uniform;
    std::int64_t copies = 1;
    for (std::size_t axis = 0; axis < mesh_.size(); ++axis) {
      if (chance(65)) {
        uniform += fmt::format("{}{}", uniform.empty() ? "" : ", ", axis == 0 ? "x" : "y");
      } else if (mesh_[axis] > 1) {
        copies *= mesh_[axis];
        p.axes_apart |= std::uint64_t{1} << axis;
      }
    }
    std::int64_t all = inputs_;
    for (std::int64_t i = 0; i < copies && all <= most_inputs; ++i) all *= values;
    if (all > most_inputs) return std::nullopt;
    inputs_ = all;
    p.name = fmt::format("p{}", predicates_.size());
    predicates_.push_back(fmt::format("%{}: {} {}[]{}", p.name, direction, type,
                                      uniform.empty() ? "" : fmt::format(" (uniform = [{}])", uniform)));
    return p;
  }

  std::optional<Predicate> direct(std::string_view type, std::int64_t values) {
    std::vector<Predicate> known;
    for (const Predicate& p : direct_)
      if (p.type == type) known.push_back(p);
    if (!known.empty() && chance(50)) return one_of(known);
    auto made = new_predicate(type, values, "in");
    if (made) direct_.push_back(*made);
    return made;
  }

  // A scratch that a parameter is copied, compared or broadcast to.
  std::optional<Predicate> derived(int depth) {
    const std::uint64_t kind = pick(3);
    auto from = kind == 1 ? new_predicate("s32", counter_values, "in") : new_predicate("bool", 2, "in");
    if (!from) return std::nullopt;
    const std::string name = fmt::format("d{}", scratches_.size());
    scratches_.push_back(fmt::format("  %{} = scratch bool[]\n", name));
    if (kind == 0) line(depth, fmt::format("copy %{} -> %{}", from->name, name));
    if (kind == 1) line(depth, fmt::format("map %{} -> %{} (f = |v| v > 1)", from->name, name));
    if (kind == 2) {
      line(depth, fmt::format("broadcast %{} -> %{} (axis = x, root = 0)", from->name, name));
      from->axes_apart &= ~std::uint64_t{1};
    }
    from->name = name;
    --left_;
    return from;
  }

  void conditional(int depth, Around around, int level) {
    const std::uint64_t kind = pick(10);
    if (kind < 3 && !around.loop) return loop(depth, around, level);
    Around inside = around;
    inside.conditional = true;
    if (kind < 5) {
      const auto index = direct("s32", branches_ + 1);
      if (!index) return;
      inside.axes_apart |= index->axes_apart;
      --left_;
      line(depth, fmt::format("switch %{} branch {{", index->name));
      for (std::int64_t i = 0; i < branches_; ++i) {
        block(depth + 1, inside, level + 1, level + 1);
        line(depth, i + 1 < branches_ ? "} branch {" : "}");
      }
      return;
    }
    const bool derives = !around.conditional && (around.axes_apart == 0 || care_ranks_ == 0) && chance(30);
    const auto p = derives ? derived(depth) : direct("bool", 2);
    if (!p) return;
    inside.axes_apart |= p->axes_apart;
    --left_;
    line(depth, fmt::format("cond %{} then {{", p->name));
    block(depth + 1, inside, level + 1, level + 1);
    if (chance(50)) {
      line(depth, "} else {");
      block(depth + 1, inside, level + 1, level + 1);
    }
    line(depth, "}");
  }

  void loop(int depth, Around around, int level) {
    const auto counter = new_predicate("s32", counter_values, "inout");
    if (!counter) return;
    Around inside = around;
    inside.conditional = inside.loop = true;
    inside.axes_apart |= counter->axes_apart;
    const std::string go = fmt::format("g{}", scratches_.size());
    scratches_.push_back(fmt::format("  %{} = scratch bool[]\n", go));
    line(depth, fmt::format("while %{} condition {{", go));
    line(depth + 1, fmt::format("map %{} -> %{} (f = |n| n > 0)", counter->name, go));
    line(depth, "} body {");
    line(depth + 1, fmt::format("map %{} -> %{} (f = |n| n - 1)", counter->name, counter->name));
    left_ -= 2;
    block(depth + 1, inside, level + 1, level + 1);
    line(depth, "}");
  }

  static constexpr std::uint32_t all_slots = (1u << elements) - 1;

  std::uint64_t state_;
  Mode mode_ = Mode::Eager;
  std::vector<std::int64_t> mesh_;
  std::int64_t ranks_ = 1;
  std::optional<std::int64_t> split_;  // first rank of the second entry
  std::uint64_t care_races_ = 100, care_reads_ = 100, care_ranks_ = 100;
  bool big_ = false;           // collectives of many CTAs
  std::int64_t branches_ = 2;  // of every switch, so that those of one index fall alike
  std::vector<DataBuffer> buffers_;
  std::vector<OpenToken> open_;  // that nobody here waited for
  std::vector<OpenToken> used_;  // by async bodies around: what they touch; [0] is the entry
  std::array<std::string, 2> body_;
  std::vector<std::string> predicates_;  // formals
  std::vector<std::string> scratches_;
  std::vector<Predicate> direct_;
  std::int64_t inputs_ = 1;
  std::size_t tokens_ = 0;
  int left_ = 0;  // commands
};

}  // namespace

RandomSchedule random_schedule(std::uint64_t seed) { return Generator(seed).make(); }

}  // namespace stave
