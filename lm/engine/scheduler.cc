#include "lm/engine/scheduler.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>

namespace agentr {
namespace {

// Is the sequence at tokens that were given, rather than at those that it makes one by one?
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
  for (const auto& sequence : job->sequences) {
    sequence->ticket = ++last_ticket_;
    // Without the cache, only the completions of a request share their prompt.
    const uint64_t scope = options_.prefix_cache ? 0 : job->sequences.front()->ticket;
    sequence->table = PrefixCache::Table(scope);
    waiting_.emplace(sequence->ticket, sequence.get());
  }
  const uint64_t ticket = job->sequences.front()->ticket;
  jobs_.emplace(ticket, std::move(job));
}

void Scheduler::Round() {
  DropCancelled();
  Admit();
  MakeRoom();
  const std::vector<Piece> pieces = Plan();
  if (!pieces.empty()) Compute(pieces);
  CountNow();
}

void Scheduler::DropCancelled() {
  std::vector<Job*> cancelled;
  for (const auto& [ticket, job] : jobs_) {
    if (job->cancelled()) cancelled.push_back(job.get());
  }
  const Error error{ErrorKind::kCancelled, "the request was cancelled"};
  for (Job* job : cancelled) Settle(*job, error);
}

void Scheduler::CancelAll() {
  while (!jobs_.empty()) {
    Settle(*jobs_.begin()->second, Error{ErrorKind::kCancelled, "the model is being shut down"});
  }
  CountNow();
}

void Scheduler::Deliver() {
  for (const auto& job : settled_) job->Deliver();
  settled_.clear();
}

// Not more prompts than a round or two can take: those that come later find more in the cache.
void Scheduler::Admit() {
  int64_t backlog = 0;
  for (const auto& [ticket, sequence] : running_) {
    if (Prefilling(*sequence)) backlog += sequence->uncomputed();
  }
  auto next = waiting_.begin();
  while (next != waiting_.end() && std::ssize(running_) < options_.max_batch &&
         backlog < options_.max_round_tokens) {
    Sequence& sequence = *next->second;
    if (!WaitsForPrefix(sequence)) {
      if (!HasRoom(sequence)) return;
      Start(sequence);
      if (running_.count(sequence.ticket) > 0) backlog += sequence.uncomputed();
    }
    next = waiting_.upper_bound(sequence.ticket);
  }
}

bool Scheduler::WaitsForPrefix(Sequence& sequence) {
  const auto leader = running_.find(sequence.leader);
  if (leader != running_.end() && leader->second->table.tokens() < sequence.leader_tokens) {
    return true;
  }
  const Sequence* const found = FindLeader(sequence, sequence.leader_tokens);
  sequence.leader = found == nullptr ? 0 : found->ticket;
  return found != nullptr;
}

// The running sequence that is about to compute the most of what `sequence` needs and the cache
// does not have.
Sequence* Scheduler::FindLeader(const Sequence& sequence, int32_t& shared) const {
  const std::span<const int32_t> needed = First(sequence, sequence.first_logits());
  Sequence* leader = nullptr;
  shared = cache_.Find(sequence.table.scope(), needed).tokens;
  for (const auto& [ticket, other] : running_) {
    if (!Prefilling(*other) || other->table.scope() != sequence.table.scope()) continue;
    if (&other->job() == &sequence.job() && !other->begun() && !sequence.begun()) {
      shared = other->size();  // and its logits
      return other;
    }
    const auto end =
        std::mismatch(needed.begin(), needed.end(), other->tokens().begin(), other->tokens().end());
    const auto common = static_cast<int32_t>(end.first - needed.begin());
    if (common <= std::max(shared, other->table.tokens())) continue;
    shared = common;
    leader = other;
  }
  return leader;
}

// For all that is known of the sequence and, so that it is not put back at once, a block for each
// one that runs.
bool Scheduler::HasRoom(const Sequence& sequence) const {
  const std::span<const int32_t> needed = First(sequence, sequence.first_logits());
  const PrefixCache::Prefix prefix = cache_.Find(sequence.table.scope(), needed);
  const int32_t block_tokens = decoder_.shape().block_tokens;
  const int32_t blocks = (sequence.size() + block_tokens - 1) / block_tokens - prefix.blocks;
  return blocks + std::ssize(running_) <= cache_.available() - prefix.pinning;
}

void Scheduler::Start(Sequence& sequence) {
  waiting_.erase(sequence.ticket);
  running_.emplace(sequence.ticket, &sequence);
  Job& job = sequence.job();
  const bool first = &sequence == job.sequences.front().get() && !sequence.started;
  sequence.started = true;
  try {
    cache_.Match(sequence.table, First(sequence, sequence.first_logits()));
  } catch (const std::exception& exception) {
    return Settle(job, Failure(exception.what()));
  }
  if (first) {
    job.cached_tokens = std::min<int64_t>(sequence.table.tokens(), job.prompt_tokens());
    stats_.cached_tokens += job.cached_tokens;
  }
  cache_.Reserve(sequence.table, sequence.size());  // HasRoom has said yes
  if (sequence.uncomputed() > 0) return;
  std::vector<Reading> reading = {{&sequence, {}, ""}};
  reader_.Read(reading);
  Advance(reading.front());
}

// A block for every token to come, from the youngest where need be.
void Scheduler::MakeRoom() {
  for (auto next = running_.begin(); next != running_.end();) {
    Sequence& sequence = *next->second;
    while (!cache_.Reserve(sequence.table, sequence.size())) {
      Sequence& youngest = *running_.rbegin()->second;
      StopRunning(youngest);
      waiting_.emplace(youngest.ticket, &youngest);
      if (&youngest == &sequence) break;
    }
    next = running_.upper_bound(sequence.ticket);
  }
}

// The next token of everything that has one; prompts, oldest first, in what is left of the round.
std::vector<Scheduler::Piece> Scheduler::Plan() const {
  std::vector<Piece> pieces;
  for (const auto& [ticket, sequence] : running_) {
    if (sequence->uncomputed() > 1) continue;
    pieces.push_back({sequence, 1, sequence->size() - sequence->first_logits()});
  }
  int32_t tokens = std::max(1, options_.max_round_tokens - static_cast<int32_t>(pieces.size()));
  int32_t rows = options_.max_batch;  // scores of long texts want many: they take memory
  for (const auto& [ticket, sequence] : running_) {
    if (sequence->uncomputed() <= 1) continue;
    const int32_t start = sequence->table.tokens();
    const int32_t last = std::min(sequence->size(), sequence->first_logits() + rows);
    const int32_t length = std::min(tokens, last - start);
    if (length <= 0) continue;
    const int32_t wanted = std::max(0, start + length - sequence->first_logits());
    pieces.push_back({sequence, length, wanted});
    tokens -= length;
    rows -= wanted;
  }
  return pieces;
}

void Scheduler::Compute(const std::vector<Piece>& pieces) {
  std::span<const float> logits;
  try {
    logits = Forward(pieces);
  } catch (const std::exception& exception) {
    for (const Piece& piece : pieces) Settle(piece.sequence->job(), Failure(exception.what()));
    return;
  }
  const auto vocabulary = static_cast<size_t>(decoder_.shape().vocabulary);
  std::vector<Reading> readings;
  for (const auto& [sequence, length, rows] : pieces) {
    const auto values = static_cast<size_t>(rows) * vocabulary;
    cache_.Commit(sequence->table, First(*sequence, sequence->table.tokens() + length));
    if (rows > 0 || sequence->uncomputed() == 0) {
      readings.push_back({sequence, logits.first(values), ""});
    }
    logits = logits.subspan(values);
  }
  reader_.Read(readings);
  for (const Reading& reading : readings) Advance(reading);
}

std::span<const float> Scheduler::Forward(const std::vector<Piece>& pieces) {
  std::vector<Slice> batch;
  const auto vocabulary = static_cast<size_t>(decoder_.shape().vocabulary);
  size_t values = 0;
  for (const auto& [sequence, length, rows] : pieces) {
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

void Scheduler::Advance(const Reading& reading) {
  Sequence& sequence = *reading.sequence;
  Job& job = sequence.job();
  if (job.settled) return;
  if (!reading.failure.empty()) return Settle(job, Failure(reading.failure));
  const int32_t before = sequence.size();
  bool done = false;
  try {
    done = sequence.Advance();
  } catch (const std::exception& exception) {  // of the caller's on_text
    return Settle(job, Error{ErrorKind::kRejected, exception.what()});
  }
  stats_.completion_tokens += sequence.size() - before;
  if (!done) return;
  StopRunning(sequence);
  const auto busy = [&](const auto& other) {
    return running_.count(other->ticket) + waiting_.count(other->ticket) > 0;
  };
  if (std::none_of(job.sequences.begin(), job.sequences.end(), busy)) Settle(job, std::nullopt);
}

void Scheduler::StopRunning(Sequence& sequence) {
  cache_.Release(sequence.table);
  running_.erase(sequence.ticket);
}

void Scheduler::Settle(Job& job, std::optional<Error> error) {
  if (job.settled) return;
  job.settled = true;
  job.error = std::move(error);
  for (const auto& sequence : job.sequences) {
    waiting_.erase(sequence->ticket);
    StopRunning(*sequence);
  }
  settled_.push_back(std::move(jobs_.extract(job.sequences.front()->ticket).mapped()));
}

void Scheduler::CountNow() {
  stats_.evicted_blocks = cache_.evicted();
  stats_.blocks_in_use = cache_.in_use();
  stats_.running = static_cast<int32_t>(running_.size());
  stats_.waiting = 0;
  const Job* last = nullptr;
  for (const auto& [ticket, sequence] : waiting_) {
    stats_.waiting += &sequence->job() != last;
    last = &sequence->job();
  }
}

}  // namespace agentr
