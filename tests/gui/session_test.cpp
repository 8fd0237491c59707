#include "gui/session.h"

#include <algorithm>

#include "core/base/files.h"
#include "gui/panels/tables.h"
#include "tests/gui/gui_support.h"

namespace stave::gui {
namespace {

TEST(Session, PredictsAndChecksAScheduleThatIsOpened) {
  Session session;
  Told told(session);
  open_and_wait(session, {ring_file});
  ASSERT_EQ(session.runs().size(), 1u);
  EXPECT_TRUE(session.runs()[0].live);
  EXPECT_EQ(session.chosen(), 0u);
  EXPECT_FALSE(session.unsaved());
  ASSERT_TRUE(session.checked());
  EXPECT_EQ(session.checked()->verdict(), "clean");
  // As the command line predicts it with --counters.
  const Result<Schedule> schedule = open_schedule(ring_file);
  ASSERT_TRUE(schedule);
  PredictOptions options;
  options.simulate.counters = true;
  const Result<Predicted> predicted = predict(*schedule, options);
  ASSERT_TRUE(predicted);
  EXPECT_EQ(*session.chosen_run()->timeline, predicted->prediction.timeline);
  EXPECT_TRUE(told.problems.empty());
}

TEST(Session, LinesOfTheScheduleAndSlicesSelectEachOther) {
  Session session;
  open_and_wait(session, {ring_file});
  session.select(slice_named(session, "gemm"));
  const std::vector<std::uint32_t> lines = session.selected_lines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(session.chosen_run()->lines.contains(lines[0]));
  session.select(std::nullopt);
  session.select_line(lines[0]);
  // On both ranks.
  EXPECT_EQ(session.selection().size(), 2u);
  EXPECT_EQ(session.selected_lines(), lines);
  // An async_start's line is its body's, too.
  const Timeline& timeline = *session.chosen_run()->timeline;
  const auto start = std::ranges::find(timeline.commands(), "async_start", &TimelineCommand::op);
  if (start != timeline.commands().end()) {
    session.select_line(start->line);
    EXPECT_EQ(session.selection().size(), 2u);
  }
}

TEST(Session, AnEditIsPredictedAndLeavesAGhost) {
  Session session;
  open_and_wait(session, {ring_file});
  const Picoseconds before = session.outcome().summary.makespan;
  session.select(slice_named(session, "gemm"));
  session.edit(MachineEdit{"link.device.bandwidth_bytes_per_s", 0.1, true});
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  EXPECT_GT(session.outcome().summary.makespan, before);
  ASSERT_EQ(session.runs().size(), 2u);
  ASSERT_TRUE(session.current());
  EXPECT_EQ(session.current()->run, 0u) << "the selection goes with the prediction, not with the ghost";
  EXPECT_TRUE(session.runs()[0].live);
  EXPECT_TRUE(session.runs()[1].ghost);
  EXPECT_EQ(session.partner(), 1u);
  ASSERT_TRUE(session.compared());
  EXPECT_EQ(session.compared()->comparison.delta, session.outcome().summary.makespan - before);
  EXPECT_TRUE(session.unsaved());

  session.undo();
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  EXPECT_EQ(session.outcome().summary.makespan, before);
  EXPECT_EQ(session.runs().size(), 1u);
  EXPECT_FALSE(session.unsaved());
  session.redo();
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  EXPECT_EQ(session.runs().size(), 2u);
  session.rebase();
  EXPECT_EQ(session.runs().size(), 1u);
}

TEST(Session, OfManyEditsTheNewestWins) {
  Session session;
  open_and_wait(session, {ring_file});
  for (int sms = 131; sms >= 40; --sms)
    session.edit(MachineEdit{"device.sm_count", static_cast<double>(sms)}, sms < 131);
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  EXPECT_EQ(session.outcome().draft, session.draft());
  EXPECT_EQ(number_of(session.outcome().situation->machine, "device.sm_count"), 40);
  // They were one movement.
  session.undo();
  EXPECT_TRUE(session.draft().edits.empty());
}

TEST(Session, ASelectedSliceStaysSelectedInTheNextPrediction) {
  Session session;
  open_and_wait(session, {ring_file});
  session.select(slice_named(session, "collective_permute"));
  const auto title = [&] { return std::string(title_of(*session.chosen_run()->timeline, session.current()->slice)); };
  const std::string before = title();
  session.edit(ParamEdit{"k", "4096"});
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  ASSERT_TRUE(session.current());
  EXPECT_EQ(title(), before);
}

TEST(Session, ATextThatDoesNotParseKeepsTheLastPicture) {
  Session session;
  open_and_wait(session, {ring_file});
  const RunPtr run = session.chosen_run();
  Draft draft = session.draft();
  draft.text = "stave 1\nfunc @f( {";
  session.change(draft);
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  EXPECT_EQ(session.chosen_run(), run);
  ASSERT_FALSE(session.problems().empty());
  EXPECT_EQ(session.problems()[0].place.line, 2u);
  EXPECT_FALSE(session.checked());
}

TEST(Session, ComparesTwoRunsAndKnowsPartners) {
  const TempFolder folder;
  Session session;
  open_and_wait(session, {stored_ring(folder, "eager.sqlite"), stored_ring(folder, "captured.sqlite", Mode::Captured)});
  ASSERT_EQ(session.runs().size(), 2u);
  EXPECT_EQ(session.chosen(), 1u);
  EXPECT_EQ(session.partner(), 0u);
  ASSERT_TRUE(session.compared());
  EXPECT_LT(session.compared()->comparison.delta, 0_ps);
  const SliceRef gemm = slice_named(session, "gemm");
  const std::optional<SliceRef> partner = session.partner_of(gemm);
  ASSERT_TRUE(partner);
  EXPECT_EQ(partner->run, 0u);
  EXPECT_EQ(session.partner_of(*partner), gemm);
  // Aligned at a slice, both begin together.
  session.select(gemm);
  session.align(AlignBy::Command);
  const auto start = [&](SliceRef ref) {
    return session.run(ref.run)->timeline->slice(ref.slice).start + session.shift(ref.run);
  };
  EXPECT_EQ(start(gemm), start(*partner));
  const TablePanel::Content difference = difference_table(session);
  ASSERT_FALSE(difference.table.rows.empty());
  EXPECT_TRUE(difference.table.rows[0].slice);
  session.swap();
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  EXPECT_GT(session.compared()->comparison.delta, 0_ps);
  session.close_run(0);
  EXPECT_FALSE(session.compared());
  EXPECT_EQ(session.runs().size(), 1u);
}

// Steps of 100 us, and of 80 us in the second file, which begins with step 2.
// The first takes long to read, the third cannot be, the last is read at once.
TEST(Session, FilesOpenedTogetherStandInTheirOrder) {
  TempFolder folder;
  put(folder / "long.stave",
      "stave 1\nfunc @f(%x: inout f32[256]) {\n  repeat (index = i, from = 0, to = 100000) {\n    map %x -> %x (f = "
      "|v| v "
      "+ 1.0)\n  }\n}\n");
  const Result<Schedule> schedule = open_schedule(folder / "long.stave");
  ASSERT_TRUE(schedule);
  const Result<Predicted> predicted = predict(*schedule, {});
  ASSERT_TRUE(predicted);
  ASSERT_TRUE(save(*schedule, *predicted, folder / "a.sqlite"));
  put(folder / "c.sqlite", "no run");
  const std::string a = folder / "a.sqlite", b = stored_ring(folder, "b.sqlite"), d = stored_ring(folder, "d.sqlite");
  Session session;
  Told told(session);
  session.open({qt(a), qt(b), qt(folder / "c.sqlite"), qt(d)});
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  ASSERT_EQ(session.runs().size(), 3u);
  EXPECT_EQ(session.runs()[0].run->file, a);
  EXPECT_EQ(session.runs()[1].run->file, b);
  EXPECT_EQ(session.runs()[2].run->file, d);
  EXPECT_EQ(session.chosen(), 1u);
  EXPECT_EQ(session.partner(), 0u);
  EXPECT_FALSE(told.problems.empty());
}

TEST(Session, WhatIsCancelledHoldsUpNothing) {
  TempFolder folder;
  const std::string a = stored_ring(folder, "a.sqlite"), b = stored_ring(folder, "b.sqlite");
  Session session;
  session.open({qt(a), qt(b)});
  session.jobs().cancel("open " + a);
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  ASSERT_EQ(session.runs().size(), 1u);
  EXPECT_EQ(session.runs()[0].run->file, b);
}

TEST(Session, AlignsAtAStepOfANumber) {
  const TempFolder folder;
  for (const auto& [name, first, length] : {std::tuple{"a.json", 1, 100}, std::tuple{"b.json", 2, 80}}) {
    std::string events;
    for (int step = first; step < first + 3; ++step) {
      const int at = (step - first) * length;
      events +=
          fmt::format(R"({{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{}","pid":1,"tid":1,"ts":{},"dur":{}}},
)",
                      step, at, length);
      events += fmt::format(R"({{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":{},"dur":{},)"
                            R"("args":{{"device":0,"stream":7}}}},
)",
                            at + 10, length / 2);
    }
    put(folder / name, fmt::format(R"({{"schemaVersion":1,"traceEvents":[{}]}})", events.substr(0, events.size() - 2)));
  }
  Session session;
  open_and_wait(session, {folder / "a.json", folder / "b.json"});
  ASSERT_EQ(session.runs().size(), 2u) << to_text(session.problems().at(0));
  const auto begin = [&](std::size_t run, std::uint32_t number) {
    for (const StepSpan& step : session.run(run)->timeline->steps())
      if (step.step == number) return step.start + session.shift(run);
    return Time::min();
  };
  EXPECT_EQ(session.steps(), std::pair(2u, 4u));
  session.align_at_step(3);
  EXPECT_EQ(begin(0, 3), begin(1, 3));
  EXPECT_NE(begin(0, 2), begin(1, 2));
  // The run without step 4 stays as by step.
  session.align(AlignBy::Step);
  const Picoseconds by_step = session.shift(0) - session.shift(1);
  session.align_at_step(4);
  EXPECT_EQ(session.align_step(), 4u);
  EXPECT_EQ(session.shift(0) - session.shift(1), by_step);
  put(folder / "c.json", R"([{"ph":"X","pid":0,"tid":0,"name":"a","ts":0,"dur":10}])");
  Session without;
  Told told(without);
  open_and_wait(without, {folder / "c.json"});
  without.align(AlignBy::StepNumber);
  EXPECT_EQ(without.align_by(), AlignBy::Step);
  EXPECT_EQ(told.problems.size(), 1u);
}

TEST(Session, SearchesNamesCommandsAndTracks) {
  Session session;
  open_and_wait(session, {ring_file});
  session.search("GEMM#[12]");
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  const std::size_t gemms = session.marks().size();
  EXPECT_GE(gemms, 4u);
  session.next_mark(true);
  EXPECT_EQ(session.mark(), 0u);
  EXPECT_EQ(session.current(), session.marks()[0]);
  session.next_mark(false);
  EXPECT_EQ(session.mark(), gemms - 1);
  session.search("^communication 0$");
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  EXPECT_EQ(session.marks().size(), 2u);
  session.search("(");
  EXPECT_FALSE(session.search_problem().isEmpty());
  EXPECT_TRUE(session.marks().empty());
}

TEST(Session, SaysWhatIsWrongWithAFileAndGoesOn) {
  const TempFolder folder;
  put(folder / "empty.json", "");
  put(folder / "foreign.bin", std::string(5000, '\x7f'));
  put(folder / "damaged.sqlite", "SQLite format 3" + std::string(3000, '\0'));
  put(folder / "empty.stave", "");
  for (const char* name : {"empty.json", "foreign.bin", "damaged.sqlite", "missing.sqlite", "empty.stave"}) {
    Session session;
    Told told(session);
    open_and_wait(session, {folder / name});
    ASSERT_FALSE(told.problems.empty()) << name;
    EXPECT_NE(to_text(told.problems[0]).find(name), std::string::npos) << to_text(told.problems[0]);
    EXPECT_TRUE(session.runs().empty());
    // It can still open something.
    open_and_wait(session, {ring_file});
    EXPECT_EQ(session.runs().size(), 1u) << name;
  }
}

TEST(Session, OpensAScheduleThatBreaksARule) {
  const TempFolder folder;
  const std::string file = folder / "wrong.stave";
  put(file, "stave 1\nmesh x = 2\nfunc @f(%a: in f32[4], %b: out f32[5]) {\n  copy %a -> %b\n}\n");
  Session session;
  open_and_wait(session, {file});
  EXPECT_TRUE(session.has_schedule());
  EXPECT_TRUE(session.runs().empty());
  ASSERT_FALSE(session.problems().empty());
  EXPECT_EQ(session.problems()[0].place.line, 4u);
  const TablePanel::Content problems = problems_table(session);
  ASSERT_FALSE(problems.table.rows.empty());
  EXPECT_EQ(problems.table.rows[0].line, 4u);
  // The same problem, once.
  EXPECT_EQ(problems.table.rows.size(), 1u);
}

TEST(Session, TakesAMachineThatIsLargeEnough) {
  Session session;
  open_and_wait(session, {STAVE_SOURCE_DIR "/examples/ring_matmul_4.stave"});
  ASSERT_EQ(session.runs().size(), 1u);
  EXPECT_EQ(session.draft().machine, "h200-x8");
  EXPECT_FALSE(session.unsaved());
  // A machine that a person chooses is an edit, and stays.
  Draft draft = session.draft();
  draft.machine = "h200-x2";
  session.change(draft);
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  EXPECT_EQ(session.draft().machine, "h200-x2");
  EXPECT_EQ(session.problems().at(0).code, "STV0854");
}

TEST(Session, ImportsATrace) {
  Session session;
  Told told(session);
  open_and_wait(session, {STAVE_SOURCE_DIR "/examples/trace.json"});
  ASSERT_TRUE(told.problems.empty()) << to_text(told.problems[0]);
  ASSERT_EQ(session.runs().size(), 1u);
  EXPECT_EQ(session.chosen_run()->origin, Origin::Imported);
  EXPECT_FALSE(session.chosen_run()->notes.empty());
}

TEST(Session, SavesWhatWasChanged) {
  const TempFolder folder;
  Session session;
  Told told(session);
  open_and_wait(session, {ring_file});
  session.edit(ParamEdit{"k", "4096"});
  session.edit(StreamEdit{"ring_matmul/collective_permute#1", {StreamRef::Kind::Computation, 2}});
  session.edit(MachineEdit{"device.sm_count", 100});
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  const Picoseconds predicted = session.outcome().summary.makespan;
  ASSERT_TRUE(session.save_machine(folder / "edited.toml"));
  session.save_run(folder / "run.sqlite");
  session.export_run(folder / "run.svg", "", 800);
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  ASSERT_TRUE(session.save_schedule(folder / "edited.stave"));
  ASSERT_TRUE(told.problems.empty()) << to_text(told.problems[0]);

  const Result<Schedule> schedule = open_schedule(folder / "edited.stave");
  ASSERT_TRUE(schedule);
  EXPECT_NE(schedule->text.find("param k = 4096"), std::string::npos);
  EXPECT_NE(schedule->text.find("computation 2"), std::string::npos);
  PredictOptions options;
  options.machine = folder / "edited.toml";
  const Result<Predicted> again = predict(*schedule, options);
  ASSERT_TRUE(again) << to_text(again.problems()[0]);
  EXPECT_EQ(again->prediction.summary.makespan, predicted);

  Session other;
  open_and_wait(other, {folder / "run.sqlite"});
  ASSERT_EQ(other.runs().size(), 1u);
  EXPECT_EQ(other.chosen_run()->report.critical_path.size(), session.outcome().run->report.critical_path.size());
  const Result<std::string> svg = read_file(folder / "run.svg");
  ASSERT_TRUE(svg);
  EXPECT_NE(svg->find("<svg"), std::string::npos);
}

TEST(Session, TakesTheScheduleOfAStoredRun) {
  const TempFolder folder;
  Session session;
  open_and_wait(session, {stored_ring(folder, "ring.sqlite")});
  EXPECT_FALSE(session.has_schedule());
  session.adopt_schedule_of_run();
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  ASSERT_EQ(session.runs().size(), 2u);
  EXPECT_TRUE(session.runs()[1].live);
  ASSERT_TRUE(session.compared());
  EXPECT_EQ(session.compared()->comparison.delta, 0_ps);
}

TEST(Session, StatisticsOfAStretch) {
  Session session;
  open_and_wait(session, {ring_file});
  const gui::Run& run = *session.chosen_run();
  std::vector<std::pair<std::size_t, TrackId>> tracks;
  for (std::size_t t = 0; t < run.timeline->tracks().size(); ++t)
    if (is_device_track(run.timeline->tracks()[t])) tracks.emplace_back(0, TrackId{t});
  const Interval all = whole(*run.timeline);
  session.select_range(RangeSelection{{all.begin, all.end}, {}}, tracks);
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  // As the report has it, of both ranks.
  Picoseconds exposed{}, communication{};
  for (const RankUse& use : run.report.ranks) {
    exposed += use.exposed_communication;
    communication += use.communication;
  }
  EXPECT_EQ(session.statistics().exposed, exposed);
  EXPECT_EQ(session.statistics().communication, communication);
  EXPECT_FALSE(statistics_table(session).table.rows.empty());
  session.select_range(std::nullopt, {});
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  EXPECT_EQ(session.statistics().durations.count, 0);
  // What hides a collective need not be selected.
  session.select(slice_named(session, "collective_permute"));
  ASSERT_TRUE(wait_until_idle(session, 60'000));
  EXPECT_EQ(session.statistics().exposed, run.report.ranks[0].exposed_communication);
}

TEST(Session, ReadsWhatItRemembers) {
  const std::vector<Bookmark> bookmarks{{Time{9'000'000'000'000'001}, "far"}, {Time{-3}, "before \"0\""}};
  EXPECT_EQ(bookmarks_remembered(remembered_bookmarks(bookmarks)), bookmarks);
  Session session;
  open_and_wait(session, {ring_file});
  Scene scene = scene_of(session, {}, {});
  scene.rows[1].folded = !scene.rows[1].folded;
  std::vector<Row> rows = scene_of(session, {}, {}).rows;
  carry_rows(rows_remembered(remembered_rows(scene.rows)), rows);
  EXPECT_EQ(rows, scene.rows);
  EXPECT_TRUE(rows_remembered("damaged").empty());
}

}  // namespace
}  // namespace stave::gui
