// Collectives through NCCL: one rank a device.
#pragma once

#include <nccl.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "core/lower/cliques.h"
#include "executor/cuda/mailbox.h"
#include "executor/cuda/work.h"

namespace stave::cuda {

class NcclCollectives {
 public:
  // `devices` by rank.
  NcclCollectives(const Plan& plan, std::vector<int> devices, Mailboxes::Address address)
      : plan_(plan), devices_(std::move(devices)), address_(std::move(address)), cliques_(plan) {}
  ~NcclCollectives();
  NcclCollectives(const NcclCollectives&) = delete;
  NcclCollectives& operator=(const NcclCollectives&) = delete;

  // Appends the calls of one rank for a collective or a group of them. Connects
  // the clique at its first use. Codes STV0564 (dtype), STV0811, STV0824.
  Result<void> add(Rank rank, CommandId command, Launch& launch);

  // Lets calls that wait for a peer return. From any thread.
  void abort();

 private:
  // Clique, communicator number, CTA limit: NCCL limits CTAs by communicator.
  using Key = std::tuple<CliqueId, std::int32_t, std::int32_t>;

  Result<ncclComm_t> communicator(const Key& key, std::uint32_t position, const Place& place);
  Result<void> add_part(Rank rank, const CollectivePart& part, std::int32_t number, NcclWork& work, Launch& launch);

  const Plan& plan_;
  std::vector<int> devices_;
  Mailboxes::Address address_;
  Cliques cliques_;
  std::map<Key, std::vector<ncclComm_t>> communicators_;  // by position
  std::mutex aborting_;
};

}  // namespace stave::cuda
