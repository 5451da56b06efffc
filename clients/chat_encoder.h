// Conversations as the token ids that a model is trained on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "common/error.h"

namespace agentr {

// A conversation in tokens.
struct ChatTokens {
  struct Span {
    size_t begin = 0;  // of the message's own tokens in `ids`: content and the token that ends the
    size_t end = 0;    // turn, which an assistant learns to write; one past the last
  };
  std::vector<int32_t> ids;
  std::vector<Span> messages;  // one per message, in their order
};

// Immutable and thread-safe.
class ChatEncoder {
 public:
  virtual ~ChatEncoder() = default;

  // The whole conversation in the format that the model was taught. An error (kRejected) for an
  // order of roles that the format cannot say.
  virtual Result<ChatTokens> Encode(std::span<const Message> conversation) const = 0;

  // The text of `ids`, without special tokens.
  virtual std::string Decode(std::span<const int32_t> ids) const = 0;

  // SHA-256 of the model's tokenizer.json, which tells token rows of other tokenizers; empty where
  // there is none.
  virtual std::string tokenizer_hash() const { return ""; }
};

// The encoder of a model's folder; throws FatalError. It is lm that has it (lm/model_folder.h), and
// the programs pass it on.
using ChatEncoderLoader = std::function<std::unique_ptr<ChatEncoder>(const std::string& dir)>;

}  // namespace agentr
