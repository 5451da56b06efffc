#include "lm/weights/model_config.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "tests/common/file_faults.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ModelConfig GoldenConfig(const std::string& name) {
  return ReadModelConfig(std::string(AGENTR_SOURCE_DIR) + "/tests/golden/models/" + name);
}

// A Llama 3.2 as transformers 4 wrote it, with `changes`; null takes a field away.
json Llama(const json& changes = json::object()) {
  json config = {{"model_type", "llama"},
                 {"architectures", {"LlamaForCausalLM"}},
                 {"vocab_size", 128256},
                 {"hidden_size", 2048},
                 {"intermediate_size", 8192},
                 {"num_hidden_layers", 16},
                 {"num_attention_heads", 32},
                 {"num_key_value_heads", 8},
                 {"head_dim", 64},
                 {"hidden_act", "silu"},
                 {"max_position_embeddings", 131072},
                 {"rms_norm_eps", 1e-05},
                 {"rope_theta", 500000.0},
                 {"rope_scaling",
                  {{"rope_type", "llama3"},
                   {"factor", 32.0},
                   {"low_freq_factor", 1.0},
                   {"high_freq_factor", 4.0},
                   {"original_max_position_embeddings", 8192}}},
                 {"tie_word_embeddings", true},
                 {"torch_dtype", "bfloat16"},
                 {"bos_token_id", 128000},
                 {"eos_token_id", 128001}};
  config.merge_patch(changes);
  return config;
}

// Another family's file.
json Of(const std::string& family, const std::string& architecture, const json& changes) {
  json config = Llama({{"rope_scaling", nullptr}});
  config["model_type"] = family;
  config["architectures"] = {architecture + "ForCausalLM"};
  config.merge_patch(changes);
  return config;
}
json Mistral(const json& changes) { return Of("mistral", "Mistral", changes); }
json Qwen2(const json& changes) { return Of("qwen2", "Qwen2", changes); }
json Qwen3(const json& changes) { return Of("qwen3", "Qwen3", changes); }

ModelConfig Read(const json& config, const json& generation = nullptr) {
  const ScratchFolder folder;
  folder.Write("config.json", config.dump());
  if (!generation.is_null()) folder.Write("generation_config.json", generation.dump());
  return ReadModelConfig(folder.path());
}

std::string ConfigRefusal(const json& config) {
  const std::string message = FileErrorOf([&] { Read(config); });
  EXPECT_THAT(message, HasSubstr("/config.json: "));
  return message;
}

TEST(ReadModelConfig, LlamaOfTransformers4) {
  const ModelConfig config = Read(Llama());
  EXPECT_EQ(config.family, "llama");
  EXPECT_EQ(config.vocab_size, 128256);
  EXPECT_EQ(config.hidden_size, 2048);
  EXPECT_EQ(config.intermediate_size, 8192);
  EXPECT_EQ(config.num_layers, 16);
  EXPECT_EQ(config.num_heads, 32);
  EXPECT_EQ(config.num_kv_heads, 8);
  EXPECT_EQ(config.head_dim, 64);
  EXPECT_EQ(config.max_context, 131072);
  EXPECT_EQ(config.sliding_window, 0);
  EXPECT_EQ(config.norm_epsilon, 1e-5);
  EXPECT_EQ(config.rope_theta, 500000);
  ASSERT_TRUE(config.llama3_rope);
  EXPECT_EQ(config.llama3_rope->factor, 32);
  EXPECT_EQ(config.llama3_rope->low_freq_factor, 1);
  EXPECT_EQ(config.llama3_rope->high_freq_factor, 4);
  EXPECT_EQ(config.llama3_rope->original_max_position_embeddings, 8192);
  EXPECT_FALSE(config.qkv_bias || config.output_bias || config.mlp_bias || config.qk_norm);
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_EQ(config.weight_type, WeightType::kBF16);
  EXPECT_THAT(config.eos_tokens, ElementsAre(128001));
  EXPECT_EQ(config.bos_token, 128000);
}

TEST(ModelFamilies, ThePageOfModelsNamesThemAll) {
  std::string page = ReadFile(AGENTR_SOURCE_DIR "/docs/models.md");
  std::ranges::replace(page, '\n', ' ');
  for (size_t at; (at = page.find("  ")) != std::string::npos;) page.erase(at, 1);
  std::vector<std::string_view> titles, files;
  for (const ModelFamily& family : kModelFamilies) {
    titles.push_back(family.title);
    if (!family.gguf.empty()) files.push_back(family.gguf);
  }
  EXPECT_THAT(page, HasSubstr(fmt::format("families: {};", fmt::join(titles, ", "))));
  const std::string_view last = files.back();
  files.pop_back();
  EXPECT_THAT(page, HasSubstr(fmt::format("of the architectures {} or {} (", fmt::join(files, ", "),
                                          last)));
}

// The goldens are written by transformers 5: dtype, and rope_theta inside rope_parameters.
TEST(ReadModelConfig, LlamaOfTransformers5) {
  const ModelConfig config = GoldenConfig("llama");
  EXPECT_EQ(config.rope_theta, 5000);
  ASSERT_TRUE(config.llama3_rope);
  EXPECT_EQ(config.llama3_rope->original_max_position_embeddings, 64);
  EXPECT_TRUE(config.tied_embeddings);
  EXPECT_EQ(config.weight_type, WeightType::kF32);
  EXPECT_THAT(config.eos_tokens, ElementsAre(2, 5));
  EXPECT_EQ(GoldenConfig("llama_bfloat16").weight_type, WeightType::kBF16);
}

TEST(ReadModelConfig, LlamaWithBiasesMistralAndQwen) {
  const ModelConfig biased = GoldenConfig("llama_bias");
  EXPECT_TRUE(biased.qkv_bias && biased.output_bias && biased.mlp_bias);
  EXPECT_FALSE(biased.tied_embeddings || biased.llama3_rope);
  EXPECT_EQ(biased.num_kv_heads, 4);
  const ModelConfig mistral = GoldenConfig("mistral");
  EXPECT_EQ(mistral.family, "mistral");
  EXPECT_EQ(mistral.head_dim, 12);
  EXPECT_EQ(mistral.sliding_window, 12);
  EXPECT_FALSE(mistral.qkv_bias || mistral.output_bias);
  const ModelConfig qwen2 = GoldenConfig("qwen2");
  EXPECT_TRUE(qwen2.qkv_bias);
  EXPECT_FALSE(qwen2.output_bias || qwen2.qk_norm);
  EXPECT_EQ(qwen2.head_dim, 8);
  EXPECT_EQ(qwen2.sliding_window, 0);
  const ModelConfig qwen3 = GoldenConfig("qwen3");
  EXPECT_TRUE(qwen3.qk_norm);
  EXPECT_FALSE(qwen3.qkv_bias);
  EXPECT_EQ(qwen3.head_dim, 12);
  EXPECT_TRUE(Read(Qwen3({{"attention_bias", true}})).output_bias);
}

TEST(ReadModelConfig, WhatIsNotSaid) {
  const ModelConfig config = Read(Llama({{"num_key_value_heads", nullptr},
                                         {"head_dim", nullptr},
                                         {"rope_theta", nullptr},
                                         {"rope_scaling", nullptr},
                                         {"rms_norm_eps", nullptr},
                                         {"torch_dtype", nullptr},
                                         {"tie_word_embeddings", nullptr},
                                         {"bos_token_id", nullptr},
                                         {"eos_token_id", nullptr},
                                         {"architectures", nullptr}}));
  EXPECT_EQ(config.num_kv_heads, 32);
  EXPECT_EQ(config.head_dim, 64);
  EXPECT_EQ(config.rope_theta, 10000);
  EXPECT_FALSE(config.llama3_rope || config.tied_embeddings || config.bos_token);
  EXPECT_EQ(config.norm_epsilon, 1e-6);
  EXPECT_EQ(config.weight_type, WeightType::kF32);
  EXPECT_THAT(config.eos_tokens, IsEmpty());
}

TEST(ReadModelConfig, SlidingWindows) {
  json config = Mistral(json::object());
  EXPECT_EQ(Read(config).sliding_window, 4096);
  config["sliding_window"] = nullptr;
  EXPECT_EQ(Read(config).sliding_window, 0);
  EXPECT_EQ(Read(Llama({{"sliding_window", 16}})).sliding_window, 0) << "Llama has none";

  const json window = {{"sliding_window", 64}, {"max_window_layers", 0}};
  EXPECT_EQ(Read(Qwen2(window)).sliding_window, 0) << "switched off";
  config = Qwen2(window);
  config["use_sliding_window"] = true;
  EXPECT_EQ(Read(config).sliding_window, 64);
  config["max_window_layers"] = 16;
  EXPECT_EQ(Read(config).sliding_window, 0);
  config["max_window_layers"] = 10;
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(Read(config).WindowOf(i), i < 10 ? 0 : 64) << i;
  config["layer_types"] = std::vector<std::string>(16, "sliding_attention");
  EXPECT_EQ(Read(config).sliding_window, 64);
  config["layer_types"][0] = "full_attention";
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(Read(config).WindowOf(i), i == 0 ? 0 : 64) << i;
  config["layer_types"][0] = "other";
  EXPECT_THAT(ConfigRefusal(config), HasSubstr("layer_types does not name"));
}

TEST(ReadModelConfig, SpellingsOfTheRope) {
  const ModelConfig named =
      Read(Llama({{"rope_scaling", {{"type", "llama3"}, {"rope_type", nullptr}}}}));
  EXPECT_TRUE(named.llama3_rope);
  const ModelConfig inside =
      Read(Llama({{"rope_theta", nullptr},
                  {"rope_scaling", nullptr},
                  {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 1e6}}}}));
  EXPECT_EQ(inside.rope_theta, 1e6);
  EXPECT_FALSE(inside.llama3_rope);
}

TEST(ReadModelConfig, LongerContexts) {
  const auto with = [](const json& rope) {
    return Read(Llama({{"max_position_embeddings", 1000},
                       {"original_max_position_embeddings", nullptr},
                       {"rope_scaling", nullptr},
                       {"rope_parameters", rope}}));
  };
  // Qwen 3 is written with the context of its training and a factor that extends it.
  const ModelConfig yarn =
      with({{"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 800}});
  EXPECT_EQ(yarn.max_context, 3200);
  EXPECT_EQ(yarn.LongestContext(), 3200);
  EXPECT_NEAR(yarn.rope_attention, 0.1 * std::log(4) + 1, 1e-12);
  const ModelConfig dynamic = with({{"rope_type", "dynamic"}, {"factor", 4}});
  EXPECT_EQ(dynamic.max_context, 1000);
  EXPECT_EQ(dynamic.LongestContext(), 4000);
}

TEST(ReadModelConfig, SpecialTokensOfTheGenerationConfigComeFirst) {
  const ModelConfig both = Read(Llama(), {{"eos_token_id", {128001, 128009}}, {"bos_token_id", 7}});
  EXPECT_THAT(both.eos_tokens, ElementsAre(128001, 128009));
  EXPECT_EQ(both.bos_token, 7);
  const ModelConfig number = Read(Llama(), {{"eos_token_id", 9}});
  EXPECT_THAT(number.eos_tokens, ElementsAre(9));
  EXPECT_EQ(number.bos_token, 128000) << "config.json fills what is not there";
}

// As the released model of 270 million parameters is written.
json Gemma3(const json& changes = json::object()) {
  json config = Of("gemma3_text", "Gemma3",
                   {{"hidden_size", 640},
                    {"num_hidden_layers", 18},
                    {"num_attention_heads", 4},
                    {"num_key_value_heads", 1},
                    {"head_dim", 256},
                    {"hidden_act", nullptr},
                    {"hidden_activation", "gelu_pytorch_tanh"},
                    {"rope_theta", 1e6},
                    {"rope_local_base_freq", 10000},
                    {"query_pre_attn_scalar", 256},
                    {"sliding_window", 512},
                    {"_sliding_window_pattern", 6},
                    {"tie_word_embeddings", nullptr},
                    {"attn_logit_softcapping", nullptr}});
  config.merge_patch(changes);
  return config;
}

TEST(ReadModelConfig, Gemma3OfTransformers4) {
  const ModelConfig config = Read(Gemma3());
  EXPECT_EQ(config.norms, NormPlaces::kAround);
  EXPECT_TRUE(config.norm_plus_one && config.gelu && config.qk_norm && config.tied_embeddings);
  EXPECT_EQ(config.embedding_scale, 25.25) << "the root of 640 as bfloat16";
  EXPECT_NEAR(Read(Gemma3({{"torch_dtype", "float32"}})).embedding_scale, std::sqrt(640), 1e-12);
  EXPECT_EQ(config.score_scale, 1);
  EXPECT_EQ(Read(Gemma3({{"query_pre_attn_scalar", 64}})).score_scale, 2);
  EXPECT_EQ(config.rope_theta, 1e6);
  EXPECT_EQ(config.window_rope_theta, 1e4);
  for (size_t i = 0; i < 18; ++i) {
    EXPECT_EQ(config.WindowOf(i), i % 6 == 5 ? 0 : 512) << i;
    EXPECT_EQ(config.HasWindowRope(i), i % 6 != 5) << i;
  }
  const ModelConfig larger =
      Read(Gemma3({{"rope_scaling", {{"rope_type", "linear"}, {"factor", 8.0}}}}));
  EXPECT_THAT(larger.rope_divisors, ::testing::Each(8.0));
  EXPECT_THAT(ConfigRefusal(Gemma3({{"final_logit_softcapping", 30.0}})),
              HasSubstr("final_logit_softcapping is not null"));
  EXPECT_THAT(ConfigRefusal(Gemma3({{"hidden_activation", "silu"}})),
              HasSubstr("hidden_activation is 'silu'; gelu_pytorch_tanh is"));
}

TEST(ReadModelConfig, TheOtherFamiliesOfTransformers5) {
  const ModelConfig smollm3 = GoldenConfig("smollm3");
  EXPECT_TRUE(smollm3.HasRotary(0));
  EXPECT_FALSE(smollm3.HasRotary(1));
  const ModelConfig unlisted = Read(Of("smollm3", "SmolLM3", {{"rope_theta", nullptr}}));
  EXPECT_EQ(unlisted.rope_theta, 2e6);
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(unlisted.HasRotary(i), i % 4 != 3) << i;

  const ModelConfig granite = GoldenConfig("granite");
  EXPECT_EQ(granite.embedding_scale, 3);
  EXPECT_EQ(granite.residual_scale, 0.4);
  EXPECT_NEAR(granite.score_scale, 0.25 * std::sqrt(8), 1e-12);
  EXPECT_EQ(granite.logit_scale, 2);

  const ModelConfig mixtral = GoldenConfig("mixtral"), qwen = GoldenConfig("qwen3_moe");
  EXPECT_EQ(mixtral.experts, 4);
  EXPECT_EQ(mixtral.token_experts, 2);
  EXPECT_TRUE(mixtral.normal_experts && !qwen.normal_experts);
  EXPECT_EQ(qwen.experts, 5);
  EXPECT_EQ(qwen.intermediate_size, 24) << "of an expert";
  json some = nlohmann::json::parse(
      ReadFile(AGENTR_SOURCE_DIR "/tests/golden/models/qwen3_moe/config.json"));
  some["mlp_only_layers"] = {0};
  EXPECT_THAT(ConfigRefusal(some), HasSubstr("mlp_only_layers is not empty"));

  EXPECT_TRUE(GoldenConfig("phi3").fused);
  EXPECT_EQ(GoldenConfig("phi3").sliding_window, 12);
  EXPECT_EQ(GoldenConfig("olmo2").norms, NormPlaces::kBehind);
  EXPECT_TRUE(GoldenConfig("olmo2").qk_norm_of_all);
}

struct Refusal {
  json changes;
  std::string message;
};

TEST(ReadModelConfig, RefusesByName) {
  const std::vector<Refusal> refusals = {
      {{{"model_type", nullptr}}, "model_type is missing"},
      {{{"model_type", "gpt2"}},
       "model_type is 'gpt2'; llama, mistral, qwen2, qwen3, gemma3_text, "},
      {{{"architectures", {"LlamaForSequenceClassification"}}},
       "[\"LlamaForCausalLM\"] is supported"},
      {{{"hidden_act", "gelu"}}, "hidden_act is 'gelu'; silu"},
      {{{"quantization_config", {{"bits", 4}}}}, "quantization_config is there"},
      {{{"vocab_size", nullptr}}, "vocab_size is missing"},
      {{{"vocab_size", 0}}, "vocab_size is 0, not a size"},
      {{{"hidden_size", "2048"}}, "hidden_size has the wrong type (string)"},
      {{{"hidden_size", 2048.0}}, "hidden_size has the wrong type (number)"},
      {{{"hidden_size", 18446744073709551615u}}, "hidden_size has the wrong type"},
      {{{"hidden_size", 4294967296}}, "hidden_size is 4294967296, not a size"},
      {{{"intermediate_size", -1}}, "intermediate_size is -1"},
      {{{"num_hidden_layers", nullptr}}, "num_hidden_layers is missing"},
      {{{"max_position_embeddings", nullptr}}, "max_position_embeddings is missing"},
      {{{"num_key_value_heads", 5}}, "num_key_value_heads is 5, no divisor of num_attention_heads"},
      {{{"num_attention_heads", 24}, {"head_dim", nullptr}}, "no divisor of hidden_size 2048"},
      {{{"head_dim", 63}}, "head_dim is 63; rotary"},
      {{{"rms_norm_eps", 0}}, "rms_norm_eps is 0, not above 0"},
      {{{"rope_theta", "x"}}, "rope_theta has the wrong type"},
      {{{"rope_scaling", 3}}, "rope_scaling is no object"},
      {{{"rope_scaling", {{"rope_type", "other"}}}},
       "rope_scaling.rope_type is 'other'; default, linear, dynamic, yarn, longrope and llama3"},
      {{{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 0}}}}, "rope_scaling.factor is 0"},
      {{{"rope_scaling", {{"rope_type", "dynamic"}, {"factor", 0.5}}}}, "factor is below 1"},
      {{{"rope_scaling", {{"rope_type", "longrope"}, {"short_factor", {1.0, 2.0}}}}},
       "rope_scaling.short_factor are not 32 positive numbers"},
      {{{"rope_scaling", {{"rope_type", nullptr}}}}, "rope_scaling.type is missing"},
      {{{"rope_scaling", {{"factor", nullptr}}}}, "rope_scaling.factor is missing"},
      {{{"rope_scaling", {{"high_freq_factor", 1}}}}, "rope_scaling.high_freq_factor is not above"},
      {{{"rope_scaling", {{"partial_rotary_factor", 0.5}}}},
       "rope_scaling.partial_rotary_factor is not 1"},
      {{{"partial_rotary_factor", 0.5}}, "partial_rotary_factor is not 1"},
      {{{"attention_bias", 1}}, "attention_bias has the wrong type (number)"},
      {{{"torch_dtype", "float8"}}, "torch_dtype is 'float8'; float32, float16 and bfloat16"},
      {{{"dtype", "int8"}}, "dtype is 'int8'"},
      {{{"tie_word_embeddings", "yes"}}, "tie_word_embeddings has the wrong type"},
      {{{"eos_token_id", 128256}}, "eos_token_id has 128256, no token of a vocabulary of 128256"},
      {{{"eos_token_id", {1, -1}}}, "eos_token_id has -1"},
      {{{"bos_token_id", {1, 2}}}, "bos_token_id has more than one token"},
  };
  for (const Refusal& refusal : refusals) {
    EXPECT_THAT(ConfigRefusal(Llama(refusal.changes)), HasSubstr(refusal.message));
  }
  EXPECT_THAT(ConfigRefusal(Mistral({{"attention_bias", true}})), HasSubstr("not of mistral"));
  EXPECT_THAT(ConfigRefusal(Mistral({{"mlp_bias", true}})), HasSubstr("mlp_bias is true"));
  EXPECT_THAT(ConfigRefusal(Mistral({{"num_key_value_heads", nullptr}})),
              HasSubstr("num_key_value_heads is missing"));
  EXPECT_THAT(ConfigRefusal(Qwen2({{"attention_bias", false}})), HasSubstr("not of qwen2"));
  EXPECT_THAT(ConfigRefusal(Qwen3({{"head_dim", nullptr}})), HasSubstr("head_dim is missing"));
}

TEST(ReadModelConfig, RefusesFilesThatAreNone) {
  const ScratchFolder folder;
  const auto refusal = [&] { return FileErrorOf([&] { ReadModelConfig(folder.path()); }); };
  EXPECT_THAT(refusal(), HasSubstr("config.json: No such file"));
  folder.Write("config.json", "{\"vocab_size\": 1");
  EXPECT_THAT(refusal(), HasSubstr("config.json: no JSON"));
  folder.Write("config.json", "{\"vocab_size\": 1, \"vocab_size\": 2}");
  EXPECT_THAT(refusal(), HasSubstr("the name vocab_size occurs twice"));
  folder.Write("config.json", Llama().dump());
  folder.Write("generation_config.json", "[]");
  EXPECT_THAT(refusal(), HasSubstr("generation_config.json: the JSON is no object"));
}

}  // namespace
}  // namespace agentr
