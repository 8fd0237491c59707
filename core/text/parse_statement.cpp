#include <fmt/format.h>

#include "core/text/nearest.h"
#include "core/text/parser.h"

namespace stave {

IdRange<Comment> Parser::store(const std::vector<Comment>& comments) {
  const std::size_t start = module_.comments.size();
  for (const Comment& comment : comments) module_.comments.add(comment);
  return module_.comments.range_from(start);
}

// All comments met up to now_, as lines of their own.
void Parser::take_leading(std::vector<Comment>& to) {
  for (const LexComment& comment : lexer_.comments()) {
    const std::string_view text = text_.substr(comment.begin, comment.end - comment.begin);
    to.push_back({module_.strings.intern(text), false, comment.blank_before});
  }
  lexer_.comments().clear();
}

// Comments inside what was just read go in front of it, one behind it on its
// last line is its trailing comment; the others stay for what follows.
void Parser::take_trailing(std::vector<Comment>& to) {
  std::vector<LexComment>& comments = lexer_.comments();
  std::size_t taken = 0;
  for (; taken < comments.size(); ++taken) {
    const LexComment& comment = comments[taken];
    const bool inside = comment.begin < last_end_;
    if (!inside && comment.first_on_line) break;
    const std::string_view text = text_.substr(comment.begin, comment.end - comment.begin);
    to.push_back({module_.strings.intern(text), !inside, inside && comment.blank_before});
    if (inside) continue;
    ++taken;
    break;
  }
  comments.erase(comments.begin(), comments.begin() + static_cast<std::ptrdiff_t>(taken));
}

Region Parser::region() {
  const Lexeme opening = now_;
  const Nesting nesting(*this, region_depth_);
  open_.open();
  expect(Lex::LeftBrace, "`{`");
  while (!failed_) {
    while (is(Lex::Newline) || is(Lex::Semicolon)) advance();
    if (failed_) {
      skip_statement();
      if (stopped_) break;
      continue;
    }
    if (is(Lex::RightBrace)) break;
    if (is(Lex::End)) {
      fail(place(now_), "STV0119", "the file ends inside a region; `}` is missing",
           {{"the region opens here", module_.place(opening.begin)}});
      stopped_ = true;
      break;
    }
    statement();
    if (stopped_) break;
    if (failed_) skip_statement();
  }
  std::vector<Comment> comments;
  if (is(Lex::RightBrace)) take_leading(comments);
  if (open_.size() == 0 && !comments.empty()) comments.front().blank_before = false;
  const Loc end_loc = now_.begin;
  accept(Lex::RightBrace);
  Region region = open_.close(module_);
  region.comments = store(comments);
  region.loc = opening.begin;
  region.end_loc = end_loc;
  return region;
}

void Parser::statement() {
  Op op;
  const bool first = open_.size() == 0;
  op.loc = now_.begin;
  op.blank_before = now_.blank_before;
  std::vector<Comment> comments;
  take_leading(comments);
  const bool commented = !comments.empty();

  const std::size_t kept = open_.kept();
  const Lexeme op_name = statement_head(op);
  if (!failed_ && (is(Lex::LeftBrace) || is(Lex::Label))) {
    take_leading(comments);
    statement_regions();
  }
  if (!failed_ && !is(Lex::Newline) && !is(Lex::Semicolon) && !is(Lex::RightBrace) && !is(Lex::End)) {
    fail_here("STV0106", fmt::format("expected the end of the statement, got {}", description(now_)));
  }
  while (is(Lex::Semicolon)) advance();
  if (failed_) {
    open_.take_kept(module_, kept);
    return;
  }
  take_trailing(comments);
  // What stood inside the statement now stands in front of it.
  const bool leads = !comments.empty() && !comments.front().trailing;
  if (leads && !commented) std::swap(comments.front().blank_before, op.blank_before);
  if (first) (leads ? comments.front().blank_before : op.blank_before) = false;
  if (!comments.empty()) op.comments = store(comments);
  op.regions = open_.take_kept(module_, kept);
  check_op(op, op_name);
  open_.add(op);
}

// Up to the regions: [ %x = ] name [ @f ] [ type ] [ views ] [ -> views ] [ attributes ].
Lexeme Parser::statement_head(Op& op) {
  if (is(Lex::Value)) {
    op.result = intern(text_of(now_).substr(1));
    advance();
    if (accept(Lex::LeftBracket)) {
      op.result_index = expr().id;
      expect(Lex::RightBracket, "`]` after a token's index");
    }
    expect(Lex::Equal, "`=` after what a statement defines");
  }
  const Lexeme op_name = now_;
  if (is(Lex::Label)) {
    fail_here("STV0124", fmt::format("{} stands on the line of the `}}` before it", description(now_)));
    return op_name;
  }
  if (is(Lex::Name)) {
    const auto kind = op_kind(text_of(now_));
    if (!kind) unknown_op(op_name);
    if (kind) op.kind = *kind;
  }
  expect(Lex::Name, "a statement");
  if (is(Lex::Symbol)) {
    op.callee = intern(text_of(now_).substr(1));
    advance();
  }
  if (is(Lex::Dtype) || is(Lex::Name)) op.type = type();
  if (is(Lex::Value)) op.operands = views();
  if (accept(Lex::Arrow)) {
    if (is(Lex::Value)) {
      op.results = views();
    } else {
      expect(Lex::Value, "a view after `->`");
    }
  }
  if (is(Lex::LeftParen)) op.attrs = attributes();
  return op_name;
}

void Parser::statement_regions() {
  while (!failed_ && (is(Lex::LeftBrace) || is(Lex::Label))) {
    StringId label;
    if (is(Lex::Label)) {
      label = intern(text_of(now_));
      advance();
    }
    if (!is(Lex::LeftBrace)) {
      expect(Lex::LeftBrace, "`{` on the same line");
      return;
    }
    Region made = region();
    made.label = label;
    open_.keep(made);
  }
}

IdRange<ViewRef> Parser::views() {
  const std::size_t start = module_.views.size();
  do {
    view();
  } while (accept(Lex::Comma));
  return module_.views.range_from(start);
}

void Parser::view() {
  if (!is(Lex::Value)) {
    expect(Lex::Value, "a view, as in %a[0]");
    return;
  }
  ViewRef view;
  view.loc = now_.begin;
  view.value = intern(text_of(now_).substr(1));
  advance();
  const std::size_t start = module_.indices.size();
  while (accept(Lex::LeftBracket)) {
    do {
      index();
    } while (accept(Lex::Comma));
    expect(Lex::RightBracket, "`]` after an index");
  }
  view.indices = module_.indices.range_from(start);
  if (is_word("as")) {
    advance();
    view.as = type();
  }
  module_.views.add(view);
}

void Parser::index() {
  Index index;
  if (!is(Lex::Colon)) index.begin = expr().id;
  if (accept(Lex::Colon)) {
    index.kind = Index::Kind::Slice;
    if (accept(Lex::Plus)) {
      index.kind = Index::Kind::Sized;
      index.end = expr().id;
    } else if (!is(Lex::RightBracket) && !is(Lex::Comma)) {
      index.end = expr().id;
    }
  }
  module_.indices.add(index);
}

TypeId Parser::type() {
  TypeExpr made;
  made.loc = now_.begin;
  if (is_word("host")) {
    made.space = Space::Host;
    advance();
  } else if (is_word("symmetric")) {
    made.space = Space::Symmetric;
    advance();
  }
  if (!is(Lex::Dtype)) {
    std::string hint;
    if (is(Lex::Name)) {
      std::vector<std::string_view> names;
      for (int i = 0; i < dtype_count; ++i) names.push_back(name_of(static_cast<Dtype>(i)));
      hint = did_you_mean(text_of(now_), names);
    }
    fail_here("STV0106", fmt::format("expected a type, as in bf16[4, 8], got {}{}", description(now_), hint));
    return {};
  }
  made.dtype = now_.dtype;
  advance();
  expect(Lex::LeftBracket, "`[` and the shape; a scalar is f32[]");
  const std::size_t mark = children_.size();
  if (!is(Lex::RightBracket)) {
    do {
      children_.push_back(expr().id);
    } while (accept(Lex::Comma));
  }
  made.dims = children_since(mark);
  expect(Lex::RightBracket, "`,` or `]` in a shape");
  return module_.types.add(made);
}

IdRange<Attr> Parser::attributes() {
  const std::size_t start = module_.attrs.size();
  advance();
  do {
    Attr attr;
    attr.loc = now_.begin;
    attr.name = name("an attribute");
    if (failed_) break;
    expect(Lex::Equal, "`=` after an attribute's name");
    attr.value = value().id;
    module_.attrs.add(attr);
  } while (accept(Lex::Comma));
  expect(Lex::RightParen, "`,` or `)` after an attribute");
  return module_.attrs.range_from(start);
}

}  // namespace stave
