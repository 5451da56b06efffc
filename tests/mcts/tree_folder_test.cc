#include "mcts/tree_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "common/file.h"
#include "mcts/tree_file.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FindTreesTest : public ::testing::Test {
 protected:
  // A file of that name below the folder, written `age` hours ago.
  void Write(const std::string& name, int age = 0) {
    WriteFileAtomically(folder_.path() / name, "{}");
    const auto now = fs::file_time_type::clock::now();
    fs::last_write_time(folder_.path() / name, now - std::chrono::hours(age));
  }

  TreeInput Find(TreeInputOptions options = {}) {
    options.input_dir = (folder_.path() / options.input_dir).string();
    return FindTrees(options);
  }

  static std::vector<int> Ids(const TreeInput& input) {
    std::vector<int> ids;
    for (const TreeFile& file : input.files) ids.push_back(file.task_id);
    return ids;
  }

  const ScratchFolder folder_;
};

TEST_F(FindTreesTest, TakesWhatWasWrittenLast) {
  Write("mcts_result/webshop/planner/search_results_1.json", 5);
  Write("mcts_result/textcraft/planner/search_results_31.json", 3);
  Write("mcts_result/textcraft/planner/search_results_4.json", 2);
  Write("mcts_result/textcraft/random/search_results_5.json", 4);
  const TreeInput input = Find();
  EXPECT_EQ(input.task, "textcraft");
  EXPECT_EQ(input.model, "planner");
  EXPECT_THAT(Ids(input), ElementsAre(4, 31));
}

TEST_F(FindTreesTest, TaskAndModelCanBeNamed) {
  Write("mcts_result/webshop/planner/search_results_1.json", 5);
  Write("mcts_result/webshop/org_model/search_results_2.json", 7);
  Write("mcts_result/textcraft/planner/search_results_3.json", 3);
  EXPECT_THAT(Ids(Find({.task = "webshop"})), ElementsAre(1));
  EXPECT_THAT(Ids(Find({.model_name = "org/model"})), ElementsAre(2));
}

TEST_F(FindTreesTest, AFolderOfTreesIsTakenItself) {
  Write("old/webshop/planner/search_results_8.json");
  const TreeInput input = Find({.input_dir = "old/webshop/planner/"});
  EXPECT_EQ(input.task, "webshop");
  EXPECT_EQ(input.model, "planner");
  EXPECT_THAT(Ids(input), ElementsAre(8));
}

TEST_F(FindTreesTest, OnlyTreeFilesOfTheRange) {
  for (const char* name :
       {"search_results_1.json", "search_results_12.json", "run.json", "search_results_x.json",
        "search_results_.json", ".claims", "search_results_12.json.bak", "search_results_-1.json",
        ".search_results_7.json.tmp", "search_results_99999999999.json"}) {
    Write(std::string("mcts_result/toy/m/") + name);
  }
  EXPECT_THAT(Ids(Find()), ElementsAre(1, 12));
  EXPECT_THAT(Ids(Find({.min = 2})), ElementsAre(12));
  EXPECT_THAT(Ids(Find({.max = 12})), ElementsAre(1));
}

TEST_F(FindTreesTest, WithoutTreesItSaysWhatToDo) {
  EXPECT_THAT(FileErrorOf([&] { Find({.task = "webshop"}); }), HasSubstr("mcts_collect"));
}

// Of toy task 3, with one finished action.
Tree TreeOf(double reward) {
  Tree tree({"toy", 3, "m", "h", "{}"}, {{"user", "Play."}}, "Start");
  tree.BackUp(tree.Add(0, Turn("a", "A", reward, End::kDone)));
  return tree;
}

std::string LoadError(const Tree& tree, int task_id, const std::string& family) {
  return FatalErrorOf(ExitCode::kFile, [&] {
    LoadTree({task_id, "folder/tree.json"}, family, WriteTree(tree, TreeFormat::kCompact));
  });
}

TEST(LoadTreeTest, HoldsTheTaskOfItsName) {
  const Tree tree = TreeOf(1);
  EXPECT_EQ(LoadError(tree, 3, "toy"), "");
  EXPECT_THAT(LoadError(tree, 4, "toy"), HasSubstr("folder/tree.json: contains toy task 3"));
  EXPECT_THAT(LoadError(tree, 3, "webshop"), HasSubstr("contains toy task 3"));
}

TEST(LoadTreeTest, RewardsAreSharesOfOne) {
  EXPECT_THAT(LoadError(TreeOf(45), 3, "toy"), HasSubstr("reward 45"));
  EXPECT_THAT(LoadError(TreeOf(-0.5), 3, "toy"), HasSubstr("reward -0.5"));
}

// In whatever order the nodes were made.
TEST(LoadTreeTest, NodesAreDepthFirst) {
  Tree made = TreeOf(1);
  const int first = made.Add(0, Turn("b", "B"));
  const int second = made.Add(0, Turn("c", "C", 0.5, End::kDone));
  const int below = made.Add(first, Turn("d", "D", 0.25, End::kDepth));
  made.BackUp(second);
  made.BackUp(below);
  const std::string text = WriteTree(made, TreeFormat::kCompact);
  const Tree tree = LoadTree({made.origin().task_id, "tree.json"}, "toy", text);
  ASSERT_EQ(tree.size(), made.size());
  std::vector<std::string> actions;
  for (int i = 0; i < tree.size(); ++i) {
    const Node& node = tree.node(i);
    actions.push_back(node.action);
    for (const int child : node.children) EXPECT_GT(child, i);
    if (node.action == "d") {
      EXPECT_EQ(tree.node(node.parent).action, "b");
      EXPECT_EQ(node.visits, 1);
      EXPECT_EQ(node.value, 0.25);
      EXPECT_EQ(node.end, End::kDepth);
      EXPECT_TRUE(node.terminal);
    }
  }
  ASSERT_GE(actions.size(), 3U);
  EXPECT_THAT(std::vector(actions.end() - 3, actions.end()), ElementsAre("b", "d", "c"));
  EXPECT_EQ(tree.root().visits, made.root().visits);
  EXPECT_EQ(tree.origin().data_hash, made.origin().data_hash);
}

// Made by hand, with the fields of Agent-R's own files.
TEST(LoadTreeTest, ReadsTheOriginalFormat) {
  const fs::path path = fs::path(AGENTR_SOURCE_DIR) / "tests/data/revision/search_results_31.json";
  const Tree tree = LoadTree({31, path}, "textcraft", ReadFile(path));
  ASSERT_EQ(tree.size(), 5);
  EXPECT_EQ(tree.instruction().size(), 3U);
  EXPECT_EQ(tree.root().observation, "Goal: craft stick.");
  EXPECT_EQ(tree.node(3).action, "craft 4 stick using 2 oak planks");
  EXPECT_EQ(tree.node(3).end, End::kDone);
  EXPECT_EQ(tree.node(3).reward, 1);
  EXPECT_EQ(tree.node(4).end, End::kDisaster);
  EXPECT_EQ(tree.node(4).parent, 1);
}

}  // namespace
}  // namespace agentr
