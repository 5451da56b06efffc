// Transitions on disk: what was appended is read again, also after a kill at any byte.
#include "rl/transition_store.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>

#include "common/file.h"
#include "common/random.h"
#include "tests/cli/program.h"
#include "tests/common/fatal_error.h"
#include "training/tensorboard.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const TokenSpace kTokens = {std::string(32, 'a') + std::string(32, '1'), 400};
constexpr size_t kHeaderBytes = 8 + 64 + 4;

Transition Made(int64_t episode, int step, bool done) {
  RandomStream stream = RandomStream(static_cast<uint64_t>(episode)).Split(step);
  Transition t{episode, static_cast<int32_t>(episode % 3), step};
  for (uint64_t i = 0; i <= stream.Below(20); ++i) t.prompt.push_back(static_cast<int32_t>(i * i));
  t.choice.text = std::string("g\0 ", 3) + std::to_string(step);
  t.choice.tokens = {4, 5, 6};
  t.choice.logprobs = {-0.5f, -1.25f, -3e-7f};
  t.choice.listed = step % 2 == 0 ? 3 : -1;
  t.choice.value = 0.25f;
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
    TransitionStore store(path(), kTokens, 0);
    for (const Transition& t : Several()) store.Append(t);
  }
  void ExpectFirst(int64_t count) const {
    const TransitionStore store(path(), kTokens);
    ASSERT_EQ(store.size(), count);
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(store.Read(i), Several()[static_cast<size_t>(i)]) << i;
    }
  }
  std::filesystem::path path() const { return folder_.path() / "sub/transitions"; }
  std::filesystem::path file() const { return folder_.path() / "sub/transitions.bin"; }

  // The file of another run, with `change` made to the body of its record 2. An earlier release
  // wrote the records behind another, shorter header.
  void FillWith(const std::function<void(std::string& body)>& change, bool earlier = false) const {
    Fill();
    std::string bytes = ReadFile(file());
    size_t begin = kHeaderBytes;
    uint32_t size = 0;
    for (int i = 0; i < 2; ++i) {
      std::memcpy(&size, bytes.data() + begin, sizeof size);
      begin += 8 + size;
    }
    std::memcpy(&size, bytes.data() + begin, sizeof size);
    std::string body = bytes.substr(begin + 8, size);
    change(body);
    const auto length = static_cast<uint32_t>(body.size()), crc = Crc32c(body);
    std::string head(8, ' ');
    std::memcpy(head.data(), &length, 4);
    std::memcpy(head.data() + 4, &crc, 4);
    bytes.replace(begin, 8 + size, head + body);
    if (earlier) bytes.replace(0, kHeaderBytes, "agentrl1");
    WriteFileAtomically(file(), bytes);
  }
  std::string RefusalOf(const TokenSpace& tokens, ExitCode code) const {
    return FatalErrorOf(code, [&] { TransitionStore(path(), tokens); });
  }

  ScratchFolder folder_;
};

constexpr auto kUnchanged = [](std::string&) {};
// The last fields of a record: reward (float), done, truncated.
constexpr size_t kReward = 6;

TEST_F(Store, KeepsTransitionsAndEpisodes) {
  Fill();
  ExpectFirst(7);
  const TransitionStore store(path(), kTokens);
  EXPECT_EQ(store.Next(0), 2);
  EXPECT_EQ(store.Next(2), 4);
  EXPECT_EQ(store.Next(4), -1);  // done
  EXPECT_EQ(store.Next(6), -1);  // nothing follows yet
  ASSERT_EQ(store.episodes().size(), 2u);
  EXPECT_EQ(store.episodes()[1].transitions, (std::vector<int64_t>{1, 3, 5}));
  EXPECT_EQ(store.episodes()[1].total, -1.5);
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
      TransitionStore more(path(), kTokens, kept + 1);
      ++kept;
    } catch (const FatalError&) {
      EXPECT_EQ(ReadFile(file()), torn) << "what is left stays";
    }
    {
      TransitionStore store(path(), kTokens, kept);
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
  EXPECT_THROW(TransitionStore store(path(), kTokens), FatalError);
  EXPECT_FALSE(std::filesystem::exists(file().parent_path()));
  Fill();
  const std::string torn = ReadFile(file()) + "torn";
  WriteFileAtomically(file(), torn);
  EXPECT_EQ(TransitionStore(file(), kTokens).size(), 7);
  EXPECT_EQ(ReadFile(file()), torn);
  WriteFileAtomically(file(), torn.substr(0, kHeaderBytes + 12));
  EXPECT_THROW(TransitionStore store(path(), kTokens), FatalError) << "no transition";
}

TEST_F(Store, ForgetsWhatIsBehindACheckpoint) {
  Fill();
  const std::string whole = ReadFile(file());
  {
    TransitionStore store(path(), kTokens, 5);
    EXPECT_EQ(store.size(), 5);
    EXPECT_EQ(store.episodes().size(), 1u);
    store.Append(Several()[5]);
    EXPECT_EQ(store.episodes().size(), 2u);
    store.Append(Several()[6]);
  }
  EXPECT_EQ(ReadFile(file()), whole);
  ExpectFirst(7);
}

TEST_F(Store, AnotherTokenizerIsRefused) {
  Fill();
  const TokenSpace other = {std::string(64, 'b'), 400};
  EXPECT_THAT(RefusalOf(other, ExitCode::kUsage),
              AllOf(HasSubstr("with another tokenizer than that of --model_dir"),
                    HasSubstr("begins with aaaaaaaa, not bbbbbbbb"), HasSubstr("Cure: ")));
  const std::string before = ReadFile(file());
  EXPECT_THROW(TransitionStore(path(), other, 3), FatalError);
  EXPECT_EQ(ReadFile(file()), before) << "what is there stays";
  // Nothing of it is kept in a new run.
  { TransitionStore store(path(), other, 0); }
  EXPECT_EQ(RefusalOf(kTokens, ExitCode::kUsage).find("has no transitions"), std::string::npos);
  EXPECT_THAT(RefusalOf(other, ExitCode::kFile), HasSubstr("has no transitions"));
}

TEST_F(Store, TransitionsWithoutTokensAreNotForAModel) {
  { TransitionStore(path(), {}, 0).Append({.choice = {.text = "left"}}); }
  EXPECT_EQ(TransitionStore(path(), {}).size(), 1);
  EXPECT_THAT(RefusalOf(kTokens, ExitCode::kUsage), HasSubstr("without a language model"));
}

TEST_F(Store, FilesOfEarlierReleasesAreReadAndContinued) {
  FillWith(kUnchanged, /*earlier=*/true);
  ExpectFirst(7);
  EXPECT_FALSE(TransitionStore(path(), kTokens).tokenizer_known());
  const std::string whole = ReadFile(file());
  {
    TransitionStore store(path(), kTokens, 5);
    store.Append(Several()[5]);
    store.Append(Several()[6]);
    EXPECT_EQ(store.Description(), fmt::format("7 transitions in {} bytes", whole.size()));
  }
  EXPECT_EQ(ReadFile(file()), whole);
}

TEST_F(Store, IdsThatTheModelDoesNotHaveAreRefused) {
  for (const bool earlier : {false, true}) {
    FillWith(kUnchanged, earlier);
    EXPECT_THAT(RefusalOf({kTokens.tokenizer, 5}, ExitCode::kFile),
                HasSubstr("but the model has the ids 0 to 4: nothing can be learned from it"));
  }
}

TEST_F(Store, NumbersThatAreNotFiniteAreRefused) {
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    for (const bool earlier : {false, true}) {
      FillWith(
          [&](std::string& body) { std::memcpy(&body[body.size() - kReward], &bad, sizeof bad); },
          earlier);
      EXPECT_THAT(RefusalOf(kTokens, ExitCode::kFile), HasSubstr("transition 2 has a reward of"));
    }
    TransitionStore store(path(), kTokens, 0);
    Transition t = Made(0, 0, false);
    t.reward = bad;
    EXPECT_THROW(store.Append(t), FatalError);
    t.reward = 0;
    t.choice.value = bad;
    EXPECT_THROW(store.Append(t), FatalError);
    t.choice.value = 0;
    t.choice.logprobs[1] = bad;
    EXPECT_THROW(store.Append(t), FatalError);
    EXPECT_EQ(store.size(), 0);
  }
}

TEST_F(Store, EmptyPromptsAndActionsAreRefused) {
  TransitionStore store(path(), kTokens, 0);
  Transition t = Made(0, 0, false);
  t.prompt.clear();
  EXPECT_THROW(store.Append(t), FatalError);
  t = Made(0, 0, false);
  t.choice.tokens.clear();
  EXPECT_THROW(store.Append(t), FatalError);
  t.choice.tokens = {-1};
  EXPECT_THROW(store.Append(t), FatalError);
}

TEST_F(Store, RecordsOfAnotherLengthAreRefused) {
  FillWith([](std::string& body) { body += "x"; });
  EXPECT_THAT(RefusalOf(kTokens, ExitCode::kFile), HasSubstr("transition 2 is longer than"));
  FillWith([](std::string& body) { body.pop_back(); });
  EXPECT_THAT(RefusalOf(kTokens, ExitCode::kFile), HasSubstr("transition 2 is shorter than"));
}

TEST_F(Store, ADamagedHeaderIsRefused) {
  Fill();
  std::string bytes = ReadFile(file());
  bytes[30] = static_cast<char>(bytes[30] ^ 1);
  WriteFileAtomically(file(), bytes);
  EXPECT_THAT(RefusalOf(kTokens, ExitCode::kFile), HasSubstr("its first 76 bytes are damaged"));
}

// Two recordings of equal size are told apart.
TEST_F(Store, ItsDescriptionDependsOnEveryByte) {
  Fill();
  const std::string before = TransitionStore(path(), kTokens).Description();
  FillWith([](std::string& body) { body[body.size() - 1] ^= 1; });
  EXPECT_NE(TransitionStore(path(), kTokens).Description(), before);
}

TEST_F(Store, RefusesOtherFilesAndDamage) {
  Fill();
  std::string whole = ReadFile(file());
  const TransitionStore store(path(), kTokens);
  whole[kHeaderBytes + 32] = static_cast<char>(whole[kHeaderBytes + 32] ^ 1);
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
  for (int i = 0; i < 3; ++i) EXPECT_THROW(TransitionStore other(path(), kTokens), FatalError);
  EXPECT_EQ(open_files(), before) << "a refused file is closed";
}

}  // namespace
}  // namespace agentr
