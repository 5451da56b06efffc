#include "tests/lm/decoder/load_decoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <list>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/file.h"
#include "lm/decoder/decoder_plan.h"
#include "lm/weights/safetensors.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"
#include "tests/lm/decoder/paged_text.h"
#include "tests/lm/decoder/random_model.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

fs::path GoldenFolder(const std::string& model) {
  return fs::path(AGENTR_SOURCE_DIR) / "tests/golden/models" / model;
}

DecoderOptions Options(const std::string& dtype, bool reference = false, int threads = 2) {
  DecoderOptions options;
  options.dtype = dtype;
  options.kv_cache_gib = 1.0 / 64;
  options.threads = threads;
  options.reference = reference;
  return options;
}

struct Golden {
  std::vector<int32_t> prompt, greedy;
  std::map<size_t, std::vector<float>> logits;  // by position
};

std::vector<Golden> ReadGoldens(const std::string& model) {
  const fs::path path = GoldenFolder(model) / "golden.json";
  std::vector<Golden> goldens;
  const auto file = nlohmann::json::parse(ReadFile(path));
  for (const auto& item : file.at("cases")) {
    Golden golden{item.at("prompt"), item.at("greedy"), {}};
    for (const auto& row : item.at("logits"))
      golden.logits[row.at("position")] = row.at("values").get<std::vector<float>>();

    goldens.push_back(golden);
  }
  if (goldens.empty()) throw std::runtime_error(path.string() + " has no cases");
  return goldens;
}

std::vector<int32_t> RandomTokens(int32_t vocabulary, size_t count, uint64_t seed) {
  RandomStream stream(seed);
  std::vector<int32_t> tokens(count);
  for (int32_t& token : tokens) token = static_cast<int32_t>(stream.Below(vocabulary));
  return tokens;
}

double GreatestDifference(std::span<const float> a, std::span<const float> b) {
  EXPECT_EQ(a.size(), b.size());
  double greatest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    greatest = std::max(greatest, std::fabs(static_cast<double>(a[i]) - b[i]));
    if (std::isnan(a[i]) != std::isnan(b[i])) return INFINITY;
  }
  return greatest;
}

// The greatest size of a logit of a row. The goldens have six digits of each.
double Size(std::span<const float> values) {
  double size = 0;
  for (const float value : values) size = std::max(size, std::fabs(static_cast<double>(value)));
  return size;
}

// --- beside transformers -------------------------------------------------------------------------

// By model and path: the kernels of the CPU, the same from a GGUF file, the plain operators, or the
// GPU where there is one.
class Parity : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  void SetUp() override {
    const auto& [model, path] = GetParam();
    goldens_ = ReadGoldens(model);
    ASSERT_FALSE(goldens_.empty());
    // One thread: models this small would mostly wait for each other's. NothingElseChangesARow
    // shows that more of them change nothing.
    DecoderOptions options = Options("float32", path == "reference", /*threads=*/1);
    if (path == "cuda") options.device = path;
    try {
      decoder_ = LoadDecoder(
          path == "gguf" ? GoldenFolder("../gguf") / (model + ".gguf") : GoldenFolder(model),
          options);
    } catch (const FatalError& error) {
      if (path == "cuda") GTEST_SKIP() << error.what();
      throw;
    }
  }

  std::vector<Golden> goldens_;
  std::unique_ptr<Decoder> decoder_;
};

TEST_P(Parity, LogitsAtPositionsOfPromptAndContinuation) {
  const auto vocabulary = static_cast<size_t>(decoder_->shape().vocab_size);
  for (const Golden& golden : goldens_) {
    std::vector<int32_t> tokens = golden.prompt;
    tokens.insert(tokens.end(), golden.greedy.begin(), golden.greedy.end());
    const std::vector<float> logits = AllLogits(*decoder_, tokens);
    for (const auto& [position, values] : golden.logits) {
      const auto row = std::span(logits).subspan(position * vocabulary, vocabulary);
      EXPECT_LT(GreatestDifference(row, values), 1e-5 * Size(values)) << "position " << position;
    }
  }
}

TEST_P(Parity, GreedyOneByOne) {
  BlockSource source(*decoder_);
  for (const Golden& golden : goldens_) {
    PagedText text{golden.prompt, {}, 0};
    for (size_t i = 0; i < golden.greedy.size(); ++i) {
      const SequenceChunk chunk = text.Next(source);
      text.tokens.push_back(Highest(decoder_->Forward(std::span(&chunk, 1))));
    }
    EXPECT_EQ(std::vector(text.tokens.end() - 64, text.tokens.end()), golden.greedy);
  }
}

// Sequences start one round after the other, so that prompts and single tokens stand side by side.
TEST_P(Parity, GreedyInRaggedBatches) {
  BlockSource source(*decoder_);
  std::vector<PagedText> texts;
  for (const Golden& golden : goldens_) texts.push_back({golden.prompt, {}, 0});
  const auto vocabulary = static_cast<size_t>(decoder_->shape().vocab_size);
  for (size_t round = 0; round < 64 + texts.size(); ++round) {
    std::vector<SequenceChunk> batch;
    std::vector<size_t> members;
    for (size_t i = 0; i < texts.size(); ++i) {
      const bool done = texts[i].tokens.size() == goldens_[i].prompt.size() + 64;
      if (round < i || done) continue;
      batch.push_back(texts[i].Next(source));
      members.push_back(i);
    }
    const auto logits = decoder_->Forward(batch);
    ASSERT_EQ(logits.size(), members.size() * vocabulary);
    for (size_t m = 0; m < members.size(); ++m) {
      texts[members[m]].tokens.push_back(Highest(logits.subspan(m * vocabulary, vocabulary)));
    }
  }
  for (size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(std::vector(texts[i].tokens.end() - 64, texts[i].tokens.end()), goldens_[i].greedy);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Models, Parity,
    ::testing::Combine(::testing::Values("llama", "llama_bias", "llama_bfloat16",
                                         "llama_bfloat16_sharded", "mistral", "qwen2", "qwen3",
                                         "gemma3", "smollm3", "phi3", "granite", "olmo2",
                                         "qwen3_moe", "mixtral"),
                       ::testing::Values("cpu", "reference", "cuda")),
    [](const auto& test) { return std::get<0>(test.param) + "_" + std::get<1>(test.param); });

// Those whose files say all that their folders say; the first one has scaled frequencies.
INSTANTIATE_TEST_SUITE_P(GgufModels, Parity,
                         ::testing::Combine(::testing::Values("llama", "qwen2", "qwen3", "gemma3",
                                                              "phi3", "granite", "olmo2"),
                                            ::testing::Values("gguf")),
                         [](const auto& test) { return std::get<0>(test.param); });

// Only the file stays, of which the decoder reads the embedding: not the rows that were reordered.
TEST(GgufModels, CopiesOfWeightsGoWhenTheyArePacked) {
  const fs::path file = GoldenFolder("../gguf") / "llama.gguf";
  auto weights = OpenWeights(file);
  const std::weak_ptr<const WeightSource> left = weights;
  const auto decoder = MakeDecoder(ReadModelConfig(file), std::move(weights), Options("float32"));
  EXPECT_TRUE(left.expired());
  const std::vector<int32_t> tokens = {1, 2, 3};
  EXPECT_EQ(AllLogits(*decoder, tokens), AllLogits(*LoadDecoder(file, Options("float32")), tokens));
}

// Other rotary scalings, at positions beyond the context of the training, and windows of some
// layers.
TEST(ModelVariants, LogitsAreTransformers) {
  const auto variants = nlohmann::json::parse(
      ReadFile(AGENTR_SOURCE_DIR "/tests/golden/model_variants.json"))["variants"];
  ASSERT_GE(variants.size(), 12u);
  for (const auto& [name, variant] : variants.items()) {
    const ScratchFolder folder;
    WriteFileAtomically(folder / "config.json", variant["config"].dump());
    fs::copy_file(GoldenFolder(variant["model"]) / "model.safetensors",
                  folder / "model.safetensors");
    for (const bool reference : {false, true}) {
      SCOPED_TRACE(name + (reference ? " reference" : ""));
      DecoderOptions options = Options("float32", reference, /*threads=*/1);
      options.max_context = variant["context"];
      const auto decoder = LoadDecoder(folder.path(), options);
      const std::vector<float> logits = AllLogits(*decoder, variant["tokens"]);
      for (const auto& row : variant["logits"]) {
        const auto values = row["values"].get<std::vector<float>>();
        const size_t position = row["position"];
        EXPECT_LT(GreatestDifference(
                      std::span(logits).subspan(position * values.size(), values.size()), values),
                  2e-4)
            << position;
      }
    }
  }
}

// --- the fast path beside the plain one ----------------------------------------------------------

// Wider than the goldens: several panels, blocks and tiles, grouped heads, a window.
ModelConfig Wide(const std::string& family) {
  ModelConfig config;
  config.family = family;
  config.vocab_size = 300;
  config.hidden_size = 200;
  config.intermediate_size = 330;
  config.num_layers = 2;
  config.num_heads = 6;
  config.num_kv_heads = 2;
  config.head_dim = 40;
  config.max_context = 1024;
  config.qkv_bias = family == "qwen2";
  config.qk_norm = family == "qwen3";
  if (family == "mistral") config.sliding_window = 70;
  if (family == "mixtral") {
    config.experts = 5;
    config.token_experts = 2;
  }
  return config;
}

class Wider : public ::testing::TestWithParam<std::string> {
 protected:
  Wider() { WriteRandomModel(folder_.path(), Wide(GetParam()), 7, /*scale=*/1.5); }

  // Of 700 tokens, which is more than go through the layers at once.
  std::vector<float> Logits(const DecoderOptions& options) const {
    return AllLogits(*LoadDecoder(folder_.path(), options), RandomTokens(300, 700, 1));
  }

  const ScratchFolder folder_;
};

TEST_P(Wider, EqualsThePlainPath) {
  EXPECT_LT(GreatestDifference(Logits(Options("float32")), Logits(Options("float32", true))), 1e-4);
}

// The logits reach 5: bfloat16 keeps 8 bits, float16 11.
TEST_P(Wider, HalfTypesAreNearFloat32) {
  const std::vector<float> exact = Logits(Options("float32", true));
  EXPECT_LT(GreatestDifference(Logits(Options("bfloat16")), exact), 0.4);
  EXPECT_LT(GreatestDifference(Logits(Options("float16")), exact), 0.05);
  EXPECT_LT(GreatestDifference(Logits(Options("bfloat16", true)), exact), 0.8);
}

// To the bit, in each type: a row's result depends on nothing but its own sequence.
TEST_P(Wider, NothingElseChangesARow) {
  for (const char* type : {"float32", "bfloat16", "float16"}) {
    const std::vector<float> expected = Logits(Options(type, false, 1));
    EXPECT_EQ(Logits(Options(type, false, 3)), expected) << "threads";

    const auto decoder = LoadDecoder(folder_.path(), Options(type));
    BlockSource source(*decoder);
    std::vector<PagedText> texts;
    for (uint64_t seed = 1; seed < 5; ++seed)
      texts.push_back({RandomTokens(300, 700, seed), {}, 0});
    std::vector<float> pieces;
    for (const int32_t most : {1, 33, 5, 200, 1, 64, 396}) {
      std::vector<SequenceChunk> batch;
      for (PagedText& text : texts) {
        const int32_t own = &text == &texts[0] ? most : 700 / 7;
        batch.push_back(text.Next(source, &text == &texts[0] ? own : 0, own));
      }
      std::ranges::rotate(batch, batch.begin() + most % 4);
      const auto logits = decoder->Forward(batch);
      pieces.insert(pieces.end(), logits.begin(), logits.end());
    }
    EXPECT_EQ(pieces, expected) << type << " in pieces beside others";
  }
}

TEST_P(Wider, ACopiedBlockGoesOnAlike) {
  for (const bool reference : {false, true}) {
    for (const char* type : {"float32", "bfloat16"}) {
      const auto decoder = LoadDecoder(folder_.path(), Options(type, reference));
      BlockSource source(*decoder);
      const int32_t size = source.block_tokens();
      PagedText text{RandomTokens(300, 2 * size + 7, 1), {}, 0};
      SequenceChunk chunk = text.Next(source);
      decoder->Forward(std::span(&chunk, 1));
      PagedText fork = text;
      fork.blocks.back() = source.Take();
      decoder->CopyBlock(text.blocks.back(), fork.blocks.back(), 7);

      // The original goes on with other tokens first.
      text.tokens.insert(text.tokens.end(), {1, 2, 3});
      chunk = text.Next(source);
      decoder->Forward(std::span(&chunk, 1));

      fork.tokens.insert(fork.tokens.end(), {9, 8, 7, 6});
      chunk = fork.Next(source);
      const auto logits = decoder->Forward(std::span(&chunk, 1));
      const std::vector<float> forked(logits.begin(), logits.end());
      const std::vector<float> whole = AllLogits(*decoder, fork.tokens);
      const double difference = GreatestDifference(forked, std::span(whole).last(300));
      EXPECT_LE(difference, reference ? 0.05 : 0) << type;
    }
  }
}

// With experts, too. (In half types a token may have other experts, so it is not near float32.)
TEST(WiderExperts, EqualThePlainPathAndNothingElseChangesARow) {
  const ScratchFolder folder;
  WriteRandomModel(folder.path(), Wide("mixtral"), 7, /*scale=*/1.5);
  const std::vector<int32_t> tokens = RandomTokens(300, 700, 1);
  for (const char* type : {"float32", "bfloat16"}) {
    const std::vector<float> expected =
        AllLogits(*LoadDecoder(folder.path(), Options(type, false, 1)), tokens);
    EXPECT_EQ(AllLogits(*LoadDecoder(folder.path(), Options(type, false, 3)), tokens), expected);
    if (type == std::string("float32")) {
      const auto plain = LoadDecoder(folder.path(), Options(type, true));
      EXPECT_LT(GreatestDifference(AllLogits(*plain, tokens), expected), 1e-4);
    }
    const auto decoder = LoadDecoder(folder.path(), Options(type));
    BlockSource source(*decoder);
    PagedText text{tokens, {}, 0}, other{RandomTokens(300, 700, 2), {}, 0};
    std::vector<float> pieces;
    for (const int32_t most : {1, 33, 5, 200, 1, 64, 396}) {
      const std::vector<SequenceChunk> batch = {other.Next(source, 0, 100),
                                                text.Next(source, most, most)};
      const auto logits = decoder->Forward(batch);
      pieces.insert(pieces.end(), logits.begin(), logits.end());
    }
    EXPECT_EQ(pieces, expected) << type << " in pieces beside others";
  }
}

// The tensors of a folder in memory that can be written to, as a trainer has them.
class TrainerWeights {
 public:
  explicit TrainerWeights(const std::filesystem::path& folder) {
    const WeightFiles files(folder);
    for (const auto& [name, weight] : files.weights()) {
      std::vector<std::byte>& bytes = bytes_.emplace_back(weight.data.begin(), weight.data.end());
      weights_[name] = {weight.type, weight.shape, bytes};
    }
  }
  std::shared_ptr<const WeightSource> source() const {
    return std::make_shared<WeightsInMemory>("a trainer", weights_);
  }
  std::map<std::string, Weight> weights() const { return weights_; }
  void Overwrite() {
    for (auto& bytes : bytes_) std::ranges::fill(bytes, std::byte{0x3C});
  }

 private:
  std::list<std::vector<std::byte>> bytes_;
  std::map<std::string, Weight> weights_;
};

TEST_P(Wider, WeightsInMemoryGiveTheLogitsOfFiles) {
  for (const bool reference : {false, true}) {
    for (const char* type : {"float32", "bfloat16"}) {
      const std::vector<int32_t> tokens = RandomTokens(300, 70, 1);
      const auto of_file = LoadDecoder(folder_.path(), Options(type, reference));
      TrainerWeights trainer(folder_.path());
      const auto decoder =
          MakeDecoder(ReadModelConfig(folder_.path()), trainer.source(), Options(type, reference));
      trainer.Overwrite();  // the next step of training changes them in their place
      EXPECT_EQ(AllLogits(*decoder, tokens), AllLogits(*of_file, tokens)) << type << reference;
    }
  }
}

TEST_P(Wider, LoadedWeightsAreAsGoodAsThoseOfTheBeginning) {
  const ScratchFolder other;
  WriteRandomModel(other.path(), ReadModelConfig(folder_.path()), /*seed=*/99);
  const std::vector<int32_t> tokens = RandomTokens(300, 70, 1);
  for (const bool reference : {false, true}) {
    for (const char* type : {"float32", "bfloat16"}) {
      const auto fresh = LoadDecoder(other.path(), Options(type, reference));
      const std::vector<float> expected = AllLogits(*fresh, tokens);
      const auto decoder = LoadDecoder(folder_.path(), Options(type, reference));
      const std::vector<float> before = AllLogits(*decoder, tokens);
      EXPECT_NE(before, expected);
      {
        TrainerWeights trainer(other.path());
        decoder->Load(trainer.source());
        trainer.Overwrite();
      }
      EXPECT_EQ(AllLogits(*decoder, tokens), expected) << type << reference << " from memory";
      decoder->Load(std::make_shared<WeightFiles>(folder_.path()));
      EXPECT_EQ(AllLogits(*decoder, tokens), before) << type << reference << " from files";
    }
  }
}

TEST_P(Wider, WeightsThatDoNotFitLeaveTheOldOnes) {
  for (const bool reference : {false, true}) {
    const auto decoder = LoadDecoder(folder_.path(), Options("float32", reference));
    const std::vector<int32_t> tokens = RandomTokens(300, 70, 1);
    const std::vector<float> before = AllLogits(*decoder, tokens);
    const TrainerWeights trainer(folder_.path());
    auto weights = trainer.weights();
    weights.erase("model.norm.weight");  // the last one that is looked for
    const auto load = [&] {
      decoder->Load(std::make_shared<WeightsInMemory>("a trainer", weights));
    };
    EXPECT_THAT(FatalErrorOf(ExitCode::kFile, load),
                AllOf(HasSubstr("a trainer"), HasSubstr("model.norm")));
    EXPECT_EQ(AllLogits(*decoder, tokens), before);
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Wider, ::testing::Values("llama", "mistral", "qwen2", "qwen3"),
                         [](const auto& test) { return test.param; });

TEST(TorchDecoder, NoLogitsWhereNoneAreWanted) {
  const auto decoder = LoadDecoder(GoldenFolder("llama"), Options("float32"));
  BlockSource source(*decoder);
  PagedText text{{1, 2, 3}, {}, 0};
  const SequenceChunk chunk = text.Next(source, 0);
  EXPECT_TRUE(decoder->Forward(std::span(&chunk, 1)).empty());
}

// --- what is refused -----------------------------------------------------------------------------

class Refusal : public ::testing::Test {
 protected:
  Refusal() { fs::copy_file(GoldenFolder("llama") / "config.json", folder_ / "config.json"); }

  // What loading the changed weights says.
  std::string Message(const std::map<std::string, Weight>& weights) const {
    WriteWeights(folder_.path(), weights);
    return Message(Options("float32"), ExitCode::kFile);
  }
  std::string Message(const DecoderOptions& options, ExitCode code = ExitCode::kUsage) const {
    return FatalErrorOf(code, [&] { LoadDecoder(folder_.path(), options); });
  }

  const ScratchFolder folder_;
  const WeightFiles files_{GoldenFolder("llama")};
  std::map<std::string, Weight> weights_ = files_.weights();
};

TEST_F(Refusal, AWeightThatIsMissingWithoutAPlaceOrOfAnotherShape) {
  const std::string up = "model.layers.1.mlp.up_proj.weight";
  auto missing = weights_;
  missing.erase(up);
  EXPECT_THAT(Message(missing), AllOf(HasSubstr(folder_.path().string()), HasSubstr(up),
                                      HasSubstr("[40, 32]"), HasSubstr("Usual cure")));
  auto more = weights_;
  const std::string other = "model.layers.2.mlp.up_proj.weight";
  more[other] = weights_.at(up);
  EXPECT_THAT(Message(more), AllOf(HasSubstr(other), HasSubstr("[40, 32]"), HasSubstr("no place")));
  const std::string key = "model.layers.0.self_attn.k_proj.weight";
  weights_[key] = weights_.at("model.layers.0.self_attn.q_proj.weight");
  EXPECT_THAT(Message(weights_),
              AllOf(HasSubstr(key), HasSubstr("[32, 32]"), HasSubstr("[16, 32]")));
}

TEST_F(Refusal, ATiedOutputThatDiffers) {
  weights_["lm_head.weight"] = weights_.at("model.embed_tokens.weight");
  EXPECT_EQ(Message(weights_), "");
  std::vector<std::byte> other(weights_["lm_head.weight"].data.size());
  weights_["lm_head.weight"].data = other;
  EXPECT_THAT(Message(weights_), AllOf(HasSubstr("lm_head.weight"), HasSubstr("tied")));
}

TEST(KeysAndValues, HaveRoomFor32SequencesButAQuarterOfTheMemoryAtMost) {
  constexpr int64_t kGib = int64_t{1} << 30;
  EXPECT_EQ(DefaultCacheBytes(1 << 14, 1 << 13, 64 * kGib), 4 * kGib);
  EXPECT_EQ(DefaultCacheBytes(1 << 14, 1 << 13, 8 * kGib), 2 * kGib) << "a quarter";
  EXPECT_EQ(DefaultCacheBytes(1 << 8, 1 << 10, 64 * kGib), kGib) << "a small model";
  EXPECT_EQ(DefaultCacheBytes(1 << 8, 1 << 10, 2 * kGib), kGib / 2);
}

TEST_F(Refusal, BadOptions) {
  WriteWeights(folder_.path(), weights_);
  DecoderOptions options = Options("float32");
  options.device = "cuda:99";
  EXPECT_THAT(Message(options), HasSubstr("--device cuda:99"));
  options = Options("float64");
  EXPECT_THAT(Message(options), HasSubstr("--dtype float64"));
  options = Options("float32");
  options.max_context = 100000;
  EXPECT_THAT(Message(options), HasSubstr("--model_context 100000"));
  options = Options("float32");
  options.kv_cache_gib = 1e-9;
  EXPECT_THAT(Message(options), HasSubstr("--kv_cache_gib"));
}

}  // namespace
}  // namespace agentr
