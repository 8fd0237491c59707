#include "workbench/schedule.h"

#include <algorithm>

#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/text/parse.h"
#include "core/text/print.h"

namespace stave {
namespace {

// Copies an expression of one module into another.
ExprId copied(const Module& from, ExprId id, Module& to) {
  Expr expr = from.exprs[id];
  expr.loc = no_loc;
  switch (expr.kind) {
    case ExprKind::Integer:
    case ExprKind::Float: break;
    case ExprKind::String:
    case ExprKind::Symbol:
    case ExprKind::Name: expr = Expr::text(expr.kind, to.strings.intern(from.text(expr.string()))); break;
    case ExprKind::Typed:
      expr = Expr::pair(expr.kind, to.strings.intern(from.text(expr.string())).value, copied(from, expr.b(), to).value);
      break;
    case ExprKind::Negate: expr = Expr::pair(expr.kind, copied(from, expr.a(), to).value, 0); break;
    case ExprKind::Binary:
    case ExprKind::Arrow:
    case ExprKind::Span: {
      const ExprId a = copied(from, expr.a(), to), b = copied(from, expr.b(), to);
      expr = Expr::pair(expr.kind, a.value, b.value, no_loc, expr.op);
      break;
    }
    case ExprKind::Apply:
    case ExprKind::Tuple:
    case ExprKind::List:
    case ExprKind::Record:
    case ExprKind::Lambda: {
      std::vector<ExprId> children;
      for (const Id<ExprListTag> child : expr.children()) children.push_back(copied(from, from.expr_lists[child], to));
      const std::size_t first = to.expr_lists.size();
      for (const ExprId child : children) to.expr_lists.add(child);
      expr = Expr::list(expr.kind, to.expr_lists.range_from(first));
      break;
    }
  }
  return to.exprs.add(expr);
}

}  // namespace

Result<Schedule> open_schedule(const std::string& path) {
  TRY(std::string text, read_file(path));
  std::string file = path == "-" ? "<standard input>" : path;
  TRY(Module module, parse(file, text));
  std::string hash = sha256(text);
  return Schedule{std::move(file), std::move(text), std::move(hash), std::make_shared<const Module>(std::move(module))};
}

std::string text_with_params(const Schedule& schedule, const ParamValues& params) {
  if (params.empty()) return schedule.text;
  Module edited = *schedule.module;
  for (const auto& [name, value] : params) {
    const Result<Module> parsed = parse("", "stave 1\nparam value = " + value + "\n");
    if (!parsed || parsed->params.size() != 1) continue;
    for (ParamDecl& param : edited.params)
      if (edited.text(param.name) == name) param.value = copied(*parsed, parsed->params[0].value, edited);
  }
  return print(edited);
}

}  // namespace stave
