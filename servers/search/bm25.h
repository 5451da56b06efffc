// The BM25 score of one term in one document, to the bit as Lucene 9 computes it: single precision,
// and document lengths that are kept in one byte.
//
// Source: Robertson & Zaragoza 2009; k1 = 0.9 and b = 0.4 are Anserini's.
#pragma once

#include <array>
#include <cstdint>

namespace agentr {

// Lengths (terms of a document) in one byte: exact below 40; above, what exceeds 24 keeps its four
// leading bits. The code grows with the length.
uint8_t LengthCode(uint32_t length);
uint32_t CodedLength(uint8_t code);

// How rare a term is that `with_term` of `documents` documents have.
float InverseDocumentFrequency(uint64_t documents, uint64_t with_term);

// For each length code, 1 / (k1 * (1 - b + b * length / average)).
using InverseLengths = std::array<float, 256>;
InverseLengths MakeInverseLengths(float average);

// `saturation` is (times the term stands in the document) * (inverse of its length). The score
// never falls when the saturation grows, roundings included, so the largest saturation bounds it.
inline float TermScore(float weight, float saturation) {
  return weight - weight / (1.0F + saturation);
}

}  // namespace agentr
