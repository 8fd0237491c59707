// Which process of a run this is, from what launchers set.
#include <charconv>

#include "executor/world.h"

namespace stave {
namespace {

// Above the ports that services register and below those that Linux gives away (32768 and up).
constexpr std::string_view default_rendezvous = "tcp://127.0.0.1:29517";
// What names a job, so that two of them on one machine do not mix.
constexpr const char* jobs[] = {"STAVE_JOB", "PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "SLURM_JOB_ID"};

struct Launcher {
  const char *rank, *size, *local;
};
constexpr Launcher launchers[] = {
    {"STAVE_RANK", "STAVE_WORLD_SIZE", "STAVE_LOCAL_RANK"},
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
    {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},  // the size is there in a job step only
};

Result<std::uint32_t> number_in(const char* name, std::string_view text) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size()) return value;
  return error_at({}, "STV0828", "{}={}: not a number", name, text);
}

}  // namespace

Result<std::optional<WorldPlace>> world_place(const Environment& environment) {
  const char* const named = environment("STAVE_RENDEZVOUS");
  for (const Launcher& l : launchers) {
    const char *const rank = environment(l.rank), *const size = environment(l.size),
                      *const local = environment(l.local);
    if (rank == nullptr && std::string_view(l.rank) == "STAVE_RANK" && size != nullptr)
      return error_at({}, "STV0828", "{} is set, but not {}", l.size, l.rank);
    if (rank == nullptr) continue;
    if (size == nullptr) {
      if (std::string_view(l.rank) != "STAVE_RANK") continue;
      return error_at({}, "STV0828", "{} is set, but not {}", l.rank, l.size);
    }
    WorldPlace place;
    TRY(place.process, number_in(l.rank, rank));
    TRY(place.processes, number_in(l.size, size));
    if (place.process >= place.processes)
      return error_at({}, "STV0828", "{}={}, {}={}: ranks count from 0", l.rank, rank, l.size, size);
    place.local_rank = place.process;
    if (local != nullptr) {
      TRY(place.local_rank, number_in(l.local, local));
    }
    place.rendezvous = named == nullptr ? default_rendezvous : named;
    for (const char* const name : jobs)
      if (const char* const job = environment(name); job != nullptr && place.job.empty()) place.job = job;
    if (place.processes == 1) return std::optional<WorldPlace>();
    return std::optional(std::move(place));
  }
  return std::optional<WorldPlace>();
}

}  // namespace stave
