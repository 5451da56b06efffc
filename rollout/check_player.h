// The episodes that env_check plays, and plays again in a second session.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/env/http_environment.h"
#include "common/random.h"
#include "rollout/env_check.h"
#include "tasks/file_family.h"
#include "tasks/task_kinds.h"

namespace agentr {

// A text for a line of the report: its beginning, in quotes.
std::string Shown(std::string_view text);

// Two texts that differ, from a little before their first difference.
std::array<std::string, 2> ShownApart(std::string_view a, std::string_view b);

// One episode, as it was played.
struct PlayedEpisode {
  int task = 0;
  std::string first;
  std::vector<std::string> actions;
  std::vector<StepResult> steps;  // the observations on one line, as the agent sees them
  bool repeats = false;           // it had the same answers again

  const std::string& Before(size_t step) const {
    return step == 0 ? first : steps[step - 1].observation;
  }
};

// Where an episode goes another way, and the answer there.
struct Parting {
  bool at_begin = false;  // the task begins with `other`
  size_t step = 0;
  std::string answer, other;  // behind the begin: as they are shown
};

// Plays random episodes in one session and repeats them in another. Not for several threads.
class CheckPlayer {
 public:
  // Keeps references to the arguments.
  CheckPlayer(const EnvCheckOptions& options, const TaskKind& kind, const TaskFamily& family,
              Environment& environment);

  // Opens two sessions. A server that makes one environment at once has one session for both parts:
  // the result says so.
  Result<bool> Open();

  // The first observation of a task in session 0, which plays, or 1, which plays again.
  Result<std::string> Begin(size_t session, int task);

  // Plays random actions: of the kind's policy, of --action and, where the file says what an
  // observation offers, those that were taken least often where the same was shown. A fault is said
  // in words.
  Result<PlayedEpisode> Play(int task);

  // The most steps of an episode; more where offers are explored.
  int MostSteps() const;

  // Takes the actions of an episode again, without those of `left_out`; nullopt if all have the
  // same answers.
  std::optional<Parting> PartingOf(const PlayedEpisode& played,
                                   const std::set<size_t>& left_out = {});

  // True if `action`, taken behind the first step of an episode, makes its later steps come
  // otherwise; `answer` is what the environment replied to it.
  Result<bool> MovesBy(const PlayedEpisode& played, const std::string& action, std::string& answer);

  // Whether two forks by the action at `at` answer as the episode did, go on as it did, and leave
  // the session there, which then goes the same way itself.
  Result<bool> ForksAreCopies(const PlayedEpisode& played, size_t at);

  // An observation without the values of instruments.
  std::string Plain(const std::string& observation) const;

 private:
  std::optional<std::string> AnyAction(const PlayedEpisode& played);
  std::optional<std::string> NewAction(const PlayedEpisode& played, std::span<const Message> shown);
  bool Explores() const;

  const EnvCheckOptions& o_;
  const TaskKind& kind_;
  const TaskFamily& family_;
  const FileFamily* const file_;  // null: a kind that is built in
  Environment& environment_;
  RandomStream random_;
  std::array<std::unique_ptr<Session>, 2> opened_;
  std::array<Session*, 2> sessions_ = {};                    // that plays, and that plays again
  std::map<std::string, std::map<std::string, int>> tried_;  // actions by what was shown
};

}  // namespace agentr
