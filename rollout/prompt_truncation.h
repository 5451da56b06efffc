// Completes a conversation with as many of its turns as fit into the model's context.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

// A conversation whose oldest turns (right after the first observation) can be dropped.
struct TruncatableConversation {
  std::function<std::vector<Message>(int dropped_turns)> messages;
  int least_dropped = 0;  // as many as in the prompt of the turn before: with fewer it does not fit
  int most_dropped = 0;   // more would drop turns that the model must see

  // The token ids that the model sampled for its own messages, in the order of `messages`; unset if
  // unknown. The ids live as long as the conversation.
  std::function<std::vector<std::span<const int32_t>>(int dropped_turns)> sampled = nullptr;

  // If `messages` contains consecutive turns of two messages each, the index of the first one; then
  // only a few lengths have to be tried. -1: every number of dropped turns is tried.
  int first_turn = -1;
};

struct TruncatedCompletion {
  CompletionBatch batch;
  int dropped_turns = 0;  // left out of the prompt
};

// How much of a conversation the model sees.
struct ContextLimit {
  int tokens = 0;  // of prompt and response together

  // Where turns have to be dropped, this share of the prompt's room becomes free. A prompt from
  // which other turns are dropped than from the one before shares only its beginning with it, and
  // all behind that is computed anew. With 0 that happens in each turn once a conversation is too
  // long, with 0.25 every few turns.
  double slack = 0;
};

// Samples n responses. Drops the smallest number of turns for which the prompt and
// sampling.max_tokens fit into the limit and the model accepts the prompt.
// kContextLength if even dropping `most_dropped` turns is not enough. Each attempted conversation
// is encoded once. With `first_turn`, message positions in the longest conversation predict which
// shorter ones fit (to within a few tokens), and only those are tried.
Result<TruncatedCompletion> CompleteTruncated(LanguageModel& model,
                                              const TruncatableConversation& conversation, int n,
                                              const SamplingParams& sampling, ContextLimit limit);

// One response. `max_context` 0: only the model's own limit counts.
Result<Completion> RespondTruncated(LanguageModel& model,
                                    const TruncatableConversation& conversation,
                                    const SamplingParams& sampling, int max_context);

}  // namespace agentr
