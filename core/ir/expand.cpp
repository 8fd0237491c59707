#include <array>
#include <utility>

#include "core/ir/expand_attributes.h"
#include "core/ir/expand_pending.h"
#include "core/ir/expand_prepare.h"
#include "core/ir/expand_signatures.h"
#include "core/ir/expand_text.h"
#include "core/ir/expand_tokens.h"
#include "core/ir/expand_views.h"

namespace stave {
namespace {

constexpr std::uint32_t none = 0xffffffff;

// The buffers that one call in the text has, whatever iteration it is in (rule 7).
struct CallInText {
  std::vector<BufferId> buffers;
  std::vector<std::pair<OpId, std::uint32_t>> calls;  // of its own, by the call's op
};

class Expander {
 public:
  Expander(std::shared_ptr<const Module> module, const Prepared& prepared, const Mesh& mesh, Evaluation& names,
           std::int64_t max_commands)
      : module_(std::move(module)),
        m_(*module_),
        prepared_(prepared),
        names_(names),
        limit_(max_commands),
        coords_(out_.coord_exprs, out_.mesh),
        attributes_(names, out_),
        views_(names, out_),
        signatures_(names, views_, out_),
        scopes_(m_.strings.size()),
        tokens_(names, scopes_, out_.tokens) {
    out_.module = module_;
    out_.mesh = mesh;
    out_.ordinals = prepared.ordinals;
  }

  Result<Expanded> run(const EntryRanks& entry) {
    out_.entry = entry.function;
    out_.ranks = entry.ranks;
    names_.use_coords(&coords_);
    for (std::size_t i = 0; i < m_.params.size(); ++i)
      if (names_.params()[i].is_plain_integer())
        out_.params.emplace_back(m_.text(m_.params[i].name), names_.params()[i].integer.constant);
    payload_of_op_.assign(m_.ops.size(), none);
    frame_ = out_.frames.add({{}, entry.function, {}, {}});
    calls_in_text_.emplace_back();
    Result<void> done = body(entry);
    if (!done) {
      Problems problems = std::move(done).problems();
      for (Note& note : context_notes(out_, frame_, iteration_)) problems[0].notes.push_back(std::move(note));
      return Failure(std::move(problems));
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  Failure fail(Loc loc, std::string_view code, fmt::format_string<Args...> format, Args&&... args) const {
    return error_at(m_.place(loc), code, format, std::forward<Args>(args)...);
  }
  std::span<const std::int64_t> dims(IdRange<DimTag> range) const {
    return std::span<const std::int64_t>(out_.dims.raw()).subspan(range.first, range.count);
  }

  Result<void> body(const EntryRanks& entry) {
    const Function& f = m_.functions[entry.function];
    scopes_.enter(Scopes::Kind::Function);
    names_.enter_function();
    TRY(const auto* types, signatures_.types(entry.function));
    for (std::size_t i = 0; i < f.formals.size(); ++i) {
      const Formal& formal = m_.formals[f.formals[i]];
      Buffer buffer;
      buffer.kind = Buffer::Kind::Parameter;
      buffer.direction = formal.direction;
      buffer.name = formal.name;
      buffer.loc = formal.loc;
      for (const Id<Attr> id : formal.attrs)
        if (m_.text(m_.attrs[id].name) == "uniform") TRY_VOID(attributes_.evaluate(m_.attrs[id].value, buffer.uniform));
      const FormalType& type = (*types)[i];
      TRY_VOID(define_buffer(std::move(buffer), type.size, type.dtype, type.space, formal.name, formal.loc));
      out_.parameters.push_back(BufferId{out_.buffers.size() - 1});
    }
    TRY(const CommandRegion region, closed_region(f.body));
    out_.body = out_.regions.add(region);
    names_.leave_function();
    scopes_.leave();
    return {};
  }

  Result<void> free_name(StringId name, Loc loc) const {
    const Scopes::Binding* b = scopes_.find(name);
    if (!b) return {};
    Failure out = fail(loc, "STV0226", "%{} is already defined here", m_.text(name));
    out.problems[0].notes.push_back({"by this", m_.place(b->loc)});
    return out;
  }

  View whole(BufferId id, const TypeSize& size, Loc loc) const {
    View v;
    v.buffer = id;
    v.dtype = out_.buffers[id].dtype;
    v.shape = size.shape;
    v.bytes = size.bytes;
    v.loc = loc;
    return v;
  }

  Result<void> define_buffer(Buffer buffer, const TypeSize& size, Dtype dtype, Space space, StringId name, Loc loc) {
    TRY_VOID(free_name(name, loc));
    buffer.dtype = dtype;
    buffer.space = space;
    buffer.bytes = size.bytes;
    const auto shape = dims(size.shape);
    buffer.shape.assign(shape.begin(), shape.end());
    const Access access = buffer.kind == Buffer::Kind::Constant ? Access::Constant
                          : buffer.kind == Buffer::Kind::Parameter && buffer.direction == Direction::In
                              ? Access::In
                              : Access::Writable;
    const BufferId id = out_.buffers.add(std::move(buffer));
    scopes_.define_view(name, {whole(id, size, loc), access}, loc);
    return {};
  }

  Result<void> step(Loc loc) {
    // Statements that give no command cost work too.
    if (++steps_ <= limit_ / 5 + 1000) return {};
    return fail(repeats_.empty() ? loc : repeats_.back(), "STV0225",
                "expansion takes more than {} statements and iterations, with few commands in them", steps_ - 1);
  }
  Failure too_many(Loc loc) const {
    return fail(repeats_.empty() ? loc : repeats_.back(), "STV0225", "the schedule has more than {} commands", limit_);
  }

  Result<void> statements(RegionId id) {
    if (depth_ >= max_expand_nesting)
      return fail(m_.regions[id].loc, "STV0219", "calls and regions are nested more than {} deep", max_expand_nesting);
    ++depth_;
    for (const OpId op : m_.regions[id].ops) {
      TRY_VOID(step(m_.ops[op].loc));
      TRY_VOID(statement(op));
    }
    --depth_;
    return {};
  }

  // The commands of a region, stored next to each other; nested ones stand before.
  Result<CommandRegion> closed_region(RegionId id) {
    const std::size_t first = pending_.size();
    TRY_VOID(statements(id));
    CommandRegion region;
    region.label = m_.regions[id].label;
    region.commands.first = static_cast<std::uint32_t>(out_.commands.size());
    region.commands.count = static_cast<std::uint32_t>(pending_.size() - first);
    // Growing by doubling would touch twice the memory for the one large region of a schedule.
    if (region.commands.count > out_.commands.size())
      out_.commands.reserve(out_.commands.size() + region.commands.count);
    for (std::size_t i = first; i < pending_.size(); ++i) {
      const CommandId at = out_.commands.add(pending_[i]);
      const Command& c = out_.commands[at];
      if (!c.token) continue;
      Token& token = out_.tokens[c.token];
      (std::holds_alternative<AsyncStart>(c.payload) ? token.start : token.done) = at;
    }
    pending_.truncate(first);
    return region;
  }

  Result<void> statement(OpId id) {
    const Op& op = m_.ops[id];
    if (op.kind == kind_of<Scratch> || op.kind == kind_of<Constant>) return allocation(op);
    if (op.kind == kind_of<ViewOp>) return view(op);
    if (op.kind == kind_of<Call>) return call(id, op);
    if (op.kind == kind_of<Repeat>) return repeat(op);
    if (op.kind == kind_of<When>) return when(op);
    return command(id, op);
  }

  Result<void> allocation(const Op& op) {
    CallInText& here = calls_in_text_[call_in_text_];
    TRY(const TypeSize size, views_.size_of(op.type));
    const TypeExpr& type = m_.types[op.type];
    if (next_buffer_ < here.buffers.size()) {
      TRY_VOID(free_name(op.result, op.loc));
      const BufferId id = here.buffers[next_buffer_++];
      const Access access = out_.buffers[id].kind == Buffer::Kind::Constant ? Access::Constant : Access::Writable;
      scopes_.define_view(op.result, {whole(id, size, op.loc), access}, op.loc);
      return {};
    }
    Buffer buffer;
    buffer.name = op.result;
    buffer.loc = op.loc;
    if (op.kind == kind_of<Constant>) {
      buffer.kind = Buffer::Kind::Constant;
      attributes_.otherwise_dtype = type.dtype;
      TRY(const Constant constant, attributes_.read<Constant>(op));
      buffer.literals = constant.value;
    } else {
      TRY_VOID(attributes_.read<Scratch>(op));
    }
    here.buffers.push_back(out_.buffers.next_id());
    ++next_buffer_;
    return define_buffer(std::move(buffer), size, type.dtype, type.space, op.result, op.loc);
  }

  Result<NamedView> resolve(Id<ViewRef> id) {
    const ViewRef& ref = m_.views[id];
    const Scopes::Binding* b = scopes_.find(ref.value);
    if (!b) return fail(ref.loc, "STV0227", "unknown value %{}", m_.text(ref.value));
    if (b->kind != Scopes::Binding::Kind::View)
      return fail(ref.loc, "STV0228", "%{} is a token, expected a buffer or view", m_.text(ref.value));
    const NamedView base = scopes_.view(*b);
    if (ref.indices.empty() && !ref.as) {
      NamedView out = base;
      out.view.loc = ref.loc;
      return out;
    }
    TRY(const View v, views_.resolve(base.view, ref));
    return NamedView{v, base.access};
  }

  Result<void> view(const Op& op) {
    TRY_VOID(attributes_.read<ViewOp>(op));
    TRY(const NamedView v, resolve(op.operands[0]));
    TRY_VOID(free_name(op.result, op.loc));
    scopes_.define_view(op.result, v, op.loc);
    return {};
  }

  std::uint32_t child_call(OpId op) {
    for (const auto& [call, id] : calls_in_text_[call_in_text_].calls)
      if (call == op) return id;
    const auto id = static_cast<std::uint32_t>(calls_in_text_.size());
    calls_in_text_.emplace_back();
    calls_in_text_[call_in_text_].calls.emplace_back(op, id);
    return id;
  }

  Result<void> call(OpId id, const Op& op) {
    const FunctionId callee = prepared_.functions[op.callee.value];
    const Function& f = m_.functions[callee];
    TRY_VOID(attributes_.read<Call>(op));
    if (op.operands.size() != f.formals.size())
      return fail(op.loc, "STV0222", "@{} takes {} value(s), got {}", m_.text(op.callee), f.formals.size(),
                  op.operands.size());
    std::vector<NamedView> passed;
    passed.reserve(f.formals.size());
    for (std::size_t i = 0; i < f.formals.size(); ++i) {
      TRY(NamedView v, resolve(op.operands[i]));
      TRY_VOID(signatures_.check_argument(callee, i, v, m_.views[op.operands[i]].loc));
      if (m_.formals[f.formals[i]].direction == Direction::In && v.access == Access::Writable) v.access = Access::In;
      passed.push_back(v);
    }
    const FrameId caller = frame_;
    const IterationId iteration = std::exchange(iteration_, IterationId{});
    const std::uint32_t text = std::exchange(call_in_text_, child_call(id));
    const std::size_t next = std::exchange(next_buffer_, 0);
    frame_ = out_.frames.add({caller, callee, id, iteration});
    scopes_.enter(Scopes::Kind::Function);
    names_.enter_function();
    for (std::size_t i = 0; i < passed.size(); ++i) {
      const Formal& formal = m_.formals[f.formals[i]];
      TRY_VOID(free_name(formal.name, formal.loc));
      scopes_.define_view(formal.name, passed[i], formal.loc);
    }
    TRY_VOID(statements(f.body));
    names_.leave_function();
    scopes_.leave();
    frame_ = caller;
    iteration_ = iteration;
    call_in_text_ = text;
    next_buffer_ = next;
    return {};
  }

  Result<void> repeat(const Op& op) {
    TRY(const Repeat r, attributes_.read<Repeat>(op));
    if (r.to <= r.from) return {};
    std::int64_t count = 0;
    if (__builtin_sub_overflow(r.to, r.from, &count) || count > limit_)
      return fail(op.loc, "STV0225", "this repeat has {} iterations; a schedule has at most {} commands",
                  static_cast<std::uint64_t>(r.to) - static_cast<std::uint64_t>(r.from), limit_);
    repeats_.push_back(op.loc);
    const Evaluation::Binding before = names_.exchange(r.index.name, {});
    const IterationId outer = iteration_;
    for (std::int64_t i = r.from; i < r.to; ++i) {
      TRY_VOID(step(op.loc));
      names_.set_index(r.index.name, i);
      iteration_ = out_.iterations.add({outer, r.index.name, i});
      scopes_.enter(Scopes::Kind::Iteration);
      TRY_VOID(statements(op.regions[0]));
      scopes_.leave();
    }
    iteration_ = outer;
    names_.exchange(r.index.name, before);
    repeats_.pop_back();
    return {};
  }

  Result<void> when(const Op& op) {
    TRY(const When w, attributes_.read<When>(op));
    if (!w.test) return {};
    scopes_.enter(Scopes::Kind::Iteration);
    TRY_VOID(statements(op.regions[0]));
    scopes_.leave();
    return {};
  }

  // All attributes of a command; those that do not mention an index are the same each time.
  Result<void> payload(OpId id, const Op& op, Command& c) {
    std::uint32_t& cached = payload_of_op_[id.value];
    if (cached != none) {
      c.payload = payloads_[cached].first;
      c.cost = payloads_[cached].second;
      return {};
    }
    attributes_.operand_dtypes.clear();
    for (const ViewId v : c.operands) attributes_.operand_dtypes.push_back(out_.views[v].dtype);
    attributes_.otherwise_dtype = !c.operands.empty()  ? out_.views[c.operands[0]].dtype
                                  : !c.results.empty() ? out_.views[c.results[0]].dtype
                                                       : Dtype::F32;
    TRY_VOID(readers()[static_cast<std::size_t>(op.kind)](attributes_, op, c.payload));
    TRY(c.cost, attributes_.cost(op));
    if (!prepared_.varies[id.value]) {
      cached = static_cast<std::uint32_t>(payloads_.size());
      payloads_.emplace_back(c.payload, c.cost);
    }
    return {};
  }

  using Reader = Result<void> (*)(Attributes&, const Op&, Payload&);
  template <class T>
  static Result<void> read(Attributes& attributes, const Op& op, Payload& out) {
    if constexpr (T::info.runs) {
      TRY(T value, attributes.read<T>(op));
      out = std::move(value);
    } else {
      (void)attributes, (void)op, (void)out;
    }
    return {};
  }
  template <class... Ts>
  static std::array<Reader, sizeof...(Ts)> readers_of(TypeList<Ts...>) {
    return {&read<Ts>...};
  }
  static const std::array<Reader, OpTypes::size>& readers() {
    static const std::array<Reader, OpTypes::size> table = readers_of(OpTypes{});
    return table;
  }

  Result<void> command(OpId id, const Op& op) {
    if (++commands_ > limit_) return too_many(op.loc);
    Command c;
    c.frame = frame_;
    c.iteration = iteration_;
    c.op = id;
    const std::size_t first = out_.views.size();
    const bool waits = op.kind == kind_of<AsyncDone>;
    if (!waits)
      for (const Id<ViewRef> v : op.operands) {
        TRY(const NamedView named, resolve(v));
        out_.views.add(named.view);
      }
    c.operands = out_.views.range_from(first);
    const std::size_t written = out_.views.size();
    for (const Id<ViewRef> v : op.results) {
      TRY(const NamedView named, resolve(v));
      // `verify` looks after the entry's own parameters and constants.
      if (named.access == Access::In && out_.frames[frame_].caller)
        return fail(m_.views[v].loc, "STV0224", "%{} is an `in` parameter and must not be written",
                    m_.text(m_.views[v].value));
      out_.views.add(named.view);
    }
    c.results = out_.views.range_from(written);
    TRY_VOID(payload(id, op, c));
    if (const auto* kernel = std::get_if<Kernel>(&c.payload); kernel && kernel->reference.name)
      TRY_VOID(signatures_.check_reference(*kernel, prepared_.functions[kernel->reference.name.value], c, op.loc));
    if (waits) {
      TRY(c.token, tokens_.done(op));
    } else if (!op.regions.empty()) {
      TRY_VOID(nested(op, c));
    }
    pending_.push(c);
    return {};
  }

  Result<void> nested(const Op& op, Command& c) {
    const bool scope = op.kind != kind_of<RangeMark> && op.kind != kind_of<CollectiveGroup>;
    std::vector<CommandRegion> regions;
    for (const RegionId r : op.regions) {
      if (scope) scopes_.enter(Scopes::Kind::Body);
      TRY(const CommandRegion region, closed_region(r));
      if (scope) scopes_.leave();
      regions.push_back(region);
    }
    c.regions.first = static_cast<std::uint32_t>(out_.regions.size());
    c.regions.count = static_cast<std::uint32_t>(regions.size());
    for (const CommandRegion& region : regions) out_.regions.add(region);
    if (op.kind != kind_of<AsyncStart>) return {};
    TRY(c.token, tokens_.start(op));
    return {};
  }

  std::shared_ptr<const Module> module_;
  const Module& m_;
  const Prepared& prepared_;
  Evaluation& names_;
  std::int64_t limit_;
  Expanded out_;
  CoordPool coords_;
  Attributes attributes_;
  Views views_;
  Signatures signatures_;
  Scopes scopes_;
  TokenNames tokens_;

  PendingCommands pending_;
  FrameId frame_;
  IterationId iteration_;
  std::vector<CallInText> calls_in_text_;
  std::uint32_t call_in_text_ = 0;
  std::size_t next_buffer_ = 0;  // of this call in the text
  std::vector<std::uint32_t> payload_of_op_;
  std::vector<std::pair<Payload, CostId>> payloads_;
  std::vector<Loc> repeats_;  // around here
  std::int64_t commands_ = 0;
  std::int64_t steps_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<Expansion> expand(const std::shared_ptr<const Module>& module, const ExpandOptions& options) {
  TRY(const Mesh mesh, mesh_of(*module));
  TRY(const Prepared prepared, prepare(*module));
  Store<CoordExpr> exprs;
  CoordPool coords(exprs, mesh);
  Evaluation names(*module, mesh, &coords);
  TRY_VOID(set_params(names, options.params));
  TRY(const std::vector<EntryRanks> entries, entries_of(names, prepared));
  Expansion out;
  out.class_of_rank.resize(static_cast<std::size_t>(mesh.ranks()));
  for (const EntryRanks& entry : entries) {
    for (const Rank rank : entry.ranks) out.class_of_rank[rank] = static_cast<std::uint32_t>(out.classes.size());
    TRY(Expanded one, Expander(module, prepared, mesh, names, options.max_commands).run(entry));
    out.classes.push_back(std::move(one));
  }
  return out;
}

Result<Expanded> expand_function(const std::shared_ptr<const Module>& module, FunctionId function,
                                 const ExpandOptions& options) {
  TRY(const Mesh mesh, mesh_of(*module));
  TRY(const Prepared prepared, prepare(*module));
  Store<CoordExpr> exprs;
  CoordPool coords(exprs, mesh);
  Evaluation names(*module, mesh, &coords);
  TRY_VOID(set_params(names, options.params));
  EntryRanks entry{function, {}};
  for (std::int64_t r = 0; r < mesh.ranks(); ++r) entry.ranks.push_back(static_cast<Rank>(r));
  return Expander(module, prepared, mesh, names, options.max_commands).run(entry);
}

Result<Expansion> expand_and_verify(const std::shared_ptr<const Module>& module, const ExpandOptions& options) {
  TRY(Expansion expansion, expand(module, options));
  if (Problems problems = verify(expansion); !problems.empty()) return Failure(std::move(problems));
  return expansion;
}

}  // namespace stave
