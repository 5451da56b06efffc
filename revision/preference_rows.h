// Writes the preferences of trees (preferences.h) as JSON lines in the conversational format of
// TRL's preference trainers (DPOTrainer and others), which people can read too:
//
//   {"prompt": [{role, content}, …], "chosen": [{role: assistant, content}],
//    "rejected": [{role: assistant, content}],
//    "provenance": {tree, task, model, nodes: {prompt, chosen, rejected},
//                   values: {chosen, rejected}, visits: {chosen, rejected},
//                   replies: {chosen, rejected}, dropped_turns}}
//
// The prompt is what the model saw, without dropped turns. "replies" are the environment's answers
// to the two actions.
#pragma once

#include <string>

#include "mcts/tree.h"
#include "revision/make/preferences.h"
#include "revision/path_collect.h"

namespace agentr {

// One line, with a newline. `file`: the tree's. The same pair gives the same bytes.
std::string PreferenceLine(const Tree& tree, const Preference& pair, const std::string& file,
                           int task_id);

// The job of path_collect --data_type preferences: writes RowStem.jsonl, .run.json and .toml,
// prints the counts and the first options.show pairs. Nothing is replayed, because both responses
// of a pair were taken in the search. kInterrupted: a signal came first, and nothing is written.
// Throws FatalError; kUsage if there are more rows already and they are not to be overwritten.
ExitCode CollectPreferences(const PathCollectOptions& options, const OptionSet& resolved,
                            Workbench& workbench);

}  // namespace agentr
