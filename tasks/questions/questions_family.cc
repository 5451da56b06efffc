#include "tasks/questions/questions_family.h"

#include "games/questions/question_game.h"

namespace agentr {
bool TwentyQuestionsFamily::LeavesStateUnchanged(std::string_view /*before*/,
                                                 std::string_view /*action*/,
                                                 std::string_view after) const {
  return after == kNoQuestion;
}

bool TwentyQuestionsFamily::IsRefusal(std::string_view /*before*/, std::string_view /*action*/,
                                      std::string_view after) const {
  return after == kNoQuestion || after.starts_with("Invalid Question.");
}

std::vector<bool> TwentyQuestionsFamily::LikelyUnchanged(
    std::span<const Message> /*history*/, std::span<const std::string> actions) const {
  std::vector<bool> likely;
  for (const std::string& action : actions) likely.push_back(action.empty() || action == "wait");
  return likely;
}

}  // namespace agentr
