#include "lm/engine/engine.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>

#include "lm/engine/completion.h"
#include "lm/engine/scheduler.h"

namespace agentr {
namespace {

Pending<Generation> Refused(Error error) {
  std::promise<Result<Generation>> promise;
  promise.set_value(tl::make_unexpected(std::move(error)));
  return {promise.get_future(), std::make_shared<std::atomic<bool>>(false)};
}

const EngineOptions& Checked(const EngineOptions& options) {
  if (options.max_batch < 1 || options.max_batched_tokens < 1) {
    throw FatalError(ExitCode::kUsage, "max_batch and max_batched_tokens must be at least 1");
  }
  return options;
}

}  // namespace

// The thread that owns the decoder, and its inbox.
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

  Pending<Generation> Generate(GenerationRequest request) {
    const DecoderShape& shape = decoder_.shape();
    if (auto error = Check(request, shape)) return Refused(*std::move(error));
    auto job = std::make_unique<GenerationJob>(std::move(request), tokenizer_, shape);
    Pending<Generation> pending = job->pending();
    Post(std::move(job));
    return pending;
  }

  Pending<int64_t> Load(std::shared_ptr<const WeightSource> weights) {
    WeightsRequest request;
    request.weights = std::move(weights);
    request.cancelled = std::make_shared<std::atomic<bool>>(false);
    Pending<int64_t> pending(request.loaded.get_future(), request.cancelled);
    Post(std::move(request));
    return pending;
  }

  EngineStats stats() const {
    std::lock_guard lock(mutex_);
    EngineStats stats = stats_;
    stats.waiting += static_cast<int32_t>(
        std::ranges::count_if(inbox_, [](const Request& request) { return IsJob(request); }));
    return stats;
  }

 private:
  struct WeightsRequest {
    std::shared_ptr<const WeightSource> weights;
    std::shared_ptr<std::atomic<bool>> cancelled;
    std::promise<Result<int64_t>> loaded;
  };
  using Request = std::variant<std::unique_ptr<Job>, WeightsRequest>;

  static bool IsJob(const Request& request) { return request.index() == 0; }

  void Post(Request request) {
    {
      std::lock_guard lock(mutex_);
      inbox_.push_back(std::move(request));
    }
    changed_.notify_one();
  }

  void Run() {
    while (TakeInbox()) {
      // Earlier requests must finish with the old weights, so wait until none is left.
      if (next_weights_ && scheduler_.idle()) LoadWeights();
      scheduler_.Step();
      Publish();
    }
    if (next_weights_) next_weights_->loaded.set_value(ShuttingDown());
    scheduler_.CancelAll();
    Publish();
  }

  // Waits if there is nothing to do; false if the engine ends.
  bool TakeInbox() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] {
      return stopping_ || !inbox_.empty() || next_weights_ || !scheduler_.idle();
    });
    // Requests that arrived after new weights wait for them, in their order.
    while (!inbox_.empty() && (stopping_ || !next_weights_)) {
      TakeRequest(std::move(inbox_.front()));
      inbox_.pop_front();
    }
    if (next_weights_) TakeCancelled();
    return !stopping_;
  }

  void TakeRequest(Request request) {
    if (IsJob(request)) {
      scheduler_.Add(std::get<0>(std::move(request)));
    } else if (stopping_) {
      std::get<1>(request).loaded.set_value(ShuttingDown());
    } else {
      next_weights_ = std::get<1>(std::move(request));
    }
  }

  // Requests that were cancelled while waiting for weights do not need them: the scheduler answers
  // them first.
  void TakeCancelled() {
    std::erase_if(inbox_, [this](Request& request) {
      if (!IsJob(request) || !std::get<0>(request)->cancelled()) return false;
      scheduler_.Add(std::get<0>(std::move(request)));
      return true;
    });
  }

  void LoadWeights() {
    WeightsRequest request = *std::move(next_weights_);
    next_weights_.reset();
    Result<int64_t> version = Fail(ErrorKind::kCancelled, "the request was cancelled");
    if (!*request.cancelled) version = scheduler_.Load(std::move(request.weights));
    Publish();
    request.loaded.set_value(std::move(version));
  }

  static Result<int64_t> ShuttingDown() {
    return Fail(ErrorKind::kCancelled, "the model is being shut down");
  }

  // Publishes the counts before the results, so that a caller with a result finds it counted.
  void Publish() {
    {
      std::lock_guard lock(mutex_);
      stats_ = scheduler_.stats();
    }
    scheduler_.Deliver();
  }

  Decoder& decoder_;
  const Tokenizer& tokenizer_;
  Scheduler scheduler_;                         // used by the thread
  std::optional<WeightsRequest> next_weights_;  // used by the thread: weights to load when all
                                                // requests before are finished
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> inbox_;  // guarded by mutex_, like the members below
  bool stopping_ = false;
  EngineStats stats_;
  std::thread thread_;  // must be the last member, because it uses the others
};

Engine::Engine(Decoder& decoder, const Tokenizer& tokenizer, EngineOptions options)
    : loop_(std::make_unique<Loop>(decoder, tokenizer, options)) {}

Engine::~Engine() = default;

Pending<Generation> Engine::Generate(GenerationRequest request) {
  return loop_->Generate(std::move(request));
}

Pending<int64_t> Engine::Load(std::shared_ptr<const WeightSource> weights) {
  return loop_->Load(std::move(weights));
}

EngineStats Engine::stats() const { return loop_->stats(); }

}  // namespace agentr
