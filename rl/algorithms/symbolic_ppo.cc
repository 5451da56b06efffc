// PPO of a recurrent network on BabyAI's image and mission: the baseline of GLAM (Carta et al.
// 2023) that knows no language.
//
// An iteration is cut into pieces of --recurrence steps, each of which begins with the memory
// noted while playing; a step of the optimiser goes through --batch / --recurrence pieces, and its
// loss is the mean over all their transitions. At an episode's beginning the memory is 0. Norms use
// the statistics of the agents that are together at a step, in playing and in learning alike, so
// that the policy that is scored is about the one that played; evaluations use running averages.
#include <c10/core/GradMode.h>

#include <span>
#include <utility>

#include "common/json_fields.h"
#include "rl/algorithms/ppo_rollout.h"
#include "rl/losses/returns.h"
#include "rl/networks/symbolic_network.h"
#include "rl/rl_context.h"
#include "rl/worlds/symbolic_state.h"
#include "training/model/divergence.h"
#include "training/optim/schedule.h"

namespace agentr {
namespace {

using at::Tensor;

// The step of all slots, with the memory that the network was given.
struct SymbolicStep {
  SymbolicStates states;
  Tensor memory;
};

class SymbolicPlayer : public Actor {
 public:
  // While learning (`batch_statistics`), steps are noted.
  SymbolicPlayer(const SymbolicNetwork& network, size_t slots, bool batch_statistics, bool greedy)
      : network_(network),
        batch_statistics_(batch_statistics),
        greedy_(greedy),
        memory_(at::zeros({static_cast<int64_t>(slots), SymbolicNetwork::kMemory}, at::kFloat)) {}

  std::vector<Choice> Act(const World& world, std::span<const std::vector<int32_t>> /*prompts*/,
                          const RandomStream& random) override {
    SymbolicStep step = Now(world);
    const SymbolicNetwork::Output output = Forward(step);
    memory_.copy_(output.memory);
    if (batch_statistics_) noted_.push_back(std::move(step));
    return ChooseListed(world.actions(), output.scores, output.values, random, greedy_);
  }

  // Of the current states.
  Tensor Values(const World& world) { return Forward(Now(world)).values; }

  std::vector<SymbolicStep> TakeNoted() { return std::exchange(noted_, {}); }

  const Tensor& memory() const { return memory_; }  // of all slots
  MissionWords& words() { return words_; }
  const MissionWords& words() const { return words_; }

  int64_t weights_version() const override { return version_; }
  void set_weights_version(int64_t version) { version_ = version; }

 private:
  SymbolicStep Now(const World& world) {
    const auto& batch = dynamic_cast<const BabyAiBatch&>(world.environment());
    SymbolicStep step{ReadStates(batch, words_), {}};
    step.memory = memory_ * step.states.goes_on;
    return step;
  }
  SymbolicNetwork::Output Forward(const SymbolicStep& step) const {
    const c10::NoGradGuard no_gradients;
    return network_.Forward(step.states.images, network_.ReadMissions(step.states.missions),
                            step.memory, batch_statistics_);
  }

  const SymbolicNetwork& network_;
  const bool batch_statistics_, greedy_;
  const Tensor memory_;
  MissionWords words_{SymbolicNetwork::kWords};
  std::vector<SymbolicStep> noted_;
  int64_t version_ = 0;
};

// The transitions of an iteration: number t of slot i is row t * slots + i.
struct SymbolicBlock {
  SymbolicStep rows;
  PpoInput noted;
};

class SymbolicPpo : public Algorithm {
 public:
  explicit SymbolicPpo(RlContext& context)
      : context_(context),
        o_(context.options()),
        slots_(static_cast<int64_t>(context.world().size())),
        network_(static_cast<int64_t>(context.world().actions().size()), o_.seed),
        trainer_(network_.parameters(), o_.adamw),
        player_(network_, context.world().size(), /*batch_statistics=*/true, /*greedy=*/false) {}

  nlohmann::ordered_json Iterate(int64_t iteration) override {
    player_.set_weights_version(trainer_.optimizer_steps());
    const PlayResult play =
        context_.recorder().Play(player_, o_.experience.steps, context_.Random("play", iteration));
    const SymbolicBlock block = ReadBlock();
    nlohmann::ordered_json metrics = {{"play", play.ToJson()}};
    metrics["train"] = Learn(block, iteration);
    metrics["train"]["explained_variance"] =
        ExplainedVariance(block.noted.old_values, block.noted.returns);
    return metrics;
  }

  nlohmann::ordered_json Evaluate(int64_t iteration) override {
    SymbolicPlayer player = Examinee(o_.eval_greedy);
    return context_.EvaluateActor(iteration, player);
  }

  void CheckAnswer() override {
    SymbolicPlayer player = Examinee(/*greedy=*/false);
    RequireFinite(player.Values(context_.world()), "the network");
  }

  std::vector<Updater*> trainers() override { return {&trainer_}; }
  std::vector<Parameter> followers() override {
    std::vector<Parameter> all = network_.statistics();
    all.push_back({"memory", player_.memory(), {}, false});
    return all;
  }
  nlohmann::ordered_json State() const override { return {{"words", player_.words().seen()}}; }
  void Restore(const nlohmann::json& state) override {
    player_.words().set_seen(JsonField<std::vector<std::string>>(state, "words"));
  }

 private:
  // Has the words that are known now, of which it keeps a copy, and changes nothing.
  SymbolicPlayer Examinee(bool greedy) const {
    SymbolicPlayer player(network_, static_cast<size_t>(slots_), /*batch_statistics=*/false,
                          greedy);
    player.words() = player_.words();
    return player;
  }

  SymbolicBlock ReadBlock() {
    const std::vector<Transition> transitions =
        LastTransitions(context_.store(), o_.experience.steps, slots_);
    std::vector<Tensor> images, missions, goes_on, memory;
    for (const SymbolicStep& step : player_.TakeNoted()) {
      images.push_back(step.states.images);
      missions.push_back(step.states.missions);
      goes_on.push_back(step.states.goes_on);
      memory.push_back(step.memory);
    }
    return {{{at::cat(images), at::cat(missions), at::cat(goes_on)}, at::cat(memory)},
            WithAdvantages(transitions, player_.Values(context_.world()), o_)};
  }

  nlohmann::ordered_json Learn(const SymbolicBlock& block, int64_t iteration) {
    PpoSums sums;
    const double rate = LearningRate(o_.schedule, iteration, o_.iterations);
    std::vector<int64_t> starts;  // rows
    for (int t = 0; t < o_.experience.steps; t += o_.ppo.recurrence) {
      for (int64_t slot = 0; slot < slots_; ++slot) starts.push_back(t * slots_ + slot);
    }
    const auto batch = static_cast<size_t>(o_.experience.batch / o_.ppo.recurrence);
    ForEachMinibatch(std::move(starts), batch, o_.ppo.epochs,
                     context_.Random("symbolic_ppo", iteration),
                     [&](std::span<const int64_t> chosen) {
                       const at::ArrayRef<int64_t> rows(chosen.data(), chosen.size());
                       LearnBatch(block, at::tensor(rows, at::kLong), rate, sums);
                     });
    return sums.ToJson();
  }

  // `starts`: the first rows of the pieces.
  void LearnBatch(const SymbolicBlock& block, const Tensor& starts, double rate, PpoSums& sums) {
    const SymbolicStates& states = block.rows.states;
    const int64_t count = starts.size(0);
    std::vector<Tensor> of_steps;
    for (int i = 0; i < o_.ppo.recurrence; ++i) of_steps.push_back(starts + i * slots_);
    const Tensor rows = at::cat(of_steps);
    const Tensor missions = network_.ReadMissions(states.missions.index_select(0, rows));
    Tensor memory = block.rows.memory.index_select(0, starts);
    std::vector<Tensor> scores, values;
    for (int64_t i = 0; i < o_.ppo.recurrence; ++i) {
      const Tensor& step = of_steps[static_cast<size_t>(i)];
      if (i > 0) memory = memory * states.goes_on.index_select(0, step);
      const SymbolicNetwork::Output output =
          network_.Forward(states.images.index_select(0, step),
                           missions.narrow(0, i * count, count), memory, /*batch_statistics=*/true);
      scores.push_back(output.scores);
      values.push_back(output.values);
      memory = output.memory;
    }
    const Tensor all_scores = at::cat(scores), all_values = at::cat(values);
    const PpoLoss loss = ClippedPpoLoss(
        RowsOf(block.noted, rows, all_scores.detach(), all_values.detach(), o_.ppo), o_.ppo.loss);
    ((all_scores * loss.dscores).sum() + (all_values * loss.dvalues).sum()).backward();
    sums.Add(loss, trainer_.UpdateFor(loss.total, rate));
  }

  RlContext& context_;
  const AgentRlOptions& o_;
  const int64_t slots_;
  SymbolicNetwork network_;
  Updater trainer_;
  SymbolicPlayer player_;
};

}  // namespace

std::unique_ptr<Algorithm> MakeSymbolicPpo(RlContext& context) {
  const AgentRlOptions& o = context.options();
  if (o.world.task != WorldKind::kBabyAi) {
    throw FatalError(ExitCode::kUsage, "--algorithm symbolic_ppo needs --task babyai");
  }
  if (o.experience.steps % o.ppo.recurrence != 0 || o.experience.batch < o.ppo.recurrence) {
    throw FatalError(ExitCode::kUsage,
                     "--algorithm symbolic_ppo needs --steps that are a multiple of --recurrence, "
                     "and a --batch of at least --recurrence");
  }
  return std::make_unique<SymbolicPpo>(context);
}

}  // namespace agentr
