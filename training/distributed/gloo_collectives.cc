#include <cstdlib>
#include <vector>

#include "training/distributed/c10d_compat.h"

#define USE_C10D_GLOO 1  // LibTorch is built with it; its header asks for this
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace agentr {
namespace {

using at::Tensor;

// The interface named by GLOO_SOCKET_IFNAME, else that of the host's name. If all processes meet at
// the loopback address, it must be the loopback interface.
std::shared_ptr<::gloo::transport::Device> MakeDevice(const Place& place) {
  using Group = c10d::ProcessGroupGloo;
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr) return Group::createDeviceForInterface(interface);
  const bool here = place.host == "127.0.0.1" || place.host == "localhost";
  return here ? Group::createDeviceForHostname("127.0.0.1") : Group::createDefaultDevice();
}

class GlooCollectives : public Collectives {
 public:
  GlooCollectives(const Place& place, int timeout_s) : size_(place.size), rank_(place.rank) {
    auto options = c10d::ProcessGroupGloo::Options::create(std::chrono::seconds(timeout_s));
    options->devices.push_back(MakeDevice(place));
    group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(PartOfStore(place, timeout_s, "gloo"),
                                                         place.rank, place.size, options);
  }

  std::unique_ptr<Pending> AllReduce(const Tensor& values) override {
    std::vector<Tensor> tensors = {values};
    return std::make_unique<PendingWorks>(Works{group_->allreduce(tensors)});
  }

  // LibTorch 1.13 has no reduce_scatter for Gloo. So each rank receives all parts of its span and
  // adds them in the order of the ranks.
  std::unique_ptr<Pending> ReduceScatter(const Tensor& values) override {
    Tensor in = values.view({size_, -1}), parts = at::empty_like(in);
    std::vector<int64_t> equal;
    return std::make_unique<PendingWorks>(Works{group_->alltoall_base(parts, in, equal, equal)},
                                          [parts, own = in[rank_]] { own.copy_(parts.sum(0)); });
  }

  std::unique_ptr<Pending> AllGather(const Tensor& values) override {
    const Tensor spans = values.view({size_, -1});
    Works works;
    for (int root = 0; root < size_; ++root) {
      c10d::BroadcastOptions options;
      options.rootRank = root;
      std::vector<Tensor> tensors = {spans[root]};
      works.push_back(group_->broadcast(tensors, options));
    }
    return std::make_unique<PendingWorks>(std::move(works));
  }

 private:
  const int size_, rank_;
  c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}  // namespace

std::unique_ptr<Collectives> MakeGlooCollectives(const Place& place, int timeout_s) {
  return std::make_unique<GlooCollectives>(place, timeout_s);
}

}  // namespace agentr
