// The data that the search stores about documents, and its construction from their texts.
//
// Documents are numbered in the order of their ids, so that among equal scores the lower number
// wins. Building processes blocks of documents on all threads of the oneTBB arena and then joins
// the blocks' postings, with ranges of terms in parallel. Term numbers depend on which thread met a
// term first; search results do not.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "games/search/bm25.h"
#include "games/search/posting_lists.h"
#include "games/search/string_table.h"

namespace agentr {

// The location of a term's postings.
struct TermEntry {
  uint32_t lists;        // index of the PostingLists
  uint32_t first_block;  // in these lists
  uint32_t count;        // documents with the term
};

struct IndexData {
  uint32_t documents = 0;  // with at least one term
  StringTable terms;
  std::vector<TermEntry> entries;  // by term
  std::vector<PostingLists> lists;
  std::vector<uint8_t> length_codes;  // by document
  std::vector<uint32_t> numbers;      // by document: the caller's number
  InverseLengths inverse_lengths{};

  float Saturation(uint32_t document, uint32_t count) const {
    return static_cast<float>(count) * inverse_lengths[length_codes[document]];
  }
  size_t bytes() const;
};

IndexData BuildIndex(std::span<const std::string_view> ids,
                     const std::function<std::string(size_t)>& text);

}  // namespace agentr
