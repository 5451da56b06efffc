// A process group whose ranks are threads of this process, with the sums taken the plain way.
#pragma once

#include <barrier>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "training/distributed/process_group.h"

namespace agentr {

class ThreadGroups {
 public:
  // Runs `body` once per rank, all at once, and returns when all have ended.
  static void Run(int size, const std::function<void(ProcessGroup&)>& body) {
    ThreadGroups groups(size);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        Group group(groups, rank);
        body(group);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

 private:
  explicit ThreadGroups(int size) : meet_(size), tensors_(static_cast<size_t>(size)) {}

  class Group : public ProcessGroup {
   public:
    Group(ThreadGroups& all, int rank) : all_(all), rank_(rank) {}
    int rank() const override { return rank_; }
    int size() const override { return static_cast<int>(all_.tensors_.size()); }
    int local_rank() const override { return rank_; }

    std::unique_ptr<Pending> AllReduce(const at::Tensor& values) override {
      return Exchange(values, [values](const std::vector<at::Tensor>& all) {
        values.copy_(at::stack(all).sum(0));
      });
    }
    std::unique_ptr<Pending> ReduceScatter(const at::Tensor& values) override {
      return Exchange(values, [this, values](const std::vector<at::Tensor>& all) {
        const at::Tensor sum = at::stack(all).sum(0).view({size(), -1})[rank_].clone();
        values.fill_(NAN);  // what the others hold is not said
        values.view({size(), -1})[rank_].copy_(sum);
      });
    }
    std::unique_ptr<Pending> AllGather(const at::Tensor& values) override {
      return Exchange(values, [this, values](const std::vector<at::Tensor>& all) {
        for (int r = 0; r < size(); ++r) {
          values.view({size(), -1})[r].copy_(all[static_cast<size_t>(r)].view({size(), -1})[r]);
        }
      });
    }
    void Barrier() override { all_.meet_.arrive_and_wait(); }
    void Leave() override { Barrier(); }
    void Fail(const std::string& /*why*/, ExitCode /*code*/) override {}

   private:
    using Apply = std::function<void(const std::vector<at::Tensor>&)>;
    // The exchange itself is made in Wait: what is under way must not be read before.
    class Later : public Pending {
     public:
      Later(Group& group, at::Tensor values, Apply apply)
          : group_(group), values_(std::move(values)), apply_(std::move(apply)) {}
      void Wait() override {
        ThreadGroups& all = group_.all_;
        all.tensors_[static_cast<size_t>(group_.rank_)] = values_.clone();
        all.meet_.arrive_and_wait();
        const std::vector<at::Tensor> tensors = all.tensors_;
        all.meet_.arrive_and_wait();
        apply_(tensors);
      }

     private:
      Group& group_;
      const at::Tensor values_;
      const Apply apply_;
    };
    std::unique_ptr<Pending> Exchange(const at::Tensor& values, Apply apply) {
      return std::make_unique<Later>(*this, values, std::move(apply));
    }

    ThreadGroups& all_;
    const int rank_;
  };

  std::barrier<> meet_;
  std::vector<at::Tensor> tensors_;
};

}  // namespace agentr
