// Collectives through NCCL: one rank a device, in one process or in one each.
#pragma once

#include <nccl.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <thread>
#include <tuple>
#include <vector>

#include "core/lower/cliques.h"
#include "executor/cuda/mailbox.h"
#include "executor/cuda/work.h"
#include "executor/world.h"

namespace stave::cuda {

class NcclCollectives {
 public:
  // `devices` by rank; -1: the rank is another process's.
  NcclCollectives(const Plan& plan, std::vector<int> devices, Mailboxes::Address address)
      : plan_(plan), devices_(std::move(devices)), address_(std::move(address)), cliques_(plan) {}
  ~NcclCollectives();
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;

  // Makes the communicators of all that is used, by the ranks of all processes in the same
  // order. `world`: null for one process. Codes STV0824, STV0828-0829.
  Result<void> connect(std::span<const CollectiveUse> uses, World* world, World::Deadline deadline);

  // Appends the calls of one rank for something that was connected. Codes STV0564 (dtype), STV0811, STV0824.
  Result<void> add(Rank rank, CommandId command, Launch& launch);

  // Whom a rank needs for a collective, or for any of a group.
  std::vector<Rank> peers_of(Rank rank, CommandId command) const;

  // Lets calls and kernels that wait for a peer return. From any thread. NCCL gives a communicator back only
  // when no graph holds it any more: the destructor waits for that.
  void abort();

 private:
  // Clique, communicator number, CTA limit: NCCL limits CTAs by communicator.
  using Key = std::tuple<CliqueId, std::int32_t, std::int32_t>;

  // From and to, as positions in the clique.
  using Pairs = std::set<std::pair<std::uint32_t, std::uint32_t>>;

  Result<void> initialize(const Key& key, const ncclUniqueId& id, std::vector<ncclComm_t>& all);
  void add_pairs(Rank rank, const CollectivePart& part, const Cliques::Seat& seat, Pairs& pairs);
  Result<void> connect_pairs(const Key& key, const Pairs& pairs);
  Result<void> add_part(Rank rank, const CollectivePart& part, std::int32_t number, NcclWork& work, Launch& launch);

  const Plan& plan_;
  std::vector<int> devices_;
  Mailboxes::Address address_;
  mutable Cliques cliques_;                               // finds each clique once
  std::map<Key, std::vector<ncclComm_t>> communicators_;  // by position; null: the rank is another process's
  std::mutex aborting_;
  std::vector<std::thread> aborts_;
  std::shared_ptr<std::atomic<int>> aborting_now_ = std::make_shared<std::atomic<int>>(0);
};

}  // namespace stave::cuda
