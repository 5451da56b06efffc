// The Porter stemmer of Lucene's English analysis: the algorithm of the paper with its author's
// later changes. Words of one or two characters stay ("us", "xs"), "bli" becomes "ble" ("assembly"
// matches "assemble"), "logi" becomes "log", and every doubled consonant except l, s and z is
// halved ("trekking" -> "trek"). libstemmer's "porter" does not have these changes.
//
// Contract: the word is in lower case. Only a, e, i, o, u and some y are vowels; everything else,
// including "." and "é", counts as a consonant.
//
// Source: Porter 1980, "An algorithm for suffix stripping".
#pragma once

#include <string>
#include <string_view>

namespace agentr {

// In UTF-16, because Lucene counts UTF-16 units.
std::u16string PorterStem(std::u16string_view word);

}  // namespace agentr
