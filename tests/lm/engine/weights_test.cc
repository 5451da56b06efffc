// Weights that are replaced while an engine runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <thread>

#include "tests/lm/engine/small_engine.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

// Weights of one byte, which is all that a FakeDecoder needs.
std::shared_ptr<const WeightSource> Weights(char number) {
  static constexpr std::array<char, 8> kBytes = {0, 1, 2, 3, 4, 5, 6, 7};
  const Weight weight{WeightType::kF16, {}, std::as_bytes(std::span(kBytes).subspan(number, 2))};
  return std::make_shared<WeightsInMemory>("test", std::map<std::string, Weight>{{"w", weight}});
}

// What an engine must generate that has weights number `version` alone; 0: those of the beginning.
struct Alone : FakeDecoder {
  explicit Alone(int64_t version) : FakeDecoder(SmallShape()) {
    if (version > 0) Load(Weights(static_cast<char>(version)));
  }
};

void ExpectOf(int64_t version, const GenerationRequest& request, const Generation& generation) {
  EXPECT_EQ(generation.weights_version, version);
  ExpectRight(Alone(version), request, generation);
}

TEST(EngineWeights, ChangeWhatIsGenerated) {
  Model model;
  const GenerationRequest request = Request(Numbers(0, 10), 20);
  ExpectOf(0, request, model.Run(request));
  EXPECT_EQ(model.engine.Load(Weights(1)).Wait().value(), 1);
  ExpectOf(1, request, model.Run(request));
  EXPECT_EQ(model.engine.stats().weights_version, 1);
}

TEST(EngineWeights, APromptOfTheOldOnesIsComputedAnew) {
  Model model;
  const GenerationRequest request = Request(Numbers(0, 40), 5);
  model.Run(request);
  EXPECT_EQ(model.Run(request).cached_tokens, 39);
  model.engine.Load(Weights(1)).Wait().value();
  EXPECT_EQ(model.engine.stats().blocks_in_use, 0);
  const int64_t computed = model.decoder.computed();
  EXPECT_EQ(model.Run(request).cached_tokens, 0);
  EXPECT_EQ(model.decoder.computed() - computed, 40 + 4);
  EXPECT_EQ(model.Run(request).cached_tokens, 39);
  EXPECT_EQ(model.engine.stats().evicted_blocks, 0) << "memory was never short";
}

// Requests arrive before, between and after two replacements, more than can run at once and with
// less memory than they want. Each must be answered as by an engine that never had other weights.
TEST(EngineWeights, RequestsUnderLoadKeepThoseTheyWereAskedWith) {
  Model model(SmallShape(60), {.max_batch = 6, .max_batched_tokens = 40});
  const std::vector<GenerationRequest> requests = TreeRequests(3, 150);
  std::vector<Pending<Generation>> generations;
  std::vector<Pending<int64_t>> versions;
  Gate gate(model.decoder);
  for (size_t i = 0; i < requests.size(); ++i) {
    if (i == 50 || i == 100)
      versions.push_back(model.engine.Load(Weights(static_cast<char>(i / 50))));
    generations.push_back(model.engine.Generate(requests[i]));
    if (i == 20) gate.Open();  // the rest arrives while the engine computes
  }
  EXPECT_EQ(versions[0].Wait().value(), 1);
  EXPECT_EQ(versions[1].Wait().value(), 2);
  for (size_t i = 0; i < requests.size(); ++i) {
    SCOPED_TRACE(i);
    const Result<Generation> generation = generations[i].Wait();
    ASSERT_TRUE(generation) << generation.error().message;
    ExpectOf(static_cast<int64_t>(i / 50), requests[i], *generation);
  }
  ExpectNoLeak(model);
}

// Several threads ask while another one replaces the weights again and again: whatever version a
// reply tells, its tokens are those of that version.
TEST(EngineWeights, AReplyTellsTheVersionThatMadeIt) {
  Model model(SmallShape(200), {.max_batch = 8});
  std::atomic<int> right = 0;
  const auto ask = [&](uint64_t seed) {
    for (const GenerationRequest& request : TreeRequests(seed, 60)) {
      const Generation generation = model.Run(request);
      right += generation.sequences[0].token_ids ==
               Expected(Alone(generation.weights_version), request, 0);
    }
  };
  std::vector<std::thread> clients;
  for (uint64_t i = 0; i < 4; ++i) clients.emplace_back(ask, i);
  for (char i = 1; i < 5; ++i) {
    Sleep(5);
    EXPECT_EQ(model.engine.Load(Weights(i)).Wait().value(), i);
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(right, 4 * 60);
}

TEST(EngineWeights, ThoseThatDoNotFitAreRejectedAndTheOldOnesStay) {
  Model model;
  model.decoder.before_load = [](const WeightSource& weights) {
    throw FatalError(ExitCode::kFile, weights.name() + ": no weight x");
  };
  const GenerationRequest request = Request(Numbers(0, 40), 5);
  model.Run(request);
  const Result<int64_t> version = model.engine.Load(Weights(1)).Wait();
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().kind, ErrorKind::kRejected);
  EXPECT_THAT(version.error().message, HasSubstr("test: no weight x"));
  const Generation generation = model.Run(request);
  ExpectOf(0, request, generation);
  EXPECT_EQ(generation.cached_tokens, 39) << "the cache is still good";
}

TEST(EngineWeights, AFailureHalfWayFailsRequestsUntilALoadSucceeds) {
  Model model;
  bool fail = true;
  model.decoder.before_load = [&](const WeightSource&) {
    if (fail) throw std::runtime_error("the device is gone");
  };
  const GenerationRequest request = Request(Numbers(0, 40), 5);
  model.Run(request);
  EXPECT_EQ(model.engine.Load(Weights(1)).Wait().error().kind, ErrorKind::kServer);
  const Result<Generation> refused = model.engine.Generate(request).Wait();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kServer);
  EXPECT_THAT(refused.error().message, HasSubstr("the device is gone"));
  fail = false;
  EXPECT_EQ(model.engine.Load(Weights(1)).Wait().value(), 1);
  ExpectOf(1, request, model.Run(request));
}

TEST(EngineWeights, WhoWaitsForThemCanBeCancelled) {
  Model model;
  model.decoder.before_forward = [](auto) { Sleep(5); };
  Pending<Generation> running = model.engine.Generate(Request(Numbers(0, 10), 400));
  Pending<int64_t> load = model.engine.Load(Weights(1));
  Pending<Generation> waiting = model.engine.Generate(Request(Numbers(0, 10), 400));
  EXPECT_GE(model.engine.stats().waiting, 1);
  load.Cancel();
  waiting.Cancel();
  EXPECT_EQ(waiting.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(model.engine.stats().running, 1) << "at once, not after what still runs";
  running.Cancel();
  EXPECT_EQ(load.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(running.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(model.engine.stats().weights_version, 0);
}

TEST(EngineWeights, TheEndOfTheEngineCancelsThem) {
  std::vector<Pending<Generation>> generations;
  std::vector<Pending<int64_t>> loads;
  {
    Model model;
    model.decoder.before_forward = [](auto) { Sleep(1); };
    for (char i = 0; i < 3; ++i) {
      generations.push_back(model.engine.Generate(Request(Numbers(i, i + 10), 400)));
      loads.push_back(model.engine.Load(Weights(i)));
    }
  }
  for (auto& load : loads) EXPECT_EQ(load.Wait().error().kind, ErrorKind::kCancelled);
  for (auto& one : generations) EXPECT_EQ(one.Wait().error().kind, ErrorKind::kCancelled);
}

}  // namespace
}  // namespace agentr
