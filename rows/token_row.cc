#include "rows/token_row.h"

#include <algorithm>
#include <span>

namespace agentr {
namespace {

void Append(std::span<const int32_t> ids, bool trained, TokenRow& tokens) {
  tokens.ids.insert(tokens.ids.end(), ids.begin(), ids.end());
  tokens.trained.resize(tokens.ids.size(), trained);
  tokens.logprobs.resize(tokens.ids.size());
}

bool EndsTurn(std::span<const int32_t> ids, const ChatEncoder& encoder) {
  return !ids.empty() && encoder.Decode(ids.last(1)).empty();
}

// The sampled tokens of `message` as a replacement for `encoded`, the encoder's tokens of the same
// message. A response that reached max_tokens has no token that ends the turn, so it gets the
// encoder's, if the template has one.
void AppendSampled(const RowMessage& message, std::span<const int32_t> encoded,
                   const ChatEncoder& encoder, TokenRow& tokens) {
  const size_t begin = tokens.ids.size();
  Append(message.ids, message.trained, tokens);
  for (size_t i = 0; i < message.logprobs.size() && i < message.ids.size(); ++i) {
    tokens.logprobs[begin + i] = message.logprobs[i];
  }
  if (EndsTurn(encoded, encoder) && !EndsTurn(message.ids, encoder)) {
    Append(encoded.last(1), message.trained, tokens);
  }
}

// True if the sampled tokens of the message can stand for `encoded`: both are its text, and do not
// end the turn by different tokens.
bool CanReplace(const RowMessage& message, std::span<const int32_t> encoded,
                const ChatEncoder& encoder) {
  if (message.response == nullptr || encoder.Decode(encoded) != *message.response ||
      encoder.Decode(message.ids) != *message.response) {
    return false;
  }
  return !EndsTurn(message.ids, encoder) || !EndsTurn(encoded, encoder) ||
         message.ids.back() == encoded.back();
}

}  // namespace

Result<TokenRow> EncodeRow(std::span<const RowMessage> messages, const ChatEncoder& encoder) {
  std::vector<Message> conversation;
  for (const RowMessage& message : messages) {
    conversation.push_back(message.AsMessage());
  }
  AGENTR_ASSIGN_OR_RETURN(const ChatTokens chat, encoder.Encode(conversation));
  const std::span<const int32_t> ids(chat.ids);
  TokenRow tokens;
  size_t done = 0;
  for (const size_t i : chat.InOrder()) {
    // A token that holds the end of one message and the beginning of the next is in both.
    const size_t begin = std::max(chat.messages[i].begin, done);
    const size_t end = std::max(chat.messages[i].end, begin);
    Append(ids.subspan(done, begin - done), false, tokens);
    const std::span<const int32_t> own = ids.subspan(begin, end - begin);
    const size_t written = tokens.ids.size();
    const RowMessage& message = messages[i];
    if (CanReplace(message, own, encoder)) {
      AppendSampled(message, own, encoder, tokens);
    } else {
      Append(own, message.trained, tokens);
    }
    if (message.revision) tokens.revision = {written, tokens.ids.size()};
    done = end;
  }
  Append(ids.subspan(done), false, tokens);
  return tokens;
}

}  // namespace agentr
