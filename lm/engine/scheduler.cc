#include "lm/engine/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace agentr {
namespace {

// Rounds for which the blocks of a finished request are kept from new ones: time enough for an
// environment in the same process. If the next turn comes later, it may have to be computed anew.
constexpr int64_t kRest = 8;

// The oldest new request is overtaken by at most so many times the largest batch.
constexpr int64_t kMostOvertaken = 4;

// Numbers of arrival for the sequences of one request.
constexpr uint64_t kPlaces = 1 << 20;

// True if the sequence still computes given tokens, not tokens that it generates one by one.
bool Prefilling(const Sequence& sequence) { return !sequence.begun() || sequence.uncomputed() > 1; }

std::span<const int32_t> First(const Sequence& sequence, int32_t count) {
  return std::span(sequence.tokens()).first(static_cast<size_t>(count));
}

Error Failure(std::string_view what) {
  return {ErrorKind::kServer, fmt::format("the model failed: {}", what)};
}

}  // namespace

Scheduler::Scheduler(Decoder& decoder, const EngineOptions& options)
    : decoder_(decoder), options_(options), cache_(decoder, options.prefix_cache) {
  stats_.blocks = decoder.shape().blocks;
}

void Scheduler::Add(std::unique_ptr<Job> job) {
  ++stats_.requests;
  stats_.prompt_tokens += job->prompt_tokens();
  uint64_t arrival = kPlaces * TakePlace(*job->sequences.front());
  for (const auto& sequence : job->sequences) {
    sequence->arrival = arrival++;
    // Without the cache, only the completions of a request share their prompt.
    const uint64_t scope = options_.prefix_cache ? 0 : job->sequences.front()->arrival;
    sequence->table = PrefixCache::BlockTable(scope);
    auto& queue = Follows(*sequence) ? following_ : waiting_;
    queue.emplace(sequence->arrival, sequence.get());
  }
  job->weights_version = stats_.weights_version;
  const uint64_t first = job->sequences.front()->arrival;
  Job& added = *jobs_.emplace(first, std::move(job)).first->second;
  if (!unusable_.empty()) Finish(added, Failure(unusable_));
}

// The place of the finished request from whose prompt it goes on, or a new one.
uint64_t Scheduler::TakePlace(const Sequence& first) {
  Resting* goes_on = nullptr;
  size_t longest = 0;
  for (Resting& one : resting_) {
    // Other completions of that request may still be computed in its place.
    if (one.place == 0 || jobs_.count(one.place * kPlaces) > 0) continue;
    const auto end = std::ranges::mismatch(one.tokens, first.tokens()).in1;
    const auto common = static_cast<size_t>(end - one.tokens.begin());
    if (common < one.prompt_tokens || common <= longest) continue;
    longest = common;
    goes_on = &one;
  }
  if (goes_on == nullptr) return ++last_place_;
  const uint64_t place = goes_on->place;
  for (Resting& one : resting_) {
    if (one.place == place) one.place = 0;
  }
  return place;
}

void Scheduler::Step() {
  DropCancelled();
  WakeDue();
  Admit();
  PreemptIfNeeded();
  const std::vector<ScheduledChunk> chunks = Plan();
  if (!chunks.empty()) Compute(chunks);
  CountNow();
}

void Scheduler::DropCancelled() {
  std::vector<Job*> cancelled;
  for (const auto& [arrival, job] : jobs_) {
    if (job->cancelled()) cancelled.push_back(job.get());
  }
  const Error error{ErrorKind::kCancelled, "the request was cancelled"};
  for (Job* job : cancelled) Finish(*job, error);
}

void Scheduler::CancelAll() {
  while (!jobs_.empty()) {
    Finish(*jobs_.begin()->second, Error{ErrorKind::kCancelled, "the model is being shut down"});
  }
  CountNow();
}

Result<int64_t> Scheduler::Load(std::shared_ptr<const WeightSource> weights) {
  assert(idle());
  while (WakeOldest()) continue;
  try {
    decoder_.Load(std::move(weights));
  } catch (const FatalError& error) {  // the decoder kept its old weights
    return Fail(ErrorKind::kRejected, error.what());
  } catch (const std::exception& exception) {
    cache_.Clear();
    unusable_ = fmt::format("its weights could not be replaced: {}", exception.what());
    return tl::make_unexpected(Failure(unusable_));
  }
  cache_.Clear();
  unusable_.clear();
  CountNow();
  return ++stats_.weights_version;
}

void Scheduler::Deliver() {
  for (const auto& job : finished_) job->Deliver();
  finished_.clear();
}

// Admits only as many prompts as one or two steps can compute, because later ones may find more in
// the cache.
void Scheduler::Admit() {
  int64_t backlog = 0;
  for (const auto& [arrival, sequence] : running_) {
    if (Prefilling(*sequence)) backlog += sequence->uncomputed();
  }
  const auto is_full = [&] {
    return std::ssize(running_) >= options_.max_batch || backlog >= options_.max_batched_tokens;
  };
  if (is_full()) return;
  for (Sequence* const sequence : ByPrecedence()) {
    if (is_full()) return;
    // Start may have finished the job of a later one.
    if (!IsWaiting(*sequence) || WaitsForPrefix(*sequence)) continue;
    // Admit no later request either: small ones could delay a large one forever.
    if (!MakeRoom(*sequence)) return;
    Start(*sequence);
    if (running_.count(sequence->arrival) > 0) backlog += sequence->uncomputed();
  }
}

std::vector<Sequence*> Scheduler::ByPrecedence() const {
  std::vector<Sequence*> order;
  if (IsOverdue()) order.push_back(waiting_.begin()->second);
  for (const auto& [arrival, sequence] : following_) order.push_back(sequence);
  for (const auto& [arrival, sequence] : waiting_) order.push_back(sequence);
  return order;
}

bool Scheduler::IsOverdue() const {
  return !waiting_.empty() && overtaken_ >= kMostOvertaken * options_.max_batch;
}

bool Scheduler::IsWaiting(const Sequence& sequence) const {
  return following_.count(sequence.arrival) + waiting_.count(sequence.arrival) > 0;
}

bool Scheduler::Follows(const Sequence& sequence) const {
  const std::span<const int32_t> needed = First(sequence, sequence.first_logits());
  return 2 * cache_.Find(sequence.table.scope(), needed).tokens > sequence.size();
}

bool Scheduler::WaitsForPrefix(Sequence& sequence) {
  const auto prefix_owner = running_.find(sequence.prefix_owner);
  if (prefix_owner != running_.end() &&
      prefix_owner->second->table.tokens() < sequence.prefix_owner_tokens) {
    return true;
  }
  const Sequence* const found = FindPrefixOwner(sequence, sequence.prefix_owner_tokens);
  sequence.prefix_owner = found == nullptr ? 0 : found->arrival;
  return found != nullptr;
}

// The running sequence that will compute the longest prefix of `sequence` beyond the cached one.
// `shared` becomes the length of that prefix in tokens, at least that of the cached one; null if no
// running sequence will compute more than the cache has. Example: "A B C D" is wanted, the cache
// has "A", one running prompt is "A B X" and computed up to "A", another is "A B C Y": the second
// is returned with shared 3. A sibling of the same request that computes the very same prompt wins
// at once, with all of its tokens. A sequence that has computed the common part already is no
// owner.
Sequence* Scheduler::FindPrefixOwner(const Sequence& sequence, int32_t& shared) const {
  const std::span<const int32_t> needed = First(sequence, sequence.first_logits());
  Sequence* prefix_owner = nullptr;
  shared = cache_.Find(sequence.table.scope(), needed).tokens;
  for (const auto& [arrival, other] : running_) {
    if (!Prefilling(*other) || other->table.scope() != sequence.table.scope()) continue;
    if (&other->job() == &sequence.job() && !other->begun() && !sequence.begun()) {
      shared = other->size();  // with the logits of its last token
      return other;
    }
    const auto end = std::ranges::mismatch(needed, other->tokens()).in1;
    const auto common = static_cast<int32_t>(end - needed.begin());
    if (common <= std::max(shared, other->table.tokens())) continue;
    shared = common;
    prefix_owner = other;
  }
  return prefix_owner;
}

// Needs memory for all known tokens of the sequence and one block for each running sequence;
// otherwise it could be preempted immediately.
bool Scheduler::HasRoom(const Sequence& sequence) const {
  const std::span<const int32_t> needed = First(sequence, sequence.first_logits());
  const PrefixCache::Prefix prefix = cache_.Find(sequence.table.scope(), needed);
  const int32_t block_tokens = decoder_.shape().block_tokens;
  const int32_t blocks = (sequence.size() + block_tokens - 1) / block_tokens - prefix.blocks;
  return blocks + std::ssize(running_) <= cache_.available() - prefix.pinning;
}

// New requests do not take the blocks that rest, unless nothing runs or they waited too long.
bool Scheduler::MakeRoom(const Sequence& sequence) {
  const bool may_wake = following_.count(sequence.arrival) > 0 || running_.empty() || IsOverdue();
  while (!HasRoom(sequence)) {
    if (!may_wake || !WakeOldest()) return false;
  }
  return true;
}

void Scheduler::Start(Sequence& sequence) {
  if (following_.erase(sequence.arrival) > 0) {
    overtaken_ += !waiting_.empty();
  } else {
    if (waiting_.begin()->first == sequence.arrival) overtaken_ = 0;
    waiting_.erase(sequence.arrival);
  }
  running_.emplace(sequence.arrival, &sequence);
  Job& job = sequence.job();
  const bool first = &sequence == job.sequences.front().get() && !sequence.started;
  sequence.started = true;
  try {
    cache_.Match(sequence.table, First(sequence, sequence.first_logits()));
  } catch (const std::exception& exception) {
    return Finish(job, Failure(exception.what()));
  }
  if (first) {
    job.cached_tokens = std::min<int64_t>(sequence.table.tokens(), job.prompt_tokens());
    stats_.cached_tokens += job.cached_tokens;
  }
  cache_.Reserve(sequence.table, sequence.size());  // cannot fail after HasRoom
  if (sequence.uncomputed() > 0) return;
  std::vector<SequenceLogits> reading = {{&sequence, {}, ""}};
  reader_.Read(reading);
  Commit(reading.front());
}

// Reserves a block for every next token; if memory is short, preempts the youngest sequence.
void Scheduler::PreemptIfNeeded() {
  for (auto next = running_.begin(); next != running_.end();) {
    Sequence& sequence = *next->second;
    while (!cache_.Reserve(sequence.table, sequence.size())) {
      if (WakeOldest()) continue;
      Sequence& youngest = *running_.rbegin()->second;
      StopRunning(youngest);
      following_.emplace(youngest.arrival, &youngest);
      // The sequence was itself the youngest one and has been preempted.
      if (&youngest == &sequence) break;
    }
    // Preemption erases entries of the map, so the iterator is found again.
    next = running_.upper_bound(sequence.arrival);
  }
}

// The next token of every generating sequence; prompts, oldest first, fill the rest of the step.
std::vector<Scheduler::ScheduledChunk> Scheduler::Plan() const {
  std::vector<ScheduledChunk> chunks;
  for (const auto& [arrival, sequence] : running_) {
    if (sequence->uncomputed() > 1) continue;
    chunks.push_back({sequence, 1, sequence->size() - sequence->first_logits()});
  }
  int32_t tokens = std::max(1, options_.max_batched_tokens - static_cast<int32_t>(chunks.size()));
  int32_t rows = options_.max_batch;  // limits rows of logits
  for (const auto& [arrival, sequence] : running_) {
    if (sequence->uncomputed() <= 1) continue;
    const int32_t start = sequence->table.tokens();
    const int32_t last = std::min(sequence->size(), sequence->first_logits() + rows);
    const int32_t length = std::min(tokens, last - start);
    if (length <= 0) continue;
    const int32_t wanted = std::max(0, start + length - sequence->first_logits());
    chunks.push_back({sequence, length, wanted});
    tokens -= length;
    rows -= wanted;
  }
  return chunks;
}

void Scheduler::Compute(const std::vector<ScheduledChunk>& chunks) {
  std::span<const float> logits;
  try {
    logits = Forward(chunks);
  } catch (const std::exception& exception) {
    for (const ScheduledChunk& chunk : chunks)
      Finish(chunk.sequence->job(), Failure(exception.what()));
    return;
  }
  const auto vocabulary = static_cast<size_t>(decoder_.shape().vocab_size);
  std::vector<SequenceLogits> readings;
  for (const auto& [sequence, length, rows] : chunks) {
    const auto values = static_cast<size_t>(rows) * vocabulary;
    // Advances table.tokens(), on which uncomputed() below depends.
    cache_.Commit(sequence->table, First(*sequence, sequence->table.tokens() + length));
    if (rows > 0 || sequence->uncomputed() == 0) {
      readings.push_back({sequence, logits.first(values), ""});
    }
    logits = logits.subspan(values);
  }
  // Reading runs in parallel and may only change its own sequence; what is shared changes in
  // Commit.
  reader_.Read(readings);
  for (const SequenceLogits& reading : readings) Commit(reading);
}

std::span<const float> Scheduler::Forward(const std::vector<ScheduledChunk>& chunks) {
  std::vector<SequenceChunk> batch;
  const auto vocabulary = static_cast<size_t>(decoder_.shape().vocab_size);
  size_t values = 0;
  for (const auto& [sequence, length, rows] : chunks) {
    const int32_t start = sequence->table.tokens();
    batch.push_back({First(*sequence, start + length).subspan(static_cast<size_t>(start)), start,
                     sequence->table.blocks(), rows});
    values += static_cast<size_t>(rows) * vocabulary;
    stats_.computed_tokens += length;
  }
  ++stats_.rounds;
  const std::span<const float> logits = decoder_.Forward(batch);
  if (logits.size() == values) return logits;
  throw std::runtime_error(fmt::format("{} logits came, not {}", logits.size(), values));
}

void Scheduler::Commit(const SequenceLogits& reading) {
  Sequence& sequence = *reading.sequence;
  Job& job = sequence.job();
  if (job.finished) return;
  if (!reading.failure.empty()) return Finish(job, Failure(reading.failure));
  const int32_t before = sequence.size();
  bool done = false;
  try {
    done = sequence.Commit();
  } catch (const std::exception& exception) {  // from the caller's on_text
    return Finish(job, Error{ErrorKind::kRejected, exception.what()});
  }
  stats_.completion_tokens += sequence.size() - before;
  if (!done) return;
  Rest(sequence);
  const auto busy = [&](const auto& other) {
    return running_.count(other->arrival) > 0 || IsWaiting(*other);
  };
  if (std::none_of(job.sequences.begin(), job.sequences.end(), busy)) Finish(job, std::nullopt);
}

void Scheduler::StopRunning(Sequence& sequence) {
  cache_.Release(sequence.table);
  running_.erase(sequence.arrival);
}

void Scheduler::Rest(Sequence& sequence) {
  if (!options_.prefix_cache) return StopRunning(sequence);
  const PrefixCache::BlockTable empty(sequence.table.scope());
  resting_.push_back({std::exchange(sequence.table, empty), stats_.rounds + kRest,
                      sequence.tokens(), static_cast<size_t>(sequence.job().prompt_tokens()),
                      sequence.arrival / kPlaces});
  running_.erase(sequence.arrival);
}

void Scheduler::WakeDue() {
  while (!resting_.empty() && resting_.front().until <= stats_.rounds) WakeOldest();
}

bool Scheduler::WakeOldest() {
  if (resting_.empty()) return false;
  cache_.Release(resting_.front().table);
  resting_.pop_front();
  return true;
}

void Scheduler::Finish(Job& job, std::optional<Error> error) {
  if (job.finished) return;
  job.finished = true;
  job.error = std::move(error);
  for (const auto& sequence : job.sequences) {
    following_.erase(sequence->arrival);
    waiting_.erase(sequence->arrival);
    StopRunning(*sequence);
  }
  finished_.push_back(std::move(jobs_.extract(job.sequences.front()->arrival).mapped()));
}

void Scheduler::CountNow() {
  stats_.evicted_blocks = cache_.evicted();
  stats_.blocks_in_use = cache_.in_use();
  stats_.running = static_cast<int32_t>(running_.size());
  stats_.waiting = 0;
  const Job* last = nullptr;
  for (const auto* queue : {&following_, &waiting_}) {
    for (const auto& [arrival, sequence] : *queue) {
      stats_.waiting += &sequence->job() != last;
      last = &sequence->job();
    }
  }
}

}  // namespace agentr
