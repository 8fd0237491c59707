#include "analysis/edits.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/ir/expanded.h"
#include "core/machine/fields.h"
#include "simulator/power.h"

namespace stave {
namespace {

using machine_fields::Bound;

struct NamedNumber {
  std::string field;
  Number* number = nullptr;
  Bound bound = Bound::Positive;
};

template <class T>
void add_numbers(const std::string& prefix, T& values, std::vector<NamedNumber>& out) {
  using namespace machine_fields;
  const auto one = [&](const auto& field) {
    using Field = std::decay_t<decltype(field)>;
    const std::string name = prefix + std::string(field.key);
    if constexpr (std::is_same_v<Field, NumberField<T>>) {
      out.push_back({name, &(values.*field.member), field.bound});
    } else if constexpr (std::is_same_v<Field, OptionalField<T>>) {
      if (values.*field.member) out.push_back({name, &*(values.*field.member), field.bound});
    }
  };
  std::apply([&](const auto&... field) { (one(field), ...); }, fields(static_cast<const T*>(nullptr)));
}

std::vector<NamedNumber> named_numbers(Machine& machine) {
  std::vector<NamedNumber> out;
  add_numbers("device.", machine.device, out);
  add_numbers("host.", machine.host, out);
  add_numbers("graph.", machine.graph, out);
  for (Link& link : machine.links) add_numbers("link." + link.scope + ".", link, out);
  for (Collective& collective : machine.collectives) add_numbers("collective." + collective.op + ".", collective, out);
  for (KernelShape& kernel : machine.kernels) add_numbers("kernel." + kernel.family + ".", kernel, out);
  return out;
}

// `*` stands for any characters but dots.
bool matches_field(std::string_view pattern, std::string_view field) {
  if (pattern.empty()) return field.empty();
  if (pattern.front() != '*')
    return !field.empty() && pattern.front() == field.front() && matches_field(pattern.substr(1), field.substr(1));
  for (std::size_t n = 0; n <= field.size(); ++n) {
    if (matches_field(pattern.substr(1), field.substr(n))) return true;
    if (n < field.size() && field[n] == '.') return false;
  }
  return false;
}

// "link.device." is the link between devices of a node, whatever its scope.
std::string real_field(const Machine& machine, std::string_view field) {
  constexpr std::string_view device_link = "link.device.";
  const Link* link = machine.device_link();
  if (!field.starts_with(device_link) || link == nullptr) return std::string(field);
  return "link." + link->scope + "." + std::string(field.substr(device_link.size()));
}

bool within(Bound bound, double v) {
  if (!std::isfinite(v)) return false;
  switch (bound) {
    case Bound::Positive: return v > 0;
    case Bound::ZeroOrMore: return v >= 0;
    case Bound::Whole: return v >= 1 && v == std::floor(v);
    case Bound::WholeOrZero: return v >= 0 && v == std::floor(v);
    case Bound::Part: return v > 0 && v <= 1;
  }
  return false;
}

std::string_view words_of(Bound bound) {
  switch (bound) {
    case Bound::Positive: return "a number above 0";
    case Bound::ZeroOrMore: return "0 or more";
    case Bound::Whole: return "a whole number from 1";
    case Bound::WholeOrZero: return "a whole number from 0";
    case Bound::Part: return "above 0 and at most 1";
  }
  return "";
}

// The line `key = { value = ..., source = "..." }` of a section gets another value; how many lines did.
int replace_in_text(std::string& text, std::string_view section, std::size_t nth, std::string_view key, double value) {
  std::string out, header;
  std::size_t seen = 0;
  int replaced = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    at = end + 1;
    if (line.starts_with('[')) {
      const bool list = line.starts_with("[[");
      header = line.substr(list ? 2 : 1, line.find(']') - (list ? 2 : 1));
      seen += header == section;
    } else if (header == section && seen == nth + 1 && line.starts_with(key) &&
               line.find_first_not_of(" \t", key.size()) == line.find('=')) {
      line = fmt::format("{} = {{ value = {}, source = \"assumed: edited\" }}", key, value);
      ++replaced;
    }
    out += line;
    if (end < text.size()) out += '\n';
  }
  text = std::move(out);
  return replaced;
}

// Product tables say which device they were measured on, since the machine is another one now.
void name_table_devices(Machine& machine) {
  std::string out;
  std::size_t tables = 0;
  bool open = false;  // in a [[table]] of products that does not name its device so far
  const auto close = [&] {
    if (!std::exchange(open, false)) return;
    const TableDevice& d = machine.tables[tables - 1].device;
    const std::pair<std::string_view, double> numbers[] = {{"sm_count", d.sm_count},
                                                           {"flops_per_s", d.flops_per_s},
                                                           {"memory_bandwidth_bytes_per_s", d.memory_bytes_per_s},
                                                           {"memory_peak_bytes_per_s", d.memory_peak_bytes_per_s},
                                                           {"l2_bytes", d.l2_bytes},
                                                           {"l2_bandwidth_bytes_per_s", d.l2_bytes_per_s}};
    while (out.ends_with("\n\n")) out.pop_back();
    out += "[table.device]\n";
    for (const auto& [key, value] : numbers)
      out += fmt::format("{} = {{ value = {}, source = \"derived: [device] before it was edited\" }}\n", key, value);
    out += "\n";
  };
  for (std::size_t at = 0; at < machine.text.size();) {
    const std::size_t end = std::min(machine.text.find('\n', at), machine.text.size());
    const std::string_view line = std::string_view(machine.text).substr(at, end - at);
    at = end + 1;
    if (line.starts_with("[table.device]")) {
      open = false;
    } else if (line.starts_with('[')) {
      close();
      tables += line.starts_with("[[table]]");
      open =
          line.starts_with("[[table]]") && tables <= machine.tables.size() && machine.tables[tables - 1].op == "gemm";
    }
    out += line;
    out += '\n';
  }
  close();
  machine.text = std::move(out);
}

// Says what `machine` has and `before` does not in the text of the machine.
void write_numbers(const Machine& before, Machine& machine) {
  const auto section = [&]<class T>(std::string_view name, std::size_t nth, const T& then, T& now) {
    T old = then;
    std::vector<NamedNumber> olds, news;
    add_numbers("", old, olds);
    add_numbers("", now, news);
    for (std::size_t i = 0; i < news.size(); ++i)
      if (!(*olds[i].number == *news[i].number))
        replace_in_text(machine.text, name, nth, news[i].field, news[i].number->value);
  };
  section("device", 0, before.device, machine.device);
  section("host", 0, before.host, machine.host);
  section("graph", 0, before.graph, machine.graph);
  if (!(before.device == machine.device)) name_table_devices(machine);
  for (std::size_t i = 0; i < machine.links.size(); ++i) section("link", i, before.links[i], machine.links[i]);
  for (std::size_t i = 0; i < machine.collectives.size(); ++i)
    section("collective", i, before.collectives[i], machine.collectives[i]);
  for (std::size_t i = 0; i < machine.kernels.size(); ++i) section("kernel", i, before.kernels[i], machine.kernels[i]);
}

Result<void> apply_to(Machine& machine, const MachineEdit& edit) {
  const Machine before = machine;
  const std::string field = real_field(machine, edit.field);
  bool found = false;
  for (const NamedNumber& named : named_numbers(machine)) {
    if (!matches_field(field, named.field)) continue;
    found = true;
    double value = edit.factor ? named.number->value * edit.value : edit.value;
    const bool whole = named.bound == Bound::Whole || named.bound == Bound::WholeOrZero;
    if (edit.factor && whole) value = std::max(named.bound == Bound::Whole ? 1.0 : 0.0, std::round(value));
    if (!within(named.bound, value))
      return error_at({.file = machine.file}, "STV1931", "{} is {}, got {}", named.field, words_of(named.bound), value);
    if (value == named.number->value) continue;
    *named.number = {value, "assumed: edited", std::nullopt};
  }
  if (!found)
    return error_at({.file = machine.file}, "STV1930",
                    "machine {} has no field {}; fields are such as device.sm_count, host.launch_ps and "
                    "link.peer.bandwidth_bytes_per_s",
                    machine.name, edit.field);
  write_numbers(before, machine);
  return {};
}

// The nearest async_start that is, or is around, each command; by command.
void find_starts(const Expanded& expanded, CommandRegionId region, OpId around, std::vector<OpId>& starts) {
  for (const CommandId id : expanded.regions[region].commands) {
    const Command& command = expanded.commands[id];
    const OpId inner = std::holds_alternative<AsyncStart>(command.payload) ? command.op : around;
    starts[id.value] = inner;
    for (const CommandRegionId nested : command.regions) find_starts(expanded, nested, inner, starts);
  }
}

Result<void> apply_to(Situation& situation, const StreamEdit& edit) {
  TRY(const Expansion expansion, expand(situation.module, {.params = situation.params}));
  for (const Expanded& expanded : expansion.classes) {
    std::vector<OpId> starts(expanded.commands.size());
    find_starts(expanded, expanded.body, {}, starts);
    for (const CommandId id : expanded.commands.all()) {
      if (expanded.path(id) != edit.command) continue;
      if (!starts[id.value])
        return error_at(expanded.place(expanded[id]), "STV1933",
                        "{} runs on the stream that issues it; write an async_start around it and an async_done "
                        "where its result is needed, then it can be moved",
                        edit.command);
      Module module = *situation.module;
      const std::string_view kind = edit.stream.kind == StreamRef::Kind::Computation ? "computation" : "communication";
      const ExprId number = module.exprs.add(Expr::integer(edit.stream.number));
      const ExprId stream =
          module.exprs.add(Expr::pair(ExprKind::Typed, module.strings.intern(kind).value, number.value));
      for (const Id<Attr> attr : module.ops[starts[id.value]].attrs)
        if (module.text(module.attrs[attr].name) == "stream") module.attrs[attr].value = stream;
      situation.module = std::make_shared<const Module>(std::move(module));
      return {};
    }
  }
  return error_at({.file = situation.module->file}, "STV1932", "the schedule has no command {}", edit.command);
}

bool same_target(const Edit& a, const Edit& b) {
  if (a.index() != b.index()) return false;
  if (const auto* machine = std::get_if<MachineEdit>(&a)) return machine->field == std::get<MachineEdit>(b).field;
  if (const auto* param = std::get_if<ParamEdit>(&a)) return param->name == std::get<ParamEdit>(b).name;
  return std::get<StreamEdit>(a).command == std::get<StreamEdit>(b).command;
}

}  // namespace

std::string to_text(const Edit& edit) {
  if (const auto* machine = std::get_if<MachineEdit>(&edit))
    return fmt::format("{} {} {:g}", machine->field, machine->factor ? "x" : "=", machine->value);
  if (const auto* param = std::get_if<ParamEdit>(&edit)) return fmt::format("param {} = {}", param->name, param->value);
  const auto& move = std::get<StreamEdit>(edit);
  return fmt::format("{} on {} {}", move.command,
                     move.stream.kind == StreamRef::Kind::Computation ? "computation" : "communication",
                     move.stream.number);
}

std::string to_text(const Edits& edits) {
  std::string out;
  for (const Edit& edit : edits) out += (out.empty() ? "" : ", ") + to_text(edit);
  return out;
}

void set(Edits& edits, Edit edit) {
  const auto at = std::ranges::find_if(edits, [&](const Edit& other) { return same_target(other, edit); });
  if (at == edits.end()) {
    edits.push_back(std::move(edit));
  } else {
    *at = std::move(edit);
  }
}

const Edit* find(const Edits& edits, const Edit& like) {
  const auto at = std::ranges::find_if(edits, [&](const Edit& other) { return same_target(other, like); });
  return at == edits.end() ? nullptr : &*at;
}

Result<Situation> apply_edits(Situation base, std::span<const Edit> edits) {
  for (const Edit& edit : edits) {
    if (const auto* machine = std::get_if<MachineEdit>(&edit)) {
      TRY_VOID(apply_to(base.machine, *machine));
    } else if (const auto* param = std::get_if<ParamEdit>(&edit)) {
      std::erase_if(base.params, [&](const auto& value) { return value.first == param->name; });
      base.params.emplace_back(param->name, param->value);
    } else {
      TRY_VOID(apply_to(base, std::get<StreamEdit>(edit)));
    }
  }
  return base;
}

Result<SituationPrediction> predict(const Situation& situation, Mode mode, SimulateOptions options, bool sustained) {
  if (options.progress) options.progress->begin("expanding");
  TRY(Expansion expansion, expand_and_verify(situation.module, {.params = situation.params}));
  TRY(const Plan plan, lower(std::move(expansion), mode));
  if (options.progress) options.progress->begin("predicting");
  TRY(Prediction prediction,
      sustained ? simulate_sustained(plan, situation.machine, options) : simulate(plan, situation.machine, options));
  SituationPrediction out{std::move(prediction), options.clock, 0, static_cast<std::uint32_t>(plan.ranks())};
  for (const RankClass& rank_class : plan.classes)
    out.device_bytes = std::max(out.device_bytes, device_bytes(rank_class.expanded));
  return out;
}

std::vector<MachineNumber> numbers_of(const Machine& machine) {
  Machine copy = machine;
  std::vector<MachineNumber> out;
  for (const NamedNumber& named : named_numbers(copy))
    out.push_back({named.field, named.number->value, named.number->source});
  return out;
}

std::optional<double> number_of(const Machine& machine, std::string_view field) {
  const std::string real = real_field(machine, field);
  for (const MachineNumber& number : numbers_of(machine))
    if (number.field == real) return number.value;
  return std::nullopt;
}

}  // namespace stave
