#include "games/babyai/babyai_episodes.h"

#include <utility>

namespace agentr {

BabyAiEpisodes::BabyAiEpisodes(const BabyAiLevel& level, BabyAiTask task, uint64_t seed)
    : level_(&level), task_(task), random_(seed) {
  Next();
}

void BabyAiEpisodes::Next() {
  BabyAiLayout layout = DrawLayout(*level_, task_, random_);
  world_ = layout.world;
  mission_ = std::move(layout.mission);
  horizon_ = mission_.Horizon(world_.rooms());
  steps_ = 0;
  solved_ = false;
}

double BabyAiEpisodes::Step(BabyAiAction action) {
  ++steps_;
  world_.Act(action);
  solved_ = mission_.Check(world_, action);
  return solved_ ? 1 - 0.9 * (static_cast<double>(steps_) / horizon_) : 0;
}

}  // namespace agentr
