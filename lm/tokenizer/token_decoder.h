// From tokens to bytes, as tokenizer.json's "decoder" says: ByteLevel; Metaspace; Replace,
// ByteFallback, Fuse, Strip; Sequence of them.
//
// Every step works on one token at a time, but for a Strip after Fuse, which drops one character
// where a text begins, and Metaspace, which drops the spaces of a text's first token. So each token
// has its bytes in a text and its bytes at the beginning of one.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lm/tokenizer/tokenizer_json.h"

namespace agentr {

struct DecodedToken {
  std::string bytes;
  std::string first_bytes;  // where the token is the first of a text
};

// Immutable and thread-safe.
class TokenDecoder {
 public:
  // `field`: the decoder's object. Throws FatalError(kFile) for a kind that is not supported.
  explicit TokenDecoder(const TokenizerJson& field);

  DecodedToken Decode(std::string_view token) const;

 private:
  void Add(const TokenizerJson& field, bool& fused);

  std::vector<std::function<void(DecodedToken& token)>> steps_;
};

}  // namespace agentr
