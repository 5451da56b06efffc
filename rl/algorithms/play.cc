// Plays without learning: a scripted player as a baseline, or a model as it is.
#include "rl/rl_context.h"

namespace agentr {
namespace {

class Play : public Algorithm {
 public:
  explicit Play(RlContext& context)
      : context_(context),
        scripted_(context.options().experience.player != "policy"),
        script_(context.options().experience.player == "random"
                    ? 1
                    : context.options().experience.noise) {}

  nlohmann::ordered_json Iterate(int64_t iteration) override {
    const PlayResult result =
        context_.recorder().Play(Player(/*greedy=*/false), context_.options().experience.steps,
                                 context_.Random("play", iteration));
    return {{"play", result.ToJson()}};
  }
  nlohmann::ordered_json Evaluate(int64_t iteration) override {
    return context_.EvaluateActor(iteration, Player(context_.options().eval_greedy));
  }
  std::vector<Updater*> trainers() override { return {}; }

 private:
  Actor& Player(bool greedy) {
    if (scripted_) return script_;
    return context_.Player(/*version=*/0, greedy);
  }

  RlContext& context_;
  const bool scripted_;
  ScriptedActor script_;
};

}  // namespace

std::unique_ptr<Algorithm> MakePlay(RlContext& context) { return std::make_unique<Play>(context); }

}  // namespace agentr
