// How alike two texts are, as sets of words: 0 to 100.
//
// Characters 128 to 255 are dropped, what is no letter, digit or underscore separates words, case
// does not count. Texts without words score 0. Else three texts are made: the common words, and
// those followed by the other words of either side, all sorted; the score is the best likeness of
// two of them, 100 when one side's words are all among the other's. Not symmetric: the likeness
// of long texts (200 characters on) ignores what is frequent in the second.
//
// Texts are UTF-8. Time is that of Python's difflib: quadratic in the length at worst.
//
// Source: `token_set_ratio` of thefuzz 0.19 over Python's difflib (Ratcliff & Metzener 1988,
// "Pattern matching: the gestalt approach"), to the last digit.
#pragma once

#include <string_view>

namespace agentr {

int TokenSetRatio(std::string_view first, std::string_view second);

}  // namespace agentr
