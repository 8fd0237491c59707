#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/text/parser.h"

namespace stave {

Parser::Node Parser::make(const Expr& expr, std::uint32_t height) {
  if (height > max_nesting) {
    fail(place(expr.loc, expr.loc + 1), "STV0107",
         fmt::format("an expression may nest {} deep; a chain of operators counts too", max_nesting));
  }
  return {module_.exprs.add(expr), height};
}

ExprList Parser::children_since(std::size_t mark) {
  const std::size_t start = module_.expr_lists.size();
  for (std::size_t i = mark; i < children_.size(); ++i) module_.expr_lists.add(children_[i]);
  children_.resize(mark);
  return module_.expr_lists.range_from(start);
}

Parser::Node Parser::value() {
  const Lexeme first = now_;
  switch (first.kind) {
    case Lex::LeftBracket: return list();
    case Lex::LeftBrace: return record();
    case Lex::Pipe: return lambda();
    case Lex::String:
    case Lex::RawString:
      advance();
      return make(Expr::text(ExprKind::String, module_.strings.intern(string_value(text_of(first))), first.begin), 1);
    case Lex::Symbol:
      advance();
      return make(Expr::text(ExprKind::Symbol, intern(text_of(first).substr(1)), first.begin), 1);
    default: break;
  }
  const Node a = expr();
  if (!is(Lex::Arrow) && !is(Lex::Dots)) return a;
  const ExprKind kind = is(Lex::Arrow) ? ExprKind::Arrow : ExprKind::Span;
  advance();
  const Node b = expr();
  return make(Expr::pair(kind, a.id.value, b.id.value, first.begin), std::max(a.height, b.height) + 1);
}

Parser::Node Parser::list() {
  const Loc loc = now_.begin;
  advance();
  const Nesting nesting(*this, bracket_depth_);
  const std::size_t mark = children_.size();
  std::uint32_t height = 0;
  if (!is(Lex::RightBracket)) {
    do {
      const Node child = value();
      children_.push_back(child.id);
      height = std::max(height, child.height);
    } while (accept(Lex::Comma));
  }
  expect(Lex::RightBracket, "`,` or `]` in this list");
  return make(Expr::list(ExprKind::List, children_since(mark), loc), height + 1);
}

Parser::Node Parser::record() {
  const Loc loc = now_.begin;
  const bool outermost = !lexer_.in_brackets();
  if (outermost) lexer_.enter_record();
  advance();
  const Nesting nesting(*this, bracket_depth_);
  const std::size_t mark = children_.size();
  std::uint32_t height = 1;
  if (!is(Lex::RightBrace)) {
    do {
      const Lexeme key = now_;
      const StringId id = name("a field of this record");
      if (failed_) break;
      for (std::size_t i = mark; i < children_.size(); i += 2) {
        const Expr& earlier = module_.exprs[children_[i]];
        if (earlier.string() != id) continue;
        report(place(key), "STV0110", fmt::format("the field {} is given twice", quoted(text_of(key))),
               {{"the first one", module_.place(earlier.loc)}});
      }
      children_.push_back(make(Expr::text(ExprKind::Name, id, key.begin), 1).id);
      expect(Lex::Equal, "`=` after a field's name");
      const Node child = value();
      children_.push_back(child.id);
      height = std::max(height, child.height);
    } while (accept(Lex::Comma));
  }
  if (outermost) lexer_.leave_record();
  expect(Lex::RightBrace, "`,` or `}` in this record");
  return make(Expr::list(ExprKind::Record, children_since(mark), loc), height + 1);
}

Parser::Node Parser::lambda() {
  const Loc loc = now_.begin;
  advance();
  const std::size_t mark = children_.size();
  if (!is(Lex::Pipe)) {
    do {
      const Lexeme lexeme = now_;
      const StringId id = name("a lambda's argument");
      if (failed_) break;
      for (std::size_t i = mark; i < children_.size(); ++i) {
        const Expr& earlier = module_.exprs[children_[i]];
        if (earlier.string() != id) continue;
        report(place(lexeme), "STV0118", fmt::format("the argument {} stands twice", quoted(text_of(lexeme))),
               {{"the first one", module_.place(earlier.loc)}});
      }
      children_.push_back(make(Expr::text(ExprKind::Name, id, lexeme.begin), 1).id);
    } while (accept(Lex::Comma));
  }
  expect(Lex::Pipe, "`,` or `|` after a lambda's argument");
  const Node body = expr();
  children_.push_back(body.id);
  return make(Expr::list(ExprKind::Lambda, children_since(mark), loc), body.height + 1);
}

Parser::Node Parser::binary(Node a, BinaryOp op, Node b, Loc loc) {
  return make(Expr::pair(ExprKind::Binary, a.id.value, b.id.value, loc, op), std::max(a.height, b.height) + 1);
}

namespace {

bool compares(Lex kind, BinaryOp& op) {
  switch (kind) {
    case Lex::Less: op = BinaryOp::Lt; return true;
    case Lex::LessEqual: op = BinaryOp::Le; return true;
    case Lex::EqualEqual: op = BinaryOp::Eq; return true;
    case Lex::NotEqual: op = BinaryOp::Ne; return true;
    case Lex::Greater: op = BinaryOp::Gt; return true;
    case Lex::GreaterEqual: op = BinaryOp::Ge; return true;
    default: return false;
  }
}

}  // namespace

Parser::Node Parser::expr() {
  const Loc loc = now_.begin;
  const Node a = sum();
  BinaryOp op{};
  if (!compares(now_.kind, op)) return a;
  advance();
  const Node b = sum();
  if (compares(now_.kind, op)) fail_here("STV0106", "comparisons do not chain; write parentheses");
  return binary(a, op, b, loc);
}

Parser::Node Parser::sum() {
  const Loc loc = now_.begin;
  Node a = term();
  while (is(Lex::Plus) || is(Lex::Minus)) {
    const BinaryOp op = is(Lex::Plus) ? BinaryOp::Add : BinaryOp::Sub;
    advance();
    const Node b = term();
    a = binary(a, op, b, loc);
  }
  return a;
}

Parser::Node Parser::term() {
  const Loc loc = now_.begin;
  Node a = unary();
  for (;;) {
    BinaryOp op{};
    if (is(Lex::Star)) {
      op = BinaryOp::Mul;
    } else if (is(Lex::Slash)) {
      op = BinaryOp::Div;
    } else if (is_word("mod")) {
      op = BinaryOp::Mod;
    } else if (is_word("div")) {
      op = BinaryOp::FloorDiv;
    } else {
      return a;
    }
    advance();
    const Node b = unary();
    a = binary(a, op, b, loc);
  }
}

Parser::Node Parser::unary() {
  if (!is(Lex::Minus)) return primary();
  const Loc loc = now_.begin;
  advance();
  const Node a = primary();
  return make(Expr::pair(ExprKind::Negate, a.id.value, 0, loc), a.height + 1);
}

Parser::Node Parser::number() {
  const Lexeme lexeme = now_;
  std::string_view text = text_of(lexeme);
  advance();
  if (lexeme.kind == Lex::Float) {
    double v = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
    if (error != std::errc()) {
      report(place(lexeme), "STV0105",
             fmt::format("{} does not fit a double: it is too large or too close to zero", quoted(text)));
    }
    return make(Expr::number(v, lexeme.begin), 1);
  }
  const bool hex = text.size() > 2 && (text[1] == 'x' || text[1] == 'X');
  if (hex) text.remove_prefix(2);
  std::uint64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v, hex ? 16 : 10);
  if (error != std::errc() || (!hex && v > 0x7fffffffffffffff)) {
    report(place(lexeme), "STV0105",
           fmt::format("{} is too large: a decimal integer is at most 9223372036854775807, a hexadecimal one has at "
                       "most 64 bits",
                       quoted(text_of(lexeme))));
  }
  return make(Expr::integer(static_cast<std::int64_t>(v), lexeme.begin, hex), 1);
}

Parser::Node Parser::primary() {
  const Lexeme first = now_;
  switch (first.kind) {
    case Lex::Integer:
    case Lex::Float: return number();
    case Lex::LeftParen: {
      advance();
      const Nesting nesting(*this, bracket_depth_);
      const Node only = expr();
      if (!is(Lex::Comma)) {
        expect(Lex::RightParen, "`,` or `)`");
        return only;
      }
      const std::size_t mark = children_.size();
      children_.push_back(only.id);
      std::uint32_t height = only.height;
      while (accept(Lex::Comma)) {
        const Node child = expr();
        children_.push_back(child.id);
        height = std::max(height, child.height);
      }
      expect(Lex::RightParen, "`,` or `)`");
      return make(Expr::list(ExprKind::Tuple, children_since(mark), first.begin), height + 1);
    }
    case Lex::Name:
    case Lex::Dtype: break;
    case Lex::Label:
      fail_here("STV0117", fmt::format("{} is reserved and cannot stand in an expression", description(first)));
      return {};
    default: fail_here("STV0106", fmt::format("expected an expression, got {}", description(first))); return {};
  }
  const StringId id = intern(text_of(first));
  advance();
  if (is(Lex::Integer) || is(Lex::Float)) {
    const Node typed = number();
    return make(Expr::pair(ExprKind::Typed, id.value, typed.id.value, first.begin), 2);
  }
  if (first.kind == Lex::Dtype && is(Lex::Minus)) {
    fail_here("STV0106", fmt::format("a negative number of a type stands in parentheses: {}(-1)", text_of(first)));
    return {};
  }
  const Node callee = make(Expr::text(ExprKind::Name, id, first.begin), 1);
  if (!is(Lex::LeftParen)) return callee;
  advance();
  const Nesting nesting(*this, bracket_depth_);
  const std::size_t mark = children_.size();
  children_.push_back(callee.id);
  std::uint32_t height = 1;
  do {
    const Node child = expr();
    children_.push_back(child.id);
    height = std::max(height, child.height);
  } while (accept(Lex::Comma));
  expect(Lex::RightParen, "`,` or `)` after an argument");
  return make(Expr::list(ExprKind::Apply, children_since(mark), first.begin), height + 1);
}

}  // namespace stave
