// The similarity of two texts as sets of words: 0 to 100.
//
// Characters 128 to 255 are dropped; characters other than letters, digits and underscores separate
// words; case is ignored. Texts without words score 0. Otherwise three texts are made: the common
// words, and these followed by the other words of each side, all sorted. The score is the greatest
// similarity of two of them; it is 100 if all words of one side are among the other's. It is not
// symmetric: for texts of 200 or more characters, frequent characters of the second text are
// ignored.
//
// Texts are UTF-8. Takes as long as Python's difflib: at worst quadratic time in the length.
//
// Source: `token_set_ratio` of thefuzz 0.19 over Python's difflib (Ratcliff & Metzener 1988,
// "Pattern matching: the gestalt approach"), with equal results.
#pragma once

#include <string_view>

namespace agentr {

int TokenSetRatio(std::string_view first, std::string_view second);

}  // namespace agentr
