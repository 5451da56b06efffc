#include "rl/trees/tree_data.h"

#include <gmock/gmock.h>

#include "common/file.h"
#include "eval/episode_store.h"
#include "mcts/tree_file.h"
#include "revision/preference_rows.h"
#include "tasks/task_kinds.h"
#include "tests/common/scratch_folder.h"
#include "tests/training/data/row_helpers.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

Node TextCraftTurn(const std::string& action, const std::string& observation, double reward = 0,
                   End end = End::kNone) {
  Node node;
  node.action = action;
  node.response = "Thought: I go on.\nAction: " + action;
  node.observation = observation;
  node.reward = reward;
  node.end = end;
  return node;
}

// A TextCraft tree: "get 1 oak log" leads to success in one of two episodes, "get 2 oak log" never.
Tree CraftTree(int task_id, double best) {
  Tree tree({"textcraft", task_id, "hand", "", "{}"}, {{"user", "Craft."}, {"assistant", "Ok."}},
            "Goal: craft oak planks.");
  const int good = tree.Add(0, TextCraftTurn("get 1 oak log", "Got 1 oak log"));
  const int bad = tree.Add(0, TextCraftTurn("get 2 oak log", "Got 2 oak log"));
  for (const auto& [parent, reward] :
       {std::pair(good, best), std::pair(good, 0.0), std::pair(bad, 0.0), std::pair(bad, 0.0)}) {
    const std::string action =
        "craft " + std::to_string(tree.size()) + " oak planks using 1 oak log";
    tree.BackUp(tree.Add(parent, TextCraftTurn(action, "Crafted", reward, End::kDone)));
  }
  return tree;
}

class ReadTreeDataTest : public ::testing::Test {
 protected:
  void Write(int task_id, double best = 1) {
    WriteFileAtomically(
        folder_.path() / "textcraft/hand" / ("search_results_" + std::to_string(task_id) + ".json"),
        WriteTree(CraftTree(task_id, best), TreeFormat::kCompact));
  }
  TreeData Read(TreeAlgorithmKind kind) {
    options_.input.input_dir = folder_.path().string();
    return ReadTreeData(options_, kind, text_);
  }

  TreeData ReadPairs(const std::string& lines) {
    const std::filesystem::path file = folder_.path() / "pairs.jsonl";
    WriteFileAtomically(file, lines);
    TreeDataOptions options = options_;
    options.pairs = {file.string()};
    return ReadTreeData(options, TreeAlgorithmKind::kDpo, text_);
  }

  const ScratchFolder folder_;
  const RowTokenizer text_ = GoldenRowTokenizer("qwen2", "chatml");
  TreeDataOptions options_;
};

TEST_F(ReadTreeDataTest, PreferencesArePairsWithOnePrompt) {
  Write(101);
  Write(102);
  const TreeData data = Read(TreeAlgorithmKind::kDpo);
  // In each tree: the first step, and the two ends of the good one.
  ASSERT_EQ(data.items.size(), 4U);
  EXPECT_EQ(data.preferences.pairs, 4);
  for (const auto& item : data.items) {
    ASSERT_EQ(item.size(), 2U);
    const TrainingRow& chosen = data.responses[item[0]].row;
    const TrainingRow& rejected = data.responses[item[1]].row;
    ASSERT_EQ(chosen.trained[0].begin, rejected.trained[0].begin);
    const auto prompt = static_cast<std::ptrdiff_t>(chosen.trained[0].begin);
    EXPECT_TRUE(std::equal(chosen.ids.begin(), chosen.ids.begin() + prompt, rejected.ids.begin()));
    EXPECT_NE(chosen.ids, rejected.ids);
  }
  EXPECT_EQ(data.stretches, (std::vector<size_t>{0, 2}));  // one per tree
}

// What path_collect writes is learned as the trees are, to the token.
TEST_F(ReadTreeDataTest, PairsOfAFileAreLearnedAsThoseOfTrees) {
  Write(101);
  Write(102);
  const TreeData of_trees = Read(TreeAlgorithmKind::kDpo);
  const std::unique_ptr<TaskFamily> family = MakeTaskFamily("textcraft");
  std::string lines;
  for (const int task : {101, 102}) {
    const Tree tree = CraftTree(task, 1);
    PreferenceCounts counts;
    for (const Preference& pair :
         FindPreferences(tree, StateMap(tree, *family), *family, {}, counts)) {
      lines += PreferenceLine(tree, pair, "a tree", task);
    }
  }
  const TreeData of_file = ReadPairs(lines);
  ASSERT_EQ(of_file.items, of_trees.items);
  for (size_t i = 0; i < of_trees.responses.size(); ++i) {
    EXPECT_EQ(of_file.responses[i].row.ids, of_trees.responses[i].row.ids);
    EXPECT_EQ(of_file.responses[i].row.trained[0].begin,
              of_trees.responses[i].row.trained[0].begin);
  }
}

TEST_F(ReadTreeDataTest, APairThatIsNoneIsNamedWithItsLine) {
  const std::string prompt = R"({"prompt": [{"role": "user", "content": "Craft."}], )";
  const std::string chosen = R"("chosen": [{"role": "assistant", "content": "a"}], )";
  const std::string rejected = R"("rejected": [{"role": "assistant", "content": "b"}]})";
  EXPECT_EQ(ReadPairs(prompt + chosen + rejected + "\n").items.size(), 1U);
  const auto error = [&](const std::string& line) {
    return FatalErrorOf([&] { ReadPairs(prompt + chosen + rejected + "\n" + line + "\n"); });
  };
  EXPECT_THAT(error(prompt + R"("chosen": "a", )" + rejected),
              AllOf(HasSubstr("pairs.jsonl:2: \"chosen\" is not a list of messages"),
                    HasSubstr("path_collect --data_type preferences")));
  EXPECT_THAT(error(prompt + R"("chosen": [], )" + rejected),
              HasSubstr("\"chosen\" is not one message of the assistant"));
  EXPECT_THAT(
      error(R"({"prompt": [{"role": "assistant", "content": "Ok."}], )" + chosen + rejected),
      HasSubstr("\"prompt\" does not end with a message that can be answered"));
  EXPECT_THAT(error(prompt + chosen), HasSubstr("pairs.jsonl:2: "));
  EXPECT_THAT(error("[]"), HasSubstr("it is no JSON object"));
  EXPECT_THAT(error("{"), HasSubstr("pairs.jsonl:2: "));
  options_.max_length = 3;
  EXPECT_THAT(FatalErrorOf([&] { ReadPairs(prompt + chosen + rejected + "\n"); }),
              HasSubstr("1 preferences are longer than --max_length 3"));
}

TEST_F(ReadTreeDataTest, AwrLeavesOutWhatTheModelDidNotSay) {
  Tree tree = CraftTree(101, 1);
  Node slipped = TextCraftTurn("get 9 oak log", "Got 9 oak log", 0, End::kDone);
  slipped.slip = Slip{.said = "get 1 oak log"};
  tree.BackUp(tree.Add(0, slipped));
  WriteFileAtomically(folder_.path() / "textcraft/hand/search_results_101.json",
                      WriteTree(tree, TreeFormat::kCompact));
  EXPECT_EQ(Read(TreeAlgorithmKind::kAwr).items.size(), 6U);
}

TEST_F(ReadTreeDataTest, AwrTakesEveryVisitedResponse) {
  Write(101);
  const TreeData data = Read(TreeAlgorithmKind::kAwr);
  ASSERT_EQ(data.items.size(), 6U);
  EXPECT_NEAR(data.responses[0].advantage, 0.5 - 0.25, 1e-12);
}

TEST_F(ReadTreeDataTest, TreeGrpoLeavesOutWhatHasNoSignal) {
  Write(101);
  EXPECT_EQ(Read(TreeAlgorithmKind::kTreeGrpo).items.size(), 6U);
  Write(102, /*best=*/0);  // all episodes of this task fail
  const TreeData data = Read(TreeAlgorithmKind::kTreeGrpo);
  EXPECT_EQ(data.items.size(), 6U);
  EXPECT_EQ(data.counts.no_signal, 6);
}

// Four sampled responses with rewards 1, 1, 0, 0; the second and the third have no token that ends
// the turn.
TEST_F(ReadTreeDataTest, ResponsesThatTheLimitCutAreMaskedOrPunished) {
  Tree tree({"textcraft", 101, "hand", "", "{}"}, {{"user", "Craft."}, {"assistant", "Ok."}},
            "Goal: craft oak planks.");
  for (int i = 0; i < 4; ++i) {
    Node node =
        TextCraftTurn("get " + std::to_string(i) + " oak log", "Got", i < 2 ? 1 : 0, End::kDone);
    node.token_ids = text_.tokenizer->Encode(node.response, SpecialText::kPlain);
    if (i == 0 || i == 3) node.token_ids.push_back(text_.chat->stop_tokens()[0]);
    node.logprobs.assign(node.token_ids.size(), -0.5F);
    tree.BackUp(tree.Add(0, std::move(node)));
  }
  WriteFileAtomically(folder_.path() / "textcraft/hand/search_results_101.json",
                      WriteTree(tree, TreeFormat::kCompact));
  const auto advantages = [&](Overlong overlong) {
    options_.overlong = overlong;
    std::vector<double> all;
    for (const TreeResponse& response : Read(TreeAlgorithmKind::kTreeGrpo).responses) {
      EXPECT_FALSE(response.sampled.empty());
      all.push_back(response.advantage);
    }
    return all;
  };
  EXPECT_EQ(advantages(Overlong::kKeep), (std::vector<double>{1, 1, -1, -1}));
  EXPECT_EQ(advantages(Overlong::kMask), (std::vector<double>{1, -1}));
  // 1 - 1 is nothing to learn from.
  EXPECT_EQ(advantages(Overlong::kPunish), (std::vector<double>{1, -2, -1}));
}

// Three episodes begin with the same sampled response, of which the fourth has another; the last of
// their ends has no probabilities.
TEST_F(ReadTreeDataTest, PlayedResponsesCountAsOftenAsEpisodesHaveThem) {
  Tree tree({"textcraft", 101, "hand", "", "{}"}, {{"user", "Craft."}, {"assistant", "Ok."}},
            "Crafting commands:\ncraft 4 oak planks using 1 oak log\n\nGoal: craft oak planks.");
  const auto add = [&](int parent, const std::string& action, double reward, End end) {
    Node node = TextCraftTurn(action, "Got" + action.substr(3), reward, end);
    node.token_ids = text_.tokenizer->Encode(node.response, SpecialText::kPlain);
    node.token_ids.push_back(text_.chat->stop_tokens()[0]);
    if (action != "get 6 oak log") node.logprobs.assign(node.token_ids.size(), -0.5F);
    return tree.Add(parent, std::move(node));
  };
  const int shared = add(0, "get 1 oak log", 0, End::kNone);
  const int other = add(0, "get 2 oak log", 0, End::kNone);
  tree.BackUp(add(shared, "get 3 oak log", 1, End::kDone));
  tree.BackUp(add(shared, "get 4 oak log", 1, End::kDone));
  tree.BackUp(add(shared, "get 5 oak log", 0, End::kDone));
  tree.BackUp(add(other, "get 6 oak log", 0, End::kDone));
  std::vector<float> weights;
  std::vector<double> advantages;
  for (const TreeResponse& response : PlayedTreeData({tree}, options_, text_).responses) {
    weights.push_back(response.row.weight);
    advantages.push_back(response.advantage);
  }
  EXPECT_EQ(weights, (std::vector<float>{3, 1, 1, 1, 1}));
  ASSERT_EQ(advantages.size(), 5u);
  EXPECT_NEAR(advantages[0], 1.0 / 3, 1e-12);
  // With steps: those in the first state have returns of gamma, gamma, 0 and 0.
  options_.step_advantage = 0.5;
  options_.gamma = 0.9;
  options_.divide_by_std = false;
  const TreeData both = PlayedTreeData({tree}, options_, text_);
  const double episodes = 2.0 / 3 - 0.5, steps = 0.9 * 2 / 3 - 0.45;
  EXPECT_NEAR(both.responses[0].advantage, episodes + 0.5 * steps, 1e-12);
  EXPECT_TRUE(PlayedTreeData({}, options_, text_).items.empty());
}

TEST_F(ReadTreeDataTest, TestTasksAreLeftOut) {
  Write(101);
  Write(1);  // a test id of TextCraft
  EXPECT_EQ(Read(TreeAlgorithmKind::kAwr).counts.trees, 1);
}

TEST_F(ReadTreeDataTest, TheHashKnowsTheData) {
  Write(101);
  const std::string hash = Read(TreeAlgorithmKind::kDpo).hash;
  EXPECT_EQ(Read(TreeAlgorithmKind::kDpo).hash, hash);
  Write(102);
  EXPECT_NE(Read(TreeAlgorithmKind::kDpo).hash, hash);
}

TEST_F(ReadTreeDataTest, SaysWhyNothingCanBeLearned) {
  Write(101, /*best=*/0);
  EXPECT_THAT(FatalErrorOf([&] { Read(TreeAlgorithmKind::kDpo); }), HasSubstr("nearly equal"));
  std::filesystem::remove(folder_.path() / "textcraft/hand/search_results_101.json");
  Write(1);
  EXPECT_THAT(FatalErrorOf([&] { Read(TreeAlgorithmKind::kDpo); }),
              HasSubstr("1 of its tasks are test tasks"));
}

TEST_F(ReadTreeDataTest, KnowsAtWhichTemperatureTheTreesWereSampled) {
  Write(101);
  EXPECT_EQ(Read(TreeAlgorithmKind::kTreeGrpo).temperature, 1);
  Tree tree = CraftTree(102, 1);
  TreeOrigin origin = tree.origin();
  origin.search = R"({"temperature": 0.7})";
  Tree cool(origin, tree.instruction(), tree.root().observation);
  for (int i = 1; i < tree.size(); ++i) {
    Node node = tree.node(i);
    node.children.clear();
    cool.Restore(cool.Add(node.parent, node), tree.node(i).visits, tree.node(i).value);
  }
  WriteFileAtomically(folder_.path() / "textcraft/hand/search_results_102.json",
                      WriteTree(cool, TreeFormat::kCompact));
  EXPECT_EQ(Read(TreeAlgorithmKind::kTreeGrpo).temperature, 0.7);
}

// Groups of recorded episodes: what is no group, and what was cut before it said anything.
TEST_F(ReadTreeDataTest, EpisodesThatTeachNothingAreNamedOrLeftOut) {
  options_.episodes = (folder_.path() / "played/textcraft/model").string();
  FileEpisodeStore store(options_.episodes, "{}");
  const auto play = [&](int task_id, int attempt, double reward) {
    Episode episode;
    episode.task_id = task_id;
    episode.attempt = attempt;
    episode.reward = reward;
    episode.instruction = {{"user", "Craft."}, {"assistant", "Ok."}};
    episode.first_observation = "Goal: craft oak planks.";
    if (reward > 0) {
      episode.turns.push_back({TextCraftTurn("get 1 oak log", "Got 1 oak log")});
    } else {
      episode.end = EpisodeEnd::kCutTurn;
    }
    ASSERT_EQ(store.TryClaim(task_id, attempt), Claim::kMine);
    store.Commit(episode);
  };
  play(1, 0, 1);  // a test task
  play(101, 0, 1);
  EXPECT_THAT(FatalErrorOf([&] { Read(TreeAlgorithmKind::kTreeGrpo); }),
              AllOf(HasSubstr("1 of its tasks are test tasks"), HasSubstr("--split train"),
                    HasSubstr("2 of its tasks have one episode"), HasSubstr("--attempts 8")));
  play(101, 1, 0);
  const TreeData data = Read(TreeAlgorithmKind::kTreeGrpo);
  ASSERT_EQ(data.items.size(), 1U) << "the cut one has no response to learn from";
  EXPECT_NEAR(data.responses[0].advantage, 1, 1e-9);
}

}  // namespace
}  // namespace agentr
