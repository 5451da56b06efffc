// ppo_bench: transitions per second of PPO's update step on listed actions: the scores of all
// actions of a minibatch of states, the clipped loss, the backward pass, and Adam.
//
//   ppo_bench --model_dir models/bundled --environments 16 --steps 4 --batch 16
//   ppo_bench … --write steps.json && python3 tests/bench/ppo_transformers.py DIR steps.json
//
// The states are those that the policy itself meets in BabyAI-Text. Takes all options of agent_rl.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "common/error.h"
#include "common/file.h"
#include "common/options.h"
#include "rl/algorithms/ppo_rollout.h"
#include "rl/rl_context.h"
#include "tests/bench/cpu_seconds.h"
#include "tests/common/scratch_folder.h"
#include "training/distributed/job.h"
#include "training/speed.h"

namespace agentr {
namespace {

class PpoBench {
 public:
  PpoBench(const AgentRlOptions& options, const std::filesystem::path& folder)
      : o_(options),
        context_(options, folder, 0),
        head_(MakeValueHead(context_.policy().config().hidden_size, o_.ppo.value_width,
                            o_.ppo.value_activation, o_.seed)),
        trainer_(context_.policy().network(), o_.adamw, head_.parameters(), nullptr),
        policy_(context_.policy(), &head_, context_.world().actions()) {
    context_.recorder().Play(policy_, o_.experience.steps, context_.Random("play", 0));
    transitions_ = LastTransitions(context_.store(), o_.experience.steps,
                                   static_cast<int64_t>(context_.world().size()));
    const at::Tensor bootstrap = policy_.Score(context_.recorder().prompts(), false).values;
    noted_ = WithAdvantages(transitions_, bootstrap, o_);
  }

  // The minibatches as token ids, for other programs.
  void Write(const std::string& path) const {
    nlohmann::json prompts = nlohmann::json::array();
    for (const Transition& t : transitions_) prompts.push_back(t.prompt);
    const nlohmann::json json = {{"actions", policy_.action_ids()},
                                 {"prompts", prompts},
                                 {"batch", o_.experience.batch},
                                 {"value_width", o_.ppo.value_width}};
    WriteFileAtomically(path, json.dump() + "\n");
  }

  void Measure() {
    const auto batch = static_cast<size_t>(o_.experience.batch);
    double least_cpu = 1e9, fastest = 1e9;
    size_t prompt_tokens = 0;
    for (const Transition& t : transitions_) prompt_tokens += t.prompt.size();
    for (size_t begin = 0; begin + batch <= transitions_.size(); begin += batch) {
      const double cpu = CpuSeconds();
      const auto start = std::chrono::steady_clock::now();
      Step(begin, batch);
      fastest = std::min(
          fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
      least_cpu = std::min(least_cpu, CpuSeconds() - cpu);
    }
    fmt::print(
        "{} transitions a step, {} actions, {:.0f} tokens a prompt: {:.1f} transitions/s, "
        "{:.1f} per second of CPU time\n",
        batch, policy_.action_ids().size(),
        static_cast<double>(prompt_tokens) / static_cast<double>(transitions_.size()),
        static_cast<double>(batch) / fastest, static_cast<double>(batch) / least_cpu);
  }

 private:
  void Step(size_t begin, size_t count) {
    std::vector<std::vector<int32_t>> prompts;
    for (size_t i = begin; i < begin + count; ++i) prompts.push_back(transitions_[i].prompt);
    const ListedPolicy::Scores now = policy_.Score(prompts, /*keep=*/true);
    const at::Tensor index =
        at::arange(static_cast<int64_t>(begin), static_cast<int64_t>(begin + count), at::kLong);
    const PpoLoss loss =
        ClippedPpoLoss(RowsOf(noted_, index, now.scores, now.values, o_.ppo), o_.ppo.loss);
    policy_.Backward(loss.dscores, loss.dvalues);
    trainer_.UpdateFor(loss.total, 1e-6);
  }

  const AgentRlOptions& o_;
  RlContext context_;
  Mlp head_;
  Trainer trainer_;
  ListedPolicy policy_;
  std::vector<Transition> transitions_;
  PpoInput noted_;
};

ExitCode Main(int argc, char** argv) {
  AgentRlOptions options;
  options.algorithm = &MakePpo;
  options.world.distractors = 3;
  options.threads = 1;
  std::string write;
  OptionSet set("ppo_bench", "Transitions per second of PPO's update step.");
  set.Group("Benchmark");
  set.Add("--write", write, "Also write the minibatches, for ppo_transformers.py");
  Declare(set, options);
  if (const auto code = set.Parse(argc, argv)) return *code;
  Check(options);
  KeepFreedMemory();
  const ScratchFolder folder;
  return RunInJob(options.distributed, options.threads, set.ResolvedJson(), [&](ProcessGroup*) {
    PpoBench bench(options, folder.path());
    if (!write.empty()) bench.Write(write);
    bench.Measure();
    return ExitCode::kOk;
  });
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] { return agentr::Main(argc, argv); });
}
