#include <algorithm>

#include "gui/panels/tables.h"
#include "gui/words.h"

namespace stave::gui {
namespace {

QString words_of(Contribution::Kind kind) {
  switch (kind) {
    case Contribution::Kind::Duration: return "takes another time";
    case Contribution::Kind::Arrival: return "waits for other ranks";
    case Contribution::Kind::Gap: return "starts after another gap";
    case Contribution::Kind::Inserted: return "only in B";
    case Contribution::Kind::Removed: return "only in A";
    case Contribution::Kind::Path: return "on one critical path only";
    case Contribution::Kind::Unexplained: return "not explained";
  }
  return {};
}

QString html_of(const std::string& text) { return words(text).toHtmlEscaped(); }

}  // namespace

TablePanel::Content difference_table(const Session& session) {
  TablePanel::Content content;
  if (!session.compared()) {
    content.empty = session.jobs_busy("compare") ? "Comparing..."
                    : !session.compare_problem().empty()
                        ? words("These two cannot be compared: " + session.compare_problem())
                    : session.runs().size() < 2
                        ? "Open a second run, or change something under What if: then this says why one takes longer."
                        : "Choose under \"against\" in the tool bar what to compare with.";
    return content;
  }
  const Compared& compared = *session.compared();
  const Comparison& c = compared.comparison;
  content.summary =
      QString("<b>A</b> %1: %2 &nbsp; <b>B</b> %3: %4 &nbsp; B - A = <b>%5%6</b> (%7), %8; %L9 slices matched by %10")
          .arg(html_of(compared.run_a->title), html_of(duration_text(c.a_length)), html_of(compared.run_b->title),
               html_of(duration_text(c.b_length)), c.delta.count() > 0 ? "+" : "", html_of(duration_text(c.delta)),
               html_of(percent_text(c.delta_pct, true)), words(name_of(c.verdict)))
          .arg(c.alignment.matched.size())
          .arg(words(c.alignment.by()));
  content.empty = "The two runs take the same time along the same path.";
  content.table.headers = {"Contribution", "Share", "Command", "Rank", "Why", "In A", "In B"};
  double total = 0, largest = 1;
  for (const Contribution& part : c.contributions) {
    total += std::abs(static_cast<double>(part.delta.count()));
    largest = std::max(largest, std::abs(static_cast<double>(part.delta.count())));
  }
  for (const Contribution& part : c.contributions) {
    if (content.table.rows.size() >= max_table_rows) break;
    const bool has_a = static_cast<bool>(part.a), has_b = static_cast<bool>(part.b);
    const Timeline& timeline = has_b ? c.timeline_b() : c.timeline_a();
    const SliceId slice = has_b ? part.b : part.a;
    const double size = std::abs(static_cast<double>(part.delta.count()));
    TableRow row;
    Cell delta = time_cell(part.delta, true);
    delta.shade = size / largest;
    row.cells.push_back(std::move(delta));
    row.cells.push_back(
        number_cell(size / std::max(1.0, total), QString("%1 %").arg(100 * size / std::max(1.0, total), 0, 'f', 1)));
    if (slice) {
      const std::string_view title = title_of(timeline, slice);
      row.cells.push_back({words(title), {}, {}, 0, false});
      const std::uint32_t rank = timeline.track(timeline.slice(slice).track).rank;
      row.cells.push_back(number_cell(rank, QString::number(rank)));
      row.slice = has_b ? SliceRef{*session.chosen(), slice} : SliceRef{*session.partner(), slice};
    } else {
      row.cells.push_back({"the end of the run", {}, {}, 0, false});
      row.cells.push_back({});
    }
    row.cells.push_back({words_of(part.kind), {}, {}, 0, false});
    row.cells.push_back(has_a ? time_cell(c.timeline_a().slice(part.a).duration) : Cell{});
    row.cells.push_back(has_b ? time_cell(c.timeline_b().slice(part.b).duration) : Cell{});
    content.table.rows.push_back(std::move(row));
  }
  add_rest(content.table, c.contributions.size() - std::min(c.contributions.size(), content.table.rows.size()));
  return content;
}

}  // namespace stave::gui
