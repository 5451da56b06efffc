#include "training/distributed/job_group.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "common/error.h"
#include "training/distributed/c10d_store.h"
#include "training/distributed/collectives.h"
#include "training/distributed/liveness.h"

namespace agentr {
namespace {

using at::Tensor;

// Returns when every rank has reported its presence.
void Meet(KeyValueStore& store, const Place& place, int within_s) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(within_s);
  store.Set(fmt::format("here/{}", place.rank), "1");
  std::vector<int> missing;
  for (int rank = 0; rank < place.size; ++rank) missing.push_back(rank);
  while (true) {
    std::erase_if(missing,
                  [&](int rank) { return store.Get(fmt::format("here/{}", rank)).has_value(); });
    if (missing.empty()) return;
    if (std::chrono::steady_clock::now() > end) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  throw FatalError(
      ExitCode::kUnavailable,
      fmt::format(
          "after {} s {} of the job's {} processes have not arrived at {}:{}: rank {}. Cure: start "
          "all of them (torchrun, srun or --processes do); --processes 1 trains only in this one",
          within_s, missing.size(), place.size, place.host, place.port, fmt::join(missing, ", ")));
}

std::unique_ptr<Collectives> MakeCollectives(const Place& place, KeyValueStore& store,
                                             const JobGroupOptions& options) {
  if (options.transport != "tcp") {
    if (auto gloo = MakeGlooCollectives(place, options.timeout_s)) return gloo;
  }
  if (options.transport == "gloo") {
    throw FatalError(ExitCode::kUsage,
                     "this build does not contain Gloo. Cure: --transport tcp, or, if LibTorch is "
                     "the distribution's, install libgloo-dev and build again");
  }
  return MakeTcpCollectives(place, store, options.timeout_s);
}

// Ends without destructors, because the main thread may be stuck in a collective. Files on the disk
// are complete at any moment.
[[noreturn]] void EndProcess(int rank, const std::string& message) {
  spdlog::error("rank {}: {}", rank, message);
  spdlog::default_logger()->flush();
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(ExitCode::kIncomplete));
}

class JobGroup : public ProcessGroup {
 public:
  JobGroup(const Place& place, const JobGroupOptions& options)
      : place_(place),
        timeout_s_(options.timeout_s),
        store_(ConnectStore(place, place.rank == 0, options.meet_s)),
        liveness_(std::make_unique<Liveness>(
            ConnectStore(place, false, options.meet_s), place.rank, place.size, LivenessOptions(),
            [rank = place.rank](const std::string& message) { EndProcess(rank, message); })) {
    Meet(*store_, place, options.meet_s);
    Checked([&] { collectives_ = MakeCollectives(place, *store_, options); });
  }

  int rank() const override { return place_.rank; }
  int size() const override { return place_.size; }
  int local_rank() const override { return place_.local_rank; }

  std::unique_ptr<Pending> AllReduce(const Tensor& values) override {
    return Begin([&] { return For(values).AllReduce(values); });
  }
  std::unique_ptr<Pending> ReduceScatter(const Tensor& values) override {
    return Begin([&] { return For(values).ReduceScatter(values); });
  }
  std::unique_ptr<Pending> AllGather(const Tensor& values) override {
    return Begin([&] { return For(values).AllGather(values); });
  }
  void Barrier() override { SumOverRanks(*this, {0}); }

  void Leave() override {
    Barrier();
    liveness_.reset();
    Barrier();  // rank 0 keeps the store until no rank needs it
  }
  void Fail(const std::string& why) override {
    if (liveness_) liveness_->Fail(why);
  }

 private:
  class CheckedPending : public Pending {
   public:
    CheckedPending(JobGroup& group, std::unique_ptr<Pending> pending)
        : group_(group), pending_(std::move(pending)) {}
    void Wait() override {
      group_.Checked([this] { pending_->Wait(); });
    }

   private:
    JobGroup& group_;
    const std::unique_ptr<Pending> pending_;
  };

  // Those of the memory in which the values are; NCCL is started by the first ones on a GPU.
  Collectives& For(const Tensor& values) {
    if (values.device().is_cpu()) return *collectives_;
    if (!nccl_) nccl_ = MakeNcclCollectives(place_, timeout_s_);
    if (!nccl_) {
      throw FatalError(ExitCode::kUsage,
                       "several processes on GPUs exchange their gradients by NCCL, which this "
                       "build does not contain. Cure: install NCCL's headers (those of the version "
                       "that LibTorch has) and build again, or --processes 1");
    }
    return *nccl_;
  }

  template <typename Call>
  std::unique_ptr<Pending> Begin(const Call& call) {
    std::unique_ptr<Pending> pending;
    Checked([&] { pending = call(); });
    return std::make_unique<CheckedPending>(*this, std::move(pending));
  }

  template <typename Call>
  void Checked(const Call& call) try {
    call();
  } catch (const FatalError&) {
    throw;
  } catch (const std::exception& error) {
    // Normally ends the process with the name of the lost rank.
    if (liveness_) liveness_->Suspect();
    throw FatalError(
        ExitCode::kIncomplete,
        fmt::format("an exchange between the processes failed, although all of them are alive: {}. "
                    "Usual cure: increase --collective_timeout, or check the network. The same "
                    "command continues from the last checkpoint",
                    error.what()));
  }

  const Place place_;
  const int timeout_s_;
  const std::unique_ptr<KeyValueStore> store_;
  std::unique_ptr<Liveness> liveness_;
  std::unique_ptr<Collectives> collectives_, nccl_;
};

}  // namespace

std::unique_ptr<ProcessGroup> JoinJobGroup(const Place& place, const JobGroupOptions& options) {
  return std::make_unique<JobGroup>(place, options);
}

}  // namespace agentr
