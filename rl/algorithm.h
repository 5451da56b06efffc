// One way of learning from reward, as agent_rl runs it: in iterations, each of which gathers what
// it needs and learns from it. Between two iterations the run can be saved and continued.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/named_values.h"
#include "training/checkpoint/checkpoint.h"

namespace agentr {

class RlContext;
class Updater;

class Algorithm {
 public:
  virtual ~Algorithm() = default;

  // Iteration `iteration`, 0, 1, …, as a function of the seed, the iteration and what was restored.
  // Returns its metrics: numbers, and objects of numbers. Numbers that are not finite end the run
  // (EndDiverged). Null if a signal came before it had learned anything.
  virtual nlohmann::ordered_json Iterate(int64_t iteration) = 0;

  // The agent's results in new episodes, with the current weights; null: there is nothing to play,
  // or a signal came.
  virtual nlohmann::ordered_json Evaluate(int64_t iteration) = 0;

  // Everything that learns, for the checkpoint. The names of all parameters are different.
  virtual std::vector<Updater*> trainers() = 0;
  // Parameters that are saved besides and follow others without a gradient, such as target
  // networks.
  virtual std::vector<Parameter> followers() { return {}; }
  // Before the present weights are saved: ends the run if a model that its trainer cannot ask
  // (Trainer::CheckAnswer) no longer answers with finite numbers.
  virtual void CheckAnswer() {}
  // What else a continuation needs. Restore is called after the tensors have been loaded.
  virtual nlohmann::ordered_json State() const { return nlohmann::ordered_json::object(); }
  virtual void Restore(const nlohmann::json& /*state*/) {}

  // Distinguishes what is learned from, where the run does not play it itself; a run continues only
  // with the same. Empty: it plays.
  virtual std::string DataDescription() const { return ""; }
};

using MakeAlgorithm = std::unique_ptr<Algorithm> (*)(RlContext& context);

// Behaviour cloning of a scripted player or of recorded transitions; of the best episodes only, at
// once or, with data of the policy itself, in every iteration anew.
std::unique_ptr<Algorithm> MakeCloning(RlContext& context);
std::unique_ptr<Algorithm> MakeFilteredCloning(RlContext& context);

// PPO on the likelihoods of listed actions (GLAM).
std::unique_ptr<Algorithm> MakePpo(RlContext& context);

// ArCHer online and offline, and CHAI.
std::unique_ptr<Algorithm> MakeArcher(RlContext& context);
std::unique_ptr<Algorithm> MakeOfflineArcher(RlContext& context);
std::unique_ptr<Algorithm> MakeChai(RlContext& context);

// Q-learning on listed actions (DRRN), a baseline of GLAM.
std::unique_ptr<Algorithm> MakeDrrn(RlContext& context);

// PPO of a recurrent network on the image and the mission of BabyAI, another baseline of GLAM.
std::unique_ptr<Algorithm> MakeSymbolicPpo(RlContext& context);

// Plays without learning: a scripted player as a baseline, or the policy as it is.
std::unique_ptr<Algorithm> MakePlay(RlContext& context);

// From the trees of mcts_collect, without playing (tree_objective.h).
std::unique_ptr<Algorithm> MakeDpo(RlContext& context);
std::unique_ptr<Algorithm> MakeAwr(RlContext& context);
std::unique_ptr<Algorithm> MakeTreeGrpo(RlContext& context);
// From groups of recorded episodes, in the same way, or from those that it plays itself.
std::unique_ptr<Algorithm> MakeGrpo(RlContext& context);

// Every algorithm by its name: the choices of --algorithm.
inline constexpr std::array<NamedValue<MakeAlgorithm>, 13> kAlgorithms = {
    {{"play", &MakePlay},
     {"bc", &MakeCloning},
     {"filtered_bc", &MakeFilteredCloning},
     {"ppo", &MakePpo},
     {"drrn", &MakeDrrn},
     {"symbolic_ppo", &MakeSymbolicPpo},
     {"archer", &MakeArcher},
     {"offline_archer", &MakeOfflineArcher},
     {"chai", &MakeChai},
     {"dpo", &MakeDpo},
     {"awr", &MakeAwr},
     {"grpo", &MakeGrpo},
     {"tree_grpo", &MakeTreeGrpo}}};

}  // namespace agentr
