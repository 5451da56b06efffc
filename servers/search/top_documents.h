// The documents with the highest scores for a query, without scoring all of them.
//
// Concept: windows of document numbers, one after the other. In a window every term has a bound of
// its scores (block-max). The terms whose bounds together cannot lift a document into the result
// are set aside (MaxScore); the others' postings are added up, and only documents that still can
// enter the result are looked up in the postings of the terms set aside.
//
// Contract: the result, order and ties included, is that of scoring every document. Scores of terms
// are single precision and are added in double precision in the order of the query; sums are
// compared as single precision. Of equal sums the lower document number comes first.
//
// Source: Turtle & Flood 1995 (MaxScore); Ding & Suel 2011 (block-max); windows as in Lucene 9.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "servers/search/index_data.h"

namespace agentr {

struct QueryTerm {
  uint32_t term;
  uint32_t times;  // how often it stands in the query; multiplies its weight
};

// The terms of a query, each once, in the order in which they first stand there; those that no
// document has are left out.
std::vector<QueryTerm> QueryTerms(const IndexData& data, std::string_view query);

// At most `limit` documents, best first; only those with one of the terms.
std::vector<uint32_t> TopDocuments(const IndexData& data, std::span<const QueryTerm> terms,
                                   size_t limit);

}  // namespace agentr
