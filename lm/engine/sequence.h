// Token sequences that the decoder computes, and the requests to which they belong.
//
// Only the engine's thread uses them once the request is submitted.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lm/decoder/decoder.h"
#include "lm/engine/generation.h"
#include "lm/engine/prefix_cache.h"
#include "lm/engine/sampler.h"

namespace agentr {

class Sequence;

// A request in progress: one or more sequences and the receiver of their result.
class Job {
 public:
  explicit Job(int64_t prompt_tokens) : prompt_tokens_(prompt_tokens) {}
  virtual ~Job() = default;

  bool cancelled() const { return *cancelled_; }
  int64_t prompt_tokens() const { return prompt_tokens_; }

  // Hands out the error if set, else the result. Called once.
  virtual void Deliver() = 0;

  std::vector<std::unique_ptr<Sequence>> sequences;
  int64_t cached_tokens = 0;    // prompt tokens found in the cache when the first sequence started
  int64_t weights_version = 0;  // version of the weights used
  std::optional<Error> error;   // why the request failed
  bool finished = false;        // all its sequences are computed, or it failed

 protected:
  const std::shared_ptr<std::atomic<bool>> cancelled_ = std::make_shared<std::atomic<bool>>(false);

 private:
  int64_t prompt_tokens_;
};

// Tokens whose keys and values are to be computed, and a consumer of their logits.
class Sequence {
 public:
  Sequence(Job& job, std::vector<int32_t> tokens) : tokens_(std::move(tokens)), job_(&job) {}
  virtual ~Sequence() = default;

  Job& job() const { return *job_; }
  const std::vector<int32_t>& tokens() const { return tokens_; }
  int32_t size() const { return static_cast<int32_t>(tokens_.size()); }
  int32_t uncomputed() const { return size() - table.tokens(); }

  // The first position whose logits are wanted; at most size(), which means none.
  virtual int32_t first_logits() const = 0;
  virtual bool begun() const = 0;  // true once logits have had an effect

  // Takes the rows of logits from position first_logits() on. If all tokens are computed and no
  // logits were wanted, it is called without rows. Changes only this sequence and, before it has
  // begun, its job, so sequences of different jobs may do this at the same time.
  virtual void ConsumeLogits(std::span<const float> rows, Sampler& sampler) = 0;

  // Applies the result: tokens() may grow by one. True if the sequence is finished.
  virtual bool Commit() = 0;

  // Used only by the scheduler.
  PrefixCache::BlockTable table;
  uint64_t arrival = 0;       // number in the order of arrival
  bool started = false;       // true if it has run before
  uint64_t prefix_owner = 0;  // arrival of a sequence that computes a prefix of this one; 0: none
  int32_t prefix_owner_tokens = 0;  // length of that prefix

 protected:
  std::vector<int32_t> tokens_;

 private:
  Job* job_;
};

// The largest number of positions of a sequence: the model's context, or the whole pool if that is
// smaller.
int64_t Capacity(const DecoderShape& shape);

// kContextLength, with the numbers and the cure, if `positions` positions can never fit; kRejected
// for an id that the model does not have.
std::optional<Error> CheckTokens(std::span<const int32_t> tokens, int64_t positions,
                                 const DecoderShape& shape);

}  // namespace agentr
