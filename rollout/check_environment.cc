// How an environment is checked: what is concluded from the episodes that are played.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "common/clock.h"
#include "common/text.h"
#include "rollout/check_player.h"

namespace agentr {
namespace {

class Checker {
 public:
  Checker(const EnvCheckOptions& options, const std::string& task, Environment& environment)
      : o_(options),
        kind_(TaskKindOf(task)),
        family_(kind_.family()),
        file_(dynamic_cast<const FileFamily*>(family_.get())),
        environment_(environment),
        player_(options, kind_, *family_, environment) {}

  EnvCheckReport Run() {
    if (Open() && Begin()) {
      const auto begin = std::chrono::steady_clock::now();
      for (const int id : o_.ids) {
        for (int episode = 0; episode < o_.episodes; ++episode) {
          if (!Play(id)) return std::move(report_);
        }
      }
      const double seconds = SecondsSince(begin);
      ReplayAll();
      if (std::ranges::any_of(played_, &PlayedEpisode::repeats)) {
        TryRevisionAction();
        TryUnchanged();
        TryForks();
      } else {
        Say("note",
            "no episode repeats, so that forks, the action of a revision and what is said to "
            "change nothing cannot be tried");
      }
      Judge();
      Say("note", fmt::format("{} steps, {:.0f} a second, one after the other", steps_,
                              static_cast<double>(steps_) / std::max(seconds, 1e-9)));
    }
    return std::move(report_);
  }

 private:
  void Say(const char* mark, const std::string& text) {
    report_.lines.push_back(fmt::format("{:<6}{}", mark, text));
  }
  void Wrong(const std::string& text) {
    Say("WRONG", text);
    report_.works = false;
  }

  bool Open() {
    const Result<bool> alone = player_.Open();
    if (!alone) {
      Wrong(fmt::format("a session cannot be opened: {}", alone.error().message));
      return false;
    }
    Say("ok",
        *alone ? "a session is open; the server has one at once" : "two sessions are open at once");
    return true;
  }

  // The first observations: whether an id is a task.
  bool Begin() {
    std::map<std::string, int> begins;
    for (const int id : o_.ids) {
      std::vector<std::string> firsts;
      for (const size_t session : {0, 0, 1}) {
        auto first = player_.Begin(session, id);
        if (!first) {
          Wrong(fmt::format("task {} cannot be begun: {}", id, first.error().message));
          return false;
        }
        firsts.push_back(std::move(*first));
      }
      for (const std::string& first : firsts) {
        if (player_.Plain(first) == player_.Plain(firsts[0])) continue;
        BeginsDiffer(id, firsts[0], first);
        return true;
      }
      Say("ok", fmt::format("task {} begins the same each time: {}", id, Shown(firsts[0])));
      const auto [other, is_new] = begins.emplace(firsts[0], id);
      if (!is_new && other->second != id) {
        Say("note", fmt::format("so does task {}, with the same text: does the server know the "
                                "number of the task?",
                                other->second));
      }
    }
    return true;
  }

  void BeginsDiffer(int id, const std::string& one, const std::string& other) {
    begins_alike_ = false;
    const auto [a, b] = ShownApart(player_.Plain(one), player_.Plain(other));
    Wrong(
        fmt::format("task {} does not always begin the same: {} and {}. A search goes back to "
                    "the begin of a task again and again: make the server draw what is random "
                    "from the id of the task alone; values of instruments can be told by "
                    "[judgement] readings",
                    id, a, b));
  }

  bool Play(int id) {
    Result<PlayedEpisode> played = player_.Play(id);
    if (!played) {
      Wrong(played.error().message);
      return false;
    }
    steps_ += std::ssize(played->steps);
    played_.push_back(std::move(*played));
    return true;
  }

  // What a search does on servers without forks, and what checks the rows of a revision.
  void ReplayAll() {
    if (!begins_alike_) return;
    size_t compared = 0, other = 0;
    std::string example;
    for (PlayedEpisode& played : played_) {
      const std::optional<Parting> parting = player_.PartingOf(played);
      // No fault of an action.
      if (parting && parting->at_begin) {
        return BeginsDiffer(played.task, parting->answer, parting->other);
      }
      played.repeats = !parting;
      compared += parting ? parting->step + 1 : played.steps.size();
      if (!parting) continue;
      ++other;
      if (!example.empty()) continue;
      example = fmt::format("after {} actions {} was answered with {}, then with {}", parting->step,
                            Shown(played.actions[parting->step]), parting->answer, parting->other);
    }
    if (other == 0) {
      Say("ok", fmt::format("{} replayed actions have the same answers again", compared));
      return;
    }
    Wrong(
        fmt::format("{} of {} replayed episodes went another way: {}. Without the same answers a "
                    "search compares paths that are none: make the server deterministic",
                    other, played_.size(), example));
  }

  // The revision's turn must not move the episode.
  void TryRevisionAction() {
    const std::string action(family_->RevisionAction());
    std::string answer;
    int tried = 0;
    for (const PlayedEpisode& played : played_) {
      if (!played.repeats || played.steps.size() < 2) continue;
      const Result<bool> moves = player_.MovesBy(played, action, answer);
      if (!moves) {
        Wrong(fmt::format("the action of a revision, {}, failed: {}", Shown(action),
                          moves.error().message));
        return;
      }
      const std::string& before = played.steps[0].observation;
      if (*moves && family_->IsRefusal(before, action, answer) &&
          !family_->LeavesStateUnchanged(before, action, answer)) {
        Say("note", fmt::format("the action of a revision, {}, is refused with {}, and uses up a "
                                "turn of the task",
                                Shown(action), Shown(answer)));
        return;
      }
      if (*moves) {
        Wrong(
            fmt::format("the action of a revision, {}, is answered with {} and moves the episode: "
                        "name one that changes nothing as [judgement] revision_action",
                        Shown(action), Shown(answer)));
        return;
      }
      ++tried;
    }
    if (tried == 0) {
      Say("note", "no episode was long enough to try the action of a revision");
      return;
    }
    Say("ok", fmt::format(
                  "the action of a revision, {}, changes nothing in {} episodes; its answer is {}",
                  Shown(action), tried, Shown(answer)));
  }

  // What in the file says that a step changed nothing, and how to narrow it.
  std::string CureOf(const std::string& before, const std::string& action,
                     const std::string& after) const {
    if (file_ == nullptr) return "the kind of task is wrong about it";
    const std::string uses_up =
        ", or write refusal_is_unchanged = false if a refused action uses something up";
    if (const Pattern* const by = file_->RefusedBy(after); by != nullptr) {
      return fmt::format("narrow the pattern of [judgement] refused, \"{}\"{}",
                         EscapeControls(by->text()), uses_up);
    }
    if (file_->IsRefusal(before, action, after)) {
      return "it is said not to be offered: change [judgement] must_be_offered, "
             "need_not_be_offered or labels" +
             uses_up;
    }
    for (const Pattern& pattern : file_->rules().unchanged) {
      if (!pattern.Matches(after)) continue;
      return fmt::format("narrow the pattern of [judgement] unchanged, \"{}\"",
                         EscapeControls(pattern.text()));
    }
    return "write [judgement] same_observation_is_unchanged = false, because an equal observation "
           "is not an equal state here: it does not show all that counts";
  }

  // Rows and forks of the tree leave out what is said to change nothing, so that the other actions
  // of an episode must have the same answers without it.
  void TryUnchanged() {
    size_t left_out = 0;
    for (const PlayedEpisode& played : played_) {
      if (!played.repeats) continue;
      std::set<size_t> unchanged;
      for (size_t i = 0; i < played.steps.size(); ++i) {
        const StepResult& step = played.steps[i];
        if (!step.done &&
            family_->LeavesStateUnchanged(played.Before(i), played.actions[i], step.observation)) {
          unchanged.insert(i);
        }
      }
      left_out += unchanged.size();
      std::optional<Parting> parting = player_.PartingOf(played, unchanged);
      if (!parting || parting->at_begin) continue;
      // Without those up to this one the episode parts, without those before it it does not.
      const std::vector<size_t> all(unchanged.begin(), unchanged.end());
      size_t same = 0, other = all.size();
      while (other - same > 1) {
        const size_t middle = (same + other) / 2;
        const auto without = player_.PartingOf(
            played, {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(middle)});
        (without ? other : same) = middle;
        if (without && !without->at_begin) parting = without;
      }
      const size_t wrong = all[other - 1];
      const std::string& after = played.steps[wrong].observation;
      Wrong(
          fmt::format("the file says that {} (answered with {}) changes nothing, but without it {} "
                      "is answered with {} and not with {}: {}",
                      Shown(played.actions[wrong]), Shown(after),
                      Shown(played.actions[parting->step]), parting->other, parting->answer,
                      CureOf(played.Before(wrong), played.actions[wrong], after)));
      return;
    }
    if (left_out > 0) {
      Say("ok",
          fmt::format("without the {} actions that are said to change nothing the others have "
                      "the same answers",
                      left_out));
    }
  }

  // In the middle of an episode too, because a copy may share a part of the game with the original.
  void TryForks() {
    if (!environment_.CanExpand()) {
      Say("note",
          "the server has no /expand: a search replays the actions of a path for each new one");
      return;
    }
    for (size_t i = 0; i < played_.size(); ++i) {
      const PlayedEpisode& played = played_[i];
      if (!played.repeats) continue;
      const size_t at = i % played.steps.size();
      const Result<bool> same = player_.ForksAreCopies(played, at);
      if (!same) {
        Wrong(fmt::format("/expand failed: {}", same.error().message));
        return;
      }
      if (*same) continue;
      Wrong(fmt::format(
          "after {} actions of task {} /expand makes forks with other answers, or moves "
          "the session itself: a fork needs a deep copy of the game",
          at, played.task));
      return;
    }
    Say("ok", "/expand makes forks that have the same answers and leaves the session where it was");
  }

  // How often the rules about observations held, and the rewards.
  void Judge() {
    int64_t refused = 0, unchanged = 0, still = 0, ended = 0, not_offered = 0;
    std::string offered_all_the_same;
    double least = 0, most = 0;
    std::map<std::string, int64_t> answers, by_pattern;
    for (const PlayedEpisode& played : played_) {
      double reward = 0;
      for (size_t i = 0; i < played.steps.size(); ++i) {
        const StepResult& step = played.steps[i];
        const std::string& before = played.Before(i);
        const std::string& action = played.actions[i];
        const bool is_refusal = family_->IsRefusal(before, action, step.observation);
        refused += is_refusal ? 1 : 0;
        const Pattern* const by = file_ == nullptr ? nullptr : file_->RefusedBy(step.observation);
        if (by != nullptr) ++by_pattern[by->text()];
        not_offered += is_refusal && by == nullptr ? 1 : 0;
        if (file_ != nullptr && before != step.observation && by == nullptr &&
            file_->OfferOf(before, action) != Offer::kPossible) {
          offered_all_the_same = action;
        }
        const bool same = family_->LeavesStateUnchanged(before, action, step.observation);
        unchanged += same ? 1 : 0;
        const bool shows_nothing = before == step.observation && step.reward == reward;
        still += !step.done && (same || shows_nothing) ? 1 : 0;
        reward = step.reward;
        least = std::min(least, step.reward);
        most = std::max(most, step.reward);
        ++answers[step.observation];
      }
      ended += played.steps.back().done ? 1 : 0;
    }
    Say("note", fmt::format("{:.0f} % of the actions were refused, {:.0f} % changed nothing",
                            100.0 * static_cast<double>(refused) / static_cast<double>(steps_),
                            100.0 * static_cast<double>(unchanged) / static_cast<double>(steps_)));
    if (steps_ > 0 && refused == steps_) {
      Wrong(
          "every action was refused: either none of those that were tried is an action of the "
          "game, "
          "or a pattern of [judgement] refused finds what is no refusal");
    }
    if (steps_ > 0 && still == steps_ && refused != steps_) {
      Wrong(
          "every action changed nothing: either none of those that were tried does anything, and "
          "--action or [action] examples should name others, or [judgement] unchanged or "
          "same_observation_is_unchanged says too much");
    }
    if (!offered_all_the_same.empty()) {
      Say("note",
          fmt::format("{} is not offered by what [judgement] must_be_offered says, but had another "
                      "answer than the observation before: is it offered elsewhere?",
                      Shown(offered_all_the_same)));
    }
    if (file_ != nullptr && refused > 0) {
      if (not_offered > 0) {
        Say("note",
            fmt::format("  {:3.0f} % of the refusals because the action is not offered",
                        100.0 * static_cast<double>(not_offered) / static_cast<double>(refused)));
      }
      for (const Pattern& pattern : file_->rules().refused) {
        Say("note", fmt::format("  {:3.0f} % of the refusals by \"{}\"",
                                100.0 * static_cast<double>(by_pattern[pattern.text()]) /
                                    static_cast<double>(refused),
                                EscapeControls(pattern.text())));
      }
    }
    const auto often =
        std::ranges::max_element(answers, {}, [](const auto& a) { return a.second; });
    if (refused == 0 && often != answers.end() && often->second > 2) {
      Say("note", fmt::format("the most frequent answer ({} times) is {}: if it refuses an action, "
                              "add a pattern to [judgement] refused",
                              often->second, Shown(often->first)));
    }
    if (most > 1 || least < 0) {
      Wrong(fmt::format(
          "rewards go from {:.3g} to {:.3g}, but a reward of the episode so far lies from "
          "0 to 1: use [reward] scale, offset and clip",
          least, most));
    } else {
      Say("ok", fmt::format("rewards from {:.3g} to {:.3g}; {} is success", least, most,
                            family_->SuccessReward()));
    }
    Say(ended > 0 ? "ok" : "note", fmt::format("{} of {} random episodes ended within {} steps",
                                               ended, played_.size(), player_.MostSteps()));
  }

  const EnvCheckOptions& o_;
  const TaskKind& kind_;
  const std::unique_ptr<TaskFamily> family_;
  const FileFamily* const file_;  // null: a kind that is built in
  Environment& environment_;
  CheckPlayer player_;
  std::vector<PlayedEpisode> played_;
  bool begins_alike_ = true;
  int64_t steps_ = 0;
  EnvCheckReport report_;
};

}  // namespace

EnvCheckReport CheckEnvironment(const EnvCheckOptions& options, const std::string& task,
                                Environment& environment) {
  return Checker(options, task, environment).Run();
}

}  // namespace agentr
