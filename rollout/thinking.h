// What becomes of a model's thoughts: the text between <think> and </think> in a response, and the
// text that a server sends apart from it as reasoning_content.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "clients/language_model.h"
#include "common/named_values.h"

namespace agentr {

enum class Thinking {
  kContent,       // those in the response stay in history and results, others are left out
  kKeep,          // all stay in the history and in the results, each in its own place
  kStrip,         // none stay
  kStripHistory,  // all stay in the results, but no prompt has those of earlier turns
};

inline constexpr std::array<NamedValue<Thinking>, 4> kThinkings = {
    {{"content", Thinking::kContent},
     {"keep", Thinking::kKeep},
     {"strip", Thinking::kStrip},
     {"strip_history", Thinking::kStripHistory}}};

// The completion as it is stored. Of a text that becomes shorter the token ids and their
// log-probabilities are left out too, because they are those of the whole text.
void StoreThought(Thinking thinking, Completion& completion);

// A conversation as the model is shown it: for kStripHistory without the thoughts of the
// assistant's messages.
std::vector<Message> ShownHistory(Thinking thinking, std::vector<Message> conversation);

// The sampled ids of the messages of a conversation, without those of messages with a thought: a
// prompt that shows such a message without its thought needs other ids.
std::vector<std::span<const int32_t>> ShownIds(std::span<const Message> conversation,
                                               std::vector<std::span<const int32_t>> ids);

}  // namespace agentr
