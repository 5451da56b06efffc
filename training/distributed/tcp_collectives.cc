#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

#include "training/distributed/collectives.h"
#include "training/distributed/tcp_mesh.h"

namespace agentr {
namespace {

using at::Tensor;

std::span<std::byte> BytesOf(const Tensor& tensor) {
  return {static_cast<std::byte*>(tensor.data_ptr()), static_cast<size_t>(tensor.nbytes())};
}

// Span `rank` of the `ranks` spans of `tensor`; the last ones may be shorter or empty.
Tensor SpanOf(const Tensor& tensor, int rank, int ranks) {
  const int64_t n = tensor.numel(), each = (n + ranks - 1) / ranks;
  const int64_t begin = std::min(n, rank * each);
  return tensor.view({-1}).narrow(0, begin, std::min(n, begin + each) - begin);
}

// A separate thread runs the collectives in their order.
class TcpCollectives : public Collectives {
 public:
  TcpCollectives(const Place& place, KeyValueStore& store, int timeout_s)
      : rank_(place.rank),
        size_(place.size),
        mesh_(place, store, timeout_s),
        thread_([this] { Run(); }) {}

  ~TcpCollectives() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  std::unique_ptr<Pending> AllReduce(const Tensor& values) override {
    return Post([this, values] {
      Scatter(values);
      Gather(values);
    });
  }
  std::unique_ptr<Pending> ReduceScatter(const Tensor& values) override {
    return Post([this, values] { Scatter(values); });
  }
  std::unique_ptr<Pending> AllGather(const Tensor& values) override {
    return Post([this, values] { Gather(values); });
  }

 private:
  struct Job {
    std::function<void()> work;
    bool done = false;
    std::exception_ptr failed;
  };

  class TcpPending : public Pending {
   public:
    TcpPending(TcpCollectives& all, std::shared_ptr<Job> job) : all_(all), job_(std::move(job)) {}
    void Wait() override {
      std::unique_lock lock(all_.mutex_);
      all_.changed_.wait(lock, [this] { return job_->done; });
      if (job_->failed != nullptr) std::rethrow_exception(job_->failed);
    }

   private:
    TcpCollectives& all_;
    const std::shared_ptr<Job> job_;
  };

  std::unique_ptr<Pending> Post(std::function<void()> work) {
    const auto job = std::make_shared<Job>();
    job->work = std::move(work);
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(job);
    }
    changed_.notify_all();
    return std::make_unique<TcpPending>(*this, job);
  }

  void Run() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stop_ || !jobs_.empty(); });
      if (stop_) return;
      const std::shared_ptr<Job> job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      std::exception_ptr failed;
      try {
        job->work();
      } catch (...) {  // Wait throws it again
        failed = std::current_exception();
      }
      lock.lock();
      job->failed = failed;
      job->work = nullptr;
      job->done = true;
      changed_.notify_all();
    }
  }

  // Each pair of ranks exchanges its parts of the other's span. The sum is made in the order of the
  // ranks, so it does not depend on the order of arrival.
  void Scatter(const Tensor& values) {
    const Tensor own = SpanOf(values, rank_, size_);
    const Tensor parts = at::empty({size_, own.numel()}, values.options());
    parts[rank_].copy_(own);
    for (int i = 1; i < size_; ++i) {
      const int to = (rank_ + i) % size_, from = (rank_ + size_ - i) % size_;
      mesh_.Exchange(to, BytesOf(SpanOf(values, to, size_)), from, BytesOf(parts[from]));
    }
    own.zero_();
    for (int r = 0; r < size_; ++r) own.add_(parts[r]);
  }

  void Gather(const Tensor& values) {
    for (int i = 1; i < size_; ++i) {
      const int to = (rank_ + i) % size_, from = (rank_ + size_ - i) % size_;
      mesh_.Exchange(to, BytesOf(SpanOf(values, rank_, size_)), from,
                     BytesOf(SpanOf(values, from, size_)));
    }
  }

  const int rank_, size_;
  TcpMesh mesh_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> jobs_;
  bool stop_ = false;
  std::thread thread_;  // must be the last member, because it uses the others
};

}  // namespace

std::unique_ptr<Collectives> MakeTcpCollectives(const Place& place, KeyValueStore& store,
                                                int timeout_s) {
  return std::make_unique<TcpCollectives>(place, store, timeout_s);
}

}  // namespace agentr
