// Approximates the nouns of a product title, which show the kind of product.
//
// WebShop's rewards compare the nouns of two titles, which the original finds with a statistical
// tagger. Here every word counts as a noun except these: stop words, numbers and words that start
// with a digit ("12oz", "2-pack"), measures, single letters, colours, sizes, and attributes.
// Attributes are listed adjectives and participles, words with such an ending (-able, -ful, -less,
// -ous, -ive, -ly, -proof, -free, -ed), and hyphenated words with such a part ("long-lasting").
// Other hyphenated words are split, and a possessive 's is removed.
//
// Known differences: a tagger sees the word in its sentence, and it mistakes many capitalised
// adjectives for names. Titles in other languages than English keep nearly all their words.
//
// The lists: configs/webshop/title_words.txt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// In lower case, in the order of the title, with repetitions. `title` is UTF-8.
std::vector<std::string> TitleNouns(std::string_view title);

}  // namespace agentr
