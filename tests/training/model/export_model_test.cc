#include "lm/export_model.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "lm/model_files.h"
#include "lm/tokenizer/tokenizer.h"
#include "lm/weights/quantised.h"
#include "tests/common/scratch_folder.h"
#include "tests/lm/tiny_model_folder.h"
#include "tests/lm/tokenizer/golden_tokenizer.h"
#include "tests/training/tiny_network.h"
#include "training/model/weight_snapshot.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

TEST(ExportModel, IsTheModelWithAllItsFiles) {
  const ScratchFolder scratch;
  const auto from = scratch / "from", to = scratch / "to";
  WriteTinyModel(from);
  WriteFileAtomically(from / "chat_template.jinja", "{{ messages }}");
  WriteFileAtomically(from / "notes.txt", "not of the model");
  const ModelConfig config = ReadModelConfig(from);
  const auto load = [&](const std::filesystem::path& folder) {
    return Network(ReadModelConfig(folder), WeightFiles(folder), {});
  };
  const Network network = load(from);
  for (const Parameter& p : network.weights()) p.value.mul_(1.01);
  for (int time = 0; time < 2; ++time) {  // also in place of an older one
    ExportModel(to, from, WeightSnapshot("", network.weights(), WeightType::kF32));
  }
  const Network same = load(to);
  ExpectSameWeights(same, network);
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}) {
    EXPECT_EQ(ReadFile(to / name), ReadFile(from / name));
  }
  EXPECT_FALSE(std::filesystem::exists(to / "notes.txt"));

  ExportModel(to, from, WeightSnapshot("", network.weights(), WeightType::kBF16));
  EXPECT_EQ(ReadModelConfig(to).weight_type, WeightType::kBF16);
  const WeightFiles narrow(to);
  for (const auto& [name, weight] : narrow.weights()) {
    EXPECT_EQ(weight.type, WeightType::kBF16) << name;
  }
  EXPECT_TRUE(at::equal(load(to).weights()[0].value,
                        network.weights()[0].value.to(at::kBFloat16).to(at::kFloat)));
  EXPECT_EQ(config.hidden_size, ReadModelConfig(to).hidden_size);
}

// Of a GGUF file the export is what the folder from which the file was made would give.
TEST(ExportModel, OfAGgufFileIsTheFolderItWasMadeFrom) {
  for (const std::string name : {"llama", "mistral", "qwen2", "qwen3", "granite", "olmo2"}) {
    SCOPED_TRACE(name);
    const fs::path golden = AGENTR_SOURCE_DIR "/tests/golden";
    const fs::path file = golden / "gguf" / (name + ".gguf"), folder = golden / "models" / name;
    const ScratchFolder scratch;
    const Network network(ReadModelConfig(file), *OpenWeights(file), {});
    ExportModel(scratch / "to", file, WeightSnapshot("", network.weights(), WeightType::kF32));
    const Network got(ReadModelConfig(scratch / "to"), WeightFiles(scratch / "to"), {});
    const Network wanted(ReadModelConfig(folder), WeightFiles(folder), {});
    ExpectSameWeights(got, wanted);
    // Llama 3's scaling, of which the file has only the divisors, is found again.
    const auto rope = ReadModelConfig(scratch / "to").llama3_rope;
    EXPECT_EQ(rope.has_value(), name == "llama");
    if (rope) {
      EXPECT_NEAR(rope->factor, ReadModelConfig(folder).llama3_rope->factor, 1e-5);
    }
  }
}

TEST(ExportModel, OfAGgufFileHasItsTokenizerAndItsHash) {
  const fs::path file = AGENTR_SOURCE_DIR "/tests/golden/gguf/tokenizer_llama3.gguf";
  const std::map<std::string, std::string> files = ModelFiles(file);
  const ScratchFolder scratch;
  for (const auto& [name, text] : files) WriteFileAtomically(scratch / name, text);
  EXPECT_EQ(TokenizerHash(scratch.path()), TokenizerHash(file));
  const std::string text = "Two  words, 2 numbers: 1234.";
  EXPECT_EQ(Tokenizer::Load(scratch.path())->Encode(text), Tokenizer::Load(file)->Encode(text));
}

TEST(ExportModel, QuantisedWeightsAreTrainedAsTheirValues) {
  const std::vector<int64_t> shape = {2, 32};
  std::vector<float> values(64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 31.5f;
  std::vector<std::byte> blocks(2 * 34);
  Quantise(WeightType::kQ8_0, values.data(), 64, blocks.data());
  const ScratchFolder scratch;
  ModelConfig config = ReadModelConfig(AGENTR_SOURCE_DIR "/tests/golden/models/llama");
  config.hidden_size = 32;
  config.vocab_size = 2;
  config.num_layers = 0;
  config.tied_embeddings = true;
  const std::vector<float> ones(32, 1);
  const WeightsInMemory source(
      "file", {{"model.embed_tokens.weight", {WeightType::kQ8_0, shape, blocks}},
               {"model.norm.weight", {WeightType::kF32, {32}, std::as_bytes(std::span(ones))}}});
  const Network network(config, source, {});
  Dequantise(WeightType::kQ8_0, blocks.data(), 64, values.data());
  EXPECT_TRUE(at::equal(network.weights()[0].value, at::tensor(values).view({2, 32})));
}

// A folder as those of scripts/golden/auto_tokenizer.py, with weights.
void WriteGoldenFolder(const fs::path& folder, const std::string& family, const Json& golden) {
  for (const char* name : {"config.json", "model.safetensors"}) {
    WriteFileAtomically(folder / name, ReadFile(fs::path(AGENTR_SOURCE_DIR "/tests/golden/models") /
                                                family / name));
  }
  Json files = GoldenTokenizerFiles(golden["tokenizer"]);
  Json& config = files["tokenizer_config"];
  config["tokenizer_class"] = golden["tokenizer_class"];
  WriteFileAtomically(folder / "tokenizer.json", files["tokenizer"].dump());
  WriteFileAtomically(folder / "tokenizer_config.json", config.dump());
}

TEST(ExportModel, OfEachFamilyHasTheIdsOfAutoTokenizer) {
  const Json golden = ReadGolden("auto_tokenizer.json");
  for (const auto& [name, folder] : golden["folders"].items()) {
    SCOPED_TRACE(name);
    const ScratchFolder scratch;
    fs::path from = AGENTR_SOURCE_DIR "/models/bundled";
    if (name == "bundled") {
      EXPECT_EQ(TokenizerHash(from), folder["tokenizer_sha256"]) << "make the golden again";
    } else {
      from = scratch / "from";
      WriteGoldenFolder(from, name, folder);
    }
    const fs::path to = scratch / "to";
    const WeightFiles weights(from);
    const Network network(ReadModelConfig(from), weights, {});
    ExportModel(to, from, WeightSnapshot("", network.weights(), WeightType::kBF16));
    // By these two AutoTokenizer chooses its class.
    EXPECT_EQ(Json::parse(ReadFile(to / "config.json"))["model_type"], folder["model_type"]);
    EXPECT_EQ(Json::parse(ReadFile(to / "tokenizer_config.json"))["tokenizer_class"],
              folder["tokenizer_class"]);
    EXPECT_EQ(ReadFile(to / "tokenizer.json"), ReadFile(from / "tokenizer.json"));
    const auto tokenizer = Tokenizer::Load(to);
    for (size_t i = 0; i < golden["strings"].size(); ++i) {
      const auto text = golden["strings"][i].get<std::string>();
      EXPECT_EQ(Json(tokenizer->Encode(text)), folder["ids"][i]) << text;
    }
  }
}

}  // namespace
}  // namespace agentr
