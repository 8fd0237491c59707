#include <algorithm>
#include <cmath>
#include <vector>

#include "core/machine/times.h"

namespace stave {
namespace {

struct Sample {
  double bytes;
  double seconds;
};

// The rows of one (op, ranks) over all tables: a later table only adds rows
// outside the range of the earlier ones. Sorted by bytes; where a time falls
// as bytes grow the rows are noise, and are pooled to their mean.
struct Series {
  std::vector<Sample> samples;
  std::vector<const Table*> tables;  // of each sample

  bool empty() const { return samples.empty(); }
};

Series series_of(const Machine& machine, std::string_view op, int ranks, std::string_view algorithm) {
  Series series;
  struct Row {
    Sample sample;
    const Table* table;
  };
  std::vector<Row> rows;
  double low = 0, high = -1;
  for (const Table& table : machine.tables) {
    if (table.op != "collective" || table.algorithm != algorithm) continue;
    const double first = low, last = high;
    for (const CollectiveRow& row : table.collective) {
      const auto bytes = static_cast<double>(row.bytes);
      if (row.op != op || row.ranks != ranks || (first <= last && bytes >= first && bytes <= last)) continue;
      rows.push_back({{bytes, static_cast<double>(row.time_ps) * 1e-12}, &table});
      low = low <= high ? std::min(low, bytes) : bytes;
      high = std::max(high, bytes);
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.sample.bytes < b.sample.bytes; });

  // Pool adjacent violators.
  struct Pool {
    double sum;
    std::size_t count;
  };
  std::vector<Pool> pools;
  for (const Row& row : rows) {
    pools.push_back({row.sample.seconds, 1});
    while (pools.size() > 1) {
      const Pool last = pools.back();
      Pool& before = pools[pools.size() - 2];
      if (before.sum * static_cast<double>(last.count) <= last.sum * static_cast<double>(before.count)) break;
      before.sum += last.sum;
      before.count += last.count;
      pools.pop_back();
    }
  }
  std::size_t at = 0;
  for (const Pool& pool : pools)
    for (std::size_t i = 0; i < pool.count; ++i, ++at) {
      const double seconds = pool.count == 1 ? rows[at].sample.seconds : pool.sum / static_cast<double>(pool.count);
      series.samples.push_back({rows[at].sample.bytes, seconds});
      series.tables.push_back(rows[at].table);
    }
  return series;
}

struct Reading {
  double seconds;
  const Table* table;
  bool outside;
};

// Straight lines between samples; the smallest sample's time below them; the
// bandwidth between the last two above.
Reading read(const Series& series, double bytes) {
  const auto& s = series.samples;
  if (bytes <= s.front().bytes) return {s.front().seconds, series.tables.front(), false};
  for (std::size_t i = 1; i < s.size(); ++i) {
    if (bytes > s[i].bytes) continue;
    if (bytes == s[i].bytes) return {s[i].seconds, series.tables[i], false};
    const double part = (bytes - s[i - 1].bytes) / (s[i].bytes - s[i - 1].bytes);
    return {s[i - 1].seconds + part * (s[i].seconds - s[i - 1].seconds), series.tables[i], false};
  }
  const Sample last = s.back();
  const Sample before = s.size() > 1 ? s[s.size() - 2] : Sample{0, 0};
  const double slope = (last.seconds - before.seconds) / (last.bytes - before.bytes);
  return {last.seconds + (bytes - last.bytes) * slope, series.tables.back(), true};
}

// The rank count, other than `ranks`, whose rows say most: the smallest ratio, the larger one of equals.
std::optional<int> nearest_ranks(const Machine& machine, std::string_view op, int ranks, std::string_view algorithm) {
  std::optional<int> best;
  double best_ratio = 0;
  for (const Table& table : machine.tables) {
    if (table.op != "collective" || table.algorithm != algorithm) continue;
    for (const CollectiveRow& row : table.collective) {
      if (row.op != op) continue;
      const double ratio =
          row.ranks > ranks ? static_cast<double>(row.ranks) / ranks : static_cast<double>(ranks) / row.ranks;
      if (best && (ratio > best_ratio || (ratio == best_ratio && row.ranks <= *best))) continue;
      best = row.ranks;
      best_ratio = ratio;
    }
  }
  return best;
}

// How much slower the links are than when the tables were taken.
double link_scale(const Machine& machine) {
  const Link* now = machine.device_link();
  if (!now) return 1;
  for (const Link& then : machine.links_in_file)
    if (then.scope == now->scope) return then.bandwidth_bytes_per_s.value / now->bandwidth_bytes_per_s.value;
  return 1;
}

}  // namespace

int ring_steps(std::string_view op, int ranks) {
  if (ranks <= 1) return 0;
  if (op == "all_reduce") return 2 * (ranks - 1);
  if (op == "collective_permute" || op == "all_to_all") return 1;
  return ranks - 1;
}

double wire_bytes(std::string_view op, int ranks, double bytes) {
  if (ranks <= 1) return 0;
  const double others = static_cast<double>(ranks - 1) / ranks;
  if (op == "all_reduce") return 2 * others * bytes;
  if (op == "all_gather" || op == "reduce_scatter" || op == "all_to_all") return others * bytes;
  return bytes;
}

Result<CollectiveEstimate> collective_time(const Machine& machine, std::string_view op, int ranks, Bytes bytes,
                                           std::string_view algorithm) {
  const Collective* how = machine.collective(op, algorithm);
  if (!how)
    return error_at({machine.file}, "STV0612",
                    "machine '{}' has no [[collective]] with op = \"{}\", algorithm = \"{}\"", machine.name, op,
                    algorithm);
  const auto size = static_cast<double>(std::max<std::int64_t>(bytes.value, 0));
  const double scale = link_scale(machine);
  const double step = how->step_latency_ps.value * 1e-12;
  CollectiveEstimate estimate;
  const auto finish = [&](double latency, double total) {
    constexpr double most = 4e6;  // seconds: within int64 picoseconds
    estimate.latency = picoseconds(std::min(latency, most));
    estimate.transfer = picoseconds(std::min(std::max(total - latency, 0.0) * scale, most));
    return estimate;
  };

  const Series own = series_of(machine, op, ranks, algorithm);
  if (!own.empty()) {
    const Reading reading = read(own, size);
    estimate.source = reading.table->source;
    estimate.extrapolated = reading.outside;
    return finish(own.samples.front().seconds, reading.seconds);
  }
  estimate.extrapolated = true;
  if (ranks > 1) {
    if (const auto other = nearest_ranks(machine, op, ranks, algorithm); other && *other > 1) {
      // The same bytes on the wire take the same time; each step more costs its latency.
      const Series near = series_of(machine, op, *other, algorithm);
      const double same_wire = wire_bytes(op, ranks, size) / wire_bytes(op, *other, 1);
      const Reading reading = read(near, same_wire);
      const double floor = near.samples.front().seconds;
      const double steps = step * (ring_steps(op, ranks) - ring_steps(op, *other));
      const double latency = std::max(floor + steps, std::min(floor, how->base_latency_ps.value * 1e-12));
      estimate.source = reading.table->source;
      return finish(latency, latency + reading.seconds - floor);
    }
  }
  estimate.source = how->bus_bandwidth_bytes_per_s.source;
  const double latency = how->base_latency_ps.value * 1e-12 + step * ring_steps(op, ranks);
  const double transfer = wire_bytes(op, ranks, size) / how->bus_bandwidth_bytes_per_s.value;
  return finish(latency, latency + transfer);
}

}  // namespace stave
