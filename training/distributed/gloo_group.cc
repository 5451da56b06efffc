#include "training/distributed/gloo_group.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "common/error.h"
#include "training/distributed/c10d_compat.h"
#include "training/distributed/liveness.h"

namespace agentr {
namespace {

using at::Tensor;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Store = c10::intrusive_ptr<c10d::Store>;

// All processes of a job that uses a port twice, one after the other, see only what is their own.
constexpr const char* kStorePrefix = "agentr";

class StoreKeys : public KeyValueStore {
 public:
  explicit StoreKeys(Store store) : store_(std::move(store)) {}
  void Set(const std::string& key, const std::string& value) override {
    store_->set(key, std::vector<uint8_t>(value.begin(), value.end()));
  }
  std::optional<std::string> Get(const std::string& key) override {
    if (!store_->check({key})) return std::nullopt;  // get would wait
    const std::vector<uint8_t> bytes = store_->get(key);
    return std::string(bytes.begin(), bytes.end());
  }

 private:
  const Store store_;
};

Store Connect(const Place& place, bool serves, int timeout_s) try {
  c10d::TCPStoreOptions options;
  options.port = static_cast<uint16_t>(place.port);
  options.isServer = serves;
  options.waitWorkers = false;  // we name who is missing
  options.timeout = seconds(timeout_s);
  return c10::make_intrusive<c10d::PrefixStore>(
      kStorePrefix, c10::make_intrusive<c10d::TCPStore>(place.host, options));
} catch (const std::exception& error) {
  throw FatalError(
      ExitCode::kUnavailable,
      fmt::format("rank {} cannot {} {}:{}, where the job's processes meet: {}. Usual cure: check "
                  "that MASTER_ADDR is the machine of rank 0, that rank 0 runs, and that nothing "
                  "else uses MASTER_PORT there",
                  place.rank, serves ? "listen at" : "reach", place.host, place.port,
                  error.what()));
}

// Returns when every rank has said that it is here.
void Meet(KeyValueStore& keys, const Place& place, int within_s) {
  const auto end = std::chrono::steady_clock::now() + seconds(within_s);
  keys.Set(fmt::format("here/{}", place.rank), "1");
  std::vector<int> missing(static_cast<size_t>(place.size));
  for (int rank = 0; rank < place.size; ++rank) missing[static_cast<size_t>(rank)] = rank;
  while (true) {
    std::erase_if(missing,
                  [&](int rank) { return keys.Get(fmt::format("here/{}", rank)).has_value(); });
    if (missing.empty()) return;
    if (std::chrono::steady_clock::now() > end) break;
    std::this_thread::sleep_for(milliseconds(50));
  }
  throw FatalError(
      ExitCode::kUnavailable,
      fmt::format("after {} s {} of the job's {} processes have not come to {}:{}: rank {}. Cure: "
                  "start all of them (torchrun, srun or --processes do); --processes 1 trains in "
                  "this one alone",
                  within_s, missing.size(), place.size, place.host, place.port,
                  fmt::join(missing, ", ")));
}

c10::intrusive_ptr<c10d::ProcessGroupGloo> MakeBackend(const Store& store, const Place& place,
                                                       int timeout_s) {
  auto options = c10d::ProcessGroupGloo::Options::create(seconds(timeout_s));
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  const bool here = place.host == "127.0.0.1" || place.host == "localhost";
  options->devices.push_back(interface != nullptr
                                 ? c10d::ProcessGroupGloo::createDeviceForInterface(interface)
                             : here ? c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1")
                                    : c10d::ProcessGroupGloo::createDefaultDevice());
  return c10::make_intrusive<c10d::ProcessGroupGloo>(
      c10::make_intrusive<c10d::PrefixStore>("gloo", store), place.rank, place.size, options);
}

// The main thread may be stuck in a collective that will not end, so no destructor can run. What is
// on the disk is whole at any moment.
[[noreturn]] void EndProcess(int rank, const std::string& message) {
  spdlog::error("rank {}: {}", rank, message);
  spdlog::default_logger()->flush();
  std::fflush(nullptr);
  std::_Exit(static_cast<int>(ExitCode::kIncomplete));
}

class GlooGroup : public ProcessGroup {
 public:
  GlooGroup(const Place& place, const GlooOptions& options)
      : place_(place),
        store_(Connect(place, place.rank == 0, options.meet_s)),
        signs_store_(Connect(place, false, options.meet_s)) {
    StoreKeys keys(store_);
    Meet(keys, place, options.meet_s);
    backend_ = MakeBackend(store_, place, options.timeout_s);
    liveness_ = std::make_unique<Liveness>(
        std::make_unique<StoreKeys>(signs_store_), place.rank, place.size, LivenessOptions(),
        [rank = place.rank](const std::string& message) { EndProcess(rank, message); });
  }

  int rank() const override { return place_.rank; }
  int size() const override { return place_.size; }

  std::unique_ptr<Pending> AllReduce(const Tensor& values) override {
    std::vector<Tensor> tensors = {values};
    return Begin([&] { return Works{backend_->allreduce(tensors)}; }, {});
  }

  // Gloo's own reduce_scatter is missing in LibTorch 1.13. Each rank gets all parts of its span and
  // adds them up in the order of the ranks.
  std::unique_ptr<Pending> ReduceScatter(const Tensor& values) override {
    const int64_t span = values.numel() / size();
    const Tensor parts = at::empty({size(), span}, values.options());
    Tensor in = values.view({size(), span}), out = parts;
    std::vector<int64_t> equal;
    return Begin([&] { return Works{backend_->alltoall_base(out, in, equal, equal)}; },
                 [parts, own = in[rank()]] { own.copy_(parts.sum(0)); });
  }

  std::unique_ptr<Pending> AllGather(const Tensor& values) override {
    const Tensor spans = values.view({size(), -1});
    return Begin(
        [&] {
          Works works;
          for (int root = 0; root < size(); ++root) {
            c10d::BroadcastOptions options;
            options.rootRank = root;
            std::vector<Tensor> tensors = {spans[root]};
            works.push_back(backend_->broadcast(tensors, options));
          }
          return works;
        },
        {});
  }

  void Barrier() override { SumOverRanks(*this, {0}); }

  void Leave() override {
    Barrier();
    liveness_.reset();
    Barrier();  // rank 0 keeps the store until nobody asks it any more
  }

  void Fail(const std::string& why) override {
    if (liveness_) liveness_->Fail(why);
  }

 private:
  using Works = std::vector<c10::intrusive_ptr<c10d::Work>>;

  class GlooPending : public Pending {
   public:
    GlooPending(GlooGroup& group, Works works, std::function<void()> then)
        : group_(group), works_(std::move(works)), then_(std::move(then)) {}
    void Wait() override {
      group_.Checked([this] {
        for (const auto& work : works_) work->wait();
      });
      if (then_) then_();
    }

   private:
    GlooGroup& group_;
    const Works works_;
    const std::function<void()> then_;
  };

  template <typename Call>
  std::unique_ptr<Pending> Begin(const Call& call, std::function<void()> then) {
    Works works;
    Checked([&] { works = call(); });
    return std::make_unique<GlooPending>(*this, std::move(works), std::move(then));
  }

  template <typename Call>
  void Checked(const Call& call) try {
    call();
  } catch (const std::exception& error) {
    if (liveness_) liveness_->Suspect();  // mostly ends the process with the name of who is gone
    throw FatalError(
        ExitCode::kIncomplete,
        fmt::format("a collective failed, though all ranks are alive: {}. Usual cure: a longer "
                    "--collective_timeout, or a look at the network. The same command goes on from "
                    "the last checkpoint",
                    error.what()));
  }

  const Place place_;
  const Store store_, signs_store_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> backend_;
  std::unique_ptr<Liveness> liveness_;
};

}  // namespace

std::unique_ptr<ProcessGroup> JoinGlooGroup(const Place& place, const GlooOptions& options) {
  return std::make_unique<GlooGroup>(place, options);
}

}  // namespace agentr
