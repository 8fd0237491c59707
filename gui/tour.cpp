#include "gui/tour.h"

#include <QAction>

#include "gui/main_window.h"
#include "gui/view/timeline_view.h"
#include "workbench/templates.h"

namespace stave::gui {
namespace {

constexpr const char* link_bandwidth = "link.device.bandwidth_bytes_per_s";

// The first slice on a device that a command of this op runs as.
std::optional<SliceRef> first_of(const Session& session, std::string_view op) {
  const RunPtr run = session.chosen_run();
  if (!run) return std::nullopt;
  const Timeline& timeline = *run->timeline;
  for (std::uint32_t row = 0; row < timeline.slices().size(); ++row) {
    const Slice& slice = timeline.slices()[row];
    if (slice.command && timeline.command(slice.command).op == op && run->index->work(row) != WorkKind::None)
      return SliceRef{*session.chosen(), SliceId{row + 1}};
  }
  return std::nullopt;
}

void open(MainWindow& window) {
  for (const Template& one : templates())
    if (one.name == "ring-matmul") window.session().new_schedule(std::string(one.text), "tour.stave");
  window.show_view("schedule");
  window.show_view("overview");
}

void look_closer(MainWindow& window) {
  window.session().select(std::nullopt);
  const TimeSpan all = extent_of(window.view().scene());
  window.view().zoom_to({all.start, all.start + (all.end - all.start) / 6});
}

void select(MainWindow& window) {
  window.view().fit_all();
  window.session().select(first_of(window.session(), "gemm"));
  window.show_view("details");
}

void show_path(MainWindow& window) {
  window.action("Critical path")->setChecked(true);
  window.show_view("critical-path");
}

void change(MainWindow& window) {
  window.action("Critical path")->setChecked(false);
  window.show_view("what-if");
  window.show_view("overview");
  if (find(window.session().draft().edits, MachineEdit{link_bandwidth, 1, true}) == nullptr)
    window.session().edit(MachineEdit{link_bandwidth, 0.25, true});
}

void compare(MainWindow& window) {
  window.view().fit_all();
  window.show_view("difference");
}

constexpr TourStop stops[] = {
    {"A matrix product over two GPUs, predicted without either: the schedule stands at the right, a row is a stream. "
     "While one shard is multiplied, the next one arrives: the transfer is hidden.",
     open},
    {"Closer: turn the wheel or press W and S; drag or press A and D to move; F shows all again. "
     "Here is the start, where the host launches: unfold \"Host threads\" by a click.",
     look_closer},
    {"A slice is selected: its line of the schedule is marked, Details says all that is known, and arrows show what it "
     "waited for. A click on a line selects its slices, too. Full stop and comma go to the next and the one before.",
     select},
    {"The critical path: the chain of work and waiting that the end hangs on. What is pale could take longer, by "
     "its slack. The key C switches it on and off.",
     show_path},
    {"What if the link had a quarter of its bandwidth? It was pulled down under What if, and all was predicted again: "
     "the paler rows are from before. The transfer comes out from behind the product. Pull any slider.",
     change},
    {"Why it takes longer: the differences add up, and a click jumps to the place. Two recordings are compared alike: "
     "open both. Ctrl+F searches, F1 lists the keys, Ctrl+Shift+P has everything else.",
     compare},
};

}  // namespace

std::span<const TourStop> tour() { return stops; }

}  // namespace stave::gui
