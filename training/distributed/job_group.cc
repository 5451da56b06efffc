#include "training/distributed/job_group.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "common/error.h"
#include "training/distributed/c10d_store.h"
#include "training/distributed/collectives.h"
#include "training/distributed/liveness.h"
#include "training/distributed/meeting.h"

namespace agentr {
namespace {

using at::Tensor;

MeetingTimes TimesOf(const DistributedOptions& options) {
  return {.most = std::chrono::seconds(options.meet_timeout)};
}

// What an exchange says of its failure, without the place in the source code where LibTorch found
// it ("[enforce fail at …] …") and without its stack.
std::string ReasonOf(const std::exception& error) {
  std::string_view text = error.what();
  text = text.substr(0, text.find('\n'));
  const size_t end = text.starts_with('[') ? text.find("] ") : std::string_view::npos;
  return std::string(end == std::string_view::npos ? text : text.substr(end + 2));
}

// Ends without destructors, because the main thread may be stuck in a collective. Files on the disk
// are complete at any moment.
[[noreturn]] void EndProcess(int rank, const std::string& message, ExitCode code) {
  spdlog::error("rank {}: {}", rank, message);
  spdlog::default_logger()->flush();
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(code));
}

class JobGroup : public ProcessGroup {
 public:
  JobGroup(const Place& place, const JobFingerprint& fingerprint, const DistributedOptions& options)
      : place_(place),
        timeout_s_(options.collective_timeout),
        patience_(PatienceForFirst(place, options)),
        store_(ConnectStore(place, place.rank == 0, options.meet_timeout)),
        liveness_(std::make_unique<Liveness>(
            ConnectStore(place, false, options.meet_timeout), place.rank, place.size,
            LivenessOptions(), [rank = place.rank](const std::string& message, ExitCode code) {
              EndProcess(rank, message, code);
            })) {
    Checked([&] { Meet(*store_, place, fingerprint, TimesOf(options), *patience_); });
    patience_.reset();
    Checked([&] { collectives_ = MakeTcpCollectives(place, *store_, timeout_s_); });
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
  void Fail(const std::string& why, ExitCode code) override {
    if (liveness_) liveness_->Fail(why, code);
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

  // The others cannot even begin to meet before they reach rank 0.
  static std::unique_ptr<Patience> PatienceForFirst(const Place& place,
                                                    const DistributedOptions& options) {
    auto patience = std::make_unique<Patience>(TimesOf(options),
                                               [rank = place.rank](const std::string& message) {
                                                 EndProcess(rank, message, ExitCode::kUnavailable);
                                               });
    if (place.rank > 0) patience->WaitFor("rank 0", /*anew=*/true);
    return patience;
  }

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
                    ReasonOf(error)));
  }

  const Place place_;
  const int timeout_s_;
  std::unique_ptr<Patience> patience_;  // until all have met
  const std::unique_ptr<KeyValueStore> store_;
  std::unique_ptr<Liveness> liveness_;
  std::unique_ptr<Collectives> collectives_, nccl_;
};

}  // namespace

std::unique_ptr<ProcessGroup> JoinJobGroup(const Place& place, const JobFingerprint& fingerprint,
                                           const DistributedOptions& options) {
  return std::make_unique<JobGroup>(place, fingerprint, options);
}

}  // namespace agentr
