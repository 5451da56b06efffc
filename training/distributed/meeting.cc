#include "training/distributed/meeting.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <map>
#include <vector>

#include "common/error.h"
#include "common/hash.h"
#include "common/stoppable_sleep.h"

namespace agentr {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kPause{50};
constexpr milliseconds kForOthers{3'000};  // that rank 0 waits until they have read what is wrong

std::string RankList(const std::vector<int>& ranks) {
  return fmt::format("rank {}", fmt::join(ranks, ", "));
}

double InSeconds(milliseconds time) { return std::chrono::duration<double>(time).count(); }

// One rank's view of the meeting.
class Meeting {
 public:
  Meeting(KeyValueStore& store, const Place& place, const JobFingerprint& fingerprint)
      : store_(store), place_(place), fingerprint_(fingerprint) {
    fingerprint_.push_back(
        {"the number of processes (WORLD_SIZE)", std::to_string(place.size), ""});
    for (int rank = 0; rank < place.size; ++rank) missing_.push_back(rank);
  }

  void Arrive() {
    const std::string process = ThisProcess();
    if (const auto other = store_.Get(Key("process")); other && *other != process) {
      throw FatalError(
          ExitCode::kUsage,
          fmt::format("rank {} of the job is already there: {}. Cure: give every "
                      "process a RANK of its own, or another MASTER_PORT to another job",
                      place_.rank, *other));
    }
    store_.Set(Key("process"), process);
    const std::string text = ToText(fingerprint_);
    store_.Set(Key("print"), text);
    store_.Set(Key("here"), Sha256(text));  // last: now the others may read it
  }

  const std::vector<int>& missing() const { return missing_; }

  void LookAround() {
    std::erase_if(missing_, [this](int rank) {
      const auto hash = store_.Get(Key("here", rank));
      if (hash) hashes_[rank] = *hash;
      return hash.has_value();
    });
  }

  bool AllAlike() const {
    const auto first = hashes_.find(0);
    return first == hashes_.end() ||
           std::ranges::all_of(hashes_, [&](const auto& h) { return h.second == first->second; });
  }

  [[noreturn]] void Refuse() {
    const JobFingerprint first = PrintOf(0);
    std::string all;
    for (const auto& [rank, hash] : hashes_) {
      if (hash == hashes_.at(0)) continue;
      all += (all.empty() ? "" : "; ") + DifferencesFromFirst(rank, PrintOf(rank), first);
    }
    LetOthersGo();
    RefuseDifferences(all);
  }

  [[noreturn]] void GiveUp(milliseconds after) {
    LetOthersGo();
    throw FatalError(
        ExitCode::kUnavailable,
        fmt::format(
            "after {:g} s {} of the job's {} processes have not come to {}:{}: {}. Cure: "
            "start all of them (torchrun, srun or --processes do), look for the end of that "
            "one in its own output, or give a slow start more time with --meet_timeout; "
            "--processes 1 trains only in this one",
            InSeconds(after), missing_.size(), place_.size, place_.host, place_.port,
            RankList(missing_)));
  }

 private:
  std::string Key(const char* what, int rank) const { return fmt::format("{}/{}", what, rank); }
  std::string Key(const char* what) const { return Key(what, place_.rank); }

  JobFingerprint PrintOf(int rank) {
    return JobFingerprintOf(store_.Get(Key("print", rank)).value_or("[]"));
  }

  // Rank 0 keeps the store until all others that are there know how the meeting has ended.
  void LetOthersGo() {
    store_.Set(Key("gone"), "1");
    if (place_.rank > 0) return;
    const auto end = Clock::now() + kForOthers;
    const auto gone = [&](const auto& h) { return store_.Get(Key("gone", h.first)).has_value(); };
    while (!std::ranges::all_of(hashes_, gone) && Clock::now() < end) {
      std::this_thread::sleep_for(kPause);
    }
  }

  KeyValueStore& store_;
  const Place& place_;
  JobFingerprint fingerprint_;
  std::vector<int> missing_;
  std::map<int, std::string> hashes_;  // of the prints of those that are there
};

}  // namespace

Patience::Patience(const MeetingTimes& times, std::function<void(const std::string&)> end)
    : times_(times),
      end_(std::move(end)),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

void Patience::WaitFor(const std::string& whom, bool anew) {
  const std::lock_guard lock(mutex_);
  whom_ = whom;
  if (!anew) return;
  begin_ = Clock::now();
  said_ = false;
}

void Patience::Run(const std::stop_token& stop) {
  do {
    std::unique_lock lock(mutex_);
    const auto waited = Clock::now() - begin_;
    if (!whom_.empty() && !said_ && waited >= times_.say) {
      said_ = true;
      spdlog::warn("waiting for {} (for at most {:g} s: --meet_timeout)", whom_,
                   InSeconds(times_.most));
    }
    if (!whom_.empty() && waited >= times_.most + times_.grace) {
      const std::string message = fmt::format(
          "{} has not answered for {:g} s: it, its machine or the network is frozen. "
          "Cure: end all processes of the job and start it again",
          whom_, InSeconds(times_.most));
      lock.unlock();
      return end_(message);
    }
    lock.unlock();
  } while (SleepUnlessStopped(stop, kPause));
}

void Meet(KeyValueStore& store, const Place& place, const JobFingerprint& fingerprint,
          const MeetingTimes& times, Patience& patience) {
  Meeting meeting(store, place, fingerprint);
  patience.WaitFor("rank 0", /*anew=*/true);  // which keeps the store
  meeting.Arrive();
  const auto begin = Clock::now();
  while (true) {
    meeting.LookAround();
    const bool alike = meeting.AllAlike(), late = Clock::now() - begin > times.most;
    if (!alike || late || meeting.missing().empty()) break;
    patience.WaitFor(RankList(meeting.missing()), /*anew=*/false);
    std::this_thread::sleep_for(kPause);
  }
  patience.WaitFor("", /*anew=*/true);
  if (!meeting.AllAlike()) meeting.Refuse();
  if (!meeting.missing().empty()) meeting.GiveUp(times.most);
}

}  // namespace agentr
