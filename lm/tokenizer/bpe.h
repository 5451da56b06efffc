// Byte-pair encoding of one piece (Sennrich et al. 2016): the model "BPE" of tokenizer.json.
//
// A piece begins as its characters (with a byte-level vocabulary, its bytes). Of all neighbours
// that have a merge, those with the lowest rank are joined, leftmost first, until none is left.
// Candidates are kept in a heap, so a piece of n characters costs O(n log n).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "lm/tokenizer/piece_cache.h"
#include "lm/tokenizer/text_map.h"
#include "lm/tokenizer/tokenizer_json.h"

namespace agentr {

// The tokens that a merge of tokenizer.json joins: "a b" or ["a", "b"]. Throws FatalError(kFile).
std::pair<std::string, std::string> MergeParts(const TokenizerJson& merge);

// Immutable and thread-safe.
class Bpe {
 public:
  // `model`: the model's object. `byte_level`: the vocabulary is written as in byte_level.h, and
  // pieces are bytes. `special`: ids that no piece may become, whatever its text. Throws
  // FatalError(kFile) naming a wrong or unsupported field.
  Bpe(const TokenizerJson& model, bool byte_level, const std::unordered_set<int32_t>& special);

  // Appends the ids of `piece`. Text that neither the vocabulary nor byte fallback nor the unknown
  // token covers is dropped, as in the tokenizers library. Returns the number of merge candidates
  // that were examined.
  size_t Encode(std::string_view piece, std::vector<int32_t>& ids) const;

 private:
  struct Merge {
    int32_t rank;
    int32_t id;  // of the joined token
  };
  struct Symbols;

  void ReadVocabulary(const TokenizerJson& model);
  void ReadMerges(const TokenizerJson& merges, const std::unordered_set<int32_t>& special);
  void ReadFallbackBytes();
  void ReadSymbols();
  std::vector<int32_t> Split(std::string_view piece) const;
  size_t MergeAll(std::vector<int32_t>& ids) const;
  const Merge* FindMerge(int32_t left, int32_t right) const;
  int32_t Find(std::string_view token) const;  // -1 for none
  int32_t SymbolId(std::string_view symbol) const;

  TextMap<int32_t> vocabulary_;                 // with a byte-level vocabulary: by bytes
  std::unordered_map<uint64_t, Merge> merges_;  // by both ids
  bool byte_level_;
  bool byte_fallback_;
  bool fuse_unk_;
  bool ignore_merges_;
  std::optional<int32_t> unk_;
  std::array<int32_t, 256> byte_symbols_;    // of symbols that are one byte; -1: none
  std::array<int32_t, 256> fallback_bytes_;  // of "<0x00>" to "<0xFF>"; -1: none
  mutable PieceCache cache_;
};

}  // namespace agentr
