// Turns tokens into bytes according to the "decoder" of tokenizer.json: ByteLevel; Metaspace;
// Replace, ByteFallback, Fuse, Strip; Sequence of them.
//
// Every step works on single tokens, with two exceptions: Strip after Fuse drops one character at
// the beginning of a text, and Metaspace drops the spaces of a text's first token. So each token
// has bytes for the middle of a text and bytes for its beginning.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "lm/tokenizer/tokenizer_json.h"

namespace agentr {

struct DecodedToken {
  std::string bytes;
  std::string first_bytes;  // if the token is the first of a text
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
