// Traces of our own, written into a folder and imported into memory.
#pragma once

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <zlib.h>

#include <fstream>
#include <string>
#include <vector>

#include "core/timeline/timeline.h"
#include "profiles/import/importer.h"
#include "tests/temp_folder.h"

namespace stave {

struct ImportedTimeline {
  Timeline timeline;
  ImportReport report;
  RunInfo run;
  Problems error;  // instead of the above

  std::string code() const { return error.empty() ? "" : error[0].code; }
  // How often a kind of problem was counted; 0: never.
  std::int64_t count(std::string_view code) const {
    std::int64_t n = 0;
    for (const TimelineProblem& problem : report.problems)
      if (problem.code == code) n += problem.count;
    return n;
  }
  // The first byte of the first problem of a kind; -1: none.
  std::int64_t byte(std::string_view code) const {
    for (const TimelineProblem& problem : report.problems)
      if (problem.code == code && problem.byte) return *problem.byte;
    return -1;
  }
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Slice& slice : timeline.slices()) names.emplace_back(timeline.text(slice.name));
    return names;
  }
  const Slice& slice(std::string_view name) const {
    for (const Slice& slice : timeline.slices())
      if (timeline.text(slice.name) == name) return slice;
    ADD_FAILURE() << "no slice " << name;
    static const Slice none;
    return none;
  }
  std::int64_t flows(FlowKind kind, Certainty certainty) const {
    std::int64_t n = 0;
    for (const SliceFlow& flow : timeline.flows()) n += flow.kind == kind && flow.certainty == certainty;
    return n;
  }
};

inline ImportedTimeline import_files(const std::vector<std::string>& paths) {
  ImportedTimeline out;
  const auto all = [&]() -> Result<void> {
    TRY(const Importer* const importer, find_importer(paths));
    TRY(const std::unique_ptr<Import> import, importer->open(paths, {}, nullptr));
    out.run = import->run();
    TRY(out.report, import->read(out.timeline, nullptr));
    return {};
  };
  if (const Result<void> done = all(); !done) out.error = done.problems();
  return out;
}

inline void write_bytes(const std::string& path, std::string_view bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

inline ImportedTimeline import_text(std::string_view text) {
  const TempFolder folder;
  write_bytes(folder / "trace.json", text);
  return import_files({folder / "trace.json"});
}

// A Kineto file around events, which a comma separates.
inline std::string kineto(const std::string& events, const std::string& root = "\"distributedInfo\": {\"rank\": 0}") {
  return "{\"schemaVersion\": 1, " + root + ", \"traceEvents\": [\n" + events + "\n], \"traceName\": \"t\"}\n";
}

// Microseconds; what is shorter in a test's eye than JSON.
inline std::string call(int correlation, const std::string& start, const std::string& duration = "2",
                        const std::string& name = "cudaLaunchKernel") {
  return R"({"ph": "X", "cat": "cuda_runtime", "name": ")" + name + R"(", "pid": 100, "tid": 101, "ts": )" + start +
         R"(, "dur": )" + duration + R"(, "args": {"correlation": )" + std::to_string(correlation) + "}}";
}

inline std::string kernel(const std::string& name, int correlation, const std::string& start,
                          const std::string& duration, int stream = 7, const std::string& more = "") {
  return R"({"ph": "X", "cat": "kernel", "name": ")" + name + R"(", "pid": 0, "tid": )" + std::to_string(stream) +
         R"(, "ts": )" + start + R"(, "dur": )" + duration + R"(, "args": {"device": 0, "context": 1, "stream": )" +
         std::to_string(stream) + R"(, "correlation": )" + std::to_string(correlation) + more + "}}";
}

inline std::string gzipped(std::string_view text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

inline std::string tar_member(const std::string& name, std::string_view text) {
  std::string header(512, '\0');
  const auto put = [&](std::size_t at, const std::string& field) { header.replace(at, field.size(), field); };
  char size[12];
  std::snprintf(size, sizeof size, "%011zo", text.size());
  put(0, name);
  put(124, size);
  put(156, "0");
  put(257, "ustar");
  std::string out = header + std::string(text);
  out.resize((out.size() + 511) / 512 * 512, '\0');
  return out;
}

// An SQLite file of our own, made by statements.
inline void write_database(const std::string& path, const std::string& sql) {
  sqlite3* handle = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &handle), SQLITE_OK);
  char* error = nullptr;
  EXPECT_EQ(sqlite3_exec(handle, sql.c_str(), nullptr, nullptr, &error), SQLITE_OK) << error;
  sqlite3_free(error);
  sqlite3_close(handle);
}

}  // namespace stave
