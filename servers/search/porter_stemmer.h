// The Porter stemmer as Lucene's English analysis has it: the algorithm of the paper with the
// changes its author made later. Words of one or two characters stay ("us", "xs"), "bli" becomes
// "ble" ("assembly" meets "assemble"), "logi" becomes "log", and every doubled consonant but l, s
// and z is halved ("trekking" -> "trek"). libstemmer's "porter" lacks these changes.
//
// Contract: the word is lower case. Only a, e, i, o, u and some y are vowels; anything else,
// "." and "é" too, counts as a consonant.
//
// Source: Porter 1980, "An algorithm for suffix stripping".
#pragma once

#include <string>
#include <string_view>

namespace agentr {

// In UTF-16, because Lucene counts characters so.
std::u16string PorterStem(std::u16string_view word);

}  // namespace agentr
