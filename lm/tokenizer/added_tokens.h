// The "added_tokens" of tokenizer.json: tokens that are found in a text before any other step or,
// if they are "normalized", before the text is divided into pieces.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "lm/tokenizer/normalizer.h"
#include "lm/tokenizer/tokenizer_json.h"

namespace agentr {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  std::string spelling;  // the text to find and to decode to: the content, normalized if
                         // `normalized`
  bool special = false;
  bool normalized = false;   // found in the normalized text
  bool lstrip = false;       // includes the white space before it
  bool rstrip = false;       // includes the white space after it
  bool single_word = false;  // matches only without a letter or digit beside it
};

// Bytes of a text, [begin, end).
struct ByteRange {
  size_t begin = 0;
  size_t end = 0;
};

// Immutable and thread-safe.
class AddedTokens {
 public:
  enum class Pass { kRaw, kNormalized };  // which tokens to find
  struct Match {
    int32_t id;
    ByteRange own;    // the token's spelling
    ByteRange taken;  // including the white space that belongs to it
  };

  // Throws FatalError(kFile) naming a wrong field.
  AddedTokens(const TokenizerJson& field, const Normalizer& normalizer);
  AddedTokens(const AddedTokens&) = delete;
  AddedTokens& operator=(const AddedTokens&) = delete;

  // The matches in `text` from left to right, the longest one at each place. Special tokens match
  // only outside the `plain` ranges, which are in order.
  std::vector<Match> Find(std::string_view text, Pass pass, std::span<const ByteRange> plain) const;

  // True if a pass can find a special token; otherwise it needs no `plain`.
  bool HasSpecial(Pass pass) const { return TrieOf(pass).has_special; }

  const std::vector<AddedToken>& tokens() const { return tokens_; }
  std::unordered_set<int32_t> special_ids() const;

 private:
  // Spellings as a tree over bytes; node 0 is the root.
  struct Trie {
    struct Node {
      std::map<char, size_t> children;
      const AddedToken* token = nullptr;
    };
    std::vector<Node> nodes{1};
    bool has_special = false;

    void Insert(const AddedToken& token);
    // The longest token that begins at `at`, and its end; null if there is none.
    std::pair<const AddedToken*, size_t> Longest(std::string_view text, size_t at) const;
  };

  const Trie& TrieOf(Pass pass) const { return pass == Pass::kRaw ? raw_ : normalized_; }

  std::vector<AddedToken> tokens_;
  Trie raw_;
  Trie normalized_;
};

}  // namespace agentr
