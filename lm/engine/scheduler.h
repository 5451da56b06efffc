// Decides which sequences run and what each step of the decoder computes.
//
// Requests are admitted in the order of arrival, but those that go on from what is cached, as the
// next turn of a conversation does, before new ones: where not all conversations fit into the
// memory, some go on to their end while the others wait. Taking turns would evict each of them
// before its next turn, and every turn would compute its whole prompt again. So that a next turn
// finds its blocks, those of a finished request stay for a few steps more. A new request is
// overtaken a limited number of times. What goes on from a request also takes its place in the
// order, so that it is always the youngest conversation that gives way.
//
// A request whose prefix is being computed for another one waits, and then takes it from the cache;
// later requests may overtake it. If running sequences need more memory than there is, the youngest
// returns to its place in the waiting queue and keeps its tokens; its blocks stay in the cache as
// long as possible. The oldest sequence can always continue, because each alone fits, so every step
// makes progress.
//
// Used only by the engine's thread.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lm/decoder/decoder.h"
#include "lm/engine/engine.h"
#include "lm/engine/logit_reader.h"
#include "lm/engine/prefix_cache.h"
#include "lm/engine/sequence.h"

namespace agentr {

class Scheduler {
 public:
  Scheduler(Decoder& decoder, const EngineOptions& options);

  void Add(std::unique_ptr<Job> job);
  bool idle() const { return jobs_.empty(); }

  // Drops cancelled requests, admits waiting ones, and computes. An exception of the decoder fails
  // the requests in that computation.
  void Step();

  void CancelAll();

  // See Engine::Load. No request may be in progress. Returns the version of the new weights.
  Result<int64_t> Load(std::shared_ptr<const WeightSource> weights);

  // Hands out the results of finished requests. Separate from Step, so that stats() can be
  // published first.
  void Deliver();

  const EngineStats& stats() const { return stats_; }

 private:
  // The part of a sequence that a step computes: its next `length` tokens.
  struct ScheduledChunk {
    Sequence* sequence;
    int32_t length;
    int32_t rows;  // number of last tokens whose logits are wanted
  };

  // A finished sequence, whose blocks are kept until this round for a request that goes on from it.
  struct Resting {
    PrefixCache::BlockTable table;
    int64_t until;
    std::vector<int32_t> tokens;
    size_t prompt_tokens;
    uint64_t place;  // of its job; 0 once it is taken
  };

  void DropCancelled();
  void Admit();
  std::vector<Sequence*> ByPrecedence() const;
  bool IsOverdue() const;
  bool IsWaiting(const Sequence& sequence) const;
  uint64_t TakePlace(const Sequence& first);
  // True if most of its tokens are cached.
  bool Follows(const Sequence& sequence) const;
  bool WaitsForPrefix(Sequence& sequence);
  Sequence* FindPrefixOwner(const Sequence& sequence, int32_t& shared) const;
  bool HasRoom(const Sequence& sequence) const;
  bool MakeRoom(const Sequence& sequence);
  void Start(Sequence& sequence);
  void PreemptIfNeeded();
  std::vector<ScheduledChunk> Plan() const;
  void Compute(const std::vector<ScheduledChunk>& chunks);
  std::span<const float> Forward(const std::vector<ScheduledChunk>& chunks);
  void Commit(const SequenceLogits& reading);
  void StopRunning(Sequence& sequence);
  void Rest(Sequence& sequence);
  void WakeDue();
  bool WakeOldest();  // false if none rests
  void Finish(Job& job, std::optional<Error> error);
  void CountNow();

  Decoder& decoder_;
  const EngineOptions options_;
  PrefixCache cache_;
  LogitReader reader_;
  std::map<uint64_t, std::unique_ptr<Job>> jobs_;  // by the arrival of their first sequence
  std::vector<std::unique_ptr<Job>> finished_;
  std::map<uint64_t, Sequence*> following_;  // waiting, those that Follow; by arrival, oldest first
  std::map<uint64_t, Sequence*> waiting_;    // the others
  std::map<uint64_t, Sequence*> running_;
  std::deque<Resting> resting_;  // oldest first
  int64_t overtaken_ = 0;        // how often the oldest of waiting_ was overtaken
  uint64_t last_place_ = 0;
  std::string unusable_;  // the reason why there are no usable weights; empty if there are
  EngineStats stats_;
};

}  // namespace agentr
