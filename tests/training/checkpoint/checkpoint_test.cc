#include "training/checkpoint/checkpoint.h"

#include <gmock/gmock.h>

#include <cmath>

#include "common/file.h"
#include "common/hash.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"
#include "tests/training/finite_difference.h"
#include "training/model/divergence.h"

namespace agentr {
namespace {

CheckpointTensors Tensors(uint64_t seed) {
  CheckpointTensors t;
  for (const char* name : {"a", "b"}) {
    t.parameters.push_back({name, RandomTensor({3, 5}, seed++), {}, true});
    const at::Tensor mean = RandomTensor({3, 5}, seed++), square = RandomTensor({3, 5}, seed++);
    t.moments.push_back({t.moments.size(), 0, mean, square});
  }
  return t;
}

std::string FailureOf(const std::function<void()>& act) {
  return FatalErrorOf(ExitCode::kFile, act);
}

TEST(Checkpoint, BringsBackEveryBit) {
  const ScratchFolder scratch;
  const CheckpointFolder folder(scratch / "c");
  EXPECT_TRUE(folder.Steps().empty());
  const CheckpointTensors saved = Tensors(1), other = Tensors(50);
  folder.Save(7, saved, {{"word", "x"}});
  folder.Load(7, other);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(at::equal(saved.parameters[i].value, other.parameters[i].value));
    EXPECT_TRUE(at::equal(saved.moments[i].mean, other.moments[i].mean));
    EXPECT_TRUE(at::equal(saved.moments[i].square, other.moments[i].square));
  }
  EXPECT_EQ(folder.State(7)["word"], "x");
}

// As a process does that updates some values of a parameter, and none of another.
TEST(Checkpoint, PartsOfMomentsAreRead) {
  const ScratchFolder scratch;
  const CheckpointFolder folder(scratch / "c");
  const CheckpointTensors saved = Tensors(1);
  folder.Save(7, saved, {});
  CheckpointTensors into = Tensors(50);
  into.moments = {{1, 4, at::zeros({8}), at::zeros({8})}};
  folder.Load(7, into);
  const auto part = [](const at::Tensor& whole) { return whole.view({-1}).narrow(0, 4, 8); };
  EXPECT_TRUE(at::equal(into.moments[0].mean, part(saved.moments[1].mean)));
  EXPECT_TRUE(at::equal(into.moments[0].square, part(saved.moments[1].square)));
}

TEST(Checkpoint, KeepsTheLastAndTheBest) {
  const ScratchFolder scratch;
  const CheckpointFolder folder(scratch / "c");
  for (const int64_t step : {5, 10, 15, 20}) folder.Save(step, Tensors(1), {});
  std::filesystem::create_directories(scratch / "c/.step-00000025.tmp");  // of a killed run
  folder.KeepLast(2, {5});
  EXPECT_EQ(folder.Steps(), (std::vector<int64_t>{5, 15, 20}));
  EXPECT_FALSE(std::filesystem::exists(scratch / "c/.step-00000025.tmp"));
}

// A good checkpoint of the same step stays, and nothing of the bad one is left.
TEST(Checkpoint, NothingThatIsNotFiniteIsSaved) {
  const ScratchFolder scratch;
  const CheckpointFolder folder(scratch / "c");
  folder.Save(7, Tensors(1), {{"word", "good"}});
  const auto refused = [&](const CheckpointTensors& tensors, const std::string& name) {
    const auto save = [&] { folder.Save(7, tensors, {{"word", "bad"}}); };
    EXPECT_THAT(FatalErrorOf<DivergedError>(save),
                ::testing::HasSubstr("1 of the 15 values of " + name));
    EXPECT_EQ(folder.State(7)["word"], "good");
    EXPECT_FALSE(std::filesystem::exists(scratch / "c/.step-00000007.tmp"));
  };
  CheckpointTensors bad = Tensors(1);
  bad.parameters[1].value[2][3] = NAN;
  refused(bad, "b of the checkpoint");
  bad = Tensors(1);
  bad.moments[0].square[2][3] = INFINITY;
  refused(bad, "square.a of the checkpoint");
}

// As earlier releases have saved them.
TEST(Checkpoint, OneThatIsNotFiniteIsRefusedWithTheCure) {
  const ScratchFolder scratch;
  const CheckpointFolder folder(scratch / "c");
  folder.Save(7, Tensors(1), {});
  const auto path = folder.Path(7) / "weights.safetensors";
  std::string bytes = ReadFile(path);
  bytes.replace(bytes.size() - 4, 4, std::string("\x00\x00\xC0\x7F", 4));  // a NaN
  WriteFileAtomically(path, bytes);
  nlohmann::ordered_json state = folder.State(7);
  state["files"]["weights.safetensors"]["sha256"] = Sha256(bytes);
  WriteFileAtomically(folder.Path(7) / "state.json", state.dump());
  EXPECT_THAT(FailureOf([&] { folder.Load(7, Tensors(50)); }),
              ::testing::AllOf(::testing::HasSubstr("b has values that are not finite"),
                               ::testing::HasSubstr("remove the checkpoint's folder")));
}

// Every flipped byte and every cut is noticed, and the message names the file.
TEST(Checkpoint, DamageIsRefusedByName) {
  const ScratchFolder scratch;
  const CheckpointFolder folder(scratch / "c");
  folder.Save(7, Tensors(1), {});
  const CheckpointTensors into = Tensors(50);
  for (const char* name : {"weights.safetensors", "optimizer.safetensors"}) {
    const auto path = folder.Path(7) / name;
    const std::string whole = ReadFile(path);
    for (size_t at = 0; at < whole.size(); at += 37) {
      std::string bad = whole;
      bad[at] = static_cast<char>(bad[at] ^ 4);
      WriteFileAtomically(path, bad);
      EXPECT_NE(FailureOf([&] { folder.Load(7, into); }).find(name), std::string::npos) << at;
      WriteFileAtomically(path, whole.substr(0, at));
      EXPECT_NE(FailureOf([&] { folder.Load(7, into); }).find(name), std::string::npos) << at;
    }
    std::filesystem::remove(path);
    EXPECT_NE(FailureOf([&] { folder.Load(7, into); }).find("Cure: remove the checkpoint's folder"),
              std::string::npos)
        << "it is missing";
    WriteFileAtomically(path, whole);
    folder.Load(7, into);
  }
  WriteFileAtomically(folder.Path(7) / "state.json", "{\"files\"");
  EXPECT_NE(FailureOf([&] { folder.Load(7, into); }).find("state.json"), std::string::npos);
}

TEST(Checkpoint, OtherTensorsAreRefused) {
  const ScratchFolder scratch;
  const CheckpointFolder folder(scratch / "c");
  folder.Save(7, Tensors(1), {});
  CheckpointTensors into = Tensors(50);
  into.parameters[0].name = "c";
  EXPECT_NE(FailureOf([&] { folder.Load(7, into); }).find("other tensors"), std::string::npos);
  into = Tensors(50);
  into.parameters.pop_back();
  EXPECT_NE(FailureOf([&] { folder.Load(7, into); }).find("other tensors"), std::string::npos);
}

}  // namespace
}  // namespace agentr
