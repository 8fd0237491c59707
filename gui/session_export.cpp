#include "gui/session.h"
#include "profiles/store_writer.h"
#include "workbench/export.h"

namespace stave::gui {

void Session::export_run(const std::string& file, const std::string& window, std::uint32_t width) {
  const RunPtr run = chosen_run();
  if (!run) return;
  jobs_.start<Exported>(
      "export",
      [run, file, window, width, number = ++exported_,
       scratch = scratch_.path().toStdString()](Progress& progress) -> Result<Exported> {
        // Exporters read run files; this one may be in memory only.
        const std::string stored = fmt::format("{}/export{}.sqlite", scratch, number);
        RunInfo info = run->info;
        info.parent_run.reset();
        progress.begin("storing");
        TRY(StoreWriter writer, StoreWriter::create(stored, info));
        TRY_VOID(replay(*run->timeline, writer, &progress));
        TRY_VOID(writer.close());
        ExportJob job;
        job.run_file = stored;
        job.output = file;
        job.window = window;
        job.width = width;
        job.replace = true;
        progress.begin("exporting");
        return stave::export_run(job, &progress);
      },
      [this, file](const Result<Exported>& exported) {
        if (!exported) return tell(exported.problems());
        emit saved(QString::fromStdString(file));
      });
}

}  // namespace stave::gui
