#include <fmt/format.h>

#include <charconv>

#include "core/text/nearest.h"
#include "core/text/parser.h"

namespace stave {

// stave 1
bool Parser::header() {
  if (failed_) return false;
  std::vector<Comment> comments;
  take_leading(comments);
  if (!comments.empty()) comments.front().blank_before = false;
  if (!is_word("stave")) {
    fail_here("STV0100", fmt::format("a schedule begins with the line `stave 1`, this text with {}",
                                     is(Lex::End) ? "nothing" : description(now_)));
    return false;
  }
  advance();
  if (!is(Lex::Integer) || text_of(now_) != "1") {
    fail_here("STV0100", fmt::format("the version must be 1, the only one so far, got {}", description(now_)));
    return false;
  }
  advance();
  take_trailing(comments);
  module_.start_comments = store(comments);
  return !stopped_;
}

void Parser::item() {
  Item item;
  item.blank_before = now_.blank_before;
  std::vector<Comment> comments;
  take_leading(comments);
  const bool commented = !comments.empty();
  if (is_word("mesh")) {
    mesh(item);
  } else if (is_word("param")) {
    param(item);
  } else if (is_word("source")) {
    source(item);
  } else if (is_word("func")) {
    function(item, comments);
  } else if (is_word("entry")) {
    entry(item);
  } else {
    static constexpr std::string_view words[] = {"mesh", "param", "source", "func", "entry"};
    fail_here("STV0106", fmt::format("expected mesh, param, source, func or entry, got {}{}", description(now_),
                                     is(Lex::Name) ? did_you_mean(text_of(now_), words) : ""));
  }
  if (failed_) return;
  take_trailing(comments);
  const bool leads = !comments.empty() && !comments.front().trailing;
  if (leads && !commented) std::swap(comments.front().blank_before, item.blank_before);
  item.comments = store(comments);
  module_.items.push_back(item);
}

bool Parser::declare(std::unordered_map<std::uint32_t, Loc>& names, StringId name, const Lexeme& lexeme,
                     std::string_view what) {
  const auto [found, is_new] = names.emplace(name.value, lexeme.begin);
  if (!is_new) {
    report(place(lexeme), "STV0118", fmt::format("there is another {} with the name {}", what, quoted(text_of(lexeme))),
           {{"the first one", module_.place(found->second)}});
  }
  return is_new;
}

// mesh x = 2, y = 4
void Parser::mesh(Item& item) {
  item.kind = Item::Kind::Mesh;
  item.first = static_cast<std::uint32_t>(module_.mesh.size());
  advance();
  do {
    const Lexeme lexeme = now_;
    MeshAxis axis;
    axis.loc = now_.begin;
    axis.name = name("a mesh axis");
    expect(Lex::Equal, "`=` after an axis");
    const Lexeme size = now_;
    if (!is(Lex::Integer)) {
      expect(Lex::Integer, "the size of the axis, an integer");
      return;
    }
    axis.size = module_.exprs[number().id].as_integer();
    if (axis.size < 1) report(place(size), "STV0122", fmt::format("an axis has at least one rank, got {}", axis.size));
    if (axis.name) declare(names_, axis.name, lexeme, "axis or param");
    module_.mesh.push_back(axis);
  } while (accept(Lex::Comma));
  item.count = static_cast<std::uint32_t>(module_.mesh.size()) - item.first;
}

// param m = 4096 in [1024, 4096]
void Parser::param(Item& item) {
  item.kind = Item::Kind::Param;
  item.first = static_cast<std::uint32_t>(module_.params.size());
  advance();
  const Lexeme lexeme = now_;
  ParamDecl param;
  param.loc = now_.begin;
  param.name = name("a param");
  expect(Lex::Equal, "`=` after a param's name");
  param.value = expr().id;
  if (is_word("in")) {
    advance();
    param.allowed = value().id;
  }
  if (failed_) return;
  declare(names_, param.name, lexeme, "axis or param");
  module_.params.push_back(param);
}

// source @add = cuda """..."""
void Parser::source(Item& item) {
  item.kind = Item::Kind::Source;
  item.first = static_cast<std::uint32_t>(module_.sources.size());
  advance();
  const Lexeme lexeme = now_;
  SourceDecl source;
  source.loc = now_.begin;
  if (!expect(Lex::Symbol, "the source's name, as in @kernels")) return;
  source.name = intern(text_of(lexeme).substr(1));
  expect(Lex::Equal, "`=` after a source's name");
  const Lexeme language = now_;
  if (!expect(Lex::Name, "ptx, cuda or cubin")) return;
  const std::string_view text = text_of(language);
  if (text != "ptx" && text != "cuda" && text != "cubin")
    report(place(language), "STV0106", fmt::format("expected ptx, cuda or cubin, got {}", quoted(text)));
  source.language = intern(text);
  const Lexeme body = now_;
  if (!is(Lex::String) && !is(Lex::RawString)) {
    expect(Lex::String, "the source's text, a string");
    return;
  }
  advance();
  source.text = module_.strings.intern(string_value(text_of(body)));
  declare(sources_, source.name, lexeme, "source");
  module_.sources.push_back(source);
}

// func @f(%a: in f32[4], %b: out f32[4]) { ... }
void Parser::function(Item& item, std::vector<Comment>& comments) {
  item.kind = Item::Kind::Function;
  advance();
  const Lexeme lexeme = now_;
  Function function;
  function.loc = now_.begin;
  if (!expect(Lex::Symbol, "the function's name, as in @main")) return;
  function.name = intern(text_of(lexeme).substr(1));
  expect(Lex::LeftParen, "`(` and the parameters");
  std::vector<Formal> formals;
  std::unordered_map<std::uint32_t, Loc> names;
  if (!is(Lex::RightParen)) {
    do {
      formal(formals, names);
    } while (accept(Lex::Comma));
  }
  expect(Lex::RightParen, "`,` or `)` after a parameter");
  if (!is(Lex::LeftBrace)) {
    expect(Lex::LeftBrace, "`{` and the function's statements");
    return;
  }
  const std::size_t start = module_.formals.size();
  for (const Formal& formal : formals) module_.formals.add(formal);
  function.formals = module_.formals.range_from(start);
  declare(functions_, function.name, lexeme, "function");
  take_leading(comments);
  const Region body = region();
  function.body = module_.regions.add(body);
  item.first = module_.functions.add(function).value;
}

// %a: in bf16[m, k] (uniform = [x])
void Parser::formal(std::vector<Formal>& formals, std::unordered_map<std::uint32_t, Loc>& names) {
  const Lexeme lexeme = now_;
  Formal formal;
  formal.loc = now_.begin;
  if (!expect(Lex::Value, "a parameter, as in %a: in f32[4]")) return;
  formal.name = intern(text_of(lexeme).substr(1));
  declare(names, formal.name, lexeme, "parameter");
  expect(Lex::Colon, "`:` after a parameter's name");
  if (is_word("in")) {
    formal.direction = Direction::In;
  } else if (is_word("out")) {
    formal.direction = Direction::Out;
  } else if (is_word("inout")) {
    formal.direction = Direction::InOut;
  } else {
    fail_here("STV0106", fmt::format("expected in, out or inout, got {}", description(now_)));
    return;
  }
  advance();
  formal.type = type();
  if (is(Lex::LeftParen)) {
    formal.attrs = attributes();
    for (const Id<Attr> id : formal.attrs) {
      const Attr& attr = module_.attrs[id];
      const std::string_view text = module_.text(attr.name);
      const Place here = place(attr.loc, attr.loc + static_cast<std::uint32_t>(text.size()));
      if (text != "uniform")
        report(here, "STV0109", fmt::format("a parameter has no attribute {}; it takes uniform", quoted(text)));
      const Attr& first = module_.attrs[formal.attrs[0]];
      if (attr.name == first.name && attr.loc != first.loc)
        report(here, "STV0110", fmt::format("the attribute {} is given twice", quoted(text)),
               {{"the first one", module_.place(first.loc)}});
    }
  }
  if (!failed_) formals.push_back(formal);
}

// entry @f on [0, 1]
void Parser::entry(Item& item) {
  item.kind = Item::Kind::Entry;
  item.first = static_cast<std::uint32_t>(module_.entries.size());
  advance();
  const Lexeme lexeme = now_;
  EntryDecl entry;
  entry.loc = now_.begin;
  if (!expect(Lex::Symbol, "the entry's function, as in @main")) return;
  entry.function = intern(text_of(lexeme).substr(1));
  if (is_word("on")) {
    advance();
    entry.ranks = value().id;
  }
  if (!failed_) module_.entries.push_back(entry);
}

}  // namespace stave
