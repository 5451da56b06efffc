#include "mcts/tree_print.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using testing::HasSubstr;
using testing::Not;

Tree PrintedTree() {
  Tree tree({"toy", 31, "m", "h", "{}"}, {{"user", "Play."}}, "You see a door.");
  const int open = tree.Add(0, Turn("open door", "It opens."));
  const int in = tree.Add(open, Turn("go in", "A hall."));
  tree.BackUp(tree.Add(in, Turn("wait", "Night falls.", 0.25, End::kDepth)));
  tree.BackUp(tree.Add(open, Turn("win", "Won!", 1, End::kDone)));
  tree.BackUp(tree.Add(0, Turn("burn", "Ouch.", 0, End::kDisaster)));
  tree.Add(0, Turn("look", "A door."));
  return tree;
}

TreePrintOptions Plain() {
  TreePrintOptions options;
  options.color = "never";
  return options;
}

TEST(TreePrintTest, Golden) {
  EXPECT_EQ(
      PrintTree(PrintedTree(), Plain()),
      R"(toy task 31, model m: 7 nodes, 3 ended leaves, depth 3, best reward 1, mean value 0.417
Each line: visits, mean value, [end, reward of a leaf] action -> observation

You see a door.

3 0.42 ROOT
├─ 2 0.62 open door -> It opens.
│  ├─ 1 0.25 go in -> A hall.
│  │  └─ 1 0.25 [depth limit 0.25] wait -> Night falls.
│  └─ 1 1.00 [done 1] win -> Won!
├─ 1 0.00 [disaster] burn -> Ouch.
└─ 0 0.00 look -> A door.
)");
}

// What models and environments say reaches the terminal as text only.
TEST(TreePrintTest, ControlCharactersAreWrittenOut) {
  const std::string hostile = "\x1b[2J\a\u009b31m\u202e";
  Tree tree({"toy", 1, "m" + hostile, "h", "{}"}, {{"user", "Play."}}, "one\ntwo" + hostile);
  Node node = Turn("act" + hostile, "seen" + hostile);
  node.response = "said" + hostile;
  tree.Add(0, node);
  TreePrintOptions options = Plain();
  options.responses = true;
  const std::string text = PrintTree(tree, options);
  for (const char* what : {"m", "one\ntwo", "act", "seen", "said"}) {
    EXPECT_THAT(text, HasSubstr(what + std::string(R"(\x1b[2J\x07\x9b31m\u202e)")));
  }
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
  EXPECT_THAT(text, Not(HasSubstr("\a")));
  EXPECT_THAT(text, Not(HasSubstr("\u009b")));
}

TEST(TreePrintTest, OnlyRewardedPaths) {
  TreePrintOptions options = Plain();
  options.rewarded = true;
  const std::string text = PrintTree(PrintedTree(), options);
  EXPECT_THAT(text, HasSubstr("└─ 2 0.62 open door"));
  EXPECT_THAT(text, Not(HasSubstr("burn")));
  EXPECT_THAT(text, Not(HasSubstr("look ->")));
}

TEST(TreePrintTest, OnlyTheFirstLevels) {
  TreePrintOptions options = Plain();
  options.levels = 1;
  const std::string text = PrintTree(PrintedTree(), options);
  EXPECT_THAT(text, HasSubstr("open door"));
  EXPECT_THAT(text, Not(HasSubstr("go in")));
}

TEST(TreePrintTest, WithResponses) {
  TreePrintOptions options = Plain();
  options.responses = true;
  EXPECT_THAT(PrintTree(PrintedTree(), options),
              HasSubstr("├─ 2 0.62 open door -> It opens.\n"
                        "│     Thought: idea 0. Action: open door\n"));
}

// Characters of a line in UTF-8.
long Columns(const std::string& line) {
  return std::ranges::count_if(
      line, [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

TEST(TreePrintTest, CutsLinesAtTheWidthBetweenCharacters) {
  TreePrintOptions options = Plain();
  options.width = 40;
  options.responses = true;
  Tree tree({"toy", 1, "m", "", "{}"}, {}, "Start");
  const int child = tree.Add(0, Turn("näxt", "Grüße aus dem Wald, es regnet immerzu und überall."));
  tree.Add(child, Turn("ünd", std::string(100, 'x')));
  std::istringstream lines(PrintTree(tree, options));
  std::string line;
  while (std::getline(lines, line) && line != "0 0.00 ROOT") {
  }
  int cut = 0;
  while (std::getline(lines, line)) {
    EXPECT_LE(Columns(line), 40) << line;
    if (line.ends_with("…")) ++cut;
  }
  EXPECT_GE(cut, 2);
}

TEST(TreePrintTest, ColoursEndedLeaves) {
  TreePrintOptions options = Plain();
  options.color = "always";
  const std::string text = PrintTree(PrintedTree(), options);
  EXPECT_THAT(text, HasSubstr("\x1b[32m│  └─ 1 1.00 [done 1] win -> Won!\x1b[0m\n"));
  EXPECT_THAT(text, HasSubstr("\x1b[31m├─ 1 0.00 [disaster] burn -> Ouch.\x1b[0m\n"));
  EXPECT_THAT(PrintTree(PrintedTree(), Plain()), Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace agentr
