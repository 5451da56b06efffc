#include "rl/policies/actor.h"

#include <algorithm>

namespace agentr {

std::vector<Choice> ScriptedActor::Act(const World& world,
                                       std::span<const std::vector<int32_t>> prompts,
                                       const RandomStream& random) {
  std::vector<Choice> choices;
  for (size_t i = 0; i < prompts.size(); ++i) {
    RandomStream stream = random.Split(i);
    const bool any = stream.Chance(noise_);
    Choice& choice = choices.emplace_back();
    choice.text = any ? world.AnyAction(i, stream) : world.Expert(i);
    const auto listed = world.actions();
    const auto found = std::ranges::find(listed, choice.text);
    if (found != listed.end()) choice.listed = static_cast<int32_t>(found - listed.begin());
  }
  return choices;
}

}  // namespace agentr
