// The engine over the real network gives the texts of transformers, with and without the prefix
// cache, in a batch, and when the cache has to give blocks away.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/file.h"
#include "common/random.h"
#include "lm/engine/engine.h"
#include "tests/lm/decoder/load_decoder.h"
#include "tests/lm/tokenizer/byte_tokenizer.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;

struct Golden {
  std::vector<int32_t> prompt, greedy;
};

struct Setting {
  bool prefix_cache = true;
  int blocks = 0;  // of the pool; 0: plenty
  int max_batch = 64;
};

class ModelParity : public ::testing::TestWithParam<std::string> {
 protected:
  ModelParity() {
    const auto file = nlohmann::json::parse(ReadFile(folder_ / "golden.json"));
    for (const auto& item : file.at("cases")) {
      goldens_.push_back({item.at("prompt"), item.at("greedy")});
    }
  }

  std::unique_ptr<Decoder> Load(int blocks) const {
    DecoderOptions options;
    options.dtype = "float32";
    options.threads = 2;
    options.kv_cache_gib = 1.0 / 64;
    auto decoder = LoadDecoder(folder_, options);
    if (blocks == 0) return decoder;
    options.kv_cache_gib =
        static_cast<double>(decoder->shape().block_bytes) * (blocks + 0.5) / (int64_t{1} << 30);
    return LoadDecoder(folder_, options);
  }

  // All prompts several times over at once; what their completions are.
  void ExpectGreedy(const Setting& setting) const {
    const auto decoder = Load(setting.blocks);
    Engine engine(*decoder, tokenizer_,
                  {.max_batch = setting.max_batch,
                   .max_batched_tokens = 32,
                   .prefix_cache = setting.prefix_cache});
    std::vector<Pending<Generation>> pending;
    for (int round = 0; round < 3; ++round) {
      for (const Golden& golden : goldens_) {
        GenerationRequest request;
        request.prompt = golden.prompt;
        request.n = 2;
        request.params.max_tokens = 64;
        request.params.temperature = 0;
        pending.push_back(engine.Generate(std::move(request)));
      }
    }
    for (size_t i = 0; i < pending.size(); ++i) {
      const auto generation = pending[i].Wait();
      ASSERT_TRUE(generation) << generation.error().message;
      for (const GeneratedSequence& sequence : generation->sequences) {
        EXPECT_EQ(sequence.token_ids, goldens_[i % goldens_.size()].greedy);
      }
    }
    EXPECT_EQ(engine.stats().evicted_blocks > 0, setting.blocks > 0);
    EXPECT_EQ(engine.stats().cached_tokens > 0, setting.prefix_cache);
  }

  const fs::path folder_ = fs::path(AGENTR_SOURCE_DIR) / "tests/golden/models" / GetParam();
  const ByteTokenizer tokenizer_;
  std::vector<Golden> goldens_;
};

TEST_P(ModelParity, GreedyWithTheCache) { ExpectGreedy({}); }
TEST_P(ModelParity, GreedyWithoutTheCache) { ExpectGreedy({.prefix_cache = false}); }
TEST_P(ModelParity, GreedyAcrossEviction) { ExpectGreedy({.blocks = 12, .max_batch = 4}); }

// Sampling, too: alone, and beside others that come and go.
TEST_P(ModelParity, TheSameSeedGivesTheSameTokensWhateverElseRuns) {
  const auto decoder = Load(0);
  const auto request = [&](size_t i, uint64_t seed) {
    GenerationRequest sampled;
    sampled.prompt = goldens_[i].prompt;
    sampled.n = 3;
    sampled.params.max_tokens = 40;
    sampled.params.seed = seed;
    return sampled;
  };
  const auto tokens = [](Pending<Generation>& pending) {
    const Generation generation = pending.Wait().value();
    std::vector<std::vector<int32_t>> all;
    for (const auto& sequence : generation.sequences) all.push_back(sequence.token_ids);
    return all;
  };
  std::vector<std::vector<std::vector<int32_t>>> alone;
  for (size_t i = 0; i < goldens_.size(); ++i) {
    Engine engine(*decoder, tokenizer_, {.max_batch = 1});
    auto pending = engine.Generate(request(i, 100 + i));
    alone.push_back(tokens(pending));
  }
  EXPECT_NE(alone[0][0], alone[0][1]) << "these samples are no samples";
  RandomStream random(3);
  Engine engine(*decoder, tokenizer_, {.max_batched_tokens = 24});
  for (int round = 0; round < 5; ++round) {
    std::vector<Pending<Generation>> others;
    std::vector<Pending<Generation>> same;
    for (size_t i = 0; i < goldens_.size(); ++i) {
      for (uint64_t k = random.Below(4); k > 0; --k) {
        others.push_back(engine.Generate(request(random.Below(goldens_.size()), random.Next())));
      }
      same.push_back(engine.Generate(request(i, 100 + i)));
    }
    for (size_t i = 0; i < same.size(); ++i) EXPECT_EQ(tokens(same[i]), alone[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ModelParity,
                         ::testing::Values("llama", "llama_bias", "llama_bfloat16", "mistral",
                                           "qwen2", "qwen3", "gemma3", "smollm3", "phi3", "granite",
                                           "olmo2", "qwen3_moe", "mixtral"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace agentr
