// Turns text into the terms that the search compares, like Lucene's English analysis: words
// (word_breaker.h) without possessive 's, in lower case, without the 33 stop words, stemmed
// (porter_stemmer.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// The term of one word of WordBreaker; empty for a word that is not searched ("the").
std::string TermOf(std::string_view word);

// The terms of a text, in its order, with repetitions.
std::vector<std::string> TermsOf(std::string_view text);

}  // namespace agentr
