// The processes of a training job, its ranks, and the collectives over them.
//
// Every rank makes the same calls in the same order, with tensors of the same size: contiguous,
// float32 or float64, in the memory of the CPU or of the rank's GPU. A collective is in progress
// until Wait returns, and its tensor must not be used in the meantime. Several may be in progress
// at once.
//
// If a rank dies or does not answer, the others do not wait for ever: Wait throws
// FatalError(kIncomplete), or the process ends with a message that names the rank (liveness.h).
#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <string>
#include <vector>

#include "common/error.h"

namespace agentr {

class ProcessGroup {
 public:
  class Pending {
   public:
    virtual ~Pending() = default;
    virtual void Wait() = 0;
  };

  virtual ~ProcessGroup() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual int local_rank() const = 0;  // among the processes on this machine

  // Replaces the values by their sums over all ranks.
  virtual std::unique_ptr<Pending> AllReduce(const at::Tensor& values) = 0;
  // `values` are size() spans of equal length. Replaces span rank() by its sum over all ranks; the
  // other spans are then undefined.
  virtual std::unique_ptr<Pending> ReduceScatter(const at::Tensor& values) = 0;
  // `values` as above. Replaces every span by that of the rank with its number.
  virtual std::unique_ptr<Pending> AllGather(const at::Tensor& values) = 0;
  // Returns when all ranks have called it.
  virtual void Barrier() = 0;

  // The last call of a rank that has finished its work; waits for the others.
  virtual void Leave() = 0;
  // The last call of a rank that cannot continue: the others also end, with the same exit code and
  // a message that names this one.
  virtual void Fail(const std::string& why, ExitCode code) = 0;
};

// The sum of each value over all ranks.
inline std::vector<double> SumOverRanks(ProcessGroup& group, std::vector<double> values) {
  const at::Tensor view =
      at::from_blob(values.data(), {static_cast<int64_t>(values.size())}, at::kDouble);
  group.AllReduce(view)->Wait();
  return values;
}

// For jobs whose `group` is null if they have one process.
inline bool IsFirstRank(const ProcessGroup* group) {
  return group == nullptr || group->rank() == 0;
}
inline int LocalRank(const ProcessGroup* group) {
  return group == nullptr ? 0 : group->local_rank();
}
inline void WaitForAll(ProcessGroup* group) {
  if (group != nullptr) group->Barrier();
}
inline double SumOverRanks(ProcessGroup* group, double value) {
  return group == nullptr ? value : SumOverRanks(*group, {value})[0];
}

// The text of every rank, in the order of the ranks.
std::vector<std::string> GatherTexts(ProcessGroup& group, const std::string& own);

}  // namespace agentr
