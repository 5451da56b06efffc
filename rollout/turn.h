// A turn of a task: what the agent said, and what came of it. The nodes of a search tree and the
// turns of an episode are such turns, with more about them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

struct TurnRecord {
  std::string response = {};            // the model's text
  std::string action = {};              // parsed out of it
  std::string observation = {};         // the environment's answer
  int dropped_turns = 0;                // oldest turns left out of the prompt of `response`
  std::vector<int32_t> token_ids = {};  // of `response` as sampled, if the model returned them
  std::vector<float> logprobs = {};     // natural log, one per token id, if the model returned them
  int64_t weights_version = 0;          // Completion::weights_version; trees do not store it
  std::string reasoning = {};           // the thought, if it is kept apart from `response`

  // Takes over what the model said.
  void Say(Completion completion) {
    response = std::move(completion.text);
    token_ids = std::move(completion.token_ids);
    logprobs = std::move(completion.logprobs);
    weights_version = completion.weights_version;
    reasoning = std::move(completion.reasoning);
  }

  bool operator==(const TurnRecord&) const = default;
};

// A turn in which something else was done than the agent said (rollout/slips.h).
struct Slip {
  std::string said = "";  // the action that the agent said
  std::string response =
      "";             // what it said, if the turn shows the substitute as its own; else empty
  bool lost = false;  // nothing was done: the turn's action never reached the environment
  // True if the state was another after the slip than before it, or the reward less, so that it is
  // known when the slip is undone. Only episodes know this and the next.
  bool changed_state = false;
  int undone_after = 0;  // steps after the slip until state and reward were again those before it;
                         // 0: never

  bool operator==(const Slip&) const = default;
};

}  // namespace agentr
