#include "servers/sciworld/sciworld.h"

#include <cmath>

namespace agentr {
namespace {

constexpr int kMaxMoves = 100;

}  // namespace

// std::nearbyint rounds halves to even, as Python's round does.
int SciWorldScore(double score) { return static_cast<int>(std::nearbyint(100 * score)); }

SciWorldEpisode::SciWorldEpisode(SimulatorSource& source, SimulatorTask task)
    : simulator_(source.New()) {
  Reset(task);
}

void SciWorldEpisode::Reset(SimulatorTask task) {
  task_ = task;
  simulator_->Load(task.type, task.variation, /*gold=*/false);
  description_ = simulator_->TaskDescription();
  last_ = {};
  Step("look around");
}

SciWorldEpisode SciWorldEpisode::Fork() const {
  SciWorldEpisode fork;
  fork.simulator_ = simulator_->Fork();
  fork.task_ = task_;
  fork.description_ = description_;
  fork.last_ = last_;
  return fork;
}

const SciWorldReply& SciWorldEpisode::Step(std::string_view action) {
  SciWorldReply reply{.observation = simulator_->Step(action)};
  reply.score = SciWorldScore(simulator_->Score());
  reply.reward = reply.score - last_.score;
  reply.done = simulator_->Completed() || simulator_->Moves() > kMaxMoves || reply.score < 0;
  last_ = std::move(reply);
  return last_;
}

// Uses a separate simulator, because planning plays the whole task.
std::vector<std::string> SciWorldGold(SimulatorSource& source, SimulatorTask task) {
  const std::unique_ptr<Simulator> planner = source.New();
  planner->Load(task.type, task.variation, /*gold=*/true);
  return planner->GoldActions();
}

}  // namespace agentr
