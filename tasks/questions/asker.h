// A scripted player of Twenty Questions: it asks what splits the objects that are still possible
// best, and guesses when one is left.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "common/random.h"
#include "games/questions/word_table.h"

namespace agentr {

// What a conversation shows.
struct AskedSoFar {
  WordSet possible;                // the objects that fit all answers
  std::vector<std::string> asked;  // plain
  int wasted_turns = 0;  // last questions in a row that were not understood or said nothing
};

// The objects that are possible after `questions` with their answers ("Yes.", "No.", other texts).
AskedSoFar ReadQuestions(const WordTable& table, std::span<const Message> conversation);

// The next question: of a property, of some names ("Is it a cat or a dog?"), or a guess.
std::string BestQuestion(const WordTable& table, const AskedSoFar& so_far);

// A question about any property, or any of these objects.
std::string AnyQuestion(const WordTable& table, std::span<const size_t> objects,
                        RandomStream& random);
std::string AnyQuestion(const WordTable& table, RandomStream& random);

}  // namespace agentr
