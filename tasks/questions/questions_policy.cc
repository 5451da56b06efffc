#include "tasks/questions/questions_policy.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tasks/questions/asker.h"

namespace agentr {
namespace {

constexpr std::array<std::string_view, 5> kAskReasons = {
    "{} objects are still possible, and this halves them.",
    "I know {} objects that fit; this tells them apart.",
    "With {} objects left, this is the best question.",
    "Among the {} that fit I want to know this first.",
    "{} are left, so I go on like this.",
};

class QuestionsPolicyState : public PolicyState {
 public:
  QuestionsPolicyState(const WordTable& table, AskedSoFar so_far)
      : table_(table), so_far_(std::move(so_far)) {}

  int wasted_turns() const override { return so_far_.wasted_turns; }
  std::string Plan() override { return BestQuestion(table_, so_far_); }
  std::string AnyAction(RandomStream& random) const override { return AnyQuestion(table_, random); }
  std::string Thought(std::string_view /*action*/, RandomStream& random) const override {
    return AnyThought(kAskReasons, random, so_far_.possible.count());
  }

 private:
  const WordTable& table_;
  const AskedSoFar so_far_;
};

}  // namespace

std::unique_ptr<PolicyState> ReadQuestionsPolicy(std::span<const Message> conversation,
                                                 const WordTable& table) {
  const auto first = std::ranges::find_if(conversation, [](const Message& message) {
    return message.role == "user" && message.content.starts_with("Questions:");
  });
  if (first == conversation.end()) return nullptr;
  return std::make_unique<QuestionsPolicyState>(table,
                                                ReadQuestions(table, {first, conversation.end()}));
}

}  // namespace agentr
