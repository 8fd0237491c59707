#include "core/text/parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/text/parser.h"

namespace stave {

Parsed parse_all(std::string file_name, std::string_view text) { return Parser(std::move(file_name), text).run(); }

Result<Module> parse(std::string file_name, std::string_view text) {
  Parsed parsed = parse_all(std::move(file_name), text);
  if (!parsed.problems.empty()) return Failure(std::move(parsed.problems));
  return std::move(parsed.module);
}

namespace {

constexpr std::size_t max_text_bytes = 0xfffffff0;

// The bytes of a loaded word that come from the first `n` in memory, 0 < n < 8.
constexpr std::uint64_t first_bytes(std::uint32_t n) {
  if constexpr (std::endian::native == std::endian::little) return (std::uint64_t{1} << 8 * n) - 1;
  return ~(~std::uint64_t{0} >> 8 * n);
}

std::vector<std::uint32_t> lines_of(std::string_view text) {
  std::vector<std::uint32_t> starts = {0};
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    starts.push_back(static_cast<std::uint32_t>(at + 1));
  return starts;
}

}  // namespace

Parser::Parser(std::string file_name, std::string_view text)
    : text_(text.size() < max_text_bytes ? text : std::string_view()), lexer_(text_) {
  module_.file = std::move(file_name);
  if (text.size() >= max_text_bytes) {
    problems_.push_back({Severity::Error,
                         "STV0120",
                         fmt::format("a schedule has less than 4 GiB, this one has {} bytes", text.size()),
                         {module_.file},
                         {}});
    stopped_ = true;
    return;
  }
  module_.line_starts = lines_of(text_);
  // Room for what generated texts have, so that large stores are not moved often.
  const std::size_t expected = std::min<std::size_t>(text_.size(), 256u << 20);
  module_.exprs.reserve(expected / 12);
  module_.ops.reserve(expected / 64);
  module_.views.reserve(expected / 48);
  module_.attrs.reserve(expected / 48);
}

Parsed Parser::run() && {
  if (!stopped_) {
    advance();
    if (header()) {
      while (!stopped_ && !(is(Lex::End) && !failed_)) {
        item();
        if (failed_) skip_item();
      }
    }
    std::vector<Comment> comments;
    take_leading(comments);
    module_.end_comments = store(comments);
  }
  return {std::move(module_), std::move(problems_)};
}

void Parser::advance() {
  if (failed_) return;
  last_end_ = now_.end;
  now_ = lexer_.next();
  if (now_.kind == Lex::Error) {
    const Lexer::Problem& problem = lexer_.problem();
    const bool fatal = problem.fatal;
    fail(place(now_), problem.code, problem.message);
    if (fatal) stopped_ = true;
  }
}

bool Parser::accept(Lex kind) {
  if (now_.kind != kind) return false;
  advance();
  return true;
}

bool Parser::expect(Lex kind, std::string_view what) {
  if (accept(kind)) return true;
  fail_here("STV0106", fmt::format("expected {}, got {}", what, description(now_)));
  return false;
}

std::string Parser::description(const Lexeme& lexeme) const {
  switch (lexeme.kind) {
    case Lex::End: return "the end of the file";
    case Lex::Newline: return "the end of the line";
    case Lex::RawString: return "a string";
    default: return quoted(text_of(lexeme));
  }
}

// A part of the text by its first eight bytes, as a number, and its length:
// names of up to eight bytes are equal if these are.
Parser::Key Parser::key_of(std::string_view part) const {
  std::uint64_t head = 0;
  const auto size = static_cast<std::uint32_t>(part.size());
  if (part.data() + 8 <= text_.data() + text_.size()) {
    std::memcpy(&head, part.data(), 8);
    if (size < 8) head &= first_bytes(size);
  } else {
    std::memcpy(&head, part.data(), std::min<std::size_t>(size, 8));
  }
  return {head, size, static_cast<std::uint32_t>((head ^ size * 0x9e37) * 0x9e3779b97f4a7c15 >> 32)};
}

std::optional<OpKind> Parser::op_kind(std::string_view name) {
  const Key key = key_of(name);
  KnownOp& known = known_ops_[key.hash % known_ops_.size()];
  if (!same(known.key, key, known.name, name)) {
    const std::optional<OpKind> kind = op_named(name);
    if (!kind) return std::nullopt;
    known = {key, name, *kind};
  }
  return known.kind;
}

StringId Parser::intern(std::string_view text) {
  const Key key = key_of(text);
  Known& known = known_[key.hash % known_.size()];
  if (!same(known.key, key, known.text, text)) known = {key, text, module_.strings.intern(text)};
  return known.id;
}

// A NAME that the file declares.
StringId Parser::name(std::string_view what) {
  if (is(Lex::Label) || is(Lex::Dtype)) {
    fail_here("STV0117", fmt::format("{} is reserved and cannot name {}", description(now_), what));
    return {};
  }
  if (!is(Lex::Name)) {
    fail_here("STV0106", fmt::format("expected a name for {}, got {}", what, description(now_)));
    return {};
  }
  const StringId id = intern(text_of(now_));
  advance();
  return id;
}

Place Parser::place(std::uint32_t begin, std::uint32_t end) const {
  Place place = module_.place(begin);
  if (end > begin) {
    const Place last = module_.place(end - 1);
    place.end_line = last.line;
    place.end_column = last.column + 1;
  }
  return place;
}

void Parser::report(Place place, std::string_view code, std::string message, std::vector<Note> notes) {
  if (stopped_) return;
  problems_.push_back({Severity::Error, std::string(code), std::move(message), std::move(place), std::move(notes)});
  if (problems_.size() >= max_parse_problems) {
    stopped_ = true;
    failed_ = true;
    now_.kind = Lex::Error;
  }
}

void Parser::fail(Place place, std::string_view code, std::string message, std::vector<Note> notes) {
  if (failed_) return;
  report(std::move(place), code, std::move(message), std::move(notes));
  failed_ = true;
  stuck_ = now_;
  now_.kind = Lex::Error;
}

// A bracket that was left open: a line that begins like a statement closes it.
bool Parser::close_brackets() {
  if (!lexer_.in_brackets() || !now_.first_on_line) return false;
  if (!is(Lex::RightBrace) && !is(Lex::Value) && !(is(Lex::Name) && op_named(text_of(now_)))) return false;
  lexer_.restart_at(now_);
  now_ = lexer_.next();
  return true;
}

void Parser::skip_statement() {
  now_ = stuck_;
  failed_ = false;
  std::uint32_t braces = 0;
  for (;;) {
    const bool closed = close_brackets();
    switch (now_.kind) {
      case Lex::End: return;
      case Lex::LeftBrace: ++braces; break;
      case Lex::RightBrace:
        if (braces == 0) return;
        --braces;
        break;
      case Lex::Newline:
      case Lex::Semicolon:
        if (braces == 0) return;
        break;
      default:
        if (closed && braces == 0) return;
        break;
    }
    last_end_ = now_.end;
    now_ = lexer_.next();
  }
}

// To the next line that begins like a declaration.
void Parser::skip_item() {
  now_ = stuck_;
  failed_ = false;
  const std::uint32_t start = now_.begin;
  while (!is(Lex::End)) {
    if (is(Lex::Name) && now_.first_on_line && now_.begin > start) {
      const std::string_view text = text_of(now_);
      if (text == "func" || text == "mesh" || text == "param" || text == "source" || text == "entry") {
        lexer_.restart_outside_at(now_);
        now_ = lexer_.next();
        return;
      }
    }
    last_end_ = now_.end;
    now_ = lexer_.next();
  }
}

Parser::Nesting::Nesting(Parser& parser, std::uint32_t& depth) : depth_(depth) {
  if (++depth_ > max_nesting)
    parser.fail_here("STV0107", fmt::format("regions and brackets may nest {} deep", max_nesting));
}

}  // namespace stave
