// Header-only and without exceptions, whatever the build says of toml++: nothing of ours throws.
#undef TOML_HEADER_ONLY
#undef TOML_SHARED_LIB
#define TOML_HEADER_ONLY 1
#define TOML_EXCEPTIONS 0
#define TOML_MAX_NESTED_VALUES 64
// toml++ 3.3 asserts (with NDEBUG: lets the compiler assume) that a table header
// starts with a key, and reports "[#" properly only if it does neither.
#define TOML_ASSERT(condition) static_cast<void>(0)
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <algorithm>
#include <cmath>
#include <set>
#include <type_traits>

#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/machine/fields.h"
#include "core/machine/machine.h"
#include "core/machine/machine_text.h"
#include "core/machine/table_csv.h"
#include "core/machine/times.h"

namespace stave {
namespace {

using namespace machine_fields;

constexpr std::size_t max_problems = 20;
constexpr std::size_t max_items = 1024;

class Reader {
 public:
  Reader(const std::string& file, const ReadTable& read_table) : file_(file), read_table_(read_table) {}

  Result<Machine> read(std::string_view text);

 private:
  Place place(const toml::source_region& region) const {
    return {.file = file_,
            .line = static_cast<std::uint32_t>(region.begin.line),
            .column = static_cast<std::uint32_t>(region.begin.column)};
  }
  Place place(const toml::node& node) const { return place(node.source()); }

  template <class... Args>
  void complain(Place where, std::string_view code, fmt::format_string<Args...> format, Args&&... args) {
    if (problems_.size() >= max_problems) return;
    problems_.push_back(error_at(std::move(where), code, format, std::forward<Args>(args)...).problems.front());
  }

  // The member `key` of `table`, remembered as known; complains if it is missing.
  const toml::node* member(const toml::table& table, std::string_view path, std::string_view key, bool required);
  void reject_unknown(const toml::table& table, std::string_view path, const std::vector<std::string_view>& known);

  void read_number(const toml::node& node, const std::string& path, Bound bound, Number& out);
  bool within(double value, Bound bound) const;
  void read_text(const toml::table& table, std::string_view path, std::string_view key, std::string& out,
                 std::span<const std::string_view> allowed = {});
  void read_whole(const toml::table& table, std::string_view path, std::string_view key, int& out);

  template <class T>
  void read_fields(const toml::table& table, const std::string& path, T& out);
  template <class T>
  void read_section(const toml::table& root, std::string_view key, T& out);
  template <class T, class ReadOne>
  void read_array(const toml::table& root, std::string_view key, std::vector<T>& out, const ReadOne& read_one);
  template <class T, class Key>
  void reject_twice(const toml::table& root, std::string_view section, const std::vector<T>& values, const Key& key);

  void read_about(const toml::table& root, Machine& machine);
  void read_table(const toml::table& table, const std::string& path, Table& out);
  void read_rows(const toml::table& table, const std::string& path, Table& out);
  void check_complete(const Machine& machine);

  const std::string& file_;
  const ReadTable& read_table_;
  Problems problems_;
};

std::string_view kind_of(const toml::node& node) {
  if (node.is_table()) return "a table";
  if (node.is_array()) return "an array";
  if (node.is_string()) return "a text";
  if (node.is_number()) return "a number";
  if (node.is_boolean()) return "a boolean";
  return "a date or time";
}

const toml::node* Reader::member(const toml::table& table, std::string_view path, std::string_view key, bool required) {
  const toml::node* node = table.get(key);
  if (!node && required) complain(place(table), "STV0601", "{} {} is missing", path, key);
  return node;
}

void Reader::reject_unknown(const toml::table& table, std::string_view path,
                            const std::vector<std::string_view>& known) {
  for (const auto& [key, node] : table) {
    if (std::find(known.begin(), known.end(), key.str()) != known.end()) continue;
    complain(place(key.source()), "STV0602", "{} has no key \"{}\"", path, key.str().substr(0, 80));
  }
}

bool Reader::within(double value, Bound bound) const {
  // Far beyond any machine; it keeps times within int64 picoseconds.
  const double most = bound == Positive ? 1e21 : 1e17;
  if (!(value >= 0 && value <= most)) return false;
  switch (bound) {
    case Positive: return value >= 1e-3;
    case ZeroOrMore: return true;
    case Whole: return value >= 1 && value == std::floor(value) && value <= 9007199254740992.0;
    case WholeOrZero: return value == std::floor(value) && value <= 9007199254740992.0;
    case Part: return value >= 1e-6 && value <= 1;
  }
  return false;
}

std::string_view words_for(Bound bound) {
  switch (bound) {
    case Positive: return "must be a finite number above zero";
    case ZeroOrMore: return "must be a finite number, zero or more";
    case Whole: return "must be a whole number, one or more";
    case WholeOrZero: return "must be a whole number, zero or more";
    case Part: return "must be above zero and at most one";
  }
  return "";
}

std::optional<double> number_in(const toml::node& node) {
  if (const auto* whole = node.as_integer()) return static_cast<double>(whole->get());
  if (const auto* real = node.as_floating_point()) return real->get();
  return std::nullopt;
}

void Reader::read_number(const toml::node& node, const std::string& path, Bound bound, Number& out) {
  const toml::table* table = node.as_table();
  if (!table) {
    complain(place(node), "STV0603", "{} must be {{ value = …, source = \"…\" }}, got {}", path, kind_of(node));
    return;
  }
  reject_unknown(*table, path, {"value", "source", "spread"});
  if (const toml::node* value = member(*table, path, "value", true)) {
    const auto number = number_in(*value);
    if (!number) {
      complain(place(*value), "STV0603", "{} value must be a number, got {}", path, kind_of(*value));
    } else if (!within(*number, bound)) {
      complain(place(*value), "STV0604", "{} {}, got {}", path, words_for(bound), *number);
    } else {
      out.value = *number;
    }
  }
  if (const toml::node* source = table->get("source"); !source || !source->is_string()) {
    complain(place(source ? *source : node), "STV0605", "{} must name its source in words", path);
  } else {
    out.source = source->as_string()->get();
    if (out.source.empty()) complain(place(*source), "STV0605", "{} must name its source in words", path);
  }
  if (const toml::node* spread = table->get("spread")) {
    const auto number = number_in(*spread);
    if (!number)
      complain(place(*spread), "STV0603", "{} spread must be a number, got {}", path, kind_of(*spread));
    else if (!within(*number, ZeroOrMore))
      complain(place(*spread), "STV0604", "{} spread {}, got {}", path, words_for(ZeroOrMore), *number);
    else
      out.spread = *number;
  }
}

void Reader::read_text(const toml::table& table, std::string_view path, std::string_view key, std::string& out,
                       std::span<const std::string_view> allowed) {
  const toml::node* node = member(table, path, key, true);
  if (!node) return;
  const auto* text = node->as_string();
  if (!text || text->get().empty()) {
    complain(place(*node), "STV0603", "{} {} must be a text, not empty, got {}", path, key,
             text ? "an empty one" : kind_of(*node));
    return;
  }
  out = text->get();
  if (allowed.empty() || std::find(allowed.begin(), allowed.end(), out) != allowed.end()) return;
  complain(place(*node), "STV0612", "{} {} must be one of {}, got \"{}\"", path, key, fmt::join(allowed, ", "),
           out.substr(0, 80));
}

void Reader::read_whole(const toml::table& table, std::string_view path, std::string_view key, int& out) {
  const toml::node* node = member(table, path, key, true);
  if (!node) return;
  const auto* whole = node->as_integer();
  constexpr int most = 16384;
  if (!whole)
    complain(place(*node), "STV0603", "{} {} must be a whole number, got {}", path, key, kind_of(*node));
  else if (whole->get() < 1 || whole->get() > most)
    complain(place(*node), "STV0604", "{} {} must be from 1 to {}, got {}", path, key, most, whole->get());
  else
    out = static_cast<int>(whole->get());
}

template <class T>
void Reader::read_fields(const toml::table& table, const std::string& path, T& out) {
  std::vector<std::string_view> known;
  const auto one = [&](const auto& field) {
    using Field = std::decay_t<decltype(field)>;
    known.push_back(field.key);
    if constexpr (std::is_same_v<Field, NameField<T>>) {
      read_text(table, path, field.key, out.*field.member, field.allowed);
    } else {
      constexpr bool required = std::is_same_v<Field, NumberField<T>>;
      const toml::node* node = member(table, path, field.key, required);
      if (!node) return;
      Number number;
      read_number(*node, fmt::format("{} {}", path, field.key), field.bound, number);
      out.*field.member = std::move(number);
    }
  };
  std::apply([&](const auto&... field) { (one(field), ...); }, fields(&out));
  reject_unknown(table, path, known);
}

template <class T>
void Reader::read_section(const toml::table& root, std::string_view key, T& out) {
  const toml::node* node = root.get(key);
  if (!node) {
    complain({.file = file_}, "STV0601", "[{}] is missing", key);
  } else if (!node->is_table()) {
    complain(place(*node), "STV0603", "[{}] must be a table, got {}", key, kind_of(*node));
  } else {
    read_fields(*node->as_table(), fmt::format("[{}]", key), out);
  }
}

template <class T, class ReadOne>
void Reader::read_array(const toml::table& root, std::string_view key, std::vector<T>& out, const ReadOne& read_one) {
  const toml::node* node = root.get(key);
  if (!node) return;
  const toml::array* array = node->as_array();
  if (!array) {
    complain(place(*node), "STV0603", "{} must be written [[{}]], got {}", key, key, kind_of(*node));
    return;
  }
  if (array->size() > max_items) {
    complain(place(*node), "STV0609", "at most {} [[{}]], got {}", max_items, key, array->size());
    return;
  }
  for (const toml::node& item : *array) {
    if (!item.is_table()) {
      complain(place(item), "STV0603", "{} must be written [[{}]], got {}", key, key, kind_of(item));
      continue;
    }
    read_one(*item.as_table(), fmt::format("[[{}]]", key), out.emplace_back());
  }
}

template <class T, class Key>
void Reader::reject_twice(const toml::table& root, std::string_view section, const std::vector<T>& values,
                          const Key& key) {
  std::set<std::string> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::string name = key(values[i]);
    if (seen.insert(name).second) continue;
    complain(place(*(*root.get(section)->as_array()).get(i)), "STV0610", "[[{}]] {} is given twice", section, name);
  }
}

void Reader::read_about(const toml::table& root, Machine& machine) {
  constexpr std::string_view path = "[machine]";
  const toml::node* node = root.get("machine");
  if (!node) {
    complain({.file = file_}, "STV0601", "[machine] is missing");
    return;
  }
  const toml::table* table = node->as_table();
  if (!table) {
    complain(place(*node), "STV0603", "[machine] must be a table, got {}", kind_of(*node));
    return;
  }
  read_text(*table, path, "name", machine.name);
  read_text(*table, path, "description", machine.description);
  read_text(*table, path, "clock_state", machine.clock_state);
  read_whole(*table, path, "nodes", machine.nodes);
  read_whole(*table, path, "devices_per_node", machine.devices_per_node);
  if (const toml::node* measured = member(*table, path, "measured", true)) {
    if (!measured->is_boolean())
      complain(place(*measured), "STV0603", "[machine] measured must be true or false, got {}", kind_of(*measured));
    else
      machine.measured = measured->as_boolean()->get();
  }
  reject_unknown(*table, path, {"name", "description", "clock_state", "nodes", "devices_per_node", "measured"});
}

void Reader::read_table(const toml::table& table, const std::string& path, Table& out) {
  static constexpr std::string_view ops[] = {"gemm", "collective"};
  read_text(table, path, "op", out.op, ops);
  if (out.op == "gemm") read_text(table, path, "dtype", out.dtype);
  if (out.op == "collective") read_text(table, path, "algorithm", out.algorithm, algorithms);
  read_text(table, path, "csv", out.csv);
  read_text(table, path, "sha256", out.sha256);
  if (const toml::node* source = table.get("source");
      !source || !source->is_string() || source->as_string()->get().empty())
    complain(place(source ? *source : table), "STV0605", "{} must name its source in words", path);
  else
    out.source = source->as_string()->get();
  if (const toml::node* node = table.get("device"); node && out.op == "gemm") {
    const toml::table* device = node->as_table();
    if (!device) {
      complain(place(*node), "STV0603", "[table.device] must be a table, got {}", kind_of(*node));
    } else {
      const auto number = [&](std::string_view key, double TableDevice::*member_of) {
        if (const toml::node* value = member(*device, "[table.device]", key, true)) {
          Number read;
          read_number(*value, fmt::format("[table.device] {}", key), Positive, read);
          out.device.*member_of = read.value;
        }
      };
      number("sm_count", &TableDevice::sm_count);
      number("flops_per_s", &TableDevice::flops_per_s);
      number("memory_bandwidth_bytes_per_s", &TableDevice::memory_bytes_per_s);
      number("memory_peak_bytes_per_s", &TableDevice::memory_peak_bytes_per_s);
      number("l2_bytes", &TableDevice::l2_bytes);
      number("l2_bandwidth_bytes_per_s", &TableDevice::l2_bytes_per_s);
      reject_unknown(*device, "[table.device]",
                     {"sm_count", "flops_per_s", "memory_bandwidth_bytes_per_s", "memory_peak_bytes_per_s", "l2_bytes",
                      "l2_bandwidth_bytes_per_s"});
    }
  }
  if (out.op == "gemm")
    reject_unknown(table, path, {"op", "dtype", "csv", "sha256", "source", "device"});
  else
    reject_unknown(table, path, {"op", "algorithm", "csv", "sha256", "source"});
  if (problems_.empty()) read_rows(table, path, out);
}

void Reader::read_rows(const toml::table& table, const std::string& path, Table& out) {
  const Place csv_place = place(*table.get("csv"));
  if (out.csv.find_first_of("/\\") != std::string::npos || out.csv.starts_with('.') ||
      out.csv.find('\0') != std::string::npos) {
    complain(csv_place, "STV0611", "{} csv must be a file name beside the machine file, got \"{}\"", path, out.csv);
    return;
  }
  const auto take = [&](Problems&& problems) {
    Note note{fmt::format("{} names this table here", path), csv_place};
    for (Problem& problem : problems) {
      problem.notes.push_back(note);
      if (problems_.size() < max_problems) problems_.push_back(std::move(problem));
    }
  };
  auto text = read_table_(out.csv);
  if (!text) return take(std::move(text).problems());
  if (text->size() > max_table_bytes) {
    complain(csv_place, "STV0609", "{} {}: a table has at most {} bytes, got {}", path, out.csv, max_table_bytes,
             text->size());
    return;
  }
  if (const std::string hash = sha256(*text); hash != out.sha256) {
    complain(place(*table.get("sha256")), "STV0606", "{} {} has sha256 {}, not the {} given here", path, out.csv, hash,
             out.sha256.substr(0, 64));
    return;
  }
  if (out.op == "gemm") {
    auto rows = parse_gemm_csv(out.csv, *text);
    if (!rows) return take(std::move(rows).problems());
    out.gemm = *std::move(rows);
  } else {
    auto rows = parse_collective_csv(out.csv, *text);
    if (!rows) return take(std::move(rows).problems());
    out.collective = *std::move(rows);
  }
}

void Reader::check_complete(const Machine& machine) {
  if (machine.devices_per_node > 1 && !machine.device_link())
    complain({.file = file_}, "STV0601",
             "[[link]] with scope = \"peer\" or \"switch\" is missing: devices_per_node is {}",
             machine.devices_per_node);
  if (machine.nodes > 1 && !machine.link("nic"))
    complain({.file = file_}, "STV0601", "[[link]] with scope = \"nic\" is missing: nodes is {}", machine.nodes);
  if (!machine.link("pcie")) complain({.file = file_}, "STV0601", "[[link]] with scope = \"pcie\" is missing");
  for (std::string_view op : collective_ops)
    if (machine.devices() > 1 && !machine.collective(op, "ring"))
      complain({.file = file_}, "STV0601", "[[collective]] with op = \"{}\", algorithm = \"ring\" is missing", op);
  for (std::string_view family : kernel_families)
    if (!machine.kernel(family))
      complain({.file = file_}, "STV0601", "[[kernel]] with family = \"{}\" is missing", family);
}

Result<Machine> Reader::read(std::string_view text) {
  TRY_VOID(check_machine_text(file_, text));
  const toml::parse_result parsed = toml::parse(text);
  if (!parsed) {
    const toml::parse_error& error = parsed.error();
    return error_at(place(error.source()), "STV0600", "not TOML: {}", error.description());
  }
  const toml::table& root = parsed.table();

  Machine machine;
  machine.file = file_;
  machine.text = std::string(text);
  machine.sha256 = sha256(text);
  read_about(root, machine);
  read_section(root, "device", machine.device);
  read_section(root, "host", machine.host);
  read_section(root, "graph", machine.graph);
  if (root.get("energy")) read_section(root, "energy", machine.energy.emplace());
  const auto plain = [&](const toml::table& table, const std::string& path, auto& out) {
    read_fields(table, path, out);
  };
  read_array(root, "link", machine.links, plain);
  read_array(root, "collective", machine.collectives, plain);
  read_array(root, "kernel", machine.kernels, plain);
  read_array(root, "use", machine.uses, plain);
  read_array(root, "beside", machine.besides, plain);
  read_array(root, "table", machine.tables,
             [&](const toml::table& table, const std::string& path, Table& out) { read_table(table, path, out); });
  reject_unknown(
      root, "a machine file",
      {"machine", "device", "host", "graph", "energy", "link", "collective", "kernel", "use", "beside", "table"});
  if (problems_.empty()) {
    reject_twice(root, "link", machine.links, [](const Link& l) { return l.scope; });
    reject_twice(root, "collective", machine.collectives, [](const Collective& c) { return c.op + " " + c.algorithm; });
    reject_twice(root, "kernel", machine.kernels, [](const KernelShape& k) { return k.family; });
    reject_twice(root, "use", machine.uses, [](const ResourceUse& u) { return u.family + " " + u.resource; });
    reject_twice(root, "beside", machine.besides, [](const Beside& b) { return b.family + " beside " + b.beside; });
    check_complete(machine);
  }
  if (!problems_.empty()) return Failure(std::move(problems_));
  for (Table& table : machine.tables)
    if (table.op == "gemm" && table.device == TableDevice{}) table.device = table_device(machine, table.dtype);
  machine.links_in_file = machine.links;
  return machine;
}

}  // namespace

Result<Machine> parse_machine(const std::string& file, std::string_view text, const ReadTable& read_table) {
  return Reader(file, read_table).read(text);
}

Result<Machine> load_machine(const std::string& path) {
  TRY(const std::string text, read_file(path, max_machine_bytes));
  const std::size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  return parse_machine(path, text, [&](const std::string& csv) { return read_file(folder + csv, max_table_bytes); });
}

}  // namespace stave
