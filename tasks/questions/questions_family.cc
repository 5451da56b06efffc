#include "tasks/questions/questions_family.h"

#include "tasks/prompt_file.h"

namespace agentr {
namespace embedded {
extern const std::string_view kGuessMyCityPrompt;
extern const std::string_view kTwentyQuestionsPrompt;
}  // namespace embedded

std::vector<Message> TwentyQuestionsFamily::Instruction() const {
  return ParsePromptFile(embedded::kTwentyQuestionsPrompt);
}

std::vector<Message> GuessMyCityFamily::Instruction() const {
  return ParsePromptFile(embedded::kGuessMyCityPrompt);
}

std::string TwentyQuestionsFamily::ParseAction(std::string_view response) const {
  const std::string text = TextOfAction(response);
  return text.substr(0, text.find('\n'));
}

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
