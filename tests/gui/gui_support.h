// A window without a display, and files to open in it.
#pragma once

#include <gtest/gtest.h>

#include <QApplication>

#include <fstream>
#include <string>

#include "gui/main_window.h"
#include "gui/screenshot.h"
#include "tests/temp_folder.h"
#include "workbench/predict.h"

namespace stave::gui {

inline const std::string ring_file = STAVE_SOURCE_DIR "/examples/ring_matmul_2.stave";

inline QString qt(const std::string& text) { return QString::fromStdString(text); }

inline void put(const std::string& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

// The ring's prediction as a run file.
inline std::string stored_ring(const TempFolder& folder, const std::string& name, Mode mode = Mode::Eager) {
  const Result<Schedule> schedule = open_schedule(ring_file);
  EXPECT_TRUE(schedule);
  PredictOptions options;
  options.mode = mode;
  const Result<Predicted> predicted = predict(*schedule, options);
  EXPECT_TRUE(predicted);
  const std::string file = folder / name;
  EXPECT_TRUE(save(*schedule, *predicted, file));
  return file;
}

inline void open_and_wait(Session& session, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    session.open({qt(file)});
    ASSERT_TRUE(wait_until_idle(session, 60'000));
  }
}

// Problems that a session told of.
struct Told {
  explicit Told(Session& session) {
    QObject::connect(&session, &Session::failed, &session,
                     [this](const Problems& more) { problems.insert(problems.end(), more.begin(), more.end()); });
  }
  Problems problems{};
};

// The first slice of the chosen run that is called so.
inline SliceRef slice_named(const Session& session, std::string_view name) {
  const Timeline& timeline = *session.chosen_run()->timeline;
  for (std::uint32_t row = 0; row < timeline.slices().size(); ++row)
    if (timeline.text(timeline.slices()[row].name) == name && session.chosen_run()->index->work(row) != WorkKind::None)
      return {*session.chosen(), SliceId{row + 1}};
  ADD_FAILURE() << "no slice " << name;
  return {};
}

}  // namespace stave::gui
