#include <QRegularExpression>

#include <algorithm>

#include "gui/panels/tables.h"
#include "gui/search.h"
#include "gui/words.h"

namespace stave::gui {

TablePanel::Content problems_table(const Session& session) {
  TablePanel::Content content;
  content.empty = session.runs().empty() && !session.has_schedule() ? "Nothing is open yet." : "No problems.";
  Problems problems = session.problems();
  if (problems.empty()) return content;
  content.table.headers = {"", "What", "Where", "Code"};
  int errors = 0, warnings = 0;
  const QRegularExpression wanted(session.search_pattern(), QRegularExpression::CaseInsensitiveOption);
  const bool searching = session.found_problems() > 0;
  std::stable_partition(problems.begin(), problems.end(),
                        [&](const Problem& problem) { return searching && finds(wanted, problem); });
  for (const Problem& problem : problems) {
    errors += problem.severity == Severity::Error;
    warnings += problem.severity == Severity::Warning;
    if (content.table.rows.size() >= max_table_rows) continue;
    TableRow row;
    const std::string_view severity = name_of(problem.severity);
    Cell level{words(severity), {}, {}, 0, false};
    level.sort_by = -static_cast<int>(problem.severity);
    level.shade = problem.severity == Severity::Error ? 1 : problem.severity == Severity::Warning ? 0.3 : 0;
    QString where = words(file_name(problem.place.file));
    if (problem.place.line > 0) where += QString(":%1").arg(problem.place.line);
    Cell what{words(problem.message), {}, {}, 0, false};
    if (searching && finds(wanted, problem)) what.shade = 1;
    what.tip = words(to_text(problem)).trimmed();
    row.cells = {std::move(level), std::move(what), {where, {}, {}, 0, false}, {words(problem.code), {}, {}, 0, false}};
    if (problem.place.line > 0 && problem.place.file == session.schedule_file()) row.line = problem.place.line;
    content.table.rows.push_back(std::move(row));
  }
  const auto counted = [](int count, const char* what) {
    return QString("%L1 %2%3").arg(count).arg(what, count == 1 ? "" : "s");
  };
  content.summary = counted(errors, "error") + ", " + counted(warnings, "warning") + ", " +
                    counted(static_cast<int>(problems.size()) - errors - warnings, "note");
  add_rest(content.table, problems.size() - std::min(problems.size(), content.table.rows.size()));
  return content;
}

}  // namespace stave::gui
