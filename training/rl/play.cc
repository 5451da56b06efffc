// A baseline: a scripted player (random or expert) plays, and nothing is learned.
#include "training/rl/rl_context.h"

namespace agentr {
namespace {

class Play : public Algorithm {
 public:
  explicit Play(RlContext& context) : context_(context) {
    if (context.options().experience.player == "policy") {
      throw FatalError(ExitCode::kUsage,
                       "--algorithm play needs --player random or --player expert");
    }
  }

  nlohmann::ordered_json Iterate(int64_t iteration) override {
    ScriptedActor script = Script();
    const PlayResult result = context_.collector().Play(script, context_.options().experience.steps,
                                                        context_.Random("play", iteration));
    return {{"play", result.ToJson()}};
  }
  nlohmann::ordered_json Evaluate(int64_t iteration) override {
    ScriptedActor script = Script();
    return context_.EvaluateActor(iteration, script);
  }
  std::vector<Trainer*> trainers() override { return {}; }

 private:
  ScriptedActor Script() const {
    const ExperienceOptions& e = context_.options().experience;
    return ScriptedActor(e.player == "random" ? 1 : e.noise);
  }

  RlContext& context_;
};

}  // namespace

std::unique_ptr<Algorithm> MakePlay(RlContext& context) { return std::make_unique<Play>(context); }

}  // namespace agentr
