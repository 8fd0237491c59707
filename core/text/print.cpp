#include "core/text/print.h"

#include <fmt/format.h>

#include <iterator>

namespace stave {

std::string float_text(double v) {
  std::string text = fmt::format("{}", v);
  if (text.find('.') != std::string::npos) return text;
  const std::size_t exponent = text.find('e');
  return text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
}

std::string string_text(std::string_view value) {
  const bool raw = value.find('\n') != std::string_view::npos && value.find("\"\"\"") == std::string_view::npos &&
                   value.back() != '"';
  if (raw) return fmt::format("\"\"\"{}\"\"\"", value);
  std::string text = "\"";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      text += '\\';
      text += c;
    } else if (c == '\n') {
      text += "\\n";
    } else if (c == '\t') {
      text += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      text += fmt::format("\\x{:02x}", byte);
    } else {
      text += c;
    }
  }
  return text + '"';
}

namespace {

constexpr std::size_t line_limit = 100;
// Lists and records up to this long stay on one line.
constexpr std::size_t unbroken_limit = 60;

class Printer {
 public:
  explicit Printer(const Module& module) : m_(module) {}

  std::string file() {
    comment_lines(m_.start_comments, "");
    out_ += "stave 1";
    trailing(m_.start_comments);
    out_ += '\n';
    for (const Item& item : m_.items) print(item);
    comment_lines(m_.end_comments, "");
    return std::move(out_);
  }

  std::string expression(ExprId id) {
    value(id);
    return std::move(line_);
  }

  std::string head(const Op& op) {
    statement_head(op);
    return std::move(line_);
  }

 private:
  std::string_view text(StringId id) const { return m_.strings[id]; }

  // ---- lines ----

  void comment_lines(IdRange<Comment> comments, std::string_view indent) {
    for (const Id<Comment> id : comments) {
      const Comment& comment = m_.comments[id];
      if (comment.trailing) continue;
      if (comment.blank_before) out_ += '\n';
      fmt::format_to(std::back_inserter(out_), "{}//{}\n", indent, text(comment.text));
    }
  }

  void trailing(IdRange<Comment> comments) {
    for (const Id<Comment> id : comments)
      if (m_.comments[id].trailing) fmt::format_to(std::back_inserter(out_), "  //{}", text(m_.comments[id].text));
  }

  // A place where the line may be broken instead of a space.
  void space_or_break() {
    breaks_.push_back(line_.size());
    line_ += ' ';
  }
  void no_breaks_since(std::size_t start, std::size_t first) {
    if (line_.size() - start <= unbroken_limit) breaks_.resize(first);
  }

  // Moves the line to the output; what comes after a break is indented by four more.
  // `room` is for what will follow on the line.
  void put_line(std::string_view indent, std::size_t room) {
    out_ += indent;
    std::size_t done = 0;
    std::size_t column = indent.size();
    if (column + line_.size() + room > line_limit) {
      for (std::size_t i = 0; i < breaks_.size(); ++i) {
        const std::size_t next = i + 1 < breaks_.size() ? breaks_[i + 1] : line_.size() + room;
        if (column + next - done <= line_limit) continue;
        out_.append(line_, done, breaks_[i] - done);
        fmt::format_to(std::back_inserter(out_), "\n{}    ", indent);
        done = breaks_[i] + 1;
        column = indent.size() + 4;
      }
    }
    out_.append(line_, done);
    line_.clear();
    breaks_.clear();
  }

  // ---- declarations ----

  void print(const Item& item) {
    comment_lines(item.comments, "");
    if (item.blank_before) out_ += '\n';
    switch (item.kind) {
      case Item::Kind::Mesh: mesh(item); break;
      case Item::Kind::Param: param(m_.params[item.first]); break;
      case Item::Kind::Source: source(m_.sources[item.first]); break;
      case Item::Kind::Function: function(m_.functions[FunctionId{item.first}]); break;
      case Item::Kind::Entry: entry(m_.entries[item.first]); break;
    }
    trailing(item.comments);
    out_ += '\n';
  }

  void mesh(const Item& item) {
    out_ += "mesh ";
    for (std::uint32_t i = 0; i < item.count; ++i) {
      const MeshAxis& axis = m_.mesh[item.first + i];
      fmt::format_to(std::back_inserter(out_), "{}{} = {}", i == 0 ? "" : ", ", text(axis.name), axis.size);
    }
  }

  void param(const ParamDecl& param) {
    fmt::format_to(std::back_inserter(line_), "param {} = ", text(param.name));
    value(param.value);
    if (param.allowed) {
      line_ += " in ";
      value(param.allowed);
    }
    put_line("", 0);
  }

  void source(const SourceDecl& source) {
    fmt::format_to(std::back_inserter(out_), "source @{} = {} {}", text(source.name), text(source.language),
                   string_text(text(source.text)));
  }

  void function(const Function& function) {
    fmt::format_to(std::back_inserter(line_), "func @{}(", text(function.name));
    for (std::size_t i = 0; i < function.formals.size(); ++i) {
      const Formal& formal = m_.formals[function.formals[i]];
      if (i > 0) {
        line_ += ',';
        space_or_break();
      }
      fmt::format_to(std::back_inserter(line_), "%{}: {} ", text(formal.name), name_of(formal.direction));
      const std::size_t first = breaks_.size();
      type(formal.type);
      attributes(formal.attrs);
      breaks_.resize(first);
    }
    line_ += ") ";
    put_line("", 1);
    region(m_.regions[function.body], "");
  }

  void entry(const EntryDecl& entry) {
    fmt::format_to(std::back_inserter(line_), "entry @{}", text(entry.function));
    if (entry.ranks) {
      line_ += " on ";
      value(entry.ranks);
    }
    put_line("", 0);
  }

  // ---- statements ----

  void region(const Region& region, const std::string& indent) {
    if (region.ops.empty() && region.comments.empty()) {
      out_ += "{ }";
      return;
    }
    out_ += "{\n";
    const std::string inner = indent + "  ";
    for (const OpId id : region.ops) statement(m_.ops[id], inner);
    comment_lines(region.comments, inner);
    out_ += indent;
    out_ += '}';
  }

  void statement(const Op& op, const std::string& indent) {
    comment_lines(op.comments, indent);
    if (op.blank_before) out_ += '\n';
    statement_head(op);
    std::size_t room = 0;
    if (!op.regions.empty()) {
      line_ += ' ';
      const StringId label = m_.regions[op.regions[0]].label;
      room = label ? text(label).size() + 2 : 1;
    }
    put_line(indent, room);
    for (std::size_t i = 0; i < op.regions.size(); ++i) {
      const Region& inner = m_.regions[op.regions[i]];
      if (i > 0) out_ += ' ';
      if (inner.label) fmt::format_to(std::back_inserter(out_), "{} ", text(inner.label));
      region(inner, indent);
    }
    trailing(op.comments);
    out_ += '\n';
  }

  void statement_head(const Op& op) {
    if (op.result) {
      fmt::format_to(std::back_inserter(line_), "%{}", text(op.result));
      if (op.result_index) {
        line_ += '[';
        value(op.result_index);
        line_ += ']';
      }
      line_ += " = ";
    }
    line_ += info_of(op.kind).name;
    if (op.callee) fmt::format_to(std::back_inserter(line_), " @{}", text(op.callee));
    if (op.type) {
      line_ += ' ';
      type(op.type);
    }
    views(op.operands);
    if (!op.results.empty()) {
      line_ += " ->";
      views(op.results);
    }
    // What stands outside of parentheses cannot be broken.
    breaks_.clear();
    attributes(op.attrs);
  }

  void views(IdRange<ViewRef> views) {
    for (std::size_t i = 0; i < views.size(); ++i) {
      line_ += i == 0 ? " " : ", ";
      view(m_.views[views[i]]);
    }
  }

  void view(const ViewRef& view) {
    fmt::format_to(std::back_inserter(line_), "%{}", text(view.value));
    for (const Id<Index> id : view.indices) {
      const Index& index = m_.indices[id];
      line_ += '[';
      if (index.begin) value(index.begin);
      if (index.kind != Index::Kind::At) {
        if (index.begin && !simple(index.begin)) line_ += ' ';
        line_ += ':';
        if (index.begin && !simple(index.begin)) line_ += ' ';
        if (index.kind == Index::Kind::Sized) line_ += '+';
        if (index.end) value(index.end);
      }
      line_ += ']';
    }
    if (view.as) {
      line_ += " as ";
      type(view.as);
    }
  }

  bool simple(ExprId id) const {
    const ExprKind kind = m_.exprs[id].kind;
    return kind == ExprKind::Integer || kind == ExprKind::Name;
  }

  void type(TypeId id) {
    const TypeExpr& type = m_.types[id];
    if (type.space != Space::Device) fmt::format_to(std::back_inserter(line_), "{} ", name_of(type.space));
    fmt::format_to(std::back_inserter(line_), "{}[", name_of(type.dtype));
    values(type.dims);
    line_ += ']';
  }

  void attributes(IdRange<Attr> attrs) {
    if (attrs.empty()) return;
    line_ += " (";
    for (std::size_t i = 0; i < attrs.size(); ++i) {
      const Attr& attr = m_.attrs[attrs[i]];
      if (i > 0) {
        line_ += ',';
        space_or_break();
      }
      fmt::format_to(std::back_inserter(line_), "{} = ", text(attr.name));
      value(attr.value);
    }
    line_ += ')';
  }

  // ---- expressions ----

  // How tightly a node binds; a child of a looser kind stands in parentheses.
  enum Level { Comparison, Sum, Term, Unary, Primary };

  static Level level_of(const Expr& e) {
    if (e.kind == ExprKind::Negate) return Unary;
    if (e.kind != ExprKind::Binary) return Primary;
    switch (e.op) {
      case BinaryOp::Add:
      case BinaryOp::Sub: return Sum;
      case BinaryOp::Mul:
      case BinaryOp::Div:
      case BinaryOp::FloorDiv:
      case BinaryOp::Mod: return Term;
      default: return Comparison;
    }
  }

  // (a mod b) * c keeps its parentheses: few readers know how mod and div bind.
  static bool mixes(const Expr& e, const Expr& left) {
    const auto words = [](BinaryOp op) { return op == BinaryOp::Mod || op == BinaryOp::FloorDiv; };
    return level_of(e) == Term && left.kind == ExprKind::Binary && level_of(left) == Term && left.op != e.op &&
           (words(e.op) || words(left.op));
  }

  void child(ExprId id, Level at_least) {
    const bool parens = level_of(m_.exprs[id]) < at_least;
    if (parens) line_ += '(';
    value(id);
    if (parens) line_ += ')';
  }

  void values(ExprList list, std::size_t from = 0) {
    for (std::size_t i = from; i < list.size(); ++i) {
      if (i > from) {
        line_ += ',';
        space_or_break();
      }
      value(m_.expr_lists[list[i]]);
    }
  }

  void bracketed(char open, ExprList list, std::size_t from, char close) {
    const std::size_t start = line_.size();
    const std::size_t first = breaks_.size();
    line_ += open;
    values(list, from);
    line_ += close;
    no_breaks_since(start, first);
  }

  void value(ExprId id) {
    const Expr& e = m_.exprs[id];
    const auto out = std::back_inserter(line_);
    switch (e.kind) {
      case ExprKind::Integer:
        e.hex ? fmt::format_to(out, "{:#x}", e.bits) : fmt::format_to(out, "{}", e.as_integer());
        break;
      case ExprKind::Float: line_ += float_text(e.as_number()); break;
      case ExprKind::String: line_ += string_text(text(e.string())); break;
      case ExprKind::Symbol: fmt::format_to(out, "@{}", text(e.string())); break;
      case ExprKind::Name: line_ += text(e.string()); break;
      case ExprKind::Typed:
        fmt::format_to(out, "{} ", text(StringId{e.a().value}));
        value(e.b());
        break;
      case ExprKind::Apply:
        value(m_.expr_lists[e.children()[0]]);
        bracketed('(', e.children(), 1, ')');
        break;
      case ExprKind::Negate:
        line_ += '-';
        child(e.a(), Primary);
        break;
      case ExprKind::Binary: {
        const Level level = level_of(e);
        child(e.a(), level == Comparison || mixes(e, m_.exprs[e.a()]) ? static_cast<Level>(level + 1) : level);
        fmt::format_to(out, " {} ", name_of(e.op));
        child(e.b(), static_cast<Level>(level + 1));
        break;
      }
      case ExprKind::Tuple: bracketed('(', e.children(), 0, ')'); break;
      case ExprKind::List: bracketed('[', e.children(), 0, ']'); break;
      case ExprKind::Record: record(e.children()); break;
      case ExprKind::Lambda: lambda(e.children()); break;
      case ExprKind::Arrow:
      case ExprKind::Span:
        value(e.a());
        line_ += e.kind == ExprKind::Arrow ? " -> " : "..";
        value(e.b());
        break;
    }
  }

  void record(ExprList children) {
    const std::size_t start = line_.size();
    const std::size_t first = breaks_.size();
    line_ += '{';
    for (std::size_t i = 0; i + 1 < children.size(); i += 2) {
      if (i > 0) {
        line_ += ',';
        space_or_break();
      }
      value(m_.expr_lists[children[i]]);
      line_ += " = ";
      value(m_.expr_lists[children[i + 1]]);
    }
    line_ += '}';
    no_breaks_since(start, first);
  }

  void lambda(ExprList children) {
    line_ += '|';
    for (std::size_t i = 0; i + 1 < children.size(); ++i) {
      if (i > 0) line_ += ", ";
      value(m_.expr_lists[children[i]]);
    }
    line_ += "| ";
    value(m_.expr_lists[children[children.size() - 1]]);
  }

  const Module& m_;
  std::string out_;
  std::string line_;                 // the statement that is being made
  std::vector<std::size_t> breaks_;  // spaces in it that may become line ends
};

}  // namespace

std::string print(const Module& module) { return Printer(module).file(); }

std::string print_statement(const Module& module, const Op& op) { return Printer(module).head(op); }

std::string print_expr(const Module& module, ExprId id) { return Printer(module).expression(id); }

}  // namespace stave
