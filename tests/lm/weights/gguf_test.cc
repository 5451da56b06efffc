#include "lm/weights/gguf.h"

#include <gmock/gmock.h>

#include <cstring>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "lm/weights/gguf_model.h"
#include "lm/weights/model_config.h"
#include "lm/weights/weight_source.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kGolden = AGENTR_SOURCE_DIR "/tests/golden";

// By scripts/golden/gguf_files.py, with the published package, from the folders.
TEST(GgufModel, HasTheWeightsOfItsFolderInEveryByte) {
  for (const std::string model :
       {"llama", "mistral", "qwen2", "qwen3", "smollm3", "phi3", "granite", "olmo2"}) {
    const auto file = OpenWeights(kGolden / "gguf" / (model + ".gguf"));
    const auto folder = OpenWeights(kGolden / "models" / model);
    ASSERT_EQ(file->weights().size(), folder->weights().size()) << model;
    for (const auto& [name, weight] : folder->weights()) {
      const auto found = file->weights().find(name);
      ASSERT_NE(found, file->weights().end()) << model << " " << name;
      EXPECT_EQ(found->second.type, weight.type) << name;
      EXPECT_EQ(found->second.shape, weight.shape) << name;
      ASSERT_EQ(found->second.data.size(), weight.data.size()) << name;
      EXPECT_EQ(std::memcmp(found->second.data.data(), weight.data.data(), weight.data.size()), 0)
          << model << " " << name;
    }
  }
}

TEST(GgufModel, HasTheConfigurationOfItsFolder) {
  for (const std::string model :
       {"mistral", "qwen2", "qwen3", "gemma3", "smollm3", "phi3", "granite", "olmo2"}) {
    const ModelConfig file = ReadModelConfig(kGolden / "gguf" / (model + ".gguf"));
    const ModelConfig folder = ReadModelConfig(kGolden / "models" / model);
    EXPECT_EQ(file.vocab_size, folder.vocab_size) << model;
    EXPECT_EQ(file.hidden_size, folder.hidden_size) << model;
    EXPECT_EQ(file.intermediate_size, folder.intermediate_size) << model;
    EXPECT_EQ(file.num_layers, folder.num_layers) << model;
    EXPECT_EQ(file.num_heads, folder.num_heads) << model;
    EXPECT_EQ(file.num_kv_heads, folder.num_kv_heads) << model;
    EXPECT_EQ(file.head_dim, folder.head_dim) << model;
    EXPECT_EQ(file.max_context, folder.max_context) << model;
    EXPECT_EQ(file.rope_theta, folder.rope_theta) << model;
    EXPECT_EQ(file.tied_embeddings, folder.tied_embeddings) << model;
    EXPECT_EQ(file.sliding_window, model == "mistral" ? 0 : folder.sliding_window) << model;
    EXPECT_EQ(file.window_layers, folder.window_layers) << model;
    EXPECT_EQ(file.window_rope_theta, folder.window_rope_theta) << model;
    // The file has these in single precision.
    EXPECT_FLOAT_EQ(file.score_scale, folder.score_scale) << model;
    EXPECT_FLOAT_EQ(file.embedding_scale, folder.embedding_scale) << model;
    EXPECT_FLOAT_EQ(file.residual_scale, folder.residual_scale) << model;
    EXPECT_FLOAT_EQ(file.logit_scale, folder.logit_scale) << model;
    EXPECT_FLOAT_EQ(file.norm_epsilon, folder.norm_epsilon) << model;
  }
}

// The files have the scalings of variants in tests/golden/model_variants.json, and no other
// tensors.
TEST(GgufModel, HasTheRotaryScalingOfItsFolder) {
  const auto variants =
      nlohmann::json::parse(ReadFile(kGolden / "model_variants.json"))["variants"];
  for (const std::string name : {"linear", "yarn", "yarn_attention", "longrope_long"}) {
    const ScratchFolder scratch;
    WriteFileAtomically(scratch / "config.json", variants[name]["config"].dump());
    const ModelConfig folder = ReadModelConfig(scratch.path());
    const ModelConfig file = ReadModelConfig(kGolden / "gguf" / ("rope_" + name + ".gguf"));
    EXPECT_EQ(file.max_context, folder.max_context) << name;
    EXPECT_EQ(file.rope_context, folder.rope_context) << name;
    EXPECT_FLOAT_EQ(file.rope_attention, folder.rope_attention) << name;
    for (const auto member : {&ModelConfig::rope_divisors, &ModelConfig::long_rope_divisors}) {
      ASSERT_EQ((file.*member).size(), (folder.*member).size()) << name;
      for (size_t i = 0; i < (folder.*member).size(); ++i) {
        EXPECT_FLOAT_EQ((file.*member)[i], (folder.*member)[i]) << name << " " << i;
      }
    }
  }
}

class GgufDamage : public ::testing::Test {
 protected:
  // The message for a file of these bytes.
  std::string Refused(const std::string& bytes) {
    WriteFileAtomically(path_, bytes);
    return FatalErrorOf(ExitCode::kFile, [&] {
      const GgufWeights weights(std::make_shared<const GgufFile>(path_));
    });
  }

  const ScratchFolder folder_;
  const fs::path path_ = folder_.path() / "model.gguf";
  const std::string whole_ = ReadFile(kGolden / "gguf/mistral.gguf");
};

TEST_F(GgufDamage, AFileThatIsCutOffAnywhereIsRefused) {
  EXPECT_EQ(Refused(whole_), "");
  for (size_t size = 0; size < whole_.size(); size += size < 8192 ? 61 : 4096) {
    const std::string message = Refused(whole_.substr(0, size));
    EXPECT_THAT(message, HasSubstr(path_.string())) << size;
  }
}

TEST_F(GgufDamage, WhatIsWrongIsNamed) {
  const auto with = [&](size_t at, const std::string& bytes) {
    std::string file = whole_;
    return file.replace(at, bytes.size(), bytes);
  };
  EXPECT_THAT(Refused(with(0, "GGML")), HasSubstr("GGUF"));
  EXPECT_THAT(Refused(with(4, "\x63")), HasSubstr("the version is 99"));
  const size_t name = whole_.find("general.architecture");
  ASSERT_NE(name, std::string::npos);
  const size_t value = whole_.find("llama", name);
  const std::string other = Refused(with(value, "llamb"));
  EXPECT_THAT(
      other, HasSubstr("'llamb'; llama, qwen2, qwen3, gemma3, smollm3, phi3, granite, olmo2 are "));
  const size_t tensor = whole_.find("blk.0.attn_q.weight");
  EXPECT_THAT(Refused(with(tensor, "blk.0.attn_x.weight")), HasSubstr("blk.0.attn_x.weight"));
  // The type of the tensor stands behind its name, its number of dimensions and two sizes.
  const size_t type = tensor + std::strlen("blk.0.attn_q.weight") + 4 + 16;
  EXPECT_THAT(Refused(with(type, std::string("\x10\x00\x00\x00", 4))), HasSubstr("type"));
}

}  // namespace
}  // namespace agentr
