#include <fmt/format.h>

#include <algorithm>

#include "core/text/nearest.h"
#include "core/text/parser.h"

namespace stave {

void Parser::unknown_op(const Lexeme& op_name) {
  std::vector<std::string_view> names;
  for (const OpEntry& entry : op_table()) names.push_back(entry.info.name);
  fail(place(op_name), "STV0108",
       fmt::format("there is no statement {}{}", quoted(text_of(op_name)), did_you_mean(text_of(op_name), names)));
}

void Parser::check_op(const Op& op, const Lexeme& op_name) {
  const OpEntry& entry = op_table()[static_cast<std::size_t>(op.kind)];
  check_sides(op, entry.info, op_name);
  check_attributes(op, entry, op_name);
  check_regions(op, entry.info, op_name);
}

namespace {

std::string_view noun(ResultKind kind) {
  switch (kind) {
    case ResultKind::None: return "nothing";
    case ResultKind::Buffer: return "a buffer";
    case ResultKind::View: return "a view";
    case ResultKind::Token: return "a token";
  }
  return "nothing";
}

}  // namespace

void Parser::check_arity(std::size_t count, Arity arity, std::string_view side, const OpInfo& info,
                         const Lexeme& op_name) {
  if (count >= arity.min && (arity.max == Arity::many || count <= arity.max)) return;
  std::string needs;
  if (arity.max == 0) {
    needs = "no views";
  } else if (arity.min == arity.max) {
    needs = fmt::format("{} view{}", arity.min, arity.min == 1 ? "" : "s");
  } else if (arity.max == Arity::many) {
    needs = fmt::format("{} or more views", arity.min);
  } else {
    needs = fmt::format("{} to {} views", arity.min, arity.max);
  }
  report(place(op_name), "STV0112",
         fmt::format("{} takes {} {} `->`, got {}; as in `{}`", info.name, needs, side, count, info.example));
}

void Parser::check_sides(const Op& op, const OpInfo& info, const Lexeme& op_name) {
  if (op.result && info.result == ResultKind::None) {
    report(place(op.loc, op_name.begin), "STV0115",
           fmt::format("{} defines nothing; remove `%{} =`", info.name, module_.text(op.result).substr(0, 60)));
  } else if (!op.result && info.result != ResultKind::None) {
    report(
        place(op_name), "STV0115",
        fmt::format("{} defines {} and needs a name for it; as in `{}`", info.name, noun(info.result), info.example));
  } else if (op.result_index && info.result != ResultKind::Token) {
    report(place(op.loc, op_name.begin), "STV0115",
           fmt::format("only tokens have an index; {} defines {}", info.name, noun(info.result)));
  }
  if (static_cast<bool>(op.callee) != info.callee) {
    report(place(op_name), "STV0113",
           info.callee
               ? fmt::format("{} needs a function; as in `{}`", info.name, info.example)
               : fmt::format("{} takes no function, got @{}", info.name, module_.text(op.callee).substr(0, 60)));
  }
  if (static_cast<bool>(op.type) != info.type) {
    report(place(op_name), "STV0114",
           info.type ? fmt::format("{} needs a type; as in `{}`", info.name, info.example)
                     : fmt::format("{} takes no type", info.name));
  }
  check_arity(op.operands.size(), info.operands, "left of", info, op_name);
  check_arity(op.results.size(), info.results, "right of", info, op_name);
}

void Parser::check_attributes(const Op& op, const OpEntry& entry, const Lexeme& op_name) {
  std::uint32_t seen = 0;  // a bit for each field of the entry
  for (std::size_t i = 0; i < op.attrs.size(); ++i) {
    const Attr& attr = module_.attrs[op.attrs[i]];
    const std::string_view name = module_.text(attr.name);
    const auto named = [&](const FieldInfo& field) { return field.name == name; };
    const auto own = std::find_if(entry.fields.begin(), entry.fields.end(), named);
    const auto here = [&] { return place(attr.loc, attr.loc + static_cast<std::uint32_t>(name.size())); };
    if (own != entry.fields.end()) {
      seen |= 1u << (own - entry.fields.begin());
    } else if (std::none_of(common_fields().begin(), common_fields().end(), named)) {
      std::vector<std::string_view> names;
      for (const FieldInfo& field : entry.fields) names.push_back(field.name);
      for (const FieldInfo& field : common_fields()) names.push_back(field.name);
      std::string hint = did_you_mean(name, names);
      if (hint.empty()) hint = fmt::format("; it takes {}", fmt::join(names, ", "));
      report(here(), "STV0109", fmt::format("{} has no attribute {}{}", entry.info.name, quoted(name), hint));
      continue;
    }
    for (std::size_t j = 0; j < i; ++j) {
      const Attr& earlier = module_.attrs[op.attrs[j]];
      if (earlier.name != attr.name) continue;
      report(here(), "STV0110", fmt::format("the attribute {} is given twice", quoted(name)),
             {{"the first one", module_.place(earlier.loc)}});
      break;
    }
  }
  for (std::size_t i = 0; i < entry.fields.size(); ++i) {
    const FieldInfo& field = entry.fields[i];
    if (!field.required || (seen >> i & 1) != 0) continue;
    report(place(op_name), "STV0111",
           fmt::format("{} needs the attribute `{}` ({}): {}", entry.info.name, field.name, field.type, field.summary));
  }
}

namespace {

std::string region_rule(const OpInfo& info) {
  const RegionShape& shape = info.regions;
  if (shape.max == 0) return fmt::format("{} takes no region", info.name);
  if (shape.labels[0].empty()) return fmt::format("{} takes one region, without a label", info.name);
  if (shape.max == Arity::many) return fmt::format("{} takes one or more `{}` regions", info.name, shape.labels[0]);
  if (shape.min < shape.max)
    return fmt::format("{} takes a `{}` region and, if wanted, one `{}` behind it", info.name, shape.labels[0],
                       shape.labels[1]);
  return fmt::format("{} takes a `{}` and then a `{}` region", info.name, shape.labels[0], shape.labels[1]);
}

}  // namespace

void Parser::check_regions(const Op& op, const OpInfo& info, const Lexeme& op_name) {
  const RegionShape& shape = info.regions;
  const std::size_t count = op.regions.size();
  bool good = count >= shape.min && (shape.max == Arity::many || count <= shape.max);
  Loc begin = op_name.begin;
  Loc end = op_name.end;
  for (std::size_t i = 0; i < count && good; ++i) {
    const Region& region = module_.regions[op.regions[i]];
    const std::string_view label = region.label ? module_.text(region.label) : std::string_view();
    if (label == shape.labels[shape.max == Arity::many ? 0 : i]) continue;
    good = false;
    begin = region.loc;
    end = region.loc + 1;
  }
  if (!good) report(place(begin, end), "STV0116", region_rule(info) + fmt::format("; as in `{}`", info.example));
}

}  // namespace stave
