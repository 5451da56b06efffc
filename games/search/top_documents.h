// Finds the documents with the highest scores for a query without scoring all of them.
//
// Concept: windows of document numbers are processed one after the other. In a window every term
// has a bound of its scores (block-max). Terms whose bounds together cannot bring a document into
// the result are set aside (MaxScore). The postings of the other terms are summed, and only
// documents that can still enter the result are looked up in the postings of the terms set aside.
//
// Contract: the result equals that of scoring every document, including order and ties. Scores of
// terms are single precision and are added in double precision in the order of the query; sums are
// compared as single precision. Among equal sums the lower document number comes first.
//
// Source: Turtle & Flood 1995 (MaxScore); Ding & Suel 2011 (block-max); windows as in Lucene 9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "games/search/index_data.h"

namespace agentr {

struct QueryTerm {
  uint32_t term;
  uint32_t times;  // occurrences in the query; multiplies the weight
};

// The terms of a query, each once, in the order of their first occurrence, without terms that no
// document has.
std::vector<QueryTerm> QueryTerms(const IndexData& data, std::string_view query);

// At most `limit` documents, best first; only those with one of the terms.
std::vector<uint32_t> TopDocuments(const IndexData& data, std::span<const QueryTerm> terms,
                                   size_t limit);

}  // namespace agentr
