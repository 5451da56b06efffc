#include "training/distributed/liveness.h"

#include <fmt/core.h>

#include "training/distributed/rendezvous.h"

namespace agentr {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kVerdict = "verdict";
constexpr const char* kSuspicion = "suspicion";
constexpr const char* kGoOn = "The same command continues from the last checkpoint";

std::string SignKey(int rank) { return fmt::format("alive/{}", rank); }

double Seconds(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

std::string RankZeroIsGone(const std::string& what) {
  return fmt::format(
      "rank 0, where the other processes of the job meet, does not answer ({}): it was killed, "
      "froze, or its network is down. {}",
      what, kGoOn);
}

// What stands in the store: the exit code and the message of those that read it.
std::string Verdict(ExitCode code, const std::string& message) {
  return fmt::format("{} {}", static_cast<int>(code), message);
}

}  // namespace

Liveness::Liveness(std::unique_ptr<KeyValueStore> store, int rank, int size,
                   const LivenessOptions& options,
                   std::function<void(const std::string&, ExitCode)> end)
    : store_(std::move(store)),
      rank_(rank),
      options_(options),
      end_(std::move(end)),
      signs_(static_cast<size_t>(size), Sign{"", Clock::now()}),
      thread_([this] { Run(); }),
      watch_([this] { Watch(); }) {}

Liveness::~Liveness() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
  watch_.join();
}

void Liveness::Suspect() {
  std::unique_lock lock(mutex_);
  suspects_ = true;
  // Long enough for rank 0 to notice another silent rank, or for this rank to notice that rank 0 is
  // silent.
  const auto enough = options_.suspected + 6 * options_.period;
  changed_.wait_for(lock, enough, [this] { return ended_.load(); });
}

void Liveness::Fail(const std::string& why, ExitCode code) {
  std::unique_lock lock(mutex_);
  failure_ = Verdict(code, fmt::format("rank {} has ended: {}", rank_, why));
  changed_.notify_all();
  changed_.wait_for(lock, 4 * options_.period, [this] { return told_ || ended_; });
  // The store ends with rank 0, so the others must read its verdict before.
  if (rank_ == 0) changed_.wait_for(lock, 3 * options_.period, [] { return false; });
}

bool Liveness::Sleep(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, time, [this] { return stop_ || (!failure_.empty() && !told_); });
  return !stop_;
}

void Liveness::End(const std::string& message, ExitCode code) {
  // Both threads may find a fault at the same time; only the first one reports it.
  if (ended_.exchange(true)) return;
  changed_.notify_all();
  end_(message, code);
}

void Liveness::Run() {
  do {
    try {
      Round();
    } catch (const std::exception& error) {
      const std::lock_guard lock(mutex_);
      if (!stop_ && !told_) End(RankZeroIsGone(error.what()), ExitCode::kIncomplete);
      return;
    }
  } while (!ended_ && Sleep(options_.period));
}

// A call to the store may itself block if the machine of rank 0 has frozen.
void Liveness::Watch() {
  while (!ended_ && Sleep(options_.period)) {
    const std::lock_guard lock(mutex_);
    if (stop_ || told_ || Clock::now() - last_round_ < options_.silence) continue;
    End(RankZeroIsGone(fmt::format("for {:.0f} s", Seconds(options_.silence))),
        ExitCode::kIncomplete);
  }
}

void Liveness::Round() {
  bool suspects = false;
  std::string failure;
  {
    const std::lock_guard lock(mutex_);
    suspects = suspects_;
    failure = told_ ? "" : failure_;
  }
  if (!failure.empty()) {
    store_->Set(kVerdict, failure);
    const std::lock_guard lock(mutex_);
    told_ = true;
    changed_.notify_all();
    return;
  }
  store_->Set(SignKey(rank_), fmt::format("{} {}", rounds_++, ThisProcess()));
  if (suspects) store_->Set(kSuspicion, "1");
  if (rank_ == 0) Judge();
  const std::optional<std::string> verdict = store_->Get(kVerdict);
  std::unique_lock lock(mutex_);
  last_round_ = Clock::now();
  if (!verdict || told_) return;
  // The store ends with rank 0, so the others must read the verdict before.
  if (rank_ == 0) changed_.wait_for(lock, 3 * options_.period, [] { return false; });
  const size_t space = verdict->find(' ');
  End(verdict->substr(space + 1), static_cast<ExitCode>(std::stoi(verdict->substr(0, space))));
}

void Liveness::Judge() {
  const auto now = Clock::now();
  const bool suspected = store_->Get(kSuspicion).has_value();
  for (size_t rank = 1; rank < signs_.size(); ++rank) {
    Sign& sign = signs_[rank];
    const std::string value = store_->Get(SignKey(static_cast<int>(rank))).value_or("");
    if (value != sign.value || value.empty()) {  // empty: it has not arrived yet
      sign = {value, now};
      continue;
    }
    const auto silent = now - sign.changed;
    if (silent < (suspected ? options_.suspected : options_.silence)) continue;
    const size_t name = value.find(' ');
    store_->Set(
        kVerdict,
        Verdict(ExitCode::kIncomplete,
                fmt::format("rank {} ({}) has given no sign of life for {:.0f} s: it was killed, "
                            "crashed, froze, or lost its network. The job ends. {}",
                            rank, name == std::string::npos ? "" : value.substr(name + 1),
                            Seconds(silent), kGoOn)));
    return;
  }
}

}  // namespace agentr
