#include "rl/worlds/babyai_world.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace agentr {
namespace {

constexpr size_t kObservations = 3;  // that a prompt shows

}  // namespace

BabyAiWorldBatch::BabyAiWorldBatch(const BabyAiBatchOptions& options)
    : batch_(options), memories_(options.size) {
  for (size_t i = 0; i < memories_.size(); ++i) Begin(i);
}

void BabyAiWorldBatch::Begin(size_t slot) {
  Memory& memory = memories_[slot];
  memory = {};
  memory.observations.emplace_back(batch_.Observation(slot));
  memory.texts.emplace_back(batch_.Goal(slot));
  const std::string& goal = memory.texts.back();
  memory.texts.emplace_back(batch_.Observation(slot));
  memory.scene = BabyAiScene{BabyAiMap(memory.texts.back()), ReadBabyAiMission(goal)};
}

std::string BabyAiWorldBatch::Prompt(size_t slot) const {
  const Memory& memory = memories_[slot];
  std::string text = fmt::format("Possible action of the agent: {} \n Goal of the agent: {} \n ",
                                 fmt::join(batch_.actions(), ", "), batch_.Goal(slot));
  for (size_t i = 0; i < memory.observations.size(); ++i) {
    text += fmt::format("Observation {}: {}, \n Action {}: ", i, memory.observations[i], i);
    if (i < memory.actions.size()) text += memory.actions[i] + " \n ";
  }
  return text;
}

std::span<const BatchStep> BabyAiWorldBatch::Step(std::span<const std::string_view> actions) {
  const std::span<const BatchStep> steps = batch_.Step(actions);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].done) {
      Begin(i);
      continue;
    }
    Memory& memory = memories_[i];
    memory.actions.emplace_back(actions[i]);
    memory.observations.emplace_back(steps[i].observation);
    if (memory.observations.size() > kObservations) {
      memory.observations.pop_front();
      memory.actions.pop_front();
    }
    memory.texts.emplace_back(steps[i].observation);
    memory.scene->map.Apply(actions[i], memory.texts.back());
  }
  return steps;
}

std::string BabyAiWorldBatch::Expert(size_t slot) const {
  return std::string(PlanBabyAi(*memories_[slot].scene).action);
}

std::string BabyAiWorldBatch::AnyAction(size_t /*slot*/, RandomStream& random) const {
  return std::string(random.Pick(batch_.actions()));
}

}  // namespace agentr
