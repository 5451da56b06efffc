// What an evaluation keeps of one episode: the conversation, how it ended, what it cost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"
#include "common/error.h"

namespace agentr {

enum class EpisodeEnd {
  kDone,              // the environment said so
  kMaxSteps,          // did not finish within the turns allowed
  kContextOverflow,   // not even the last turn fits into the model's context
  kEnvironmentError,  // no result: the environment failed, and may be asked again
  kModelError,        // no result: the model failed, and may be asked again; also where not even
                      // the first observation fits into its context
};

// "done" | "max_steps" | "context_overflow" | "environment_error" | "model_error".
std::string_view Name(EpisodeEnd end);
EpisodeEnd ParseEpisodeEnd(std::string_view name);  // throws std::invalid_argument

// True if the episode says something about the agent: its reward counts. The two errors are faults
// of machines; they are counted apart, never as a reward of 0.
inline bool HasResult(EpisodeEnd end) {
  return end != EpisodeEnd::kEnvironmentError && end != EpisodeEnd::kModelError;
}

struct EpisodeTurn {
  std::string response;
  std::string action;
  std::string observation;
  bool refused = false;   // the environment did not take the action (TaskFamily::IsRefusal)
  int dropped_turns = 0;  // oldest turns that the model was not shown
  std::vector<int32_t> token_ids = {};  // of `response` as sampled, where the model told them
  std::vector<float> logprobs = {};     // natural log, one per token id, where the model told them
  int64_t weights_version = 0;          // Completion::weights_version

  bool operator==(const EpisodeTurn&) const = default;
};

struct Episode {
  int task_id = 0;
  int attempt = 0;  // from 0
  EpisodeEnd end = EpisodeEnd::kDone;
  std::string error = "";                       // words of the fault, for the two errors
  ErrorKind error_kind = ErrorKind::kProtocol;  // its kind; only while the run lasts
  double reward = 0;  // in [0, 1]: the last one that the environment gave, partial ones too
  std::string model = "";
  uint64_t seed = 0;  // of the run
  std::vector<Message> instruction = {};
  std::string first_observation = "";
  std::vector<EpisodeTurn> turns = {};
  size_t replayed_turns = 0;      // the first so many were given, not chosen (revision test)
  size_t replay_differences = 0;  // observations of those that were not the trajectory's
  Usage usage = {};
  double model_s = 0;        // waiting for the model
  double environment_s = 0;  // waiting for the environment
  double wall_s = 0;

  bool operator==(const Episode&) const = default;
};

}  // namespace agentr
