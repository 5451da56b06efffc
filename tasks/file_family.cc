#include "tasks/file_family.h"

#include <algorithm>
#include <utility>

#include "common/hash.h"
#include "common/text.h"
#include "tasks/action_text.h"

namespace agentr {
namespace {

bool AnyMatches(const std::vector<Pattern>& patterns, std::string_view text) {
  return std::ranges::any_of(patterns, [&](const Pattern& p) { return p.Matches(text); });
}

// What stands between the last two fences, without the fence's own line.
std::string_view LastFence(std::string_view response) {
  constexpr std::string_view kFence = "```";
  const size_t end = response.rfind(kFence);
  if (end == std::string_view::npos || end == 0) return {};
  const size_t begin = response.rfind(kFence, end - 1);
  if (begin == std::string_view::npos) return {};
  std::string_view inside = response.substr(begin + kFence.size(), end - begin - kFence.size());
  const size_t line = inside.find('\n');
  return line == std::string_view::npos ? inside : inside.substr(line + 1);
}

// A player without a plan. What it calls its plan is one of the actions, by the conversation.
class AnyPolicy : public PolicyState {
 public:
  AnyPolicy(std::vector<std::string> actions, std::span<const Message> conversation)
      : actions_(std::move(actions)) {
    std::string all;
    for (const Message& message : conversation) all += message.content + "\n";
    RandomStream random(std::stoull(Sha256(all).substr(0, 16), nullptr, 16));
    plan_ = random.Pick(actions_);
  }
  int wasted_turns() const override { return 0; }
  std::string Plan() override { return plan_; }
  std::string Mistake(RandomStream& random) override { return AnyAction(random); }
  std::string AnyAction(RandomStream& random) const override { return random.Pick(actions_); }
  std::string Thought(std::string_view action, RandomStream& random) const override {
    static constexpr std::array<std::string_view, 3> kReasons = {
        "I try \"{}\".", "\"{}\" may help.", "I see what \"{}\" does."};
    return AnyThought(kReasons, random, action);
  }

 private:
  const std::vector<std::string> actions_;
  std::string plan_;
};

}  // namespace

std::string FileFamily::ParseAction(std::string_view response) const {
  std::string action;
  switch (rules_->format) {
    case ActionFormat::kReact:
      action = TextOfAction(response, rules_->argument);
      break;
    case ActionFormat::kWhole:
      action = WithoutThought(response);
      break;
    case ActionFormat::kRegex: {
      const Pattern& pattern = *rules_->pattern;
      const int group = std::min(pattern.groups(), 1);
      const std::string_view said = WithoutThought(response);
      action = (rules_->last ? pattern.Last(said, group) : pattern.First(said, group)).value_or("");
      break;
    }
    case ActionFormat::kFence:
      action = LastFence(WithoutThought(response));
      break;
    case ActionFormat::kToolJson:
      action = TextOfToolCall(response);
      break;
  }
  if (rules_->removed) action = rules_->removed->Replaced(action, "");
  action = Trim(action);
  if (rules_->one_line) action = Trim(std::string_view(action).substr(0, action.find('\n')));
  return rules_->lower ? AsciiLower(action) : action;
}

bool FileFamily::LeavesStateUnchanged(std::string_view before, std::string_view action,
                                      std::string_view after) const {
  return (rules_->refusal_is_unchanged && IsRefusal(before, action, after)) ||
         AnyMatches(rules_->unchanged, after) || (rules_->same_is_unchanged && before == after);
}

bool FileFamily::IsRefusal(std::string_view /*before*/, std::string_view /*action*/,
                           std::string_view after) const {
  return RefusedBy(after) != nullptr;
}

const Pattern* FileFamily::RefusedBy(std::string_view after) const {
  const auto found = std::ranges::find_if(
      rules_->refused, [&](const Pattern& pattern) { return pattern.Matches(after); });
  return found == rules_->refused.end() ? nullptr : &*found;
}

std::vector<bool> FileFamily::LikelyUnchanged(std::span<const Message> /*history*/,
                                              std::span<const std::string> actions) const {
  return std::vector<bool>(actions.size(), false);
}

bool FileFamily::MayInform(std::string_view action) const {
  return AnyMatches(rules_->informing, action);
}

std::string FileFamily::StateKey(std::span<const Message> history) const {
  if (!rules_->observation_is_state || history.empty()) return "";
  return history.back().content;
}

RevisionHints::Readings FileFamily::WithoutReadings(std::string_view observation) const {
  Readings readings{std::string(observation), {}};
  for (const Pattern& pattern : rules_->readings) {
    readings.text = pattern.Replaced(readings.text, "#", &readings.values);
  }
  return readings;
}

std::string_view FileFamily::MistakeName(std::span<const Message> /*history*/,
                                         std::string_view /*action*/,
                                         std::string_view after) const {
  for (const auto& [mistake, pattern] : rules_->mistakes) {
    if (pattern.Matches(after)) return mistake;
  }
  return "";
}

std::vector<std::string> OfferedActions(const FileRules& rules,
                                        std::span<const Message> conversation) {
  std::vector<std::string> actions = rules.actions;
  if (!rules.offers) return actions;
  const auto& pattern = *rules.offers;
  std::optional<std::string> found;
  for (const Message& message : conversation) {
    if (message.role != "user") continue;
    auto here = pattern.Last(message.content, std::min(pattern.groups(), 1));
    if (here) found = std::move(here);
  }
  std::string_view list = found ? std::string_view(*found) : std::string_view();
  while (!list.empty()) {
    const size_t end = std::min(list.find(rules.between), list.size());
    const std::string_view action = Trim(list.substr(0, end), " \t'\"");
    if (!action.empty()) actions.emplace_back(action);
    list.remove_prefix(std::min(end + rules.between.size(), list.size()));
  }
  return actions;
}

std::vector<std::string> FileFamily::Recoveries(std::span<const Message> history,
                                                std::span<const std::string> /*wanted*/) const {
  return OfferedActions(*rules_, history);
}

std::unique_ptr<PolicyState> ReadFilePolicy(const FileRules& rules,
                                            std::span<const Message> conversation) {
  std::vector<std::string> actions = OfferedActions(rules, conversation);
  if (actions.empty()) return nullptr;
  return std::make_unique<AnyPolicy>(std::move(actions), conversation);
}

}  // namespace agentr
