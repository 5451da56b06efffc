#include "tests/bench/step_truth.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/text.h"
#include "games/webshop/shop_generator.h"
#include "games/webshop/webshop.h"
#include "tasks/sciworld/sciworld_family.h"
#include "tasks/sciworld/sciworld_planner.h"
#include "tasks/textcraft/textcraft_planner.h"

namespace agentr {
namespace {

constexpr double kRewardTolerance = 1e-9;

class TextCraftTruth : public StepTruth {
 public:
  Outlook From(const Tree& tree, int node) override {
    const std::optional<TextCraftView> view = ReadTextCraft(tree.Conversation(node));
    const int steps = view ? static_cast<int>(PlanTextCraft(*view).size()) : 0;
    return {steps > 0 ? 1.0 : 0.0, steps};
  }
};

// The built-in shop, in which the paths of trees are replayed.
class WebShopGoalTruth : public StepTruth {
 public:
  WebShopGoalTruth()
      : shop_(GenerateShop(kDefaultShopSize, kDefaultShopSeed), {kDefaultShopSeed}),
        goals_(shop_.catalogue(), false) {}

  Outlook From(const Tree& tree, int node) override {
    const auto [known, is_new] = clicks_.try_emplace({tree.origin().task_id, node});
    if (is_new) known->second = Clicks(tree, node);
    return {1, known->second};
  }

 private:
  WebShopState StateAt(const Tree& tree, int node) const {
    if (tree.origin().data_hash != shop_.data_hash()) {
      throw FatalError(ExitCode::kUsage, "the trees come from another shop than the built-in one");
    }
    WebShopState state = shop_.Start(static_cast<size_t>(tree.origin().task_id));
    for (const int at : tree.Path(node)) {
      if (at != 0) shop_.Step(state, tree.node(at).action);
    }
    return state;
  }

  int Clicks(const Tree& tree, int node) {
    LookUp(tree.origin().task_id);
    const WebShopState state = StateAt(tree, node);
    const int wanted = static_cast<int>(goal_.options.size());
    const int from_results = 1 + wanted + 1;  // open it, choose, buy
    if (state.place == ShopPlace::kResults) {
      const std::string page = shop_.Observation(state);
      const bool listed = std::ranges::any_of(right_, [&](const Product* product) {
        return page.find(product->asin) != std::string::npos;
      });
      return listed ? from_results : 1 + from_results;
    }
    const bool sub_page = state.place == ShopPlace::kSubPage;
    if (state.place == ShopPlace::kItem || sub_page) {
      const Product& here = shop_.catalogue().products()[state.product];
      if (std::ranges::find(right_, &here) != right_.end()) {
        std::vector<std::string_view> chosen;
        for (const ShopChoice& choice : state.chosen) chosen.push_back(choice.value);
        const int met = RewardOf(here, chosen, goal_).options_met;
        return (sub_page ? 1 : 0) + wanted - met + 1;
      }
    }
    return 1 + from_results;  // a search for its title finds it
  }

  // The products that give the full reward with the right options.
  void LookUp(int task) {
    if (task == task_) return;
    task_ = task;
    goal_ = goals_.At(static_cast<size_t>(task));
    right_.clear();
    for (const Product& product : shop_.catalogue().products()) {
      std::vector<std::string_view> all;
      for (const ProductOption& option : product.options) {
        all.insert(all.end(), option.values.begin(), option.values.end());
      }
      if (RewardOf(product, all, goal_).reward >= 1) right_.push_back(&product);
    }
  }

  const WebShop shop_;
  const ShopGoals goals_;
  std::map<std::pair<int, int>, int> clicks_;  // by task and node
  int task_ = -1;
  ShopGoal goal_;
  std::vector<const Product*> right_;
};

class SciWorldTruth : public StepTruth {
 public:
  explicit SciWorldTruth(GoldSource& gold) : gold_(gold) {}

  Outlook From(const Tree& tree, int node) override {
    if (tree.origin().task_id != task_) {
      task_ = tree.origin().task_id;
      const auto gold = gold_.GoldFor(task_);
      if (!gold) throw FatalError(ExitCode::kUnavailable, gold.error().message);
      steps_ = SciWorldSteps(*gold);
    }
    if (tree.node(node).end == End::kDisaster) return {};
    std::vector<std::string> actions;
    for (const int at : tree.Path(node)) {
      if (at != 0) actions.push_back(SciWorldKey(tree.node(at).action));
    }
    const auto taken = SciWorldStepsTaken(steps_, actions);
    return {1, static_cast<int>(steps_.size() - taken)};
  }

 private:
  GoldSource& gold_;
  // Some steps of a task give a score without being steps of the solution.
  bool TrustsRewards() const override { return true; }

  int task_ = -1;
  std::vector<std::string> steps_;
};

class PlayerTruth : public StepTruth {
 public:
  PlayerTruth(Environment& environment, const ScriptedPolicy& policy)
      : environment_(environment), policy_(policy) {}

  Outlook From(const Tree& tree, int node) override {
    const auto [known, is_new] = outlooks_.try_emplace({tree.origin().task_id, node});
    if (is_new) {
      Result<Outlook> outlook = Play(tree, node);
      if (!outlook) throw FatalError(ExitCode::kUnavailable, outlook.error().message);
      known->second = *outlook;
    }
    return known->second;
  }

 private:
  Result<Outlook> Play(const Tree& tree, int node) {
    constexpr int kMostSteps = 100;
    if (tree.node(node).end != End::kNone) return Outlook{tree.node(node).reward, 0};
    const int task = tree.origin().task_id;
    if (session_ == nullptr) {
      AGENTR_ASSIGN_OR_RETURN(session_, environment_.Open());
    }
    AGENTR_RETURN_IF_ERROR(session_->Reset(task));
    for (const int at : tree.Path(node)) {
      if (at != 0) AGENTR_RETURN_IF_ERROR(session_->Step(tree.node(at).action));
    }
    std::vector<Message> conversation = tree.Conversation(node);
    double best = tree.node(node).reward;
    int steps_to_best = 0;
    for (int steps = 1; steps <= kMostSteps; ++steps) {
      AGENTR_ASSIGN_OR_RETURN(const auto state, policy_.read(conversation, task));
      const std::string action = state ? state->Plan() : "";
      AGENTR_ASSIGN_OR_RETURN(const StepResult step, session_->Step(action));
      if (step.reward > best) {
        best = step.reward;
        steps_to_best = steps;
      }
      if (step.done) break;
      conversation.push_back({"assistant", "Action: " + action});
      conversation.push_back({"user", OneLine(step.observation)});
    }
    return Outlook{best, steps_to_best};
  }

  Environment& environment_;
  const ScriptedPolicy& policy_;
  std::unique_ptr<Session> session_;
  std::map<std::pair<int, int>, Outlook> outlooks_;  // by task and node
};

}  // namespace

bool StepTruth::IsWrong(const Tree& tree, int node) {
  const int parent = tree.node(node).parent;
  const Outlook before = From(tree, parent);
  const Outlook after = From(tree, node);
  if (before.reward <= 0) return false;
  if (TrustsRewards() && tree.node(node).reward > tree.node(parent).reward) return false;
  if (std::abs(after.reward - before.reward) > kRewardTolerance) {
    return after.reward < before.reward;
  }
  return after.steps >= before.steps;
}

bool StepTruth::IsHarmful(const Tree& tree, int node) {
  const Outlook before = From(tree, tree.node(node).parent);
  const Outlook after = From(tree, node);
  if (std::abs(after.reward - before.reward) > kRewardTolerance) {
    return after.reward < before.reward;
  }
  return after.steps > before.steps;
}

std::unique_ptr<StepTruth> MakeStepTruth(std::string_view name, const TruthSources& sources) {
  if (name == "textcraft") return std::make_unique<TextCraftTruth>();
  if (name == "webshop") return std::make_unique<WebShopGoalTruth>();
  if (name == "sciworld" && sources.gold != nullptr) {
    return std::make_unique<SciWorldTruth>(*sources.gold);
  }
  if (name == "player" && sources.policy != nullptr) {
    return std::make_unique<PlayerTruth>(sources.environment, *sources.policy);
  }
  throw FatalError(ExitCode::kUsage, "there is no referee " + std::string(name));
}

}  // namespace agentr
