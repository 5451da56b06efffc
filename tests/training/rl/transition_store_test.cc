// Transitions on disk: what was appended is read again, also after a kill at any byte.
#include "training/rl/transition_store.h"

#include <gtest/gtest.h>

#include <fstream>

#include "common/error.h"
#include "common/file.h"
#include "common/random.h"
#include "tests/cli/program.h"

namespace agentr {
namespace {

Transition Made(int64_t episode, int step, bool done) {
  RandomStream stream = RandomStream(static_cast<uint64_t>(episode)).Split(step);
  Transition t{episode, static_cast<int32_t>(episode % 3), step};
  for (uint64_t i = 0; i < stream.Below(20); ++i) t.prompt.push_back(static_cast<int32_t>(i * i));
  t.action = std::string("g\0 ", 3) + std::to_string(step);
  t.tokens = {4, 5, 6};
  t.logprobs = {-0.5f, -1.25f, -3e-7f};
  t.choice = step % 2 == 0 ? 3 : -1;
  t.value = 0.25f;
  t.weights_version = 7;
  t.reward = done ? 0.5f : -1.0f;
  t.done = done;
  t.truncated = done && episode == 1;
  return t;
}

// Two episodes of three steps, taking turns, and one step of a third.
std::vector<Transition> Several() {
  std::vector<Transition> all;
  for (int step = 0; step < 3; ++step) {
    for (int64_t episode = 0; episode < 2; ++episode) {
      all.push_back(Made(episode, step, step == 2));
    }
  }
  all.push_back(Made(2, 0, false));
  return all;
}

class Store : public ::testing::Test {
 protected:
  void Fill() const {
    TransitionStore store(path(), 0);
    for (const Transition& t : Several()) store.Append(t);
  }
  void ExpectFirst(int64_t count) const {
    const TransitionStore store(path());
    ASSERT_EQ(store.size(), count);
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(store.Read(i), Several()[static_cast<size_t>(i)]) << i;
    }
  }
  std::filesystem::path path() const { return folder_.path() / "sub/transitions"; }
  std::filesystem::path file() const { return folder_.path() / "sub/transitions.bin"; }

  ScratchFolder folder_;
};

TEST_F(Store, KeepsTransitionsAndEpisodes) {
  Fill();
  ExpectFirst(7);
  const TransitionStore store(path());
  EXPECT_EQ(store.Next(0), 2);
  EXPECT_EQ(store.Next(2), 4);
  EXPECT_EQ(store.Next(4), -1);  // done
  EXPECT_EQ(store.Next(6), -1);  // nothing follows yet
  ASSERT_EQ(store.episodes().size(), 2u);
  EXPECT_EQ(store.episodes()[1].transitions, (std::vector<int64_t>{1, 3, 5}));
  EXPECT_EQ(store.episodes()[1].total, -1.5);
  EXPECT_FALSE(store.episodes()[0].truncated);
  EXPECT_TRUE(store.episodes()[1].truncated);
}

TEST_F(Store, ATornRecordIsCutOffAndTheNextOneFollows) {
  Fill();
  const std::string whole = ReadFile(file());
  const std::vector<Transition> all = Several();
  int64_t kept = 0;  // whole records
  for (size_t bytes = 0; bytes < whole.size(); bytes += 7) {
    const std::string torn = whole.substr(0, bytes);
    WriteFileAtomically(file(), torn);
    try {
      TransitionStore more(path(), kept + 1);
      ++kept;
    } catch (const FatalError&) {
      EXPECT_EQ(ReadFile(file()), torn) << "what is left stays";
    }
    {
      TransitionStore store(path(), kept);
      ASSERT_EQ(store.size(), kept);
      for (auto i = static_cast<size_t>(kept); i < all.size(); ++i) store.Append(all[i]);
    }
    ASSERT_EQ(ReadFile(file()), whole) << "torn at byte " << bytes << ", kept " << kept;
  }
  EXPECT_EQ(kept, 6);
}

// A machine that crashed may leave zeros at the end.
TEST_F(Store, ZerosAreNoRecords) {
  Fill();
  WriteFileAtomically(file(), ReadFile(file()) + std::string(64, '\0'));
  ExpectFirst(7);
}

TEST_F(Store, ReadingChangesNothing) {
  EXPECT_THROW(TransitionStore store(path()), FatalError);
  EXPECT_FALSE(std::filesystem::exists(file().parent_path()));
  Fill();
  const std::string torn = ReadFile(file()) + "torn";
  WriteFileAtomically(file(), torn);
  EXPECT_EQ(TransitionStore(file()).size(), 7);
  EXPECT_EQ(ReadFile(file()), torn);
  WriteFileAtomically(file(), torn.substr(0, 20));
  EXPECT_THROW(TransitionStore store(path()), FatalError) << "no transition";
}

TEST_F(Store, ForgetsWhatIsBehindACheckpoint) {
  Fill();
  const std::string whole = ReadFile(file());
  {
    TransitionStore store(path(), 5);
    EXPECT_EQ(store.size(), 5);
    EXPECT_EQ(store.episodes().size(), 1u);
    store.Append(Several()[5]);
    EXPECT_EQ(store.episodes().size(), 2u);
    store.Append(Several()[6]);
  }
  EXPECT_EQ(ReadFile(file()), whole);
  ExpectFirst(7);
}

TEST_F(Store, RefusesOtherFilesAndDamage) {
  Fill();
  std::string whole = ReadFile(file());
  const TransitionStore store(path());
  whole[40] = static_cast<char>(whole[40] ^ 1);
  {
    std::ofstream out(file(), std::ios::binary | std::ios::in);
    out << whole;
  }
  EXPECT_THROW(store.Read(0), FatalError);
  WriteFileAtomically(file(), "something else");
  const auto open_files = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                         std::filesystem::directory_iterator());
  };
  const auto before = open_files();
  for (int i = 0; i < 3; ++i) EXPECT_THROW(TransitionStore other(path()), FatalError);
  EXPECT_EQ(open_files(), before) << "a refused file is closed";
}

}  // namespace
}  // namespace agentr
