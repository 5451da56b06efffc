// A language model without weights: every part real but the network, whose logits are a function
// of the tokens before them.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/random.h"
#include "lm/chat_template.h"
#include "lm/decoder.h"
#include "lm/engine.h"
#include "lm/local_language_model.h"
#include "lm/tokenizer.h"

namespace agentr {

constexpr int32_t kBos = 256;
constexpr int32_t kEnd = 257;  // of a turn
constexpr int32_t kSmallVocabulary = 258;

// A token is a byte; after the bytes come two special tokens.
class ByteTokenizer : public Tokenizer {
 public:
  std::vector<int32_t> Encode(std::string_view text, SpecialText) const override {
    std::vector<int32_t> ids;
    for (const char c : text) ids.push_back(static_cast<unsigned char>(c));
    return ids;
  }
  std::string Decode(std::span<const int32_t> ids, bool skip_special) const override {
    std::string text;
    for (const int32_t id : ids) {
      if (!IsSpecial(id) || !skip_special) text += TokenBytes(id);
    }
    return text;
  }
  std::string TokenBytes(int32_t id) const override {
    if (id == kBos) return "<bos>";
    if (id == kEnd) return "<end>";
    return {static_cast<char>(id)};
  }
  std::optional<int32_t> Id(std::string_view) const override { return std::nullopt; }
  bool IsSpecial(int32_t id) const override { return id >= 256; }
  int32_t size() const override { return kSmallVocabulary; }
  std::optional<int32_t> bos() const override { return kBos; }
  std::optional<int32_t> eos() const override { return kEnd; }
  const std::string& chat_template() const override { return empty_; }

 private:
  const std::string empty_;
};

// BOS, then of each message the first letter of the role, ':', the content and the end of the turn.
class LetterTemplate : public ChatTemplate {
 public:
  std::string_view name() const override { return "letter"; }
  Result<ChatTokens> Apply(std::span<const Message> conversation, bool generation) const override {
    if (conversation.back().role == "assistant") {
      return Fail(ErrorKind::kRejected, "the last message is the assistant's own");
    }
    ChatTokens chat{{kBos}, {}};
    const auto add = [&](std::string_view text) {
      for (const char c : text) chat.ids.push_back(static_cast<unsigned char>(c));
    };
    for (const Message& message : conversation) {
      add(message.role.substr(0, 1) + ":");
      const size_t begin = chat.ids.size();
      add(message.content);
      chat.ids.push_back(kEnd);
      chat.messages.push_back({begin, chat.ids.size()});
    }
    if (generation) add("a:");
    return chat;
  }
  const std::vector<int32_t>& stop_tokens() const override { return stop_; }

 private:
  const std::vector<int32_t> stop_ = {kEnd};
};

// Lower-case letters, blanks and, now and then, the end of the turn; which, the tokens before
// decide. Reads them back from the blocks, so that a wrong block table gives another text.
class LetterDecoder : public Decoder {
 public:
  LetterDecoder(int32_t max_context, int32_t blocks)
      : shape_{kSmallVocabulary, max_context, kBlock, blocks, 64},
        stored_(static_cast<size_t>(blocks) * kBlock) {}

  const DecoderShape& shape() const override { return shape_; }

  std::span<const float> Forward(std::span<const Slice> batch) override {
    PassGate();
    logits_.clear();
    for (const Slice& slice : batch) {
      for (size_t i = 0; i < slice.tokens.size(); ++i) {
        At(slice, slice.start + static_cast<int32_t>(i)) = slice.tokens[i];
      }
      const auto end = slice.start + static_cast<int32_t>(slice.tokens.size());
      for (int32_t p = end - slice.logits; p < end; ++p) AppendRow(slice, p);
    }
    return logits_;
  }

  void CopyBlock(int32_t from, int32_t to, int32_t tokens) override {
    std::copy_n(stored_.begin() + from * kBlock, tokens, stored_.begin() + to * kBlock);
  }

  // While it is closed, Forward waits.
  void CloseGate() { SetGate(false); }
  void OpenGate() { SetGate(true); }

  bool ends = true;  // false: no turn ever ends by itself

 private:
  static constexpr int32_t kBlock = 4;

  void SetGate(bool open) {
    const std::lock_guard lock(mutex_);
    open_ = open;
    opened_.notify_all();
  }
  void PassGate() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [&] { return open_; });
  }

  int32_t& At(const Slice& slice, int32_t position) {
    const int32_t block = slice.blocks[static_cast<size_t>(position / kBlock)];
    return stored_[static_cast<size_t>(block * kBlock + position % kBlock)];
  }

  void AppendRow(const Slice& slice, int32_t position) {
    RandomStream random(0);
    for (int32_t p = 0; p <= position; ++p) {
      random = random.Split(static_cast<uint64_t>(At(slice, p)));
    }
    const size_t row = logits_.size();
    logits_.resize(row + kSmallVocabulary, -30);
    for (int32_t c = 'a'; c <= 'z'; ++c) {
      logits_[row + static_cast<size_t>(c)] = static_cast<float>(3 * random.Uniform());
    }
    logits_[row + ' '] = 2;
    if (ends) logits_[row + kEnd] = 1;
  }

  const DecoderShape shape_;
  std::vector<int32_t> stored_;  // the token of each position of the pool
  std::vector<float> logits_;
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = true;  // guarded by mutex_
};

inline LoadedModel SmallModel(int32_t max_context = 1000, EngineOptions options = {}) {
  LoadedModel model;
  model.name = "small";
  model.tokenizer = std::make_unique<ByteTokenizer>();
  model.chat = std::make_unique<LetterTemplate>();
  model.stop_tokens = model.chat->stop_tokens();
  model.decoder = std::make_unique<LetterDecoder>(max_context, /*blocks=*/4 * max_context);
  model.engine = std::make_unique<Engine>(*model.decoder, *model.tokenizer, options);
  return model;
}

}  // namespace agentr
