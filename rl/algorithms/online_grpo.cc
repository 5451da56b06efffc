// GRPO that plays: every iteration plays groups of episodes with the present weights, and then
// makes one step or more on them. (GRPO on recorded groups is rl/trees/tree_learning.h.)
//
// Groups without a difference are left out and others drawn (dynamic sampling of Yu et al. 2025,
// "DAPO"); with --step_advantage episodes of equal rewards above 0 differ by the number of their
// turns. The log-probabilities of the old policy are those that the sampler notes: of the model's
// own distribution, which plays at --temperature 1 and at no other. Each response is trained once
// per iteration.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/clock.h"
#include "eval/task_episodes.h"
#include "lm/weights/model_config.h"
#include "rl/rl_context.h"
#include "rl/trees/episode_tree.h"
#include "rl/trees/tree_learning.h"
#include "training/start_model.h"
#include "training/trainer.h"

namespace agentr {
namespace {

double Share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// What was played, in numbers.
class PlayedSums {
 public:
  PlayedSums(double success, const std::vector<int32_t>& stop_tokens)
      : success_(success), stop_tokens_(stop_tokens) {}

  void Add(const Episode& episode) {
    if (!HasResult(episode.end)) {
      ++failed_;
      return;
    }
    ++episodes_;
    reward_ += episode.reward;
    successes_ += IsSuccess(episode, success_) ? 1 : 0;
    for (const EpisodeTurn& turn : episode.turns) {
      ++turns_;
      refused_ += turn.refused ? 1 : 0;
      unreadable_ += turn.action.empty() ? 1 : 0;
      AddResponse(turn.token_ids, turn.logprobs);
    }
    if (episode.end != EpisodeEnd::kCutTurn) return;
    ++unreadable_;
    AddResponse(episode.cut_ids, episode.cut_logprobs);
  }

  double turns() const { return turns_; }
  double tokens() const { return tokens_; }

  nlohmann::ordered_json ToJson() const {
    nlohmann::ordered_json json = {{"episodes", episodes_},
                                   {"return", Share(reward_, episodes_)},
                                   {"success", Share(successes_, episodes_)},
                                   {"length", Share(turns_, episodes_)},
                                   {"entropy", Share(0 - logprob_, tokens_)},
                                   {"refused", Share(refused_, turns_)},
                                   {"unreadable", Share(unreadable_, responses_)},
                                   {"cut", Share(cut_, responses_)},
                                   {"response_tokens", Share(tokens_, responses_)}};
    if (failed_ > 0) json["failed"] = failed_;
    return json;
  }

 private:
  void AddResponse(const std::vector<int32_t>& ids, const std::vector<float>& logprobs) {
    ++responses_;
    tokens_ += static_cast<double>(ids.size());
    for (const float logprob : logprobs) logprob_ += logprob;
    cut_ += ids.empty() || std::ranges::count(stop_tokens_, ids.back()) == 0 ? 1 : 0;
  }

  const double success_;
  const std::vector<int32_t>& stop_tokens_;
  double episodes_ = 0, failed_ = 0, reward_ = 0, successes_ = 0;
  double turns_ = 0;      // whose action was taken, or refused
  double responses_ = 0;  // and those that had none
  double refused_ = 0, unreadable_ = 0;
  double cut_ = 0;  // by the limit of tokens
  double tokens_ = 0, logprob_ = 0;
};

class OnlineGrpo : public Algorithm {
 public:
  explicit OnlineGrpo(RlContext& context)
      : context_(context),
        o_(context.options()),
        text_(LoadRowTokenizer(o_.start.dir, o_.trees.chat_template)),
        data_options_(TreeDataOptionsOf(o_)),
        objective_options_(TreeObjectiveOptionsOf(o_)),
        network_(context.policy().network()),
        trainer_(network_, o_.adamw, {}, context.group()),
        player_(context.task_player()),
        tasks_(player_.Tasks(o_.tasks.split, /*learn=*/true)) {
    if (context.writes()) WarnOfTemperature(o_.tasks.temperature, "");
    if (objective_options_.grpo.kl > 0) {
      const ModelConfig config = ReadModelConfig(o_.start.dir);
      start_.emplace(config, *FirstWeights(o_.start, config, o_.seed), NetworkOptions{});
    }
    if (o_.eval_episodes == 0) return;
    evaluated_ = player_.Tasks(o_.tasks.eval_split, /*learn=*/false);
    evaluated_.resize(std::min(evaluated_.size(), static_cast<size_t>(o_.eval_episodes)));
  }

  nlohmann::ordered_json Iterate(int64_t iteration) override {
    std::optional<Groups> groups = PlayGroups(iteration);
    if (!groups) return nullptr;
    const TreeData data = PlayedTreeData(groups->trees, data_options_, text_);
    return {{"play", std::move(groups->metrics)}, {"train", Learn(data, iteration)}};
  }

  // One episode of each of the tasks that nothing is learned from.
  nlohmann::ordered_json Evaluate(int64_t /*iteration*/) override {
    LoadPresent();
    std::vector<EpisodeStart> starts;
    for (const int id : evaluated_) starts.push_back({id});
    const auto episodes = player_.Play(starts, o_.eval_greedy ? 0 : 1,
                                       RandomStream(o_.seed).Split("evaluation").Next());
    if (!episodes) return nullptr;
    PlayedSums sums = NewSums();
    for (const Episode& episode : *episodes) sums.Add(episode);
    return sums.ToJson();
  }

  std::vector<Updater*> trainers() override { return {&trainer_}; }

 private:
  struct Groups {
    std::vector<Tree> trees;  // of the groups with a difference
    nlohmann::ordered_json metrics;
  };

  PlayedSums NewSums() const {
    return {player_.family().SuccessReward(), text_.chat->stop_tokens()};
  }

  // A checkpoint is loaded after the construction.
  void LoadPresent() {
    if (loaded_ == trainer_.optimizer_steps()) return;
    loaded_ = trainer_.optimizer_steps();
    player_.Load(loaded_);
  }

  // Plays until there are --groups groups with a difference, or tasks were drawn --draws times;
  // nullopt if a signal came.
  std::optional<Groups> PlayGroups(int64_t iteration) {
    const auto begin = std::chrono::steady_clock::now();
    LoadPresent();
    const auto wanted = static_cast<size_t>(o_.tasks.groups);
    std::vector<int> order = tasks_;
    context_.Random("tasks", iteration).Shuffle(order);
    const uint64_t seed = context_.Random("play", iteration).Next();
    Groups groups;
    PlayedSums sums = NewSums();
    size_t drawn = 0;
    for (int draw = 0; draw < o_.tasks.draws && groups.trees.size() < wanted; ++draw) {
      const size_t end = std::min(drawn + wanted - groups.trees.size(), order.size());
      std::vector<EpisodeStart> starts;
      for (; drawn < end; ++drawn) {
        for (int attempt = 0; attempt < o_.tasks.attempts; ++attempt) {
          starts.push_back({order[drawn], attempt});
        }
      }
      if (starts.empty()) break;
      const auto episodes = player_.Play(starts, o_.tasks.temperature, seed);
      if (!episodes) return std::nullopt;
      for (const Episode& episode : *episodes) sums.Add(episode);
      AddGroups(*episodes, groups.trees);
    }
    context_.AddPlayed({SecondsSince(begin), static_cast<int64_t>(sums.turns()),
                        static_cast<int64_t>(sums.tokens())});
    groups.metrics = sums.ToJson();
    groups.metrics["groups"] = drawn;
    groups.metrics["kept"] =
        Share(static_cast<double>(groups.trees.size()), static_cast<double>(drawn));
    return groups;
  }

  // Adds the groups from which something can be learned.
  void AddGroups(const std::vector<Episode>& episodes, std::vector<Tree>& trees) const {
    const auto size = static_cast<size_t>(o_.tasks.attempts);
    for (size_t first = 0; first < episodes.size(); first += size) {
      std::vector<Episode> group;
      for (size_t i = first; i < first + size; ++i) {
        const Episode& episode = episodes[i];
        const bool said = !episode.turns.empty() || !episode.cut_ids.empty();
        if (HasResult(episode.end) && said) group.push_back(episode);
      }
      if (group.empty()) continue;
      const auto [least, most] = std::ranges::minmax(group, {}, &Episode::reward);
      const bool by_steps = data_options_.step_advantage > 0 && most.reward > 0;
      if (most.reward - least.reward < 1e-9 && !by_steps) continue;
      trees.push_back(TreeOfEpisodes(std::string(player_.family().name()), group));
    }
  }

  // Divides the responses into --updates parts, with neighbours in one part where possible, and
  // makes a step on each.
  nlohmann::ordered_json Learn(const TreeData& data, int64_t iteration) {
    TreeObjective objective(objective_options_, TreeAlgorithmKind::kTreeGrpo, data, network_,
                            context_.group());
    if (start_ && !data.items.empty()) objective.UseReference(*start_);
    const std::vector<size_t> order = OrderOf(data, context_.Random("order", iteration));
    const int64_t updates = o_.experience.updates;
    const auto parts = std::min(static_cast<size_t>(updates), order.size());
    nlohmann::ordered_json sums = nlohmann::ordered_json::object();
    double tokens = 0;
    for (size_t part = 0; part < parts; ++part) {
      const size_t begin = order.size() * part / parts, end = order.size() * (part + 1) / parts;
      const int64_t step = iteration * updates + static_cast<int64_t>(part);
      const TreeStepReport report =
          objective.AddGradients(std::span(order).subspan(begin, end - begin));
      const double rate = LearningRate(o_.schedule, step, updates * o_.iterations);
      const StepReport update = trainer_.UpdateFor(report.loss, rate);
      nlohmann::ordered_json one = ToJson(report, TreeAlgorithmKind::kTreeGrpo);
      one["kl"] = report.moved;
      one["gradient_norm"] = update.gradient_norm;
      one["lr"] = rate;
      for (auto& [name, value] : one.items()) {
        sums[name] = sums.value(name, 0.0) + value.get<double>() / static_cast<double>(parts);
      }
      tokens += static_cast<double>(report.distinct_tokens);
    }
    sums["distinct_tokens"] = tokens;
    sums["updates"] = parts;
    if (data.counts.too_long > 0) sums["too_long"] = data.counts.too_long;
    return sums;
  }

  // All items, stretch by stretch.
  static std::vector<size_t> OrderOf(const TreeData& data, RandomStream random) {
    std::vector<size_t> stretches(data.stretches.size());
    for (size_t i = 0; i < stretches.size(); ++i) stretches[i] = i;
    random.Shuffle(stretches);
    std::vector<size_t> order;
    for (const size_t stretch : stretches) {
      const size_t end =
          stretch + 1 < data.stretches.size() ? data.stretches[stretch + 1] : data.items.size();
      for (size_t item = data.stretches[stretch]; item < end; ++item) order.push_back(item);
    }
    return order;
  }

  RlContext& context_;
  const AgentRlOptions& o_;
  const RowTokenizer text_;
  const TreeDataOptions data_options_;
  const TreeObjectiveOptions objective_options_;
  Network& network_;
  Trainer trainer_;
  TaskPlayer& player_;
  const std::vector<int> tasks_;
  std::vector<int> evaluated_;
  std::optional<Network> start_;  // the weights before training, with --grpo_kl
  int64_t loaded_ = -1;           // optimiser steps of the weights that play
};

}  // namespace

std::unique_ptr<Algorithm> MakeGrpo(RlContext& context) {
  if (PlaysTasks(context.options())) return std::make_unique<OnlineGrpo>(context);
  return MakeTreeGrpo(context);
}

}  // namespace agentr
