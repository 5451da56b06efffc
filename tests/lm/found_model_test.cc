#include "lm/found_model.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/file.h"
#include "lm/local_language_model.h"
#include "lm/model_folder.h"
#include "lm/weights/adapter.h"
#include "lm/weights/model_config.h"
#include "lm/weights/quantised.h"
#include "tests/common/fatal_error.h"
#include "tests/common/file_faults.h"
#include "tests/common/scratch_folder.h"
#include "tests/lm/decoder/load_decoder.h"
#include "tests/lm/decoder/paged_text.h"
#include "tests/lm/tiny_adapter.h"
#include "tests/lm/tiny_model_folder.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;

const fs::path kGoldenFolder = AGENTR_SOURCE_DIR "/tests/golden";

// The base lies at the place that the adapter names, from its own folder.
TEST(FoundModel, AnAdapterOfPeftHasTheLogitsOfTheMergedModel) {
  for (const std::string name : {"qwen3", "phi3"}) {
    SCOPED_TRACE(name);
    const FoundModel model = FindModel(kGoldenFolder / "adapters" / name);
    EXPECT_TRUE(fs::equivalent(model.base, kGoldenFolder / "models" / name));
    const auto golden = nlohmann::json::parse(ReadFile(model.adapter / "golden.json"));
    const auto decoder = MakeDecoder(ReadModelConfig(model.base), OpenWeights(model),
                                     {.kv_cache_gib = 1.0 / 64, .threads = 1});
    const std::vector<float> logits = AllLogits(*decoder, golden["tokens"]);
    const auto rows = golden["logits"].get<std::vector<std::vector<float>>>();
    ASSERT_EQ(logits.size(), rows.size() * rows[0].size());
    for (size_t i = 0; i < logits.size(); ++i) {
      ASSERT_NEAR(logits[i], rows[i / rows[0].size()][i % rows[0].size()], 1e-4) << i;
    }
  }
}

TEST(FoundModel, TheBaseMayBeAGgufFile) {
  const fs::path adapter = kGoldenFolder / "adapters/qwen3",
                 file = kGoldenFolder / "gguf/qwen3.gguf";
  const auto of_file = OpenWeights(FindModel(adapter, file.string()));
  const auto of_folder = OpenWeights(FindModel(adapter));
  ASSERT_EQ(of_file->weights().size(), of_folder->weights().size());
  for (const auto& [name, weight] : of_folder->weights()) {
    const Weight& other = of_file->weights().at(name);
    EXPECT_EQ(other.type, weight.type) << name;
    EXPECT_TRUE(std::ranges::equal(other.data, weight.data)) << name;
  }
}

// Rounded once, to the type of the matrix; what has no adapter stays in its place.
TEST(FoundModel, MergedMatricesKeepTheirTypeAndQuantisedOnesBecomeBfloat16) {
  const ScratchFolder folder;
  WriteTinyAdapter(folder.path(), "base");
  std::vector<float> values(32 * 32), merged(values.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  const auto low = [](int64_t i, int64_t c) {
    const auto a = [](int64_t at) { return 0.2f * static_cast<float>(at % 7) - 0.2f; };
    const auto b = [](int64_t at) { return 0.2f * static_cast<float>(at % 5) - 0.2f; };
    return 2 * (b(i * 2) * a(c) + b(i * 2 + 1) * a(32 + c));  // alpha 4 by rank 2
  };
  std::vector<std::byte> blocks(BytesOf(WeightType::kQ8_0, std::ssize(values)));
  Quantise(WeightType::kQ8_0, values.data(), std::ssize(values), blocks.data());
  const std::vector<float> norm(32, 1);
  const std::string name = "model.layers.0.self_attn.q_proj.weight";
  for (const WeightType type : {WeightType::kF32, WeightType::kQ8_0}) {
    const bool quantised = type == WeightType::kQ8_0;
    const auto base = std::make_shared<WeightsInMemory>(
        "base",
        std::map<std::string, Weight>{
            {name, {type, {32, 32}, quantised ? blocks : std::as_bytes(std::span(values))}},
            {"model.norm.weight", {WeightType::kF32, {32}, std::as_bytes(std::span(norm))}}});
    std::vector<float> expected(values.size());
    ReadWeight(base->weights().at(name), 0, std::ssize(values), expected.data());
    const auto source = MergeAdapter(folder.path(), base);
    EXPECT_EQ(source->embedding_keeper(), base);
    EXPECT_EQ(source->weights().at("model.norm.weight").data.data(),
              reinterpret_cast<const std::byte*>(norm.data()));
    const Weight& weight = source->weights().at(name);
    EXPECT_EQ(weight.type, quantised ? WeightType::kBF16 : WeightType::kF32);
    ReadWeight(weight, 0, std::ssize(merged), merged.data());
    for (size_t i = 0; i < merged.size(); ++i) {
      const float sum =
          expected[i] + low(static_cast<int64_t>(i) / 32, static_cast<int64_t>(i) % 32);
      ASSERT_NEAR(merged[i], sum, quantised ? 0.005 * std::max(1.0f, std::abs(sum)) : 1e-5) << i;
    }
  }
}

class AdapterOfTiny : public ::testing::Test {
 protected:
  AdapterOfTiny() {
    WriteTinyModel(scratch_ / "base");
    WriteTinyAdapter(adapter_, "../base");
  }

  // The message for the adapter with these fields too.
  std::string Refused(const nlohmann::json& changes) const {
    auto config = nlohmann::json::parse(ReadFile(adapter_ / "adapter_config.json"));
    config.update(changes);
    WriteFileAtomically(scratch_ / "other" / "adapter_config.json", config.dump());
    fs::copy_file(adapter_ / "adapter_model.safetensors",
                  scratch_ / "other" / "adapter_model.safetensors",
                  fs::copy_options::overwrite_existing);
    return FileErrorOf([&] { OpenWeights(FindModel(scratch_ / "other")); });
  }

  ScratchFolder scratch_;
  const fs::path adapter_ = scratch_ / "mine";
};

TEST_F(AdapterOfTiny, IsAModelWithItsOwnNameAndIdentity) {
  const LoadedModel base = LoadModel(scratch_ / "base", "", {});
  LoadedModel model = LoadModel(adapter_, "", {});
  EXPECT_EQ(model.name, "mine");
  EXPECT_NE(model.identity, base.identity);
  WriteTinyAdapter(scratch_ / "zero", "nowhere", 32, 0);
  const ModelFolderOptions named = {.base_model = (scratch_ / "base").string()};
  EXPECT_EQ(LoadModel(scratch_ / "zero", "", named).identity, base.identity);
  LocalLanguageModel talks(std::move(model));
  const std::vector<Message> chat = {{"user", "hello"}};
  EXPECT_TRUE(talks.Complete(chat, 1, {.max_tokens = 5}));
}

TEST_F(AdapterOfTiny, ItsBaseIsWhereItOrTheOptionSays) {
  EXPECT_EQ(FindModel(scratch_ / "base").base, scratch_ / "base");
  EXPECT_EQ(FindModel(scratch_ / "base").adapter, "");
  WriteTinyAdapter(adapter_, (scratch_ / "base").string());
  EXPECT_EQ(FindModel(adapter_).base, scratch_ / "base");
  EXPECT_EQ(FindModel(adapter_).adapter, adapter_);
  WriteTinyAdapter(adapter_, "bundled");
  EXPECT_EQ(FindModel(adapter_).base.filename(), "bundled");
  EXPECT_EQ(FindModel(adapter_, (scratch_ / "base").string()).base, scratch_ / "base");
  WriteTinyAdapter(adapter_, "owner/name");
  EXPECT_THAT(FileErrorOf([&] { FindModel(adapter_); }),
              AllOf(HasSubstr("an adapter of owner/name"), HasSubstr("--base_model")));
  const auto usage = [&] { FindModel(scratch_ / "base", "bundled"); };
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, usage), HasSubstr("beneath an adapter"));
}

TEST_F(AdapterOfTiny, WhatIsNotSupportedIsNamed) {
  EXPECT_THAT(Refused({{"peft_type", "IA3"}}), HasSubstr("peft_type is 'IA3'; LORA"));
  EXPECT_THAT(Refused({{"use_dora", true}}), HasSubstr("use_dora is true"));
  EXPECT_THAT(Refused({{"bias", "all"}}), HasSubstr("bias is \"all\""));
  EXPECT_THAT(Refused({{"modules_to_save", {"lm_head"}}}), HasSubstr("modules_to_save is [\"lm_"));
  EXPECT_THAT(Refused({{"alpha_pattern", {{"q_proj", 2}}}}), HasSubstr("alpha_pattern is {"));
  EXPECT_THAT(Refused({{"init_lora_weights", "pissa_niter_4"}}), HasSubstr("init_lora_weights"));
  EXPECT_THAT(Refused({{"lora_alpha", nullptr}}), HasSubstr("lora_alpha is missing"));
}

TEST_F(AdapterOfTiny, TensorsThatDoNotFitAreNamed) {
  WriteTinyAdapter(adapter_, "../base", 24);
  EXPECT_THAT(FileErrorOf([&] { OpenWeights(FindModel(adapter_)); }),
              HasSubstr("q_proj has adapters of the shapes [2, 24] and [24, 2], which do not fit"));
  const std::vector<float> values(64, 1);
  const Weight weight{WeightType::kF32, {2, 32}, std::as_bytes(std::span(values))};
  const auto refused = [&](const std::string& tensor) {
    WriteSafetensors(adapter_ / "adapter_model.safetensors", {{tensor, weight}});
    return FileErrorOf([&] { OpenWeights(FindModel(adapter_)); });
  };
  EXPECT_THAT(refused(kTinyLayer + ".lora_A.weight"), HasSubstr("has no lora_B"));
  EXPECT_THAT(refused(kTinyLayer + ".lora_B.weight"), HasSubstr("has no lora_A"));
  EXPECT_THAT(refused("base_model.model.lm_head.lora_A.weight"), HasSubstr("is not supported"));
  EXPECT_THAT(refused("base_model.model.model.embed_tokens.lora_embedding_A"),
              HasSubstr("lora_embedding_A is not supported"));
}

}  // namespace
}  // namespace agentr
