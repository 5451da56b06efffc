// What the search keeps of the documents, and how it is made of their texts.
//
// Documents are numbered by their place in the order of ids, so that of two with equal scores the
// lower number wins. Building takes blocks of documents on all threads of the oneTBB arena, then
// joins the blocks' postings, ranges of terms side by side. Term numbers depend on which thread met
// a term first; nothing that a search returns does.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "servers/search/bm25.h"
#include "servers/search/posting_lists.h"
#include "servers/search/string_table.h"

namespace agentr {

// Where the postings of a term are.
struct TermEntry {
  uint32_t lists;        // which PostingLists
  uint32_t first_block;  // there
  uint32_t count;        // documents with the term
};

struct IndexData {
  uint32_t documents = 0;  // with at least one term
  StringTable terms;
  std::vector<TermEntry> entries;  // by term
  std::vector<PostingLists> lists;
  std::vector<uint8_t> length_codes;  // by document
  std::vector<uint32_t> numbers;      // by document: its number for the caller
  InverseLengths inverse_lengths{};

  float Saturation(uint32_t document, uint32_t count) const {
    return static_cast<float>(count) * inverse_lengths[length_codes[document]];
  }
  size_t bytes() const;
};

IndexData BuildIndex(std::span<const std::string_view> ids,
                     const std::function<std::string(size_t)>& text);

}  // namespace agentr
