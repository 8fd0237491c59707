#include "core/ir/builder.h"

#include <algorithm>

#include "core/text/lexer.h"
#include "core/text/parse.h"
#include "core/text/print.h"

namespace stave::build {

namespace {

IdRange<ExprListTag> store_list(Module& module, const std::vector<ExprId>& ids) {
  const std::size_t first = module.expr_lists.size();
  for (const ExprId id : ids) module.expr_lists.add(id);
  return module.expr_lists.range_from(first);
}

Term axes_term(const AxisTuple& tuple) {
  std::vector<Term> names;
  for (const Axis& axis : tuple.axes) names.push_back(name(axis.name));
  return names.size() == 1 ? names.front() : list(std::move(names));
}

Term integers(const std::vector<std::int64_t>& values) { return list(std::vector<Term>(values.begin(), values.end())); }

}  // namespace

ModuleBuilder::ModuleBuilder(std::string file) { module_.file = std::move(file); }

ExprId ModuleBuilder::write(const Term& term) {
  if (term.too_deep()) too_deep_ = true;
  return term.write(module_);
}

IdRange<Comment> ModuleBuilder::store(std::vector<Comment>& comments) {
  const std::size_t first = module_.comments.size();
  for (const Comment& comment : comments) module_.comments.add(comment);
  comments.clear();
  return module_.comments.range_from(first);
}

void ModuleBuilder::add_item(Item::Kind kind, std::size_t first, std::size_t count) {
  Item item;
  item.kind = kind;
  item.first = static_cast<std::uint32_t>(first);
  item.count = static_cast<std::uint32_t>(count);
  item.blank_before = blank_;
  item.comments = store(comments_);
  blank_ = false;
  module_.items.push_back(item);
}

ModuleBuilder& ModuleBuilder::comment(std::string_view text) {
  comments_.push_back({module_.strings.intern(" " + std::string(text)), false, blank_});
  blank_ = false;
  return *this;
}

ModuleBuilder& ModuleBuilder::blank() {
  blank_ = true;
  return *this;
}

Axis ModuleBuilder::mesh(std::string name, std::int64_t size) { return mesh({{std::move(name), size}}).front(); }

std::vector<Axis> ModuleBuilder::mesh(const std::vector<std::pair<std::string, std::int64_t>>& axes) {
  std::vector<Axis> made;
  add_item(Item::Kind::Mesh, module_.mesh.size(), axes.size());
  for (const auto& [name, size] : axes) {
    module_.mesh.push_back({module_.strings.intern(name), size});
    made.push_back({name});
  }
  return made;
}

Int ModuleBuilder::param(const std::string& name, const Term& value, const std::optional<Term>& allowed) {
  add_item(Item::Kind::Param, module_.params.size());
  ParamDecl param;
  param.name = module_.strings.intern(name);
  param.value = write(value);
  if (allowed) param.allowed = write(*allowed);
  module_.params.push_back(param);
  return stave::build::name(name);
}

Source ModuleBuilder::source(std::string name, std::string_view language, std::string_view text) {
  add_item(Item::Kind::Source, module_.sources.size());
  module_.sources.push_back(
      {module_.strings.intern(name), module_.strings.intern(language), module_.strings.intern(text)});
  return {std::move(name)};
}

Func ModuleBuilder::function(std::string name, const std::function<void(FunctionBuilder&)>& body) {
  add_item(Item::Kind::Function, module_.functions.size());
  FunctionBuilder f(*this);
  open_.open();
  body(f);
  Region region = open_.close(module_);
  region.comments = store(f.comments_);
  Function function;
  function.name = module_.strings.intern(name);
  const std::size_t first = module_.formals.size();
  for (const Formal& formal : f.formals_) module_.formals.add(formal);
  function.formals = module_.formals.range_from(first);
  function.body = module_.regions.add(region);
  module_.functions.add(function);
  return {std::move(name)};
}

void ModuleBuilder::entry(const Func& function, const std::optional<Term>& ranks) {
  add_item(Item::Kind::Entry, module_.entries.size());
  EntryDecl entry;
  entry.function = module_.strings.intern(function.name);
  if (ranks) entry.ranks = write(*ranks);
  module_.entries.push_back(entry);
}

Result<Module> ModuleBuilder::finish() && {
  module_.end_comments = store(comments_);
  if (too_deep_) {
    return error_at({module_.file}, "STV0125", "regions and expressions may nest {} deep", max_nesting);
  }
  TRY(Module parsed, parse(module_.file, print(module_)));
  if (!(parsed == module_)) {
    return error_at({module_.file}, "STV0126",
                    "the schedule reads back as another one: a name has characters that names cannot have, a comment "
                    "has several lines, or an empty line stands first in a region");
  }
  return parsed;
}

Value FunctionBuilder::formal(std::string name, Direction direction, Dtype dtype, const std::vector<Int>& shape,
                              Space space, const AxisTuple& uniform) {
  Module& module = m_.module_;
  Formal formal;
  formal.name = module.strings.intern(name);
  formal.direction = direction;
  formal.type = module.types.add(type(space, dtype, shape));
  if (!uniform.axes.empty()) {
    std::vector<Term> names;
    for (const Axis& axis : uniform.axes) names.push_back(stave::build::name(axis.name));
    const ExprId value = m_.write(list(std::move(names)));
    const std::size_t first = module.attrs.size();
    module.attrs.add({module.strings.intern("uniform"), value});
    formal.attrs = module.attrs.range_from(first);
  }
  formals_.push_back(formal);
  return Value(std::move(name));
}

Value FunctionBuilder::in(std::string name, Dtype dtype, const std::vector<Int>& shape, Space space,
                          const AxisTuple& uniform) {
  return formal(std::move(name), Direction::In, dtype, shape, space, uniform);
}
Value FunctionBuilder::out(std::string name, Dtype dtype, const std::vector<Int>& shape, Space space) {
  return formal(std::move(name), Direction::Out, dtype, shape, space, {});
}
Value FunctionBuilder::inout(std::string name, Dtype dtype, const std::vector<Int>& shape, Space space) {
  return formal(std::move(name), Direction::InOut, dtype, shape, space, {});
}

TypeExpr FunctionBuilder::type(Space space, Dtype dtype, const std::vector<Int>& shape) {
  std::vector<ExprId> dims;
  for (const Int& dim : shape) dims.push_back(m_.write(dim));
  TypeExpr type;
  type.space = space;
  type.dtype = dtype;
  type.dims = store_list(m_.module_, dims);
  return type;
}

FunctionBuilder& FunctionBuilder::named(std::string_view name) {
  common_.emplace_back("name", text(name));
  return *this;
}
FunctionBuilder& FunctionBuilder::cost(const std::vector<std::pair<std::string, Term>>& fields) {
  common_.emplace_back("cost", record(fields));
  return *this;
}
FunctionBuilder& FunctionBuilder::comment(std::string_view text) {
  comments_.push_back({m_.module_.strings.intern(" " + std::string(text)), false, blank_});
  blank_ = false;
  return *this;
}
FunctionBuilder& FunctionBuilder::blank() {
  blank_ = true;
  return *this;
}

void FunctionBuilder::add(OpKind kind, Parts parts) {
  Module& module = m_.module_;
  Op op;
  op.kind = kind;
  op.blank_before = std::exchange(blank_, false);
  op.comments = m_.store(comments_);
  if (parts.defines) {
    op.result = module.strings.intern(parts.defines->name);
    if (parts.defines->index) op.result_index = m_.write(*parts.defines->index);
  }
  if (!parts.callee.empty()) op.callee = module.strings.intern(parts.callee);
  if (parts.type) op.type = module.types.add(*parts.type);

  const auto views = [&](const Values& values) {
    std::vector<ViewRef> made;
    for (const Value& value : values) {
      m_.too_deep_ = m_.too_deep_ || value.too_deep();
      made.push_back(value.write(module));
    }
    const std::size_t first = module.views.size();
    for (const ViewRef& view : made) module.views.add(view);
    return module.views.range_from(first);
  };
  op.operands = views(parts.operands);
  op.results = views(parts.results);

  for (auto& attribute : common_) parts.attributes.push_back(std::move(attribute));
  common_.clear();
  std::vector<Attr> attrs;
  for (const auto& [name, term] : parts.attributes) attrs.push_back({module.strings.intern(name), m_.write(term)});
  const std::size_t first = module.attrs.size();
  for (const Attr& attr : attrs) module.attrs.add(attr);
  op.attrs = module.attrs.range_from(first);

  const std::size_t kept = m_.open_.kept();
  for (const auto& [label, body] : parts.regions) {
    m_.open_.open();
    if (m_.open_.depth() > max_nesting) {
      m_.too_deep_ = true;
    } else {
      body();
    }
    Region region = m_.open_.close(module);
    region.comments = m_.store(comments_);
    blank_ = false;
    if (!label.empty()) region.label = module.strings.intern(label);
    m_.open_.keep(region);
  }
  op.regions = m_.open_.take_kept(module, kept);
  m_.open_.add(op);
}

Value FunctionBuilder::scratch(std::string name, Dtype dtype, const std::vector<Int>& shape, Space space) {
  add(kind_of<Scratch>, {.defines = TokenRef{name}, .type = type(space, dtype, shape)});
  return Value(std::move(name));
}
Value FunctionBuilder::constant(std::string name, Dtype dtype, const std::vector<Int>& shape, const Term& value) {
  add(kind_of<Constant>,
      {.defines = TokenRef{name}, .type = type(Space::Device, dtype, shape), .attributes = {{"value", value}}});
  return Value(std::move(name));
}
Value FunctionBuilder::view(std::string name, const Value& of) {
  add(kind_of<ViewOp>, {.defines = TokenRef{name}, .operands = {of}});
  return Value(std::move(name));
}

void FunctionBuilder::call(const Func& callee, const Values& views) {
  add(kind_of<Call>, {.callee = callee.name, .operands = views});
}
void FunctionBuilder::repeat(std::string index, const Int& from, const Int& to, const std::function<void(Int)>& body) {
  add(kind_of<Repeat>, {.attributes = {{"index", name(index)}, {"from", from}, {"to", to}},
                        .regions = {{"", [&] { body(name(index)); }}}});
}
void FunctionBuilder::when(const Term& test, const Body& body) {
  add(kind_of<When>, {.attributes = {{"test", test}}, .regions = {{"", body}}});
}

void FunctionBuilder::memzero(const Value& to) { add(kind_of<Memzero>, {.results = {to}}); }
void FunctionBuilder::memset(const Value& to, Dtype dtype, const Term& value) {
  add(kind_of<Memset>, {.results = {to}, .attributes = {{"value", typed(dtype, value)}}});
}
void FunctionBuilder::copy(const Value& from, const Value& to) {
  add(kind_of<Copy>, {.operands = {from}, .results = {to}});
}

// The operands' own names if those differ, so that the text reads well.
std::vector<std::string> FunctionBuilder::arguments_for(const Values& operands) {
  std::vector<std::string> names;
  for (const Value& operand : operands) names.push_back(operand.name());
  std::vector<std::string> sorted = names;
  std::sort(sorted.begin(), sorted.end());
  bool plain = std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
  for (const std::string& name : names) {
    const bool digit = name.empty() || (name[0] >= '0' && name[0] <= '9');
    plain = plain && !digit && !dtype_named(name) && !is_label(name);
  }
  for (std::size_t i = 0; !plain && i < names.size(); ++i) names[i] = "v" + std::to_string(i);
  return names;
}

void FunctionBuilder::map_with(const Values& operands, const Values& results, Term lambda) {
  add(kind_of<Map>, {.operands = operands, .results = results, .attributes = {{"f", std::move(lambda)}}});
}

void FunctionBuilder::gemm(const Value& a, const Value& b, const Value& to, const GemmOptions& options) {
  Parts parts{.operands = {a, b}, .results = {to}};
  if (options.c) parts.operands.push_back(*options.c);
  if (options.bias) parts.operands.push_back(*options.bias);
  Attributes& attributes = parts.attributes;
  if (options.transpose_a) attributes.emplace_back("transpose_a", true);
  if (options.transpose_b) attributes.emplace_back("transpose_b", true);
  if (options.alpha != 1) attributes.emplace_back("alpha", options.alpha);
  if (options.beta != 0) attributes.emplace_back("beta", options.beta);
  if (options.epilogue != Epilogue::None) attributes.emplace_back("epilogue", name(name_of(options.epilogue)));
  if (options.sm_count) attributes.emplace_back("sm_count", *options.sm_count);
  add(kind_of<Gemm>, std::move(parts));
}

void FunctionBuilder::reduce(const Value& from, const Value& to, Reduction reduction, const std::vector<Int>& axes) {
  add(kind_of<Reduce>, {.operands = {from},
                        .results = {to},
                        .attributes = {{"reduction", name(name_of(reduction))}, {"axes", list(axes)}}});
}

void FunctionBuilder::kernel(const Values& operands, const Values& results, const KernelOptions& options) {
  Parts parts{.operands = operands, .results = results};
  Attributes& attributes = parts.attributes;
  attributes = {{"source", symbol(options.source.name)},
                {"entry", text(options.entry)},
                {"grid", list(options.grid)},
                {"block", list(options.block)}};
  if (!options.cluster.empty()) attributes.emplace_back("cluster", list(options.cluster));
  if (options.shared_memory) attributes.emplace_back("shared_memory", *options.shared_memory);
  if (!options.args.empty()) attributes.emplace_back("args", list(options.args));
  if (options.reference) attributes.emplace_back("reference", symbol(options.reference->name));
  add(kind_of<Kernel>, std::move(parts));
}

void FunctionBuilder::custom_call(const Values& operands, const Values& results, std::string_view target,
                                  const std::vector<std::pair<std::string, Term>>& attributes) {
  Parts parts{.operands = operands, .results = results, .attributes = {{"target", text(target)}}};
  if (!attributes.empty()) parts.attributes.emplace_back("attributes", record(attributes));
  add(kind_of<CustomCall>, std::move(parts));
}

void FunctionBuilder::cond(const Value& predicate, const Body& then, const Body& otherwise) {
  Parts parts{.operands = {predicate}, .regions = {{"then", then}}};
  if (otherwise) parts.regions.emplace_back("else", otherwise);
  add(kind_of<Cond>, std::move(parts));
}
void FunctionBuilder::select_branch(const Value& number, const std::vector<Body>& branches) {
  Parts parts{.operands = {number}};
  for (const Body& branch : branches) parts.regions.emplace_back("branch", branch);
  add(kind_of<Switch>, std::move(parts));
}
void FunctionBuilder::loop(const Value& predicate, const Body& condition, const Body& body) {
  add(kind_of<While>, {.operands = {predicate}, .regions = {{"condition", condition}, {"body", body}}});
}

void FunctionBuilder::async_start(const TokenRef& token, const Stream& stream, const Body& body) {
  add(kind_of<AsyncStart>, {.defines = token, .attributes = {{"stream", stream.term}}, .regions = {{"", body}}});
}
void FunctionBuilder::async_done(const TokenRef& token) {
  const Value value(token.name);
  add(kind_of<AsyncDone>, {.operands = {token.index ? value[*token.index] : value}});
}

template <class Options>
void FunctionBuilder::collective(OpKind kind, Values from, Values to, const Options& options, Attributes own) {
  Parts parts{.operands = std::move(from), .results = std::move(to)};
  Attributes& attributes = parts.attributes;
  attributes.emplace_back("axis", axes_term(options.axis));
  for (auto& attribute : own) attributes.push_back(std::move(attribute));
  if (!options.groups.empty()) {
    std::vector<Term> groups;
    for (const auto& group : options.groups) groups.push_back(integers(group));
    attributes.emplace_back("groups", list(std::move(groups)));
  }
  if (options.communicator) attributes.emplace_back("communicator", *options.communicator);
  if (options.max_ctas) attributes.emplace_back("max_ctas", *options.max_ctas);
  if (options.algorithm != Algorithm::Automatic) attributes.emplace_back("algorithm", name(name_of(options.algorithm)));
  add(kind, std::move(parts));
}

void FunctionBuilder::all_reduce(const Value& from, const Value& to, const ReductionOptions& options) {
  collective(kind_of<AllReduce>, {from}, {to}, options, {{"reduction", name(name_of(options.reduction))}});
}
void FunctionBuilder::all_gather(const Value& from, const Value& to, const CollectiveOptions& options) {
  collective(kind_of<AllGather>, {from}, {to}, options);
}
void FunctionBuilder::reduce_scatter(const Value& from, const Value& to, const ReductionOptions& options) {
  collective(kind_of<ReduceScatter>, {from}, {to}, options, {{"reduction", name(name_of(options.reduction))}});
}
void FunctionBuilder::all_to_all(const Values& from, const Values& to, const CollectiveOptions& options) {
  collective(kind_of<AllToAll>, from, to, options);
}
void FunctionBuilder::collective_permute(const Value& from, const Value& to, const PermuteOptions& options) {
  Attributes own;
  if (options.shift) own.emplace_back("shift", *options.shift);
  if (!options.pairs.empty()) {
    std::vector<Term> pairs;
    for (const auto& [source, target] : options.pairs) pairs.push_back(arrow(source, target));
    own.emplace_back("pairs", list(std::move(pairs)));
  }
  collective(kind_of<CollectivePermute>, {from}, {to}, options, std::move(own));
}
void FunctionBuilder::broadcast(const Value& from, const Value& to, const BroadcastOptions& options) {
  collective(kind_of<Broadcast>, {from}, {to}, options, {{"root", options.root}});
}
void FunctionBuilder::send(const Value& from, const PeerOptions& options) {
  collective(kind_of<Send>, {from}, {}, options, {{"peer", options.peer}});
}
void FunctionBuilder::recv(const Value& to, const PeerOptions& options) {
  collective(kind_of<Recv>, {}, {to}, options, {{"peer", options.peer}});
}
void FunctionBuilder::collective_group(const Body& body) { add(kind_of<CollectiveGroup>, {.regions = {{"", body}}}); }

void FunctionBuilder::range(std::string_view name, const Body& body) {
  add(kind_of<RangeMark>, {.attributes = {{"name", text(name)}}, .regions = {{"", body}}});
}

}  // namespace stave::build
