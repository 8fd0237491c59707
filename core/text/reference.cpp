#include "core/text/reference.h"

#include <fmt/format.h>

#include <iterator>

#include "core/ir/module.h"
#include "core/text/reference_rules.h"

namespace stave {
namespace {

constexpr std::string_view introduction = R"md(# The schedule IR

This file is made by `stave docs` from the op table in `core/ir/ops.h`.

A schedule is a text file, `NAME.stave`. Every rank of the mesh runs its entry function; the shapes of buffers are
those of one rank. Left of `->` is read, right of it is written, both sides are updated.

```
stave 1
mesh x = 2
param n = 1024

// Sums over the ranks of x.
func @main(%a: in f32[n], %b: out f32[n]) {
  all_reduce %a -> %b (axis = x, reduction = sum)
}
```

)md";

constexpr std::string_view grammar = R"md(## Grammar

`( )` holds attributes, `{ }` is a region, and a line break or `;` outside `( ) [ ]` ends a statement. All statements have
one form; the sections below say what each may have.

```
file      = "stave" INT { mesh | param | source | func | entry } .
mesh      = "mesh" NAME "=" INT { "," NAME "=" INT } .
param     = "param" NAME "=" expr [ "in" value ] .
source    = "source" SYMBOL "=" ( "ptx" | "cuda" | "cubin" ) STRING .
func      = "func" SYMBOL "(" [ formal { "," formal } ] ")" region .
formal    = VALUE ":" ( "in" | "out" | "inout" ) type [ attrs ] .
entry     = "entry" SYMBOL [ "on" value ] .
region    = "{" { END } [ statement { END { END } statement } { END } ] "}" .
statement = [ VALUE [ "[" expr "]" ] "=" ] OPNAME [ SYMBOL ] [ type ] [ views ] [ "->" views ] [ attrs ]
            { [ LABEL ] region } .
type      = [ "host" | "symmetric" ] DTYPE "[" [ expr { "," expr } ] "]" .
views     = view { "," view } .
view      = VALUE { "[" index { "," index } "]" } [ "as" type ] .
index     = expr | [ expr ] ":" [ [ "+" ] expr ] .
attrs     = "(" NAME "=" value { "," NAME "=" value } ")" .
value     = list | record | lambda | STRING | SYMBOL | expr [ ( "->" | ".." ) expr ] .
list      = "[" [ value { "," value } ] "]" .
record    = "{" [ NAME "=" value { "," NAME "=" value } ] "}" .
lambda    = "|" [ NAME { "," NAME } ] "|" expr .
expr      = sum [ ( "<" | "<=" | "==" | "!=" | ">" | ">=" ) sum ] .
sum       = term { ( "+" | "-" ) term } .
term      = unary { ( "*" | "/" | "div" | "mod" ) unary } .
unary     = [ "-" ] primary .
primary   = NUMBER | ( NAME | DTYPE ) [ NUMBER | "(" expr { "," expr } ")" ] | "(" expr { "," expr } ")" .
```

- `VALUE` is `%name`, `SYMBOL` is `@name`; names have letters, digits and `_`, and a `NAME` does not begin with a digit.
- Reserved are the labels (`then`, `else`, `branch`, `condition`, `body`) and the dtypes. All other words are free.
- A `NUMBER` is an integer (`12`, `0x1f`) or a float with a digit on both sides of the dot (`1.5`, `2.5e-3`, `1e6`). A decimal
  integer is at most 2^63 - 1; a hexadecimal one is a pattern of up to 64 bits. A negative number of a type is `f32(-1.0)`.
- A `STRING` is `"..."` on one line with the escapes `\n \t \" \\` and `\x` with two hex digits, or `"""..."""` over several lines, as it stands.
- `div` and `mod` round down. `%a[i]` is one position of the leading dimension, `%a[i:j]` and `%a[i : +n]` are ranges of it,
  `%a[i, j]` is `%a[i][j]`. `%a as u8[16]` is the same bytes with another type and shape.
- `//` begins a comment. `stave fmt` keeps comments with their statement, and single empty lines.
- Regions, brackets and expressions nest up to 256 deep.

)md";

void types(std::string& out) {
  out += "## Types\n\nA type is a dtype and a shape, `bf16[4, 8]`; a scalar is `f32[]`.\n\n";
  out += "| dtype | bits | kind |\n|---|---|---|\n";
  for (int i = 0; i < dtype_count; ++i) {
    const DtypeInfo& info = info_of(static_cast<Dtype>(i));
    std::string_view kind;
    switch (info.kind) {
      case DtypeKind::Bool: kind = "boolean, 0 or 1 in one byte"; break;
      case DtypeKind::Signed: kind = "signed integer"; break;
      case DtypeKind::Unsigned: kind = "unsigned integer"; break;
      case DtypeKind::Float: kind = "floating point"; break;
    }
    fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} |\n", info.name, info.bits, kind);
  }
  out +=
      "\n`s4` and `u4` are stored two to a byte, low half first. `f8e4m3` has no infinities.\n\n"
      "| space | where |\n|---|---|\n"
      "| device (no word) | the rank's GPU memory |\n"
      "| `host` | pinned host memory |\n"
      "| `symmetric` | GPU memory that peers can address at the same offset |\n\n";
}

std::string side(Arity arity, std::string_view letter) {
  if (arity.max == 0) return "";
  if (arity.min == 1 && arity.max == 1) return fmt::format(" %{}", letter);
  if (arity.max == Arity::many && arity.min == 0) return fmt::format(" [%{}, ...]", letter);
  if (arity.max == Arity::many) return fmt::format(" %{}, ...", letter);
  return fmt::format(" %{0}, ... ({1} to {2})", letter, arity.min, arity.max);
}

// `%t = name @f type %a -> %b (attributes) { }` of one op.
std::string syntax(const OpEntry& entry) {
  const OpInfo& info = entry.info;
  std::string line;
  if (info.result != ResultKind::None) line += info.result == ResultKind::Token ? "%t[i] = " : "%v = ";
  line += info.name;
  if (info.callee) line += " @f";
  if (info.type) line += " TYPE";
  line += side(info.operands, "a");
  if (info.results.max > 0) line += " ->" + side(info.results, "b");
  std::string attrs;
  for (const FieldInfo& field : entry.fields) {
    if (!field.required) continue;
    if (!attrs.empty()) attrs += ", ";
    fmt::format_to(std::back_inserter(attrs), "{} = ...", field.name);
  }
  if (!attrs.empty()) line += " (" + attrs + ")";
  const RegionShape& regions = info.regions;
  for (std::size_t i = 0; i < regions.labels.size() && i < regions.max; ++i) {
    if (i > 0 && regions.labels[i].empty()) break;
    const std::string label = regions.labels[i].empty() ? "{ }" : fmt::format("{} {{ }}", regions.labels[i]);
    line += i < regions.min ? " " + label : " [" + label + "]";
  }
  if (regions.max == Arity::many) line += " ...";
  return line;
}

void fields(std::string& out, std::span<const FieldInfo> fields) {
  out += "| attribute | type | | meaning |\n|---|---|---|---|\n";
  for (const FieldInfo& field : fields) {
    std::string summary;
    for (const char c : field.summary) {
      if (c == '|') summary += '\\';
      summary += c;
    }
    fmt::format_to(std::back_inserter(out), "| `{}` | {} | {} | {} |\n", field.name, field.type,
                   field.required ? "required" : "", summary);
  }
  out += '\n';
}

struct Section {
  OpFamily family;
  std::string_view title;
};
constexpr Section sections[] = {
    {OpFamily::Static, "Static layer"},    {OpFamily::Buffer, "Buffers"},       {OpFamily::Memory, "Memory"},
    {OpFamily::Compute, "Compute"},        {OpFamily::Control, "Control flow"}, {OpFamily::Stream, "Streams"},
    {OpFamily::Collective, "Collectives"}, {OpFamily::Mark, "Marks"},
};

}  // namespace

std::string ir_reference() {
  std::string out(introduction);
  out += grammar;
  out += ir_rules;
  types(out);
  out += "## Attributes of all statements\n\n";
  fields(out, common_fields());
  for (const Section& section : sections) {
    fmt::format_to(std::back_inserter(out), "## {}\n\n", section.title);
    for (const OpEntry& entry : op_table()) {
      if (entry.info.family != section.family) continue;
      fmt::format_to(std::back_inserter(out), "### {}\n\n{}\n\n```\n{}\n```\nFor example:\n```\n{}\n```\n\n",
                     entry.info.name, entry.info.summary, syntax(entry), entry.info.example);
      if (!entry.fields.empty()) fields(out, entry.fields);
    }
  }
  while (out.size() > 1 && out[out.size() - 2] == '\n') out.pop_back();
  return out;
}

}  // namespace stave
