// The cities of Guess My City with their facts (configs/questions/cities.txt), and the built-in
// oracle that answers as someone who lives there. Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "games/questions/word_table.h"

namespace agentr {

struct CityFacts {
  std::string city;     // "Lima"
  std::string country;  // "Peru"
  std::string continent, language, size, climate;
  bool coast = false, capital = false, south = false, high = false;
  std::string river;  // empty: none
  std::string landmark, dish;
};

class CityTable {
 public:
  // Throws FatalError(kFile) naming the line for text of another form.
  explicit CityTable(std::string_view text);
  static const CityTable& BuiltIn();

  const std::vector<CityFacts>& cities() const { return cities_; }
  // The cities as words and their facts as properties, for questions of yes and no.
  const WordTable& words() const { return words_; }

 private:
  std::vector<CityFacts> cities_;
  WordTable words_;
};

// "Yes.", "No.", or a sentence for questions such as "What language do you speak?"; "I do not
// know." if the question is not understood. It does not hide the city's name (GuardCity does).
std::string CityAnswer(const CityTable& table, size_t city, std::string_view question);

}  // namespace agentr
