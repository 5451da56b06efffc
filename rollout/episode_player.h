// Plays one episode: a conversation as in the search, but with only one response per turn.
//
// The model completes the conversation (without its oldest turns if it would not fit), the family
// parses the action, and the environment answers. As in the training data, if the agent takes the
// revision action and this certainly does not change the state, it sees the revision's reply
// (revision/make/replay.h). A negative reward is a disaster: the reward is 0 and the episode ends.
// With PlayOptions::slips, some turns do something else than the agent said (rollout/slips.h).
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "common/random.h"
#include "rollout/cut_turns.h"
#include "rollout/episode.h"
#include "rollout/executor.h"
#include "rollout/first_responses.h"
#include "rollout/prompt_truncation.h"
#include "rollout/run_options.h"
#include "rollout/slips.h"
#include "tasks/task_family.h"

namespace agentr {

class OptionSet;

struct PlayOptions : SamplingOptions {
  PlayOptions() { temperature = kChooseTemperature; }

  // Means that the caller chooses: 0 (greedy) for one attempt per task, 1 for several.
  static constexpr double kChooseTemperature = -1;

  int max_steps = 100;        // turns, including the given ones of a revision test
  bool snap_actions = false;  // SciWorld: take the nearest valid action instead (sciworld_snap.h)
  std::string revision_action = "";  // empty: that of the family
  std::string revision_reply{TaskFamily::kRevisionReply};
  SlipOptions slips = {};
};

void Declare(OptionSet& set, PlayOptions& options);

// The episode to play. In a revision test it begins with turns of a trajectory: their responses and
// actions are given, and their observations are compared with the environment's answers.
struct EpisodeStart {
  int task_id = 0;
  int attempt = 0;
  std::vector<EpisodeTurn> given = {};
};

// Runs once, on one thread. An episode is a function of options, start, model and environment.
class EpisodePlayer {
 public:
  // Everything here outlives the player; `executor` belongs to the task.
  struct Context {
    const TaskFamily& family;
    LanguageModel& model;
    Executor& executor;
    const std::atomic<bool>& stop;
    std::function<void()> on_turn = nullptr;
    FirstResponses* first_responses = nullptr;
    CutTurns* cut_turns = nullptr;
  };

  EpisodePlayer(const PlayOptions& options, EpisodeStart start, Context context);

  // Plays the episode, which may end in one of the two errors; kCancelled once `stop` is set.
  Result<Episode> Run();

 private:
  Result<void> Play();
  Result<void> Begin();
  // Samples the next turn, without its observation; false if there is none, because the context is
  // full or the response was cut, and the episode's end says which.
  Result<bool> SampleTurn(EpisodeTurn& turn);
  // Samples n responses to the episode so far, without at least `least_dropped` turns.
  Result<TruncatedCompletion> Ask(int n, const SamplingParams& sampling, int least_dropped);
  Result<void> Snap(std::string& action);
  Result<void> StepEnvironment(EpisodeTurn turn);

  // Lets the turn slip if its draw says so: tries substitutes for its action in the environment,
  // and puts the first suitable one in its place.
  Result<void> MaySlip(EpisodeTurn& turn);
  SlipPlace Place() const;
  Result<bool> SlipToSample(EpisodeTurn& turn, RandomStream& random);
  std::string KeyOf(int state) const;
  // Notes for the last turn, a slip, whether it changed the state, and for earlier ones whether
  // the present state undoes them.
  void NoteChange(int state_before, double reward_before);
  void NoteUndone();

  bool Replaying() const { return episode_.turns.size() < start_.given.size(); }
  std::vector<Message> Conversation(int dropped_turns) const;
  // What the model is shown of it, and the sampled token ids for each of its messages.
  std::vector<Message> History(int dropped_turns) const;
  std::vector<std::span<const int32_t>> Sampled(int dropped_turns) const;

  const PlayOptions options_;
  const EpisodeStart start_;
  const Context context_;
  const RandomStream random_;

  Episode episode_;
  bool over_ = false;
  EpisodeEnd at_fault_ = EpisodeEnd::kEnvironmentError;  // how the episode ends if a call fails now
  int state_ = 0;                                        // the present state among the executor's
                                                         // states

  // What was before a slip that is not undone.
  struct BeforeSlip {
    size_t turn;      // of the slip
    std::string key;  // RevisionHints::StateKey
    double reward;
  };
  std::vector<BeforeSlip> changed_;
};

}  // namespace agentr
