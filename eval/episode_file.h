// The file of an episode: the fields of Agent-R's evaluation (task_id, env_score, model_name,
// step_num, state) and the other fields of Episode.
//
//   {"task_id": 26, "env_score": 0.75, "model_name": "planner", "step_num": 2,
//    "state": [{"role": "user", "content": …}, …]   instruction, first observation, then response
//                                                   and observation of each turn
//    "format": "agentr-episode", "version": 1, "attempt": 0, "end": "done", "seed": 0,
//    "options": {"max_steps": 30, …},               all that decides what was played
//    "turns": [{"action": …, "refused": false, "dropped_turns": 0,
//               "token_ids": […], "logprobs": […], "weights_version": 0}, …],
//    "replayed_turns": 0, "replay_differences": 0,
//    "usage": {"requests": 2, …}, "timings": {"model_s": 0.1, …}}
//
// "token_ids", "logprobs" and "weights_version" are left out if they are empty or 0; files of
// earlier versions do not have them. A turn that slipped (rollout/slips.h) has "slip": {"said": the
// action that the agent said, "response": what it said, if "state" shows another text, "lost",
// "changed_state" and "undone_after", if they are true or above 0}; its "action" is what was done.
// One that was to slip but could not has "missed_slip": true.
//
// Only episodes with a result are written: an episode that ended in an error is played again.
#pragma once

#include <string>
#include <string_view>

#include "rollout/episode.h"

namespace agentr {

struct StoredEpisode {
  Episode episode;
  std::string options;  // a JSON object
};

// Bytes that are not UTF-8 become U+FFFD; everything else is read back unchanged.
std::string WriteEpisode(const StoredEpisode& stored);

// `name` is used in messages. Throws FatalError(kFile) for a text that is truncated or not an
// episode.
StoredEpisode ReadEpisode(std::string_view text, const std::string& name);

// "max_steps: 100 there, 30 here; …": the differences between the options of two evaluations
// (StoredEpisode::options), which are called `name_a` and `name_b`; empty if there are none.
std::string PlayedDifferences(const std::string& a, const std::string& b, const std::string& name_a,
                              const std::string& name_b);

}  // namespace agentr
