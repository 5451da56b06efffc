#include "lm/engine/engine.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "tests/lm/engine/small_engine.h"

namespace agentr {
namespace {

TEST(Engine, CancelledRequestsEndSoon) {
  FakeDecoder decoder(SmallShape());
  Gate gate(decoder);
  const ByteTokenizer tokenizer;
  Engine engine(decoder, tokenizer, {.max_batch = 2});
  Pending<Generation> running = engine.Generate(Request(Numbers(0, 10), 400));
  Pending<Generation> waiting = engine.Generate(Request(Numbers(5, 15), 400, 4));
  running.Cancel();
  waiting.Cancel();
  gate.Open();
  EXPECT_EQ(running.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(waiting.Wait().error().kind, ErrorKind::kCancelled);
  EXPECT_LT(decoder.computed(), 100);
  const EngineStats stats = engine.stats();
  EXPECT_EQ(stats.running, 0);
  EXPECT_EQ(stats.waiting, 0);
}

TEST(Engine, TheEndCompletesEveryWaiter) {
  std::vector<Pending<Generation>> pending;
  {
    Model model(SmallShape(), {.max_batch = 4});
    model.decoder.before_forward = [](auto) { Sleep(1); };
    for (int i = 0; i < 50; ++i) {
      pending.push_back(model.engine.Generate(Request(Numbers(i, i + 10), 400, 2)));
    }
  }
  int cancelled = 0;
  for (auto& one : pending) cancelled += one.Wait().error().kind == ErrorKind::kCancelled;
  EXPECT_EQ(cancelled, 50);
}

TEST(Engine, CountsWhatItDoes) {
  Model model(SmallShape(100));
  model.Run(Request(Numbers(0, 16), 5));
  model.Run(Request(Numbers(0, 18), 5, 2));
  const EngineStats stats = model.engine.stats();
  EXPECT_EQ(stats.requests, 2);
  EXPECT_EQ(stats.prompt_tokens, 34);
  EXPECT_EQ(stats.cached_tokens, 16);
  EXPECT_EQ(stats.completion_tokens, 15);
  EXPECT_EQ(stats.computed_tokens, model.decoder.computed());
  EXPECT_EQ(stats.computed_tokens, 16 + 4 + 2 + 4 + 4);
  EXPECT_EQ(stats.rounds, 10);
  EXPECT_EQ(stats.blocks, 100);
  EXPECT_EQ(stats.blocks_in_use, 4 + 1 + 2 + 2);
}

TEST(Engine, AThousandRequestsWithRandomCancellations) {
  Model model(SmallShape(60), {.max_batch = 16, .max_batched_tokens = 40});
  const std::vector<GenerationRequest> requests = TreeRequests(6, 1000);
  std::atomic<int> right = 0;
  std::atomic<int> cancelled = 0;
  const auto client = [&](size_t begin) {
    RandomStream random(begin);
    std::vector<std::pair<size_t, Pending<Generation>>> pending;
    for (size_t i = begin; i < requests.size(); i += 8) {
      pending.emplace_back(i, model.engine.Generate(requests[i]));
      if (random.Below(3) == 0) pending[random.Below(pending.size())].second.Cancel();
      if (random.Below(20) == 0) std::this_thread::yield();
      EXPECT_LE(model.engine.stats().blocks_in_use, 60);
    }
    for (auto& [i, one] : pending) {
      const Result<Generation> result = one.Wait();
      if (!result) {
        cancelled += result.error().kind == ErrorKind::kCancelled;
      } else if (result->sequences[0].token_ids == Expected(model.decoder, requests[i], 0)) {
        ++right;
      }
    }
  };
  std::vector<std::thread> clients;
  for (size_t i = 0; i < 8; ++i) clients.emplace_back(client, i);
  for (std::thread& thread : clients) thread.join();
  EXPECT_EQ(right + cancelled, 1000);
  EXPECT_GT(right, 500);
  EXPECT_GT(cancelled, 50);
  ExpectNoLeak(model);
}

}  // namespace
}  // namespace agentr
