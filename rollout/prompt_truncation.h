// Asking a model with as much of a conversation as fits into its context.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

// A conversation that can be shown without its oldest turns (those right after the first
// observation).
struct TruncatableConversation {
  std::function<std::vector<Message>(int dropped_turns)> messages;
  int least_dropped = 0;  // fewer are known not to fit
  int most_dropped = 0;   // more would leave out what has to be seen

  // The token ids that the model sampled for its own messages, in the order of `messages`; unset:
  // unknown. What the views point to lives as long as the conversation.
  std::function<std::vector<std::span<const int32_t>>(int dropped_turns)> sampled = nullptr;

  // Where `messages` lists turns of two messages each, one behind the other: the index of the first
  // one. Then few lengths have to be tried. -1: every number of dropped turns is tried.
  int first_turn = -1;
};

// Throws FatalError(kUsage) where answers of `max_new_tokens` leave a context of `max_context`
// without room for any prompt.
void CheckContext(int max_context, int max_new_tokens);

struct TruncatedCompletion {
  CompletionBatch batch;
  int dropped_turns = 0;  // that the model was not shown
};

// n responses to the conversation without as few of its turns as it takes for the prompt and
// sampling.max_tokens to fit into `max_context` tokens, and for the model not to call it too long
// itself. kContextLength where `most_dropped` is not enough. Each conversation that is tried is
// encoded once. With `first_turn`, only those are tried that can fit by the places of the messages
// in the longest one, give or take a few tokens.
Result<TruncatedCompletion> CompleteTruncated(LanguageModel& model,
                                              const TruncatableConversation& conversation, int n,
                                              const SamplingParams& sampling, int max_context);

}  // namespace agentr
