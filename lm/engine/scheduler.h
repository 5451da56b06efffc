// Which sequences run, and what each round of the decoder computes.
//
// Requests are admitted in the order they came. One waits where its prefix is at this moment being
// computed for another, and takes it from the cache then; later ones may go ahead meanwhile. Where
// running sequences outgrow the memory, the youngest goes back to its place among the waiting and
// keeps its tokens; its blocks stay in the cache while they can. The oldest sequence can always go
// on, because each alone fits: so every round makes progress.
//
// One thread, the engine's.
#pragma once

#include <cstdint>
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

  // Drops what was cancelled, admits, computes. What the decoder throws fails the requests that it
  // computed for.
  void Step();

  void CancelAll();

  // Engine::Load; nothing may be under way. The version of the new weights.
  Result<int64_t> Load(std::shared_ptr<const WeightSource> weights);

  // Hands out the results of the requests that are done. Apart from Round, so that stats() can be
  // published before.
  void Deliver();

  const EngineStats& stats() const { return stats_; }

 private:
  // What a round computes of a sequence: its next `length` tokens.
  struct ScheduledChunk {
    Sequence* sequence;
    int32_t length;
    int32_t rows;  // of logits, of the last so many tokens
  };

  void DropCancelled();
  void Admit();
  bool WaitsForPrefix(Sequence& sequence);
  Sequence* FindPrefixOwner(const Sequence& sequence, int32_t& shared) const;
  bool HasRoom(const Sequence& sequence) const;
  void Start(Sequence& sequence);
  void PreemptIfNeeded();
  std::vector<ScheduledChunk> Plan() const;
  void Compute(const std::vector<ScheduledChunk>& chunks);
  std::span<const float> Forward(const std::vector<ScheduledChunk>& chunks);
  void Commit(const SequenceLogits& reading);
  void StopRunning(Sequence& sequence);
  void Finish(Job& job, std::optional<Error> error);
  void CountNow();

  Decoder& decoder_;
  const EngineOptions options_;
  PrefixCache cache_;
  LogitReader reader_;
  std::map<uint64_t, std::unique_ptr<Job>> jobs_;  // by the first sequence's arrival
  std::vector<std::unique_ptr<Job>> finished_;
  std::map<uint64_t, Sequence*> waiting_;  // by arrival: oldest first
  std::map<uint64_t, Sequence*> running_;
  uint64_t last_arrival_ = 0;
  std::string unusable_;  // why there are no weights to compute with; empty: there are
  EngineStats stats_;
};

}  // namespace agentr
