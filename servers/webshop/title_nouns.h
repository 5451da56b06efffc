// What kind of thing a title sells: an approximation of its nouns.
//
// WebShop's rewards compare the nouns of two titles, as a statistical tagger finds them. This is no
// tagger: it takes for a noun every word that nothing speaks against. Left out are stop words,
// numbers and what starts with a digit ("12oz", "2-pack"), measures, single letters, colours,
// sizes, and attributes: listed adjectives and participles, words with the ending of one (-able,
// -ful, -less, -ous, -ive, -ly, -proof, -free, -ed), and hyphenated words with such a part
// ("long-lasting"). Other hyphenated words are taken apart, and a possessive 's is cut off.
//
// Where it errs: a tagger sees the word in its sentence, and takes many capitalised adjectives for
// names. Titles of languages other than English keep nearly all their words.
//
// The lists: configs/webshop/title_words.txt.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// Lower case, in the order of the title, repeats included. `title` is UTF-8.
std::vector<std::string> TitleNouns(std::string_view title);

}  // namespace agentr
