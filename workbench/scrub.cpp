#include "workbench/scrub.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/in_number.h"
#include "core/base/utf8.h"
#include "profiles/store_file.h"
#include "workbench/report_json.h"
#include "workbench/scrub_file.h"

namespace stave {
namespace {

// A scrubbed file's own beginnings; what is left of them goes when this does.
struct Unfinished {
  std::string path;
  ~Unfinished() {
    (void)remove_database(path);
    (void)remove_database(path + ".partial");
  }
};

void write_counts(JsonWriter& json, std::string_view key, const std::map<std::string, std::int64_t>& counts) {
  json.key(key).begin_array();
  for (const auto& [what, count] : counts) {
    json.begin_object();
    json.field("what", in_number(what, 2)).field("count", count).end_object();
  }
  json.end_array();
}

}  // namespace

bool is_output_problem(const Problem& problem, const ScrubJob& job) {
  return problem.code != "STV0971" && problem.place.file.starts_with(job.output) && problem.place.file != job.input;
}

Result<Scrubbed> scrub(const ScrubJob& job, Progress* progress) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::equivalent(job.input, job.output, error))
    return error_at({.file = job.output}, "STV0971", "it is the file that would be read; name another with -o");
  if (!job.replace && fs::exists(job.output, error))
    return error_at({.file = job.output}, "STV0971", "it exists; --yes replaces it");
  TRY_VOID(check_folder_of(job.output));
  if (progress != nullptr) progress->begin("scrubbing");
  Scrubbed scrubbed;
  Result<StoreReader> reader = open_store(job.input);
  if (!reader && reader.problems()[0].code != "STV0704" && reader.problems()[0].code != "STV0703")
    return Failure(std::move(reader).problems());
  const Unfinished unfinished{job.output + ".partial"};
  TRY_VOID(remove_database(unfinished.path));
  if (reader) {
    scrubbed.kind = "run";
    scrubbed.problems = reader->problems();
    Result<void> done = scrub_run_file(*reader, unfinished.path, scrubbed, progress);
    if (!done) return Failure(told_of(job.output, unfinished.path, std::move(done).problems()));
  } else {
    scrubbed.kind = "nsys";
    const Result<void> done = reader.problems()[0].code == "STV0703"
                                  ? Result<void>(Failure(reader.problems()))
                                  : scrub_nsys_file(job.input, unfinished.path, scrubbed, progress);
    if (!done && (done.problems()[0].code == "STV0703" || done.problems()[0].code == "STV0731"))
      return error_at({.file = job.input}, "STV0970",
                      "neither a run file nor an SQLite export of Nsight Systems: nothing else can be scrubbed");
    if (!done) return Failure(told_of(job.output, unfinished.path, done.problems()));
  }
  TRY_VOID(publish_file(unfinished.path, job.output));
  return scrubbed;
}

std::string scrub_text(const Scrubbed& scrubbed, const ScrubJob& job) {
  std::string out = scrubbed.kind == "run" ? "a run file" : "an export of Nsight Systems";
  out += '\n';
  const auto lines = [&](std::string_view title, const std::map<std::string, std::int64_t>& counts) {
    if (std::ranges::all_of(counts, [](const auto& one) { return one.second == 0; })) return;
    out += fmt::format("{}:\n", title);
    for (const auto& [what, count] : counts)
      if (count > 0) out += fmt::format("{:>10} {}\n", count, printable(in_number(what, count)));
  };
  lines("left out", scrubbed.left_out);
  lines("replaced in what stays", scrubbed.replaced);
  out += fmt::format("written to {}; names of kernels and ranges stay: look at them before you share it\n",
                     printable(job.output));
  return out;
}

std::string scrub_json(const Scrubbed& scrubbed, const ScrubJob& job) {
  JsonWriter json;
  begin_document(json, "stave.scrub/1", scrubbed.problems);
  json.field("kind", scrubbed.kind);
  write_counts(json, "left_out", scrubbed.left_out);
  write_counts(json, "replaced", scrubbed.replaced);
  json.field("output", job.output).end_object();
  return std::move(json).finish();
}

}  // namespace stave
