#include "rows/token_row.h"

#include <algorithm>
#include <span>
#include <utility>

namespace agentr {
namespace {

// The node whose response the message is; nullptr if the model did not sample its tokens.
const Node* SampledNode(const Row& row, const RowMessage& message) {
  if (message.turn < 0 || message.role != "assistant") return nullptr;
  const int index = row.trajectory.turns[static_cast<size_t>(message.turn)].node;
  if (index < 0) return nullptr;
  const Node& node = row.source.tree.node(index);
  return node.token_ids.empty() ? nullptr : &node;
}

void Append(std::span<const int32_t> ids, bool trained, TokenRow& tokens) {
  tokens.ids.insert(tokens.ids.end(), ids.begin(), ids.end());
  tokens.trained.resize(tokens.ids.size(), trained);
  tokens.logprobs.resize(tokens.ids.size());
}

// The sampled tokens of `node` as a replacement for `encoded`, the encoder's tokens of the same
// message. A response that reached max_tokens has no token that ends the turn, so it gets the
// encoder's, if the template has one.
void AppendSampled(const Node& node, std::span<const int32_t> encoded, const ChatEncoder& encoder,
                   bool trained, TokenRow& tokens) {
  const size_t begin = tokens.ids.size();
  Append(node.token_ids, trained, tokens);
  for (size_t i = 0; i < node.logprobs.size() && i < node.token_ids.size(); ++i) {
    tokens.logprobs[begin + i] = node.logprobs[i];
  }
  const bool has_end = !encoded.empty() && encoder.Decode(encoded.last(1)).empty();
  if (has_end && node.token_ids.back() != encoded.back()) {
    Append(encoded.last(1), trained, tokens);
  }
}

bool IsRevision(const Row& row, const RowMessage& message) {
  return message.turn >= 0 && message.role == "assistant" &&
         row.trajectory.turns[static_cast<size_t>(message.turn)].part == Part::kRevision;
}

}  // namespace

Result<TokenRow> EncodeRow(const Row& row, const ChatEncoder& encoder) {
  const std::vector<RowMessage> messages = RowMessages(row.trajectory);
  std::vector<Message> conversation;
  for (const RowMessage& message : messages) {
    conversation.push_back({message.role, *message.content});
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
    const Node* node = SampledNode(row, messages[i]);
    if (node != nullptr && encoder.Decode(own) == node->response &&
        encoder.Decode(node->token_ids) == node->response) {
      AppendSampled(*node, own, encoder, messages[i].trained, tokens);
    } else {
      Append(own, messages[i].trained, tokens);
    }
    if (IsRevision(row, messages[i])) tokens.revision = {written, tokens.ids.size()};
    done = end;
  }
  Append(ids.subspan(done), false, tokens);
  return tokens;
}

}  // namespace agentr
