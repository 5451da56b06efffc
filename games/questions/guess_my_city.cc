#include "games/questions/guess_my_city.h"

#include <utility>

namespace agentr {

GuessMyCity::GuessMyCity(bool reference, std::unique_ptr<QuestionOracle> oracle)
    : GuessingGame(
          CityTable::BuiltIn().words(), reference, std::move(oracle),
          [](size_t city, std::string_view question) {
            return CityAnswer(CityTable::BuiltIn(), city, question);
          },
          [](size_t city, std::string_view question, const std::string& said, WinTest form) {
            const std::string& name = CityTable::BuiltIn().cities()[city].city;
            return Judgement{GuardCity(said, name, form), WinsGuessMyCity(question, name, form)};
          }) {}

}  // namespace agentr
