// From text to the terms that the search compares, as Lucene's English analysis makes them: words
// (word_breaker.h) without possessive 's, in lower case, without the 33 commonest ones, stemmed
// (porter_stemmer.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// The term of one word of WordBreaker; empty for a word that is not searched ("the").
std::string TermOf(std::string_view word);

// The terms of a text, in its order, as often as they stand there.
std::vector<std::string> TermsOf(std::string_view text);

}  // namespace agentr
