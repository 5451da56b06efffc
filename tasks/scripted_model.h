// Language models without a language model: they read a conversation and answer in the form of one.
// For tests, for benchmarks of everything else, and for cold starts. What they know of a kind of
// task is its ScriptedPolicy.
//
//   random   any action that the conversation makes plausible
//   planner  the next action of a plan towards the goal, with mistakes: a turn goes wrong with the
//            probability error_rate, and with 1 - (1 - error_rate)^(1 + 2k) after k turns in a row
//            that changed nothing, so that some episodes get stuck, as those of a small model do
//
// Both word their thoughts in several ways, so that samples differ even where their actions agree.
// They are thread-safe, and sample i of a request depends only on the conversation, on
// SamplingParams::seed and, where the plan comes from a GoldSource, on SamplingParams::task_id. Of
// SamplingParams they use nothing else; token counts are estimates. They do no I/O but for the
// GoldSource, which only the planner asks.
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
  int delay_ms = 0;          // sleep per request: stands for a model's latency in benchmarks
};

void Declare(OptionSet& set, ScriptedOptions& options);

// The scripted model of this name, or nullptr when there is none of it. Throws FatalError(kUsage)
// for a family that has no ScriptedPolicy, and for a planner that needs `gold` (PlansByGold;
// outlives the model) and does not get it.
std::unique_ptr<LanguageModel> MakeScriptedModel(std::string_view name, const TaskFamily& family,
                                                 const ScriptedOptions& options,
                                                 GoldSource* gold = nullptr);

}  // namespace agentr
