// The "added_tokens" of tokenizer.json: tokens that are found in a text before anything else is
// done to it, or (those that are "normalized") before it is cut into pieces.
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
  std::string spelling;  // as it is found and decoded: the content, normalized if it is to be
  bool special = false;
  bool normalized = false;   // found in the normalized text
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space after it
  bool single_word = false;  // only where no letter or digit stands beside it
};

// Bytes of a text, [begin, end).
struct ByteRange {
  size_t begin = 0;
  size_t end = 0;
};

// Immutable and thread-safe.
class AddedTokens {
 public:
  enum class Pass { kRaw, kNormalized };  // which of the tokens are looked for
  struct Match {
    int32_t id;
    ByteRange own;    // the token's spelling
    ByteRange taken;  // with the white space that belongs to it
  };

  // Throws FatalError(kFile) naming the field that is wrong.
  AddedTokens(const TokenizerJson& field, const Normalizer& normalizer);
  AddedTokens(const AddedTokens&) = delete;
  AddedTokens& operator=(const AddedTokens&) = delete;

  // The matches in `text`, from left to right, at each place the longest one. Special tokens are
  // found only where they touch none of the `plain` ranges, which are in order.
  std::vector<Match> Find(std::string_view text, Pass pass, std::span<const ByteRange> plain) const;

  // Whether a pass could find a special token: if not, it needs no `plain`.
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
    // The longest token that begins at `at`, and its end; null without one.
    std::pair<const AddedToken*, size_t> Longest(std::string_view text, size_t at) const;
  };

  const Trie& TrieOf(Pass pass) const { return pass == Pass::kRaw ? raw_ : normalized_; }

  std::vector<AddedToken> tokens_;
  Trie raw_;
  Trie normalized_;
};

}  // namespace agentr
