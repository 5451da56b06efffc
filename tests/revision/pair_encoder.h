// A chat encoder small enough to check by eye: it joins letters in pairs, so that its tokens for a
// text differ from the bytes that WithTokens puts into trees.
#pragma once

#include <span>
#include <string>

#include "clients/chat_encoder.h"

namespace agentr {

class PairEncoder : public ChatEncoder {
 public:
  static constexpr int32_t kHeader = 256;  // + length of the role's name
  static constexpr int32_t kEnd = 300;
  static constexpr int32_t kPair = 1000;  // + 256 * first byte + second byte

  static bool IsSpecial(int32_t id) { return id >= 256 && id < kPair; }

  Result<ChatTokens> Encode(std::span<const Message> conversation) const override {
    ChatTokens chat;
    for (const Message& message : conversation) {
      chat.ids.push_back(kHeader + static_cast<int32_t>(message.role.size()));
      const size_t begin = chat.ids.size();
      for (size_t i = 0; i < message.content.size(); i += 2) {
        const int32_t first = static_cast<unsigned char>(message.content[i]);
        const bool last = i + 1 == message.content.size();
        chat.ids.push_back(last ? first
                                : kPair + 256 * first +
                                      static_cast<unsigned char>(message.content[i + 1]));
      }
      chat.ids.push_back(kEnd);
      chat.messages.push_back({begin, chat.ids.size()});
    }
    return chat;
  }

  std::string Decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids) {
      if (IsSpecial(id)) continue;
      if (id >= kPair) text += static_cast<char>((id - kPair) / 256);
      text += static_cast<char>(id >= kPair ? (id - kPair) % 256 : id);
    }
    return text;
  }
};

}  // namespace agentr
