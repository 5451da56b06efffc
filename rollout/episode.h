// The record of one episode: its conversation, its end and its cost.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"
#include "common/error.h"
#include "common/named_values.h"
#include "rollout/turn.h"

namespace agentr {

enum class EpisodeEnd {
  kDone,              // the environment ended it
  kMaxSteps,          // not done within the allowed turns
  kContextOverflow,   // even the last turn alone does not fit into the model's context
  kEnvironmentError,  // no result: the environment failed; the episode may be played again
  kModelError,        // no result: the model failed; also if even the first observation does not
                      // fit into its context
  kCutTurn,  // the response was cut before its action (rollout/cut_turns.h) and was not executed
};

inline constexpr std::array<NamedValue<EpisodeEnd>, 6> kEpisodeEnds = {
    {{"done", EpisodeEnd::kDone},
     {"max_steps", EpisodeEnd::kMaxSteps},
     {"context_overflow", EpisodeEnd::kContextOverflow},
     {"environment_error", EpisodeEnd::kEnvironmentError},
     {"model_error", EpisodeEnd::kModelError},
     {"cut_turn", EpisodeEnd::kCutTurn}}};
constexpr std::string_view Name(EpisodeEnd end) { return NameOf(kEpisodeEnds, end); }

// True if the episode has a result, so that its reward counts. The two errors are not the agent's
// fault: they are counted separately, never as a reward of 0.
inline bool HasResult(EpisodeEnd end) {
  return end != EpisodeEnd::kEnvironmentError && end != EpisodeEnd::kModelError;
}

struct EpisodeTurn : TurnRecord {
  bool refused = false;           // the environment refused the action (TaskFamily::IsRefusal)
  std::optional<Slip> slip = {};  // then `action` is what was done, not what was said
  bool missed_slip = false;       // it was to slip, but no other action was found that would do

  bool operator==(const EpisodeTurn&) const = default;
};

struct Episode {
  int task_id = 0;
  int attempt = 0;  // from 0
  EpisodeEnd end = EpisodeEnd::kDone;
  std::string error = "";                       // the message, for the two errors
  ErrorKind error_kind = ErrorKind::kProtocol;  // the kind of the error; not stored in files
  double reward = 0;  // in [0, 1]: the last reward of the environment, which may be partial
  std::string model = "";
  uint64_t seed = 0;  // of the run
  std::vector<Message> instruction = {};
  std::string first_observation = "";
  std::vector<EpisodeTurn> turns = {};
  std::string cut_response = "";  // the text of the cut turn that ended it; not among `turns`
  // The rest of that turn, as of TurnRecord; not stored in files.
  std::vector<int32_t> cut_ids = {};
  std::vector<float> cut_logprobs = {};
  int cut_dropped_turns = 0;
  size_t replayed_turns = 0;      // number of first turns that were given, not chosen by the model
                                  // (revision test)
  size_t replay_differences = 0;  // how many of those turns had another observation than the
                                  // trajectory
  Usage usage = {};
  double model_s = 0;        // waiting for the model
  double environment_s = 0;  // waiting for the environment
  double wall_s = 0;

  bool operator==(const Episode&) const = default;
};

}  // namespace agentr
