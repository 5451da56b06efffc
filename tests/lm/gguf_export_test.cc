#include "lm/gguf_export.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/file.h"
#include "lm/convert_model.h"
#include "lm/tokenizer/tokenizer.h"
#include "lm/weights/model_config.h"
#include "tests/common/file_faults.h"
#include "tests/common/scratch_folder.h"
#include "tests/lm/expect_weights.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kGoldens = AGENTR_SOURCE_DIR "/tests/golden";

// The weights of a golden model with a tokenizer of the goldens.
fs::path WriteFolder(const ScratchFolder& scratch, const std::string& model,
                     const std::string& tokenizer) {
  const fs::path folder = scratch / "model";
  for (const char* name : {"config.json", "generation_config.json", "model.safetensors"}) {
    WriteFileAtomically(folder / name, ReadFile(kGoldens / "models" / model / name));
  }
  const auto golden =
      nlohmann::json::parse(ReadFile(kGoldens / "tokenizers" / (tokenizer + ".json")));
  nlohmann::json file = golden["tokenizer"];
  // A GGUF file cannot say of an added token how it treats the text around it.
  for (nlohmann::json& token : file["added_tokens"]) {
    for (const char* flag : {"single_word", "lstrip", "rstrip", "normalized"}) token[flag] = false;
  }
  WriteFileAtomically(folder / "tokenizer.json", file.dump());
  WriteFileAtomically(folder / "tokenizer_config.json", golden["tokenizer_config"].dump());
  return folder;
}

// Other values of fields of config.json.
void Change(const fs::path& folder, const nlohmann::json& changes) {
  auto config = nlohmann::json::parse(ReadFile(folder / "config.json"));
  config.update(changes);
  WriteFileAtomically(folder / "config.json", config.dump());
}

// Norms of Gemma have 1 added and subtracted again, and Q8_0 rounds to 1 / 127 of the greatest
// value.
TEST(ExportGguf, TheFileHasTheWeightsOfTheFolder) {
  for (const std::string model :
       {"llama", "qwen2", "qwen3", "gemma3", "smollm3", "phi3", "granite", "olmo2"}) {
    for (const auto& [type, error] : {std::pair(WeightType::kF32, 1e-6),
                                      {WeightType::kF16, 1e-3},
                                      {WeightType::kBF16, 8e-3},
                                      {WeightType::kQ8_0, 3e-2}}) {
      SCOPED_TRACE(model + " " + std::string(Name(type)));
      const ScratchFolder scratch;
      const fs::path folder = WriteFolder(scratch, model, "gpt2"), file = scratch / "model.gguf";
      ExportGguf(folder, file, type);
      // What --dtype auto computes in.
      EXPECT_EQ(ReadModelConfig(file).weight_type,
                type == WeightType::kQ8_0 ? WeightType::kBF16 : type);
      ExpectWeights(file, *OpenWeights(folder), error);
    }
  }
}

// Rows of queries and norms come back as they were.
TEST(ExportGguf, TheFileBecomesAFolderAgain) {
  for (const std::string model : {"llama", "qwen3", "gemma3", "phi3", "granite", "olmo2"}) {
    SCOPED_TRACE(model);
    const ScratchFolder scratch;
    const fs::path folder = WriteFolder(scratch, model, "gpt2"), file = scratch / "model.gguf";
    ExportGguf(folder, file, WeightType::kF32);
    ConvertModel({file, {}}, scratch / "again", WeightType::kF32);
    ExpectWeights(scratch / "again", *OpenWeights(folder), 1e-6);
    EXPECT_EQ(ReadModelConfig(scratch / "again").family, ReadModelConfig(folder).family);
  }
}

TEST(ExportGguf, TheFileHasTheConfigurationOfTheFolder) {
  for (const std::string model :
       {"llama", "qwen2", "qwen3", "smollm3", "phi3", "granite", "olmo2"}) {
    SCOPED_TRACE(model);
    const ScratchFolder scratch;
    const fs::path folder = WriteFolder(scratch, model, "gpt2"), file = scratch / "model.gguf";
    ExportGguf(folder, file, WeightType::kF32);
    const ModelConfig written = ReadModelConfig(file), read = ReadModelConfig(folder);
    EXPECT_EQ(written.family, read.family);
    EXPECT_EQ(written.vocab_size, read.vocab_size);
    EXPECT_EQ(written.num_kv_heads, read.num_kv_heads);
    EXPECT_EQ(written.head_dim, read.head_dim);
    EXPECT_EQ(written.rope_theta, read.rope_theta);
    EXPECT_EQ(written.tied_embeddings, read.tied_embeddings);
    EXPECT_EQ(written.rope_divisors.empty(), !read.llama3_rope);
    EXPECT_EQ(written.sliding_window, read.sliding_window);
    EXPECT_FLOAT_EQ(written.score_scale, read.score_scale);
    EXPECT_FLOAT_EQ(written.embedding_scale, read.embedding_scale);
    EXPECT_FLOAT_EQ(written.residual_scale, read.residual_scale);
    EXPECT_FLOAT_EQ(written.logit_scale, read.logit_scale);
  }
}

TEST(ExportGguf, TheFileHasTheTokenizerOfTheFolder) {
  const auto parts = nlohmann::json::parse(ReadFile(kGoldens / "tokenizers/strings.json"))["parts"];
  for (const std::string kind : {"gpt2", "llama3", "qwen2", "llama2"}) {
    SCOPED_TRACE(kind);
    const ScratchFolder scratch;
    const fs::path folder = WriteFolder(scratch, "qwen2", kind), file = scratch / "model.gguf";
    const auto tokenizer = Tokenizer::Load(folder);
    Change(folder, {{"vocab_size", tokenizer->size() + 3}});  // some rows without a token
    ExportGguf(folder, file, WeightType::kF32);
    const auto written = Tokenizer::Load(file);
    EXPECT_EQ(written->size(), tokenizer->size() + 3);
    EXPECT_EQ(written->bos(), tokenizer->bos());
    EXPECT_EQ(written->eos(), tokenizer->eos());
    for (const auto& part : parts) {
      const auto text = part.get<std::string>();
      EXPECT_EQ(written->Encode(text), tokenizer->Encode(text)) << text;
    }
  }
}

TEST(ExportGguf, ASpaceBeforeATextGoesAlong) {
  const ScratchFolder scratch;
  const fs::path folder = WriteFolder(scratch, "qwen2", "mistral"), file = scratch / "model.gguf";
  const auto tokenizer = Tokenizer::Load(folder);
  Change(folder, {{"vocab_size", tokenizer->size()}});
  ExportGguf(folder, file, WeightType::kF32);
  const auto written = Tokenizer::Load(file);
  const std::vector<int32_t> ids = tokenizer->Encode("a word");
  EXPECT_EQ(written->Encode("a word"), ids);
  EXPECT_EQ(written->Decode(ids), "a word");
}

// Older folders have the frequencies of the rotary positions beside the weights.
TEST(ExportGguf, WhatIsNoParameterIsLeftOut) {
  const ScratchFolder scratch;
  const fs::path folder = WriteFolder(scratch, "llama", "gpt2"), file = scratch / "model.gguf";
  const std::vector<float> frequencies(4, 1.0f);
  const auto source = OpenWeights(folder);
  std::map<std::string, Weight> weights = source->weights();
  weights["model.layers.0.self_attn.rotary_emb.inv_freq"] = {
      WeightType::kF32, {4}, std::as_bytes(std::span(frequencies))};
  ExportGguf(folder, file, WeightType::kF32, std::make_shared<WeightsInMemory>("", weights));
  EXPECT_EQ(OpenWeights(file)->weights().size(), source->weights().size());
}

TEST(ExportGguf, MakesItsFolderAndLeavesNothingUnfinished) {
  const ScratchFolder scratch;
  const fs::path folder = WriteFolder(scratch, "llama", "gpt2"), file = scratch / "new/model.gguf";
  {
    const FileSizeLimit full(4096);
    EXPECT_THAT(FileErrorOf([&] { ExportGguf(folder, file, WeightType::kF32); }),
                HasSubstr("model.gguf: File too large"));
  }
  EXPECT_TRUE(fs::is_empty(scratch / "new"));
  ExportGguf(folder, file, WeightType::kF32);
  EXPECT_GT(fs::file_size(file), 4096U);
}

TEST(ExportGguf, WhatHasNoFormIsRefused) {
  const ScratchFolder scratch;
  const auto refused = [&](const std::string& model, const nlohmann::json& changes) {
    const fs::path folder = WriteFolder(scratch, model, "gpt2");
    Change(folder, changes);
    const std::string message =
        FileErrorOf([&] { ExportGguf(folder, scratch / "model.gguf", WeightType::kF16); });
    EXPECT_FALSE(fs::exists(scratch / "model.gguf"));
    return message;
  };
  EXPECT_THAT(refused("mistral", nlohmann::json::object()),
              HasSubstr("models of the family mistral are not written"));
  EXPECT_THAT(
      refused("llama",
              {{"rope_parameters",
                {{"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 64}}}}),
      HasSubstr("of the family llama with this rope_type are not written"));
  EXPECT_THAT(refused("qwen2", {{"use_sliding_window", true},
                                {"sliding_window", 8},
                                {"layer_types", {"full_attention", "sliding_attention"}}}),
              HasSubstr("of the family qwen2 with a sliding_window are not written"));
}

}  // namespace
}  // namespace agentr
