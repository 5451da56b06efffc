// Scripted stand-ins for language models, for tests, benchmarks of the other parts, and cold
// starts. They read a conversation and answer in the form of a model's response. Their knowledge of
// a kind of task is its ScriptedPolicy.
//
//   random   any action that the conversation makes plausible
//   planner  the next action of a plan towards the goal, with mistakes: a turn goes wrong with the
//            probability error_rate, and with 1 - (1 - error_rate)^(1 + 2k) after k turns in a row
//            that changed nothing, so that some episodes get stuck, as those of a small model do
//
// Both phrase their thoughts in several ways, so that samples differ even if their actions are
// equal. They are thread-safe. Sample i of a request depends only on the conversation, on
// SamplingParams::seed and, if the plan comes from a GoldSource, on SamplingParams::task_id; other
// SamplingParams are ignored. Token counts are estimates. They do no I/O, except that the planner
// may query a GoldSource.
#pragma once

#include <memory>
#include <string_view>

#include "clients/language_model.h"
#include "tasks/task_family.h"

namespace agentr {

class GoldSource;
class OptionSet;

struct ScriptedOptions {
  double error_rate = 0.25;  // of the planner, per turn, in [0, 1]
  int delay_ms = 0;          // sleep per request: simulates a model's latency in benchmarks
};

void Declare(OptionSet& set, ScriptedOptions& options);

// The scripted model of this name, or nullptr if there is none. `gold` outlives the model. Throws
// FatalError(kUsage) for a family without a ScriptedPolicy, and for a planner that needs `gold`
// (PlansByGold) but gets null.
std::unique_ptr<LanguageModel> MakeScriptedModel(std::string_view name, const TaskFamily& family,
                                                 const ScriptedOptions& options,
                                                 GoldSource* gold = nullptr);

}  // namespace agentr
