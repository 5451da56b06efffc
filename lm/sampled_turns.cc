#include "lm/sampled_turns.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace agentr {
namespace {

using Ids = std::span<const int32_t>;

bool EndsTurn(Ids ids, const TurnTokens& turn_tokens) {
  return !ids.empty() &&
         std::ranges::find(turn_tokens.stop_tokens, ids.back()) != turn_tokens.stop_tokens.end();
}

// The tokens to put after `sampled` when it replaces `encoded`, the template's encoding of the same
// message: none, or the token that ends the turn. nullopt if `sampled` cannot replace it. The check
// that both decode to the message's text also ensures that no token crosses into the template's
// text.
std::optional<Ids> WhatFollows(Ids sampled, Ids encoded, const std::string& content,
                               const TurnTokens& turn_tokens) {
  if (std::ranges::equal(sampled, encoded)) return Ids();
  const auto text = [&](Ids ids) {
    return turn_tokens.tokenizer.Decode(ids, /*skip_special=*/true);
  };
  if (text(encoded) != content || text(sampled) != content) return std::nullopt;
  if (!EndsTurn(sampled, turn_tokens)) {
    return EndsTurn(encoded, turn_tokens) ? encoded.last(1) : Ids();
  }
  if (!EndsTurn(encoded, turn_tokens) || sampled.back() != encoded.back()) return std::nullopt;
  return Ids();
}

}  // namespace

PreparedPrompt UseSampledIds(ChatTokens chat, std::span<const Message> conversation,
                             SampledIds sampled, const TurnTokens& turn_tokens) {
  PreparedPrompt prompt;
  const Ids ids(chat.ids);
  const auto append = [&](Ids part) {
    prompt.ids.insert(prompt.ids.end(), part.begin(), part.end());
  };
  size_t done = 0;  // number of copied `ids`
  for (size_t i = 0; i < conversation.size(); ++i) {
    // If the template moves a message before another one, its span is out of order and it is not
    // replaced.
    const size_t begin = std::max(chat.messages[i].begin, done);
    const size_t end = std::max(chat.messages[i].end, begin);
    append(ids.subspan(done, begin - done));
    prompt.message_begins.push_back(prompt.ids.size());
    done = begin;
    if (i >= sampled.size() || sampled[i].empty()) continue;
    const std::optional<Ids> behind = WhatFollows(sampled[i], ids.subspan(begin, end - begin),
                                                  conversation[i].content, turn_tokens);
    ++(behind ? prompt.reused_turns : prompt.reencoded_turns);
    if (!behind) continue;
    append(sampled[i]);
    append(*behind);
    done = end;
  }
  append(ids.subspan(done));
  prompt.tokens = static_cast<int64_t>(prompt.ids.size());
  return prompt;
}

}  // namespace agentr
