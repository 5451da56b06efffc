// Encodes conversations into the token ids that a model is trained on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "common/error.h"

namespace agentr {

// A conversation in tokens.
struct ChatTokens {
  struct Span {
    size_t begin = 0;  // the message's own tokens in `ids`: the content and the token that ends the
    size_t end = 0;    // turn, which an assistant learns to write; `end` is one past the last
  };
  std::vector<int32_t> ids;
  std::vector<Span> messages;  // one per message, in their order

  // The indices of the messages by position: some of Mistral's templates put the system's text into
  // the last turn of the user.
  std::vector<size_t> InOrder() const {
    std::vector<size_t> order(messages.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t i) { return messages[i].begin; });
    return order;
  }
};

// Immutable and thread-safe.
class ChatEncoder {
 public:
  virtual ~ChatEncoder() = default;

  // The whole conversation in the format of the model's training. kRejected for an order of roles
  // that the format cannot express.
  virtual Result<ChatTokens> Encode(std::span<const Message> conversation) const = 0;

  // The text of `ids`, without special tokens.
  virtual std::string Decode(std::span<const int32_t> ids) const = 0;

  // SHA-256 of the model's tokenizer.json, by which token rows of another tokenizer are recognised;
  // empty if there is none.
  virtual std::string tokenizer_hash() const { return ""; }

  // The format as a chat template for other trainers, which marks what is trained
  // (lm/chat/training_template.h); empty if there is none.
  virtual std::string training_template() const { return ""; }
};

}  // namespace agentr
