// A language model without weights: every part real but the network, whose logits are a function
// of the tokens before them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lm/chat/chat_template.h"
#include "lm/decoder/fake_decoder.h"
#include "lm/engine/engine.h"
#include "lm/local_language_model.h"
#include "tests/lm/tokenizer/byte_tokenizer.h"

namespace agentr {

// A token is a printable character, what is none counts as '?'; one more ends a turn.
class CharacterTokenizer : public PlainTokenizer {
 public:
  static int32_t Of(char c) { return c >= ' ' && c <= '~' ? c - ' ' : '?' - ' '; }
  static constexpr int32_t kBos = '^' - ' ';
  static constexpr int32_t kEnd = 95;

  std::vector<int32_t> Encode(std::string_view text, SpecialText) const override {
    std::vector<int32_t> ids(text.size());
    std::ranges::transform(text, ids.begin(), Of);
    return ids;
  }
  std::string TokenBytes(int32_t id) const override {
    return id == kEnd ? "<end>" : std::string(1, static_cast<char>(' ' + id));
  }
  std::optional<int32_t> Id(std::string_view) const override { return std::nullopt; }
  bool IsSpecial(int32_t id) const override { return id == kEnd; }
  int32_t size() const override { return kEnd + 1; }
  std::optional<int32_t> bos() const override { return kBos; }
  std::optional<int32_t> eos() const override { return kEnd; }
};

// "^", then of each message the first letter of the role, ':', the content and the end of the turn.
class LetterTemplate : public ChatTemplate {
 public:
  std::string_view name() const override { return "letter"; }
  Result<ChatTokens> Apply(std::span<const Message> conversation, bool generation) const override {
    if (conversation.back().role == "assistant") {
      return Fail(ErrorKind::kRejected, "the last message is the assistant's own");
    }
    ChatTokens chat{{CharacterTokenizer::kBos}, {}};
    const auto add = [&](std::string_view text) {
      std::ranges::transform(text, std::back_inserter(chat.ids), CharacterTokenizer::Of);
    };
    for (const Message& message : conversation) {
      add(message.role.substr(0, 1) + ":");
      const size_t begin = chat.ids.size();
      add(message.content);
      chat.ids.push_back(CharacterTokenizer::kEnd);
      chat.messages.push_back({begin, chat.ids.size()});
    }
    if (generation) add("a:");
    return chat;
  }
  const std::vector<int32_t>& stop_tokens() const override { return stop_; }

 private:
  const std::vector<int32_t> stop_ = {CharacterTokenizer::kEnd};
};

// Completions are random characters, some fifty of them.
inline LoadedModel SmallModel(int32_t max_context = 1000, EngineOptions options = {}) {
  LoadedModel model;
  model.name = "small";
  model.tokenizer = std::make_unique<CharacterTokenizer>();
  model.chat = std::make_unique<LetterTemplate>();
  model.stop_tokens = model.chat->stop_tokens();
  model.decoder = std::make_unique<FakeDecoder>(DecoderShape{.vocab_size = model.tokenizer->size(),
                                                             .max_context = max_context,
                                                             .block_tokens = 4,
                                                             .blocks = 4 * max_context,
                                                             .block_bytes = 64});
  model.engine = std::make_unique<Engine>(*model.decoder, *model.tokenizer, options);
  return model;
}

}  // namespace agentr
