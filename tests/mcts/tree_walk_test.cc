#include "mcts/tree_walk.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// 0 start, 1 open door, 2 go in, 3 wait (0.25), 4 win (1), 5 burn.
Tree WalkedTree() {
  Tree tree({"toy", 31, "m", "h", "{}"}, {{"user", "Play."}}, "You see a door.");
  const int open = tree.Add(0, Turn("open door", "It opens."));
  const int in = tree.Add(open, Turn("go in", "A hall."));
  tree.BackUp(tree.Add(in, Turn("wait", "Night falls.", 0.25, End::kDepth)));
  tree.BackUp(tree.Add(open, Turn("win", "Won\x1b[2J!", 1, End::kDone)));
  tree.BackUp(tree.Add(0, Turn("burn", "Ouch.", 0, End::kDisaster)));
  return tree;
}

std::vector<std::string> Lines(const std::string& screen) {
  std::vector<std::string> lines;
  std::istringstream text(screen);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

class TreeWalkTest : public testing::Test {
 protected:
  // The node that is selected after the keys.
  int After(std::initializer_list<WalkKey> keys) {
    for (const WalkKey key : keys) walk_.Press(key);
    return walk_.selected();
  }

  const Tree tree_ = WalkedTree();
  TreeWalk walk_{tree_};
};

TEST_F(TreeWalkTest, BeginsWithTheBestPathUnfolded) {
  EXPECT_EQ(walk_.selected(), 0);
  const std::string screen = walk_.Screen(20, 60);
  EXPECT_THAT(screen, AllOf(HasSubstr("open door -> It opens."), HasSubstr("win"),
                            HasSubstr("go in"), Not(HasSubstr("wait"))));
}

TEST_F(TreeWalkTest, MovesBetweenTheLinesThatAreShown) {
  EXPECT_EQ(After({WalkKey::kDown}), 1);
  EXPECT_EQ(After({WalkKey::kDown, WalkKey::kDown}), 4) << "go in is folded";
  EXPECT_EQ(After({WalkKey::kEnd}), 5);
  EXPECT_EQ(After({WalkKey::kDown}), 5);
  EXPECT_EQ(After({WalkKey::kPageUp}), 0);
  EXPECT_EQ(After({WalkKey::kUp}), 0);
}

TEST_F(TreeWalkTest, UnfoldsAndFolds) {
  EXPECT_EQ(After({WalkKey::kDown, WalkKey::kDown, WalkKey::kRight}), 2);
  EXPECT_THAT(walk_.Screen(20, 60), HasSubstr("wait"));
  EXPECT_EQ(After({WalkKey::kRight}), 3);
  EXPECT_EQ(After({WalkKey::kRight}), 3) << "a leaf has nothing to unfold";
  EXPECT_EQ(After({WalkKey::kLeft}), 2);
  EXPECT_EQ(After({WalkKey::kLeft}), 2) << "folded";
  EXPECT_THAT(walk_.Screen(20, 60), Not(HasSubstr("wait")));
  EXPECT_EQ(After({WalkKey::kLeft}), 1);
  EXPECT_EQ(After({WalkKey::kToggle, WalkKey::kDown}), 5) << "folded again";
  EXPECT_EQ(After({WalkKey::kBest}), 4) << "its path is unfolded";
}

TEST_F(TreeWalkTest, TheScreenHasTheSizeOfTheTerminal) {
  After({WalkKey::kBest});
  for (const int rows : {5, 12, 40}) {
    const std::vector<std::string> lines = Lines(walk_.Screen(rows, 30) + "\n");
    EXPECT_EQ(lines.size(), rows);
  }
  const std::string screen = walk_.Screen(12, 30);
  EXPECT_THAT(screen, HasSubstr("\x1b[7m"));
  EXPECT_THAT(screen, AllOf(Not(HasSubstr("Won\x1b")), HasSubstr("Won\\x1b[2J!")));
}

TEST(ParseKeyTest, KnowsTheKeysOfTerminals) {
  const auto keys = [](std::string_view bytes) {
    std::vector<WalkKey> found;
    while (!bytes.empty()) {
      size_t size = 0;
      found.push_back(ParseKey(bytes, size));
      bytes.remove_prefix(size);
    }
    return found;
  };
  EXPECT_THAT(keys("\x1b[A\x1bOBx\x1b[6~\rq"),
              ElementsAre(WalkKey::kUp, WalkKey::kDown, WalkKey::kNone, WalkKey::kPageDown,
                          WalkKey::kToggle, WalkKey::kQuit));
}

}  // namespace
}  // namespace agentr
