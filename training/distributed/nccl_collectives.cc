#include <vector>

#include "training/distributed/c10d_compat.h"

#define USE_C10D_NCCL 1  // LibTorch is built with it; its header asks for this
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace agentr {
namespace {

using at::Tensor;

// A wait does not stop the process: what LibTorch computes next on the GPU waits for the exchange.
class NcclCollectives : public Collectives {
 public:
  NcclCollectives(const Place& place, int timeout_s) : size_(place.size), rank_(place.rank) {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = std::chrono::seconds(timeout_s);
    group_ = c10::make_intrusive<c10d::ProcessGroupNCCL>(PartOfStore(place, timeout_s, "nccl"),
                                                         place.rank, place.size, options);
  }

  std::unique_ptr<Pending> AllReduce(const Tensor& values) override {
    std::vector<Tensor> tensors = {values};
    return std::make_unique<PendingWork>(group_->allreduce(tensors));
  }

  // NCCL works in place where a rank's span is at its number in the values of all.
  std::unique_ptr<Pending> ReduceScatter(const Tensor& values) override {
    Tensor all = values, own = values.view({size_, -1})[rank_];
    return std::make_unique<PendingWork>(group_->_reduce_scatter_base(own, all));
  }

  std::unique_ptr<Pending> AllGather(const Tensor& values) override {
    Tensor all = values, own = values.view({size_, -1})[rank_];
    return std::make_unique<PendingWork>(group_->_allgather_base(all, own));
  }

 private:
  const int size_, rank_;
  c10::intrusive_ptr<c10d::ProcessGroupNCCL> group_;
};

}  // namespace

std::unique_ptr<Collectives> MakeNcclCollectives(const Place& place, int timeout_s) {
  return std::make_unique<NcclCollectives>(place, timeout_s);
}

}  // namespace agentr
