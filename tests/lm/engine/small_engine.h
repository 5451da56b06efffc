// An engine over a FakeDecoder, requests for it, and what it must answer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "common/random.h"
#include "lm/decoder/fake_decoder.h"
#include "lm/engine/engine.h"
#include "lm/engine/sampler.h"
#include "tests/lm/tokenizer/byte_tokenizer.h"

namespace agentr {

using Tokens = std::vector<int32_t>;

inline DecoderShape SmallShape(int32_t blocks = 4096, int32_t max_context = 512,
                               int32_t block_tokens = 4) {
  return {.vocab_size = 258,
          .max_context = max_context,
          .block_tokens = block_tokens,
          .blocks = blocks,
          .block_bytes = 1};
}

// An engine over a FakeDecoder and a token per byte.
class Model {
 public:
  explicit Model(DecoderShape shape = SmallShape(), EngineOptions options = {})
      : decoder(shape), engine(decoder, tokenizer, options) {}

  Generation Run(GenerationRequest request) {
    Result<Generation> result = engine.Generate(std::move(request)).Wait();
    if (!result) throw std::runtime_error(result.error().message);
    return *std::move(result);
  }

  FakeDecoder decoder;
  ByteTokenizer tokenizer;
  Engine engine;
};

inline void Sleep(int milliseconds) {
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
}

inline Tokens RandomTokens(RandomStream& random, uint64_t length) {
  Tokens tokens;
  for (uint64_t i = 0; i < length; ++i) tokens.push_back(static_cast<int32_t>(random.Below(256)));
  return tokens;
}

inline Tokens Numbers(int32_t begin, int32_t end) {
  Tokens tokens;
  for (int32_t i = begin; i < end; ++i) tokens.push_back(i % 256);
  return tokens;
}

inline GenerationRequest Request(Tokens prompt, int max_tokens, int n = 1, uint64_t seed = 1) {
  GenerationRequest request;
  request.prompt = std::move(prompt);
  request.params.max_tokens = max_tokens;
  request.n = n;
  request.params.seed = seed;
  return request;
}

// What the engine must generate, worked out one token at a time without engine, cache or batch.
inline Tokens Expected(const FakeDecoder& decoder, const GenerationRequest& request, int index) {
  RandomStream random = RandomStream(request.params.seed).Split(static_cast<uint64_t>(index));
  Tokens tokens = request.prompt;
  Tokens generated;
  Sampler sampler;
  while (std::ssize(generated) < request.params.max_tokens) {
    const std::vector<float> logits = decoder.Logits(tokens);
    const int32_t token = sampler.Sample(logits, request.params, tokens, random, 0).token;
    tokens.push_back(token);
    generated.push_back(token);
    if (std::count(request.stop_tokens.begin(), request.stop_tokens.end(), token) > 0) break;
  }
  return generated;
}

inline void ExpectRight(const FakeDecoder& decoder, const GenerationRequest& request,
                        const Generation& generation) {
  ASSERT_EQ(std::ssize(generation.sequences), request.n);
  for (int i = 0; i < request.n; ++i) {
    ASSERT_EQ(generation.sequences[static_cast<size_t>(i)].token_ids,
              Expected(decoder, request, i));
  }
}

// Prompts that share beginnings as those of a search tree do: nodes of a random tree.
inline std::vector<GenerationRequest> TreeRequests(uint64_t seed, size_t count) {
  RandomStream random(seed);
  std::vector<GenerationRequest> requests;
  for (size_t i = 0; i < count; ++i) {
    Tokens prompt;
    if (i > 0 && random.Below(5) > 0) prompt = requests[random.Below(i)].prompt;
    if (prompt.size() > 60) prompt.resize(10);
    for (const int32_t token : RandomTokens(random, 1 + random.Below(12))) prompt.push_back(token);
    GenerationRequest request = Request(std::move(prompt), 1 + static_cast<int>(random.Below(20)),
                                        1 + static_cast<int>(random.Below(3)), random.Next());
    request.stop_tokens = {ByteTokenizer::kEos, 7, 77};
    if (random.Below(3) == 0) {
      request.params.temperature = 0.3;
      request.params.top_k = 20;
      request.params.top_p = 0.9;
    }
    if (random.Below(3) == 0) request.params.repetition_penalty = 1.3;
    requests.push_back(std::move(request));
  }
  return requests;
}

inline void ExpectAllRight(Model& model, const std::vector<GenerationRequest>& requests) {
  std::vector<Pending<Generation>> pending;
  for (const GenerationRequest& request : requests)
    pending.push_back(model.engine.Generate(request));
  for (size_t i = 0; i < requests.size(); ++i) {
    SCOPED_TRACE(i);
    const Result<Generation> result = pending[i].Wait();
    ASSERT_TRUE(result) << result.error().message;
    ExpectRight(model.decoder, requests[i], *result);
  }
}

// All blocks are free or evictable: a request that needs the whole pool runs.
inline void ExpectNoLeak(Model& model) {
  const DecoderShape& shape = model.decoder.shape();
  const int32_t capacity = std::min(shape.max_context, shape.blocks * shape.block_tokens);
  EXPECT_EQ(model.Run(Request(Numbers(3, 3 + capacity - 1), 1)).sequences[0].token_ids.size(), 1u);
  EXPECT_EQ(model.engine.stats().running, 0);
  EXPECT_EQ(model.engine.stats().waiting, 0);
}

// Holds the decoder until `count` requests are handed over, so that they arrive together.
class Gate {
 public:
  explicit Gate(FakeDecoder& decoder) {
    decoder.before_forward = [this](auto) { std::lock_guard lock(closed_); };
    closed_.lock();
  }
  void Open() { closed_.unlock(); }

 private:
  std::mutex closed_;
};

}  // namespace agentr
