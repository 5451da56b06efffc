#include "rollout/check_player.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/text.h"
#include "tasks/revision_hints.h"
#include "tasks/scripted_policy.h"

namespace agentr {
namespace {

constexpr size_t kShown = 160;  // bytes of an observation in a line
constexpr int kExploring = 4;   // times --steps, of an episode that looks for what was not tried

std::string Answer(const StepResult& step, const std::string& shown) {
  return fmt::format("{}{} (reward {})", shown, step.done ? " and the end" : "", step.reward);
}

}  // namespace

std::string Shown(std::string_view text) {
  return fmt::format("\"{}{}\"", EscapeControls(text.substr(0, kShown)),
                     text.size() > kShown ? "…" : "");
}

// Two texts that differ, from a little before their first difference.
std::array<std::string, 2> ShownApart(std::string_view a, std::string_view b) {
  constexpr size_t kBefore = 40;
  const auto parts = std::ranges::mismatch(a, b);
  size_t begin = static_cast<size_t>(parts.in1 - a.begin());
  begin = begin < kShown / 2 ? 0 : begin - kBefore;
  // Not within a character.
  while (begin > 0 && (a[begin] & 0xc0) == 0x80) --begin;
  const auto shown = [&](std::string_view text) {
    const std::string excerpt = Shown(text.substr(begin));
    return begin == 0 ? excerpt : "\"…" + excerpt.substr(1);
  };
  return {shown(a), shown(b)};
}

CheckPlayer::CheckPlayer(const EnvCheckOptions& options, const TaskKind& kind,
                         const TaskFamily& family, Environment& environment)
    : o_(options),
      kind_(kind),
      family_(family),
      file_(dynamic_cast<const FileFamily*>(&family)),
      environment_(environment),
      random_(options.seed) {}

Result<bool> CheckPlayer::Open() {
  const bool alone = environment_.DefaultSessions() == 1;
  for (auto& session : opened_) {
    if (alone && opened_[0] != nullptr) break;
    AGENTR_ASSIGN_OR_RETURN(session, environment_.Open());
  }
  sessions_ = {opened_[0].get(), opened_[alone ? 0 : 1].get()};
  return alone;
}

Result<std::string> CheckPlayer::Begin(size_t session, int task) {
  return sessions_[session]->Reset(task);
}

std::string CheckPlayer::Plain(const std::string& observation) const {
  return PlainText(family_, observation);
}

std::optional<std::string> CheckPlayer::AnyAction(const PlayedEpisode& played) {
  std::vector<Message> shown = family_.Instruction();
  shown.push_back({"user", played.first});
  for (size_t i = 0; i < played.steps.size(); ++i) {
    shown.push_back({"assistant", "Action: " + played.actions[i]});
    shown.push_back({"user", played.steps[i].observation});
  }
  const bool given = !o_.actions.empty();
  if (Explores()) return NewAction(played, shown);
  if (kind_.policy && !kind_.plans_by_gold && (!given || random_.Below(2) == 0)) {
    const auto state = kind_.policy(shown, played.task, nullptr);
    if (state && *state) return (*state)->AnyAction(random_);
  }
  if (given) return random_.Pick(o_.actions);
  return std::nullopt;
}

// The file says what an observation offers, so that a play may look for what was not tried yet.
bool CheckPlayer::Explores() const {
  return file_ != nullptr && !file_->rules().offered_as.empty();
}

int CheckPlayer::MostSteps() const { return Explores() ? kExploring * o_.steps : o_.steps; }

// An action that was taken least often where the same is shown; now and then one that was offered
// before.
std::optional<std::string> CheckPlayer::NewAction(const PlayedEpisode& played,
                                                  std::span<const Message> shown) {
  std::vector<std::string> actions = OfferedActions(file_->rules(), shown);
  actions.insert(actions.end(), o_.actions.begin(), o_.actions.end());
  if (!played.steps.empty() && random_.Chance(0.1)) {
    const auto earlier =
        OffersOf(file_->rules(), played.Before(random_.Below(played.steps.size())));
    if (!earlier.empty()) actions = earlier;
  }
  if (actions.empty()) return std::nullopt;
  std::map<std::string, int>& tried = tried_[played.Before(played.steps.size())];
  random_.Shuffle(actions);
  const std::string action =
      *std::ranges::min_element(actions, {}, [&](const std::string& one) { return tried[one]; });
  ++tried[action];
  return action;
}

Result<PlayedEpisode> CheckPlayer::Play(int task) {
  PlayedEpisode played;
  played.task = task;
  auto first = sessions_[0]->Reset(task);
  if (!first) {
    return Fail(first.error().kind,
                fmt::format("task {} cannot be begun again: {}", task, first.error().message));
  }
  played.first = std::move(*first);
  for (int turn = 0; turn < MostSteps(); ++turn) {
    const std::optional<std::string> action = AnyAction(played);
    if (!action) {
      return Fail(
          ErrorKind::kEnvironment,
          "no action is known to try: give some with --action, or in the task file [action] "
          "examples or offered");
    }
    auto step = sessions_[0]->Step(*action);
    if (!step) {
      return Fail(step.error().kind, fmt::format("the action {} of task {} failed: {}",
                                                 Shown(*action), task, step.error().message));
    }
    step->observation = OneLine(std::move(step->observation));
    played.actions.push_back(*action);
    played.steps.push_back(std::move(*step));
    if (played.steps.back().done) break;
  }
  return played;
}

std::optional<Parting> CheckPlayer::PartingOf(const PlayedEpisode& played,
                                              const std::set<size_t>& left_out) {
  const auto first = sessions_[1]->Reset(played.task);
  if (!first) return Parting{false, 0, Shown(played.first), first.error().message};
  if (Plain(*first) != Plain(played.first)) return Parting{true, 0, played.first, *first};
  for (size_t i = 0; i < played.steps.size(); ++i) {
    if (left_out.contains(i)) continue;
    const StepResult& before = played.steps[i];
    const auto step = sessions_[1]->Step(played.actions[i]);
    if (!step) {
      return Parting{false, i, Answer(before, Shown(before.observation)), step.error().message};
    }
    const std::string one = Plain(before.observation), other = Plain(step->observation);
    if (one == other && step->reward == before.reward && step->done == before.done) continue;
    const auto [shown, shown_other] = ShownApart(one, other);
    return Parting{false, i, Answer(before, shown), Answer(*step, shown_other)};
  }
  return std::nullopt;
}

Result<bool> CheckPlayer::MovesBy(const PlayedEpisode& played, const std::string& action,
                                  std::string& answer) {
  AGENTR_RETURN_IF_ERROR(sessions_[1]->Reset(played.task));
  AGENTR_RETURN_IF_ERROR(sessions_[1]->Step(played.actions[0]));
  AGENTR_ASSIGN_OR_RETURN(const StepResult revision, sessions_[1]->Step(action));
  answer = OneLine(revision.observation);
  if (revision.done) return true;
  for (size_t i = 1; i < played.steps.size(); ++i) {
    const auto step = sessions_[1]->Step(played.actions[i]);
    const StepResult& before = played.steps[i];
    if (!step || Plain(step->observation) != Plain(before.observation) ||
        step->done != before.done) {
      return true;
    }
  }
  return false;
}

Result<bool> CheckPlayer::ForksAreCopies(const PlayedEpisode& played, size_t at) {
  AGENTR_RETURN_IF_ERROR(sessions_[1]->Reset(played.task));
  for (size_t i = 0; i < at; ++i) AGENTR_RETURN_IF_ERROR(sessions_[1]->Step(played.actions[i]));
  const std::vector<std::string> actions(2, played.actions[at]);
  AGENTR_ASSIGN_OR_RETURN(std::vector<Fork> forks, sessions_[1]->Expand(actions));
  if (forks.size() != actions.size()) return false;
  const StepResult& taken = played.steps[at];
  for (const auto& [session, step] : forks) {
    if (Plain(step.observation) != Plain(taken.observation) || step.reward != taken.reward ||
        step.done != taken.done) {
      return false;
    }
  }
  const auto goes_on = [&](Session& session, size_t from) {
    for (size_t i = from; i < played.steps.size(); ++i) {
      const auto step = session.Step(played.actions[i]);
      if (!step || Plain(step->observation) != Plain(played.steps[i].observation)) return false;
    }
    return true;
  };
  if (played.steps[at].done) return goes_on(*sessions_[1], at);
  return goes_on(*forks[0].session, at + 1) && goes_on(*sessions_[1], at) &&
         goes_on(*forks[1].session, at + 1);
}

}  // namespace agentr
