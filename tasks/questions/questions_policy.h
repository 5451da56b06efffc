// The scripted policy of Twenty Questions and Guess My City (asker.h).
#pragma once

#include "tasks/questions/word_table.h"
#include "tasks/scripted_policy.h"

namespace agentr {

class QuestionsPolicy : public ScriptedPolicy {
 public:
  // Both outlive it.
  QuestionsPolicy(std::string_view title, const WordTable& table) : title_(title), table_(table) {}

  std::string_view title() const override { return title_; }
  Result<std::unique_ptr<PolicyState>> Read(std::span<const Message> conversation,
                                            int task_id) const override;

 private:
  const std::string_view title_;
  const WordTable& table_;
};

}  // namespace agentr
