#include "lm/engine/engine.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "lm/engine/completion.h"
#include "lm/engine/scheduler.h"
#include "lm/engine/scoring.h"

namespace agentr {
namespace {

template <typename T>
Pending<T> Answered(Result<T> result) {
  std::promise<Result<T>> promise;
  promise.set_value(std::move(result));
  return Pending<T>(promise.get_future(), std::make_shared<std::atomic<bool>>(false));
}

const EngineOptions& Checked(const EngineOptions& options) {
  if (options.max_batch < 1 || options.max_batched_tokens < 1) {
    throw FatalError(ExitCode::kUsage, "max_batch and max_batched_tokens must be at least 1");
  }
  return options;
}

}  // namespace

// The thread that owns the decoder, and what others hand to it.
class Engine::Loop {
 public:
  Loop(Decoder& decoder, const Tokenizer& tokenizer, const EngineOptions& options)
      : decoder_(decoder),
        tokenizer_(tokenizer),
        scheduler_(decoder, Checked(options)),
        stats_(scheduler_.stats()),
        thread_([this] { Run(); }) {}

  ~Loop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_one();
    thread_.join();
  }

  void Submit(std::unique_ptr<Job> job) {
    {
      std::lock_guard lock(mutex_);
      inbox_.push_back(std::move(job));
    }
    changed_.notify_one();
  }

  EngineStats stats() const {
    std::lock_guard lock(mutex_);
    EngineStats stats = stats_;
    stats.waiting += static_cast<int32_t>(inbox_.size());
    return stats;
  }

  const DecoderShape& shape() const { return decoder_.shape(); }
  const Tokenizer& tokenizer() const { return tokenizer_; }

 private:
  void Run() {
    while (TakeInbox()) {
      scheduler_.Step();
      Publish();
    }
    scheduler_.CancelAll();
    Publish();
  }

  // Waits where there is nothing to do; false when the engine ends.
  bool TakeInbox() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return stopping_ || !inbox_.empty() || !scheduler_.idle(); });
    for (auto& job : inbox_) scheduler_.Add(std::move(job));
    inbox_.clear();
    return !stopping_;
  }

  // The counts come first: who has a result finds it counted.
  void Publish() {
    {
      std::lock_guard lock(mutex_);
      stats_ = scheduler_.stats();
    }
    scheduler_.Deliver();
  }

  Decoder& decoder_;
  const Tokenizer& tokenizer_;
  Scheduler scheduler_;  // the thread's
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Job>> inbox_;  // guarded by mutex_, as all below
  bool stopping_ = false;
  EngineStats stats_;
  std::thread thread_;  // last: it uses the others
};

Engine::Engine(Decoder& decoder, const Tokenizer& tokenizer, EngineOptions options)
    : loop_(std::make_unique<Loop>(decoder, tokenizer, options)) {}

Engine::~Engine() = default;

Pending<Generation> Engine::Generate(GenerationRequest request) {
  const DecoderShape& shape = loop_->shape();
  if (auto error = Check(request, shape)) {
    return Answered<Generation>(tl::make_unexpected(*std::move(error)));
  }
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  auto job =
      std::make_unique<GenerationJob>(std::move(request), cancelled, loop_->tokenizer(), shape);
  Pending<Generation> pending = job->pending(cancelled);
  loop_->Submit(std::move(job));
  return pending;
}

Pending<std::vector<float>> Engine::Score(ScoreRequest request) {
  if (auto error = Check(request, loop_->shape())) {
    return Answered<std::vector<float>>(tl::make_unexpected(*std::move(error)));
  }
  if (request.continuation.empty()) return Answered<std::vector<float>>(std::vector<float>());
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  auto job = std::make_unique<ScoreJob>(std::move(request), cancelled);
  Pending<std::vector<float>> pending = job->pending(cancelled);
  loop_->Submit(std::move(job));
  return pending;
}

EngineStats Engine::stats() const { return loop_->stats(); }

}  // namespace agentr
