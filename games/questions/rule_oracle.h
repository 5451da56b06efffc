// The built-in oracle of Twenty Questions: answers questions about an object from the tables of
// configs/questions, without a language model. A pure function, so games can be repeated.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "games/questions/word_table.h"

namespace agentr {

// The objects for which the answer to `question` is yes; nullopt if the question is not understood.
//
// - A name of an object ("Is it a banana?") means that object.
// - Otherwise the longest phrase of a property that occurs in the question decides.
// - "A or B" is yes if one of the parts is; parts that are not understood are ignored.
// - A negation ("not", "isnt", "never", "without", "non") turns the answer around.
std::optional<WordSet> AnswersYes(const WordTable& table, std::string_view question);

// "yes", "no" or "invalid question".
std::string RuleAnswer(const WordTable& table, size_t word, std::string_view question);

}  // namespace agentr
