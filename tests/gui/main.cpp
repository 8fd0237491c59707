#include <gtest/gtest.h>

#include <QApplication>
#include <QSettings>

#include "tests/temp_folder.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // No display unless the test is about one, and nobody's settings.
  if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  // And the fonts that the golden pictures have, whichever this machine prefers.
  if (!qEnvironmentVariableIsSet("FONTCONFIG_FILE"))
    qputenv("FONTCONFIG_FILE", STAVE_SOURCE_DIR "/tests/gui/fonts.conf");
  const stave::TempFolder settings;
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, QString::fromStdString(settings.path()));
  QApplication application(argc, argv);
  QApplication::setOrganizationName("stave");
  QApplication::setApplicationName("stave-gui-test");
  return RUN_ALL_TESTS();
}
