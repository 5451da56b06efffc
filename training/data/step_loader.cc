#include "training/data/step_loader.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

namespace agentr {

std::vector<Batch> MicroBatches(const std::vector<TrainingRow>& rows, const DataOptions& options,
                                const LoaderOptions& loader) {
  const std::vector<const TrainingRow*> sorted = PointersTo(rows);
  const std::span<const TrainingRow* const> all(sorted);
  const bool share = options.share_prefixes;
  const auto rank = static_cast<size_t>(loader.rank);
  const std::vector<size_t> ranks =
      SplitByCost(all, static_cast<size_t>(loader.ranks), share, loader.pair_cost);
  const auto own = all.subspan(ranks[rank], ranks[rank + 1] - ranks[rank]);
  const std::vector<size_t> borders = SplitByTokens(own, options.batch_tokens, share);
  std::vector<Batch> batches;
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    batches.push_back(BuildBatch(own.subspan(borders[i], borders[i + 1] - borders[i]), share));
  }
  return batches;
}

class StepLoader::Reader {
 public:
  Reader(TrainingData& data, int64_t first_step, const LoaderOptions& options)
      : data_(data),
        options_(options),
        next_(first_step),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  LoadedStep Next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !steps_.empty() || failed_ != nullptr; });
    if (steps_.empty()) std::rethrow_exception(failed_);
    LoadedStep step = std::move(steps_.front());
    steps_.pop_front();
    changed_.notify_all();
    return step;
  }

 private:
  LoadedStep Read(int64_t number) {
    const StepRows rows = data_.ReadStep(number);
    LoadedStep step{number, number / data_.steps_per_epoch(), {}, 0, rows.counts};
    step.batches = MicroBatches(rows.rows, data_.options(), options_);
    step.weight = static_cast<double>(rows.counts.trained);
    return step;
  }

  void Run(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, stop, [this] {
        return steps_.size() < static_cast<size_t>(std::max(1, options_.ahead));
      });
      if (stop.stop_requested()) return;
      lock.unlock();
      LoadedStep step;
      std::exception_ptr failed;
      try {
        step = Read(next_);
      } catch (...) {  // Next rethrows it to the caller
        failed = std::current_exception();
      }
      lock.lock();
      if (failed != nullptr) {
        failed_ = failed;
        changed_.notify_all();
        return;
      }
      steps_.push_back(std::move(step));
      ++next_;
      changed_.notify_all();
    }
  }

  TrainingData& data_;
  const LoaderOptions options_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<LoadedStep> steps_;
  std::exception_ptr failed_;
  int64_t next_;
  std::jthread thread_;  // must be the last member, because it uses the others
};

StepLoader::StepLoader(TrainingData& data, int64_t first_step, const LoaderOptions& options)
    : reader_(std::make_unique<Reader>(data, first_step, options)) {}
StepLoader::~StepLoader() = default;

LoadedStep StepLoader::Next() { return reader_->Next(); }

}  // namespace agentr
