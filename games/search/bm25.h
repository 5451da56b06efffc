// The BM25 score of one term in one document, with the same bits as in Lucene 9: single precision,
// and document lengths stored in one byte.
//
// Source: Robertson & Zaragoza 2009; k1 = 0.9 and b = 0.4 are Anserini's.
#pragma once

#include <array>
#include <cstdint>

namespace agentr {

// Lengths (terms of a document) in one byte: exact below 40; for larger ones, the excess over 24
// keeps its four leading bits. The code increases with the length.
uint8_t LengthCode(uint32_t length);
uint32_t CodedLength(uint8_t code);

// The inverse document frequency of a term that `with_term` of `documents` documents contain.
float InverseDocumentFrequency(uint64_t documents, uint64_t with_term);

// For each length code, 1 / (k1 * (1 - b + b * length / average)).
using InverseLengths = std::array<float, 256>;
InverseLengths MakeInverseLengths(float average);

// `saturation` is (occurrences of the term in the document) * (inverse of its length). The score
// never decreases when the saturation increases, even with rounding, so the largest saturation
// gives a bound.
inline float TermScore(float weight, float saturation) {
  return weight - weight / (1.0F + saturation);
}

}  // namespace agentr
