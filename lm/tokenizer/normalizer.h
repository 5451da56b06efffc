// The "normalizer" of tokenizer.json: NFC, NFD, NFKC, NFKD, Prepend, Replace, and Sequence of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lm/tokenizer/tokenizer_json.h"

namespace agentr {

// Immutable and thread-safe.
class Normalizer {
 public:
  // `field`: the normalizer's object, or null for none. Throws FatalError(kFile) for another kind.
  explicit Normalizer(const TokenizerJson& field) { Add(field); }

  bool empty() const { return steps_.empty(); }
  std::string Apply(std::string text) const;  // of valid UTF-8

 private:
  void Add(const TokenizerJson& field);

  std::vector<std::function<void(std::string& text)>> steps_;
};

}  // namespace agentr
