// Plays one episode: a conversation as in the search, along a single line of turns.
//
// The model completes the conversation (without its oldest turns where it would not fit), the
// family parses the action, the environment answers. Evaluation looks like training: where the
// agent takes the revision action and the environment certainly leaves the state as it was, it is
// shown the revision's reply (revision/replay.h). A negative reward is a disaster: reward 0, and
// the episode is over.
#pragma once

#include <atomic>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "common/random.h"
#include "rollout/episode.h"
#include "rollout/executor.h"
#include "rollout/run_options.h"
#include "tasks/task_family.h"

namespace agentr {

class OptionSet;

struct PlayOptions : SamplingOptions {
  PlayOptions() { temperature = kChooseTemperature; }

  // Greedy for one attempt per task, 1 for several: the caller chooses.
  static constexpr double kChooseTemperature = -1;

  int max_steps = 100;        // turns, the given ones of a revision test too
  bool snap_actions = false;  // SciWorld: take the nearest valid action instead (sciworld_snap.h)
  std::string revision_action = "";  // empty: that of the family
  std::string revision_reply = "ok.";
};

void Declare(OptionSet& set, PlayOptions& options);

// Which episode. In a revision test it begins with the turns of a trajectory: response and action
// are given, and the observations are compared with what the environment answers.
struct EpisodeStart {
  int task_id = 0;
  int attempt = 0;
  std::vector<EpisodeTurn> given = {};
};

// Runs once, on one thread. An episode is a function of options, start, model and environment.
class EpisodePlayer {
 public:
  // All of it outlives the player; `executor` is that of the task.
  struct Context {
    const TaskFamily& family;
    LanguageModel& model;
    Executor& executor;
    const std::atomic<bool>& stop;
    std::function<void()> on_turn = nullptr;
  };

  EpisodePlayer(const PlayOptions& options, EpisodeStart start, Context context);

  // The episode, which may have ended in one of the two errors; kCancelled once `stop` is set.
  Result<Episode> Run();

 private:
  Result<void> Play();
  Result<void> Begin();
  // The next turn without its observation; false at the end of the context.
  Result<bool> SampleTurn(EpisodeTurn& turn);
  Result<void> Snap(std::string& action);
  Result<void> StepEnvironment(EpisodeTurn turn);

  bool Replaying() const { return episode_.turns.size() < start_.given.size(); }
  std::vector<Message> Conversation(int dropped_turns) const;
  // The token ids of the responses in Conversation, message by message.
  std::vector<std::span<const int32_t>> Sampled(int dropped_turns) const;

  const PlayOptions options_;
  const EpisodeStart start_;
  const Context context_;
  const RandomStream random_;

  Episode episode_;
  bool over_ = false;
  EpisodeEnd at_fault_ = EpisodeEnd::kEnvironmentError;  // whose error one would be now
  int state_ = 0;                                        // of the executor's states
  std::string shown_;  // the observation with which the state was entered, as it was given
};

}  // namespace agentr
