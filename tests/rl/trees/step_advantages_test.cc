#include "rl/trees/step_advantages.h"

#include <gmock/gmock.h>

#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "common/file.h"
#include "rl/trees/episode_tree.h"
#include "rl/trees/tree_rows.h"
#include "tasks/task_kinds.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

constexpr double kGamma = 0.9;

// An episode of one-letter actions. The state of the hand-made task are the letters so far in any
// order, without "-", which changes nothing.
struct HandEpisode {
  std::string actions;
  double reward = 0;
};
const std::vector<HandEpisode> kGroup = {
    {"abc", 1}, {"ba-c", 1}, {"ab--", 0}, {"-abd", 0.5}, {"c", 0}};

std::string StateAfter(std::string actions) {
  std::erase(actions, '-');
  std::ranges::sort(actions);
  return actions;
}

Tree TreeOf(const std::vector<HandEpisode>& group) {
  std::vector<Episode> episodes;
  for (const HandEpisode& played : group) {
    Episode& episode = episodes.emplace_back();
    episode.task_id = 7;
    episode.reward = played.reward;
    episode.first_observation = "Goal.";
    for (const char action : played.actions) {
      EpisodeTurn& turn = episode.turns.emplace_back();
      turn.action = std::string(1, action);
      turn.response = "Action: " + turn.action;
    }
  }
  return TreeOfEpisodes("toy", episodes);
}

std::string ActionsTo(const Tree& tree, int node) {
  std::string actions;
  for (const int at : tree.Path(node)) actions += tree.node(at).action;
  return actions;
}

// The keys of the states behind all nodes; "" where the task has ended, with "x" or "y".
std::vector<std::vector<std::string>> KeysOf(const Tree& tree) {
  std::vector<std::vector<std::string>> keys(1);
  for (int node = 0; node < tree.size(); ++node) {
    const std::string actions = ActionsTo(tree, node);
    const bool ended = actions.ends_with('x') || actions.ends_with('y');
    keys[0].push_back(ended ? "" : "state " + StateAfter(actions));
  }
  return keys;
}

// The standard score of `value` among `all`, or its distance from their mean.
double ScoreAmong(const std::vector<double>& all, double value, bool divide_by_std) {
  const auto n = static_cast<double>(all.size());
  const double mean = std::accumulate(all.begin(), all.end(), 0.0) / n;
  const double squares = std::inner_product(all.begin(), all.end(), all.begin(), 0.0);
  const double deviation = std::sqrt(std::max(0.0, squares / n - mean * mean));
  if (deviation < 1e-7) return 0;
  return (value - mean) / (divide_by_std ? deviation : 1);
}

// Every step of every episode by itself, as the paper defines it: the node's advantage is the mean
// of those that a node has become.
std::vector<double> ByBruteForce(const Tree& tree, bool divide_by_std) {
  struct Flat {
    std::string path;  // actions up to the step, itself included
    std::string state;
    double value = 0;
    bool last = false;
  };
  std::vector<Flat> steps;
  for (const HandEpisode& played : kGroup) {
    for (size_t t = 0; t < played.actions.size(); ++t) {
      const size_t left = played.actions.size() - 1 - t;
      steps.push_back({played.actions.substr(0, t + 1), StateAfter(played.actions.substr(0, t)),
                       std::pow(kGamma, static_cast<double>(left)) * played.reward, left == 0});
    }
  }
  std::vector<double> advantages(static_cast<size_t>(tree.size()));
  for (int node = 1; node < tree.size(); ++node) {
    double sum = 0, count = 0;
    for (const Flat& step : steps) {
      if (step.path != ActionsTo(tree, node) || step.last != tree.node(node).children.empty()) {
        continue;
      }
      std::vector<double> group;
      for (const Flat& other : steps) {
        if (other.state == step.state) group.push_back(other.value);
      }
      sum += ScoreAmong(group, step.value, divide_by_std);
      ++count;
    }
    advantages[static_cast<size_t>(node)] = sum / count;
  }
  return advantages;
}

TEST(TreeStepAdvantages, AreThoseOfEveryStepAmongThoseInItsState) {
  const Tree tree = TreeOf(kGroup);
  const auto keys = KeysOf(tree);
  for (const bool divide_by_std : {true, false}) {
    const std::vector<double> found = TreeStepAdvantages({&tree}, keys, kGamma, divide_by_std)[0];
    const std::vector<double> expected = ByBruteForce(tree, divide_by_std);
    ASSERT_EQ(found.size(), expected.size());
    double size = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      EXPECT_NEAR(found[i], expected[i], 1e-9) << i << " " << ActionsTo(tree, static_cast<int>(i));
      size += std::abs(found[i]);
    }
    EXPECT_GT(size, 1);
  }
}

// GiGPO's own code divides by the deviation of a sample, n - 1 for n, and we by that of the
// population; a node has the mean of the steps that it has become.
TEST(TreeStepAdvantages, AreThoseOfTheAuthorsCode) {
  const auto golden =
      nlohmann::json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/rl/gigpo_advantages.json"));
  std::vector<HandEpisode> group;
  std::map<std::string, double> steps_of_state;
  for (const auto& episode : golden["episodes"]) {
    group.push_back({episode["actions"], episode["reward"]});
    const std::string& actions = group.back().actions;
    for (size_t t = 0; t < actions.size(); ++t) ++steps_of_state[StateAfter(actions.substr(0, t))];
  }
  const Tree tree = TreeOf(group);
  const auto keys = KeysOf(tree);
  for (const auto& [mode, by_std] : {std::pair("mean_norm", false), {"mean_std_norm", true}}) {
    const auto found = TreeStepAdvantages({&tree}, keys, golden["gamma"], by_std)[0];
    const auto of_episodes = TreeGroupAdvantages({&tree}, by_std)[0];
    const double population =
        std::sqrt(static_cast<double>(group.size()) / static_cast<double>(group.size() - 1));
    for (int node = 1; node < tree.size(); ++node) {
      const std::string actions = ActionsTo(tree, node);
      const size_t t = actions.size() - 1;
      const bool last = tree.node(node).children.empty();
      double steps = 0, episodes = 0, count = 0;
      for (size_t e = 0; e < group.size(); ++e) {
        if (!group[e].actions.starts_with(actions)) continue;
        if ((group[e].actions.size() == actions.size()) != last) continue;
        const double episode = golden[mode]["episode"][e][t];
        steps += golden[mode]["whole"][e][t].get<double>() - episode;
        episodes += episode;
        ++count;
      }
      const double n = steps_of_state[StateAfter(actions.substr(0, t))];
      const double of_state = by_std && n > 1 ? std::sqrt(n / (n - 1)) : 1;
      const auto at = static_cast<size_t>(node);
      EXPECT_NEAR(found[at], of_state * steps / count, 2e-5) << mode << " " << actions;
      EXPECT_NEAR(of_episodes[at], (by_std ? population : 1) * episodes / count, 2e-5)
          << mode << " " << actions;
    }
  }
}

// GraphGPO as the paper defines it for success and failure: omega to the power of the distance to a
// success from the state behind the step; one more than the farthest state's where there is no way.
// "x" ends a task with a success, "y" with a failure; without both the episode was cut off.
TEST(TreeStepAdvantages, OfAGraphAreThoseOfShortestWays) {
  constexpr double kOmega = 0.1, kFar = 1000;
  const std::vector<HandEpisode> group = {{"abx", 1}, {"bay", 0},  {"cab", 0}, {"-a-b", 0},
                                          {"ccx", 1}, {"ac-y", 0}, {"cbbc", 0}};
  const Tree tree = TreeOf(group);
  // Distances by relaxing every edge as often as there are states.
  std::map<std::string, double> distance = {{"success", 0}, {"failure", kFar}};
  std::vector<std::array<std::string, 2>> edges;
  std::vector<std::string> taken;  // the actions up to each edge
  for (const HandEpisode& played : group) {
    for (size_t t = 0; t < played.actions.size(); ++t) {
      const char action = played.actions[t];
      edges.push_back({StateAfter(played.actions.substr(0, t)),
                       action == 'x'   ? "success"
                       : action == 'y' ? "failure"
                                       : StateAfter(played.actions.substr(0, t + 1))});
      taken.push_back(played.actions.substr(0, t + 1));
      for (const std::string& state : edges.back()) distance.emplace(state, kFar);
    }
  }
  for (size_t round = 0; round < distance.size(); ++round) {
    for (const auto& [from, to] : edges)
      distance[from] = std::min(distance[from], distance[to] + 1);
  }
  double farthest = 0;
  for (const auto& [state, steps] : distance) {
    if (steps < kFar) farthest = std::max(farthest, steps);
  }
  EXPECT_EQ(farthest, 3);
  const auto value = [&](const std::string& state) {
    return std::pow(kOmega, std::min(distance[state], farthest + 1));
  };
  const auto found = TreeStepAdvantages({&tree}, KeysOf(tree), kOmega, true, StepReturn::kGraph)[0];
  double size = 0;
  for (int node = 1; node < tree.size(); ++node) {
    const std::string actions = ActionsTo(tree, node);
    const std::string from = StateAfter(actions.substr(0, actions.size() - 1));
    std::vector<double> values;
    double own = 0;
    for (size_t e = 0; e < edges.size(); ++e) {
      if (edges[e][0] != from) continue;
      values.push_back(value(edges[e][1]));
      if (taken[e] == actions) own = values.back();
    }
    const double expected = ScoreAmong(values, own, true);
    EXPECT_NEAR(found[static_cast<size_t>(node)], expected, 1e-6) << actions;
    size += std::abs(expected);
  }
  EXPECT_GT(size, 5);
}

// The step that two episodes took, of which one fails later, is on the shorter way.
TEST(TreeStepAdvantages, OfAGraphSeeProgressInAFailure) {
  const Tree tree = TreeOf({{"abx", 1}, {"c-bax", 1}, {"ac", 0}});
  const auto found = TreeStepAdvantages({&tree}, KeysOf(tree), 0.5, false, StepReturn::kGraph)[0];
  const auto of = [&](const std::string& actions) {
    double sum = 0;
    for (int node = 1; node < tree.size(); ++node) {
      if (ActionsTo(tree, node) == actions) sum += found[static_cast<size_t>(node)];
    }
    return sum;
  };
  EXPECT_GT(of("a"), 0);
  EXPECT_LT(of("c"), 0);
  EXPECT_LT(of("ac"), 0);
}

// TextCraft's states are what is held; the way there does not matter.
TEST(StateKeys, AreEqualForEqualStatesOfTheFamily) {
  Tree tree({"textcraft", 40, "hand", "", "{}"}, {{"user", "Craft."}, {"assistant", "Ok."}},
            "Crafting commands:\ncraft 4 oak planks using 1 oak log\n"
            "craft 4 birch planks using 1 birch log\n\nGoal: craft oak planks.");
  const auto add = [&](int parent, const std::string& action, const std::string& answer) {
    Node node;
    node.action = action;
    node.response = "Action: " + action;
    node.observation = answer;
    return tree.Add(parent, std::move(node));
  };
  const int oak = add(0, "get 1 oak log", "Got 1 oak log");
  const int birch = add(0, "get 1 birch log", "Got 1 birch log");
  const int both = add(oak, "get 1 birch log", "Got 1 birch log");
  const int same = add(birch, "get 1 oak log", "Got 1 oak log");
  const int refused = add(same, "get 1 fish", "Could not find fish");
  for (const int parent : {both, refused}) add(parent, "inventory", "Inventory: [oak log] (1)");
  const auto family = MakeTaskFamily("textcraft");
  const std::vector<std::string> keys = StateKeys({&tree}, *family)[0];
  const auto key = [&](int node) { return keys[static_cast<size_t>(node)]; };
  EXPECT_EQ(key(both), key(same));
  EXPECT_EQ(key(refused), key(same));
  EXPECT_NE(key(oak), key(birch));
  EXPECT_NE(key(oak), key(both));
  EXPECT_NE(key(0), key(oak));
  EXPECT_TRUE(key(both).starts_with("state "));
}

// A family that knows no states has those that equal actions lead to.
TEST(StateKeys, AreTheActionsWhereTheFamilyKnowsNoStates) {
  const ToyFamily family;
  const Tree tree = TreeOf({{"ab", 1}, {"ac", 0}, {"ba", 0}});
  const std::vector<std::string> keys = StateKeys({&tree}, family)[0];
  EXPECT_EQ(std::ranges::count_if(keys, [](const std::string& k) { return !k.empty(); }), 3);
  EXPECT_NE(keys[0], keys[1]);
}

}  // namespace
}  // namespace agentr
