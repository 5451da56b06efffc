#include "tasks/file_family.h"

#include <algorithm>
#include <utility>

#include "common/hash.h"
#include "common/text.h"
#include "tasks/action_text.h"

namespace agentr {
namespace {

// The first observation of a task may have several lines; the later ones have one.
bool AreSame(std::string_view before, std::string_view after) {
  return before == after || OneLine(std::string(before)) == after;
}

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

// Quotes around an action of a list are none of its letters.
std::string_view Trimmed(const FileRules& rules, std::string_view piece) {
  return Trim(piece, rules.offered_as.empty() ? " \t'\"" : " \t\r\n");
}

// A piece as it is compared.
std::string PieceKey(const FileRules& rules, std::string_view piece) {
  const std::string_view key = Trimmed(rules, piece);
  return rules.offered_ignore_case ? AsciiLower(key) : std::string(key);
}

bool IsLabel(const FileRules& rules, const std::string& key) {
  return std::ranges::any_of(
      rules.labels, [&](const std::string& label) { return PieceKey(rules, label) == key; });
}

std::string ActionOfPiece(const FileRules& rules, std::string_view piece) {
  if (rules.offered_as.empty()) return std::string(piece);
  std::string action = rules.offered_as;
  ReplaceAll(action, kOfferedPlace, piece);
  return action;
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
         AnyMatches(rules_->unchanged, after) ||
         (rules_->same_is_unchanged && AreSame(before, after));
}

bool FileFamily::IsRefusal(std::string_view before, std::string_view action,
                           std::string_view after) const {
  return RefusedBy(after) != nullptr ||
         (OfferOf(before, action) != Offer::kPossible && AreSame(before, after));
}

const Pattern* FileFamily::RefusedBy(std::string_view after) const {
  const auto found = std::ranges::find_if(
      rules_->refused, [&](const Pattern& pattern) { return pattern.Matches(after); });
  return found == rules_->refused.end() ? nullptr : &*found;
}

Offer FileFamily::OfferOf(std::string_view observation, std::string_view action) const {
  const FileRules& rules = *rules_;
  if (rules.must_be_offered.empty() || AnyMatches(rules.need_not_be_offered, action))
    return Offer::kPossible;
  const auto pieces = OfferedPieces(rules, observation);
  if (!pieces) return Offer::kPossible;
  for (const Pattern& pattern : rules.must_be_offered) {
    const auto argument = pattern.First(action, std::min(pattern.groups(), 1));
    if (!argument) continue;
    // How a server folds other letters is not known.
    const bool ascii = std::ranges::all_of(*argument, [](char c) { return (c & 0x80) == 0; });
    if (rules.offered_ignore_case && !ascii) return Offer::kPossible;
    const std::string key = PieceKey(rules, *argument);
    const bool offered =
        !IsLabel(rules, key) && std::ranges::any_of(*pieces, [&](const std::string& piece) {
          return PieceKey(rules, piece) == key;
        });
    return offered ? Offer::kPossible : Offer::kNotOffered;
  }
  return rules.need_not_be_offered.empty() ? Offer::kPossible : Offer::kMalformed;
}

std::vector<bool> FileFamily::LikelyUnchanged(std::span<const Message> history,
                                              std::span<const std::string> actions) const {
  std::vector<bool> likely(actions.size(), false);
  if (history.empty() || !rules_->refusal_is_unchanged) return likely;
  for (size_t i = 0; i < actions.size(); ++i) {
    likely[i] = OfferOf(history.back().content, actions[i]) != Offer::kPossible;
  }
  return likely;
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

std::string_view FileFamily::MistakeName(std::span<const Message> history, std::string_view action,
                                         std::string_view after) const {
  for (const auto& [mistake, pattern] : rules_->mistakes) {
    if (pattern.Matches(after)) return mistake;
  }
  const std::string_view before = history.empty() ? "" : std::string_view(history.back().content);
  if (!AreSame(before, after) || RefusedBy(after) != nullptr) return "";
  switch (OfferOf(before, action)) {
    case Offer::kNotOffered:
      return "not_offered";
    case Offer::kMalformed:
      return "malformed";
    case Offer::kPossible:
      break;
  }
  return "";
}

std::optional<std::vector<std::string>> OfferedPieces(const FileRules& rules,
                                                      std::string_view observation) {
  if (!rules.offers) return std::nullopt;
  const Pattern& pattern = *rules.offers;
  const int group = std::min(pattern.groups(), 1);
  std::vector<std::string> pieces;
  if (rules.between.empty()) {
    pieces = pattern.All(observation, group);
    return pieces.empty() ? std::nullopt : std::optional(std::move(pieces));
  }
  const auto found = pattern.Last(observation, group);
  if (!found) return std::nullopt;
  for (std::string_view list = *found; !list.empty();) {
    const size_t end = std::min(list.find(rules.between), list.size());
    pieces.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + rules.between.size(), list.size()));
  }
  return pieces;
}

std::vector<std::string> OffersOf(const FileRules& rules, std::string_view observation) {
  std::vector<std::string> actions;
  for (const std::string& piece :
       OfferedPieces(rules, observation).value_or(std::vector<std::string>())) {
    const std::string_view trimmed = Trimmed(rules, piece);
    if (trimmed.empty() || IsLabel(rules, PieceKey(rules, piece))) continue;
    actions.push_back(ActionOfPiece(rules, trimmed));
  }
  return actions;
}

std::vector<std::string> OfferedActions(const FileRules& rules,
                                        std::span<const Message> conversation) {
  std::vector<std::string> actions = rules.actions;
  const auto last =
      std::find_if(conversation.rbegin(), conversation.rend(), [&](const Message& message) {
        return message.role == "user" && OfferedPieces(rules, message.content);
      });
  if (last == conversation.rend()) return actions;
  for (std::string& action : OffersOf(rules, last->content)) actions.push_back(std::move(action));
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
