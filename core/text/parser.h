// The parser, inside. Recursive descent with one lexeme of lookahead.
//
// After the first mistake in a statement the current lexeme becomes Lex::Error,
// which nothing accepts, so that all functions return without reporting more;
// the loop over statements then skips the rest of the statement and goes on.
#pragma once

#include <array>
#include <initializer_list>
#include <unordered_map>
#include <utility>

#include "core/ir/region_stack.h"
#include "core/text/lexer.h"
#include "core/text/parse.h"

namespace stave {

class Parser {
 public:
  Parser(std::string file_name, std::string_view text);
  Parsed run() &&;

 private:
  // An expression and how deep its tree is; a leaf is 1.
  struct Node {
    ExprId id;
    std::uint32_t height = 1;
  };
  // Counts open brackets and regions; too many is an error, so that no input can exhaust the stack.
  class Nesting {
   public:
    Nesting(Parser& parser, std::uint32_t& depth);
    ~Nesting() { --depth_; }
    Nesting(const Nesting&) = delete;
    Nesting& operator=(const Nesting&) = delete;

   private:
    std::uint32_t& depth_;
  };

  // parse.cpp: lexemes, names and problems
  void advance();
  bool is(Lex kind) const { return now_.kind == kind; }
  bool accept(Lex kind);
  bool expect(Lex kind, std::string_view what);
  bool is_word(std::string_view word) const { return is(Lex::Name) && text_of(now_) == word; }
  std::string_view text_of(const Lexeme& lexeme) const { return text_.substr(lexeme.begin, lexeme.end - lexeme.begin); }
  std::string description(const Lexeme& lexeme) const;
  StringId intern(std::string_view text);
  StringId name(std::string_view what);
  std::optional<OpKind> op_kind(std::string_view name);
  Place place(std::uint32_t begin, std::uint32_t end) const;
  Place place(const Lexeme& lexeme) const { return place(lexeme.begin, lexeme.end); }
  void report(Place place, std::string_view code, std::string message, std::vector<Note> notes = {});
  void fail(Place place, std::string_view code, std::string message, std::vector<Note> notes = {});
  void fail_here(std::string_view code, std::string message) { fail(place(now_), code, std::move(message)); }
  void skip_statement();
  void skip_item();
  bool close_brackets();

  // parse_file.cpp: declarations
  bool header();
  void item();
  void mesh(Item& item);
  void param(Item& item);
  void source(Item& item);
  void function(Item& item, std::vector<Comment>& comments);
  void entry(Item& item);
  void formal(std::vector<Formal>& formals, std::unordered_map<std::uint32_t, Loc>& names);
  // Whether the name is new among `names`; `what` is "function", "axis or param", ...
  bool declare(std::unordered_map<std::uint32_t, Loc>& names, StringId name, const Lexeme& lexeme,
               std::string_view what);

  // parse_statement.cpp
  Region region();
  void statement();
  Lexeme statement_head(Op& op);
  void statement_regions();
  IdRange<ViewRef> views();
  void view();
  void index();
  TypeId type();
  IdRange<Attr> attributes();
  IdRange<Comment> store(const std::vector<Comment>& comments);
  void take_leading(std::vector<Comment>& to);
  void take_trailing(std::vector<Comment>& to);

  // parse_check.cpp: what the op table says about a statement
  void unknown_op(const Lexeme& op_name);
  void check_op(const Op& op, const Lexeme& op_name);
  void check_sides(const Op& op, const OpInfo& info, const Lexeme& op_name);
  void check_attributes(const Op& op, const OpEntry& entry, const Lexeme& op_name);
  void check_regions(const Op& op, const OpInfo& info, const Lexeme& op_name);
  void check_arity(std::size_t count, Arity arity, std::string_view side, const OpInfo& info, const Lexeme& op_name);

  // parse_expr.cpp
  Node value();
  Node expr();
  Node sum();
  Node term();
  Node unary();
  Node primary();
  Node list();
  Node record();
  Node lambda();
  Node number();
  Node make(const Expr& expr, std::uint32_t height);
  Node binary(Node a, BinaryOp op, Node b, Loc loc);
  ExprList children_since(std::size_t mark);

  std::string_view text_;
  Lexer lexer_;
  Module module_;
  Problems problems_;
  Lexeme now_;
  Lexeme stuck_;                // where the current mistake is
  std::uint32_t last_end_ = 0;  // of the lexeme before now_
  bool failed_ = false;         // since the last statement that was read
  bool stopped_ = false;        // reads no further

  std::uint32_t bracket_depth_ = 0;
  std::uint32_t region_depth_ = 0;
  RegionStack open_;
  std::vector<ExprId> children_;

  std::unordered_map<std::uint32_t, Loc> names_;  // axes and params
  std::unordered_map<std::uint32_t, Loc> sources_;
  std::unordered_map<std::uint32_t, Loc> functions_;

  // Names and ops met lately, by a hash that costs little.
  struct Key {
    std::uint64_t head = 0;
    std::uint32_t size = 0;
    std::uint32_t hash = 0;
  };
  Key key_of(std::string_view part) const;
  static bool same(const Key& a, const Key& b, std::string_view text_a, std::string_view text_b) {
    return a.head == b.head && a.size == b.size && (a.size <= 8 || text_a == text_b);
  }
  struct Known {
    Key key;
    std::string_view text;
    StringId id;
  };
  struct KnownOp {
    Key key;
    std::string_view name;
    OpKind kind{};
  };
  std::array<Known, 512> known_{};
  std::array<KnownOp, 128> known_ops_{};
};

}  // namespace stave
