// Twenty Questions as a kind of task: the agent asks, the environment answers "Yes.", "No." or
// "Invalid Question.".
#pragma once

#include "tasks/task_family.h"

namespace agentr {

class TwentyQuestionsFamily : public TaskFamily {
 public:
  std::string_view name() const override { return "twenty_questions"; }

  // Only a text that is no question (the reply is kNoQuestion) leaves the state as it was.
  bool LeavesStateUnchanged(std::string_view before, std::string_view action,
                            std::string_view after) const override;
  bool IsRefusal(std::string_view before, std::string_view action,
                 std::string_view after) const override;
  std::vector<bool> LikelyUnchanged(std::span<const Message> history,
                                    std::span<const std::string> actions) const override;

  // A win with the last question is worth 0.05; the rest leaves room for rounding.
  double SuccessReward() const override { return 0.04; }
};

// Guess My City: the same, with answers in words.
class GuessMyCityFamily : public TwentyQuestionsFamily {
 public:
  std::string_view name() const override { return "guess_my_city"; }
};

}  // namespace agentr
