#include "profiles/import/nsys_reader.h"

#include <charconv>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>

namespace stave {
namespace {

// Small enough to stay in a core's cache on the way, also with long texts.
constexpr std::size_t most_block_rows = 1024;
constexpr std::size_t most_block_text = std::size_t{1} << 20;

void add_row(const sqlite::ScannedRow& row, std::size_t width, NsysBlock& block) {
  const std::size_t first = block.rows * width;
  for (std::size_t column = 0; column < width; ++column) {
    const std::size_t at = first + column;
    block.kinds[at] = row.look(column, block.values[at]);
    if (block.kinds[at] != sqlite::Kind::Other) continue;
    block.values[at] = static_cast<std::int64_t>(block.others.size());
    NsysBlock::Other other{.integer = row.integer(column), .real = row.real(column), .text = block.texts.size()};
    const std::string_view text = row.text(column).substr(0, most_text);
    other.size = text.size();
    block.texts += text;
    block.others.push_back(other);
  }
  ++block.rows;
}

}  // namespace

std::optional<std::int64_t> NsysRecord::number(int column) const {
  if (is_null(column)) return std::nullopt;
  if (is_integer(column)) return value(column);
  const std::string_view written = text(column);
  double number = 0;
  const auto [end, error] = std::from_chars(written.data(), written.data() + written.size(), number);
  if (error != std::errc{} || end != written.data() + written.size() || !(std::abs(number) < 9e18)) return std::nullopt;
  return other(column).integer;
}

// Blocks in flight, at most `most_ahead`.
class NsysReader::Ahead {
 public:
  Ahead(sqlite::Database& database, std::string select, std::size_t width)
      : database_(database), select_(std::move(select)), width_(width), thread_([this] { work(); }) {}
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;
  ~Ahead() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Result<const NsysBlock*> next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !blocks_.empty() || finished_; });
    if (blocks_.empty()) {
      if (failure_) return *failure_;
      return nullptr;
    }
    spare_.push_back(std::exchange(current_, std::move(blocks_.front())));
    blocks_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return &current_;
  }

 private:
  // An empty block to fill; false when nobody wants one.
  bool empty_block(NsysBlock& block) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return blocks_.size() < most_ahead || stop_; });
      if (stop_) return false;
      if (!spare_.empty()) {
        block = std::move(spare_.back());
        spare_.pop_back();
      }
    }
    block.rows = 0;
    block.values.resize(most_block_rows * width_);
    block.kinds.resize(most_block_rows * width_);
    block.others.clear();
    block.texts.clear();
    return true;
  }

  void push(NsysBlock& block) {
    const std::lock_guard lock(mutex_);
    blocks_.push_back(std::exchange(block, {}));
    changed_.notify_all();
  }

  void work() {
    NsysBlock block;
    Result<void> read = database_.scan(select_, width_, [&](const sqlite::ScannedRow& row) {
      if (block.rows == 0 && !empty_block(block)) return false;
      add_row(row, width_, block);
      if (block.rows == most_block_rows || block.texts.size() >= most_block_text) push(block);
      return true;
    });
    if (block.rows > 0) push(block);
    const std::lock_guard lock(mutex_);
    if (!read) failure_ = Failure(read.problems());
    finished_ = true;
    changed_.notify_all();
  }

  static constexpr std::size_t most_ahead = 8;
  sqlite::Database& database_;
  std::string select_;
  std::size_t width_;
  NsysBlock current_;  // the caller's
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<NsysBlock> blocks_;
  std::vector<NsysBlock> spare_;
  std::optional<Failure> failure_;
  bool finished_ = false;
  bool stop_ = false;
  std::thread thread_;  // last: it uses all of the above
};

NsysReader::NsysReader() = default;
NsysReader::NsysReader(NsysReader&&) noexcept = default;
NsysReader::~NsysReader() = default;

Result<NsysReader> NsysReader::open(sqlite::Database& database, const NsysTables& tables, std::string_view table,
                                    std::span<const std::string_view> columns, bool by_first) {
  NsysReader reader;
  std::vector<std::string_view> there;
  for (const std::string_view column : columns) {
    const bool has = tables.has(table, column);
    reader.places_.push_back(has ? static_cast<int>(there.size()) : -1);
    if (has) there.push_back(column);
  }
  // Rows count also where a table has none of the columns.
  if (there.empty()) there.push_back(columns[0]);
  reader.width_ = there.size();
  std::string select = tables.select(table, there);
  if (select.empty()) return reader;
  // Without the limit SQLite may leave the order out.
  if (by_first) select += " ORDER BY 1 LIMIT -1";
  reader.ahead_ = std::make_unique<Ahead>(database, std::move(select), reader.width_);
  return reader;
}

Result<const NsysBlock*> NsysReader::next() {
  if (!ahead_) return nullptr;
  return ahead_->next();
}

}  // namespace stave
