// Schedules written in C++. What a ModuleBuilder makes is what its text says:
// finish() prints the module and parses it again, so that every rule of the text
// form holds, and messages show lines of the text that `print` gives.
//
//   using namespace stave::build;
//   ModuleBuilder m("sum.cpp");
//   const Axis x = m.mesh("x", 2);
//   const Int n = m.param("n", 1024);
//   m.function("main", [&](FunctionBuilder& f) {
//     const Value a = f.in("a", f32, {n});
//     const Value b = f.out("b", f32, {n});
//     f.all_reduce(a, b, {.axis = x, .reduction = Reduction::Sum});
//   });
//   Result<Module> module = std::move(m).finish();
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/ir/builder_terms.h"
#include "core/ir/region_stack.h"

namespace stave::build {

using Body = std::function<void()>;

struct GemmOptions {
  bool transpose_a = false;
  bool transpose_b = false;
  double alpha = 1;
  double beta = 0;  // if not 0, give the destination as `c` too
  Epilogue epilogue = Epilogue::None;
  std::optional<Int> sm_count = std::nullopt;
  std::optional<Value> c = std::nullopt;
  std::optional<Value> bias = std::nullopt;
};

struct KernelOptions {
  Source source;
  std::string entry;
  std::vector<Int> grid;
  std::vector<Int> block;
  std::vector<Int> cluster = {};
  std::optional<Int> shared_memory = std::nullopt;
  std::vector<Term> args = {};  // kernel_in(0), kernel_out(0), tensor_map(0), typed(f32, 1.0)
  std::optional<Func> reference = std::nullopt;
};
inline Term kernel_in(const Int& n) { return typed("in", n); }
inline Term kernel_out(const Int& n) { return typed("out", n); }
inline Term tensor_map(const Int& n) { return typed("tensor_map", n); }

using GroupList = std::vector<std::vector<std::int64_t>>;

// What all collectives take. In the ones below, the same members stand last.
struct CollectiveOptions {
  AxisTuple axis;
  GroupList groups = {};
  std::optional<std::int64_t> communicator = std::nullopt;
  std::optional<std::int64_t> max_ctas = std::nullopt;
  Algorithm algorithm = Algorithm::Automatic;
};
struct ReductionOptions {
  AxisTuple axis;
  Reduction reduction = Reduction::Sum;
  GroupList groups = {};
  std::optional<std::int64_t> communicator = std::nullopt;
  std::optional<std::int64_t> max_ctas = std::nullopt;
  Algorithm algorithm = Algorithm::Automatic;
};
struct PermuteOptions {
  AxisTuple axis;
  std::optional<Int> shift = std::nullopt;
  std::vector<std::pair<std::int64_t, std::int64_t>> pairs = {};
  GroupList groups = {};
  std::optional<std::int64_t> communicator = std::nullopt;
  std::optional<std::int64_t> max_ctas = std::nullopt;
  Algorithm algorithm = Algorithm::Automatic;
};
struct BroadcastOptions {
  AxisTuple axis;
  std::int64_t root = 0;
  GroupList groups = {};
  std::optional<std::int64_t> communicator = std::nullopt;
  std::optional<std::int64_t> max_ctas = std::nullopt;
  Algorithm algorithm = Algorithm::Automatic;
};
struct PeerOptions {
  AxisTuple axis;
  Int peer = 0;
  GroupList groups = {};
  std::optional<std::int64_t> communicator = std::nullopt;
  std::optional<std::int64_t> max_ctas = std::nullopt;
  Algorithm algorithm = Algorithm::Automatic;
};

class ModuleBuilder;

// The statements of one function, in order. A region's statements are those that
// its body makes with the same builder.
class FunctionBuilder {
 public:
  // Parameters, in order. `uniform`: equal on all ranks of these axes.
  Value in(std::string name, Dtype dtype, const std::vector<Int>& shape, Space space = Space::Device,
           const AxisTuple& uniform = {});
  Value out(std::string name, Dtype dtype, const std::vector<Int>& shape, Space space = Space::Device);
  Value inout(std::string name, Dtype dtype, const std::vector<Int>& shape, Space space = Space::Device);

  Value scratch(std::string name, Dtype dtype, const std::vector<Int>& shape, Space space = Space::Device);
  Value constant(std::string name, Dtype dtype, const std::vector<Int>& shape, const Term& value);
  Value view(std::string name, const Value& of);

  // For the statement that comes next.
  FunctionBuilder& named(std::string_view name);
  FunctionBuilder& cost(const std::vector<std::pair<std::string, Term>>& fields);
  FunctionBuilder& comment(std::string_view text);
  FunctionBuilder& blank();

  void call(const Func& callee, const Values& views);
  void repeat(std::string index, const Int& from, const Int& to, const std::function<void(Int)>& body);
  void when(const Term& test, const Body& body);

  void memzero(const Value& to);
  void memset(const Value& to, Dtype dtype, const Term& value);
  void copy(const Value& from, const Value& to);
  // `f` takes one Term an operand and returns a Term, or tuple({...}) for several results.
  template <class F>
  void map(const Values& operands, const Values& results, F f) {
    map_with(operands, results, apply_lambda(f, arguments_for(operands)));
  }
  template <class F>
  void map(const Values& operands, const Value& result, F f) {
    map(operands, Values{result}, std::move(f));
  }
  void gemm(const Value& a, const Value& b, const Value& to, const GemmOptions& options = {});
  void reduce(const Value& from, const Value& to, Reduction reduction, const std::vector<Int>& axes);
  void kernel(const Values& operands, const Values& results, const KernelOptions& options);
  void custom_call(const Values& operands, const Values& results, std::string_view target,
                   const std::vector<std::pair<std::string, Term>>& attributes = {});

  void cond(const Value& predicate, const Body& then, const Body& otherwise = nullptr);
  void select_branch(const Value& number, const std::vector<Body>& branches);  // switch
  void loop(const Value& predicate, const Body& condition, const Body& body);  // while

  void async_start(const TokenRef& token, const Stream& stream, const Body& body);
  void async_done(const TokenRef& token);

  void all_reduce(const Value& from, const Value& to, const ReductionOptions& options);
  void all_gather(const Value& from, const Value& to, const CollectiveOptions& options);
  void reduce_scatter(const Value& from, const Value& to, const ReductionOptions& options);
  void all_to_all(const Values& from, const Values& to, const CollectiveOptions& options);
  void collective_permute(const Value& from, const Value& to, const PermuteOptions& options);
  void broadcast(const Value& from, const Value& to, const BroadcastOptions& options);
  void send(const Value& from, const PeerOptions& options);
  void recv(const Value& to, const PeerOptions& options);
  void collective_group(const Body& body);

  void range(std::string_view name, const Body& body);

 private:
  friend class ModuleBuilder;
  using Attributes = std::vector<std::pair<std::string, Term>>;
  struct Parts {
    std::optional<TokenRef> defines{};
    std::string callee{};
    std::optional<TypeExpr> type{};
    Values operands{};
    Values results{};
    Attributes attributes{};
    std::vector<std::pair<std::string_view, Body>> regions{};
  };

  explicit FunctionBuilder(ModuleBuilder& module) : m_(module) {}
  Value formal(std::string name, Direction direction, Dtype dtype, const std::vector<Int>& shape, Space space,
               const AxisTuple& uniform);
  TypeExpr type(Space space, Dtype dtype, const std::vector<Int>& shape);
  void add(OpKind kind, Parts parts);
  void map_with(const Values& operands, const Values& results, Term lambda);
  template <class Options>
  void collective(OpKind kind, Values from, Values to, const Options& options, Attributes own = {});

  static std::vector<std::string> arguments_for(const Values& operands);
  template <class F, std::size_t... I>
  static Term call_lambda(F& f, const std::vector<std::string>& names, std::index_sequence<I...>) {
    return f(name(names[I])...);
  }
  // Calls `f` with as many arguments as there are names; up to 16.
  template <std::size_t N = 0, class F>
  static Term apply_lambda(F& f, const std::vector<std::string>& names) {
    if constexpr (N <= 16) {
      if (names.size() > N) return apply_lambda<N + 1>(f, names);
      return call_if_it_takes(f, names, std::make_index_sequence<N>());
    } else {
      return name("a_lambda_of_more_than_16_arguments");
    }
  }
  template <std::size_t>
  using Argument = Term;
  template <class F, std::size_t... I>
  static Term call_if_it_takes(F& f, const std::vector<std::string>& names, std::index_sequence<I...> all) {
    if constexpr (std::is_invocable_v<F&, Argument<I>...>) return lambda(names, call_lambda(f, names, all));
    // Not as many arguments as operands: the text will say so.
    return lambda(names, text("the lambda does not take one argument an operand"));
  }

  ModuleBuilder& m_;
  std::vector<Formal> formals_;
  Attributes common_;  // of the next statement
  std::vector<Comment> comments_;
  bool blank_ = false;
};

class ModuleBuilder {
 public:
  // `file` is what messages call it.
  explicit ModuleBuilder(std::string file);

  Axis mesh(std::string name, std::int64_t size);
  std::vector<Axis> mesh(const std::vector<std::pair<std::string, std::int64_t>>& axes);
  Int param(const std::string& name, const Term& value, const std::optional<Term>& allowed = std::nullopt);
  Source source(std::string name, std::string_view language, std::string_view text);
  Func function(std::string name, const std::function<void(FunctionBuilder&)>& body);
  void entry(const Func& function, const std::optional<Term>& ranks = std::nullopt);

  // Before the declaration that comes next.
  ModuleBuilder& comment(std::string_view text);
  ModuleBuilder& blank();

  // The module, or what is wrong with it. Codes as parse(), and STV0125: nested too deep.
  Result<Module> finish() &&;

 private:
  friend class FunctionBuilder;
  ExprId write(const Term& term);
  void add_item(Item::Kind kind, std::size_t first, std::size_t count = 1);
  IdRange<Comment> store(std::vector<Comment>& comments);

  Module module_;
  RegionStack open_;
  std::vector<Comment> comments_;
  bool blank_ = false;
  bool too_deep_ = false;
};

}  // namespace stave::build
