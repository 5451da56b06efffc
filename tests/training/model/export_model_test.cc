#include "training/model/export_model.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "common/file.h"
#include "lm/tokenizer/tokenizer.h"
#include "tests/common/scratch_folder.h"
#include "tests/lm/tiny_model_folder.h"
#include "tests/lm/tokenizer/golden_tokenizer.h"
#include "tests/training/batches.h"
#include "tests/training/tiny_network.h"

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
  ExportModel(to, from, {"", network.weights(), WeightType::kF32});
  ExportModel(to, from, {"", network.weights(), WeightType::kF32});  // in place of the older one
  const Network same = load(to);
  const auto expected = network.weights(), got = same.weights();
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_TRUE(at::equal(got[i].value, expected[i].value)) << got[i].name;
  }
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "chat_template.jinja"}) {
    EXPECT_EQ(ReadFile(to / name), ReadFile(from / name));
  }
  EXPECT_FALSE(std::filesystem::exists(to / "notes.txt"));

  ExportModel(to, from, {"", network.weights(), WeightType::kBF16});
  EXPECT_EQ(ReadModelConfig(to).weight_type, WeightType::kBF16);
  const WeightFiles narrow(to);
  for (const auto& [name, weight] : narrow.weights()) {
    EXPECT_EQ(weight.type, WeightType::kBF16) << name;
  }
  EXPECT_TRUE(
      at::equal(load(to).weights()[0].value, expected[0].value.to(at::kBFloat16).to(at::kFloat)));
  EXPECT_EQ(config.hidden_size, ReadModelConfig(to).hidden_size);
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
    ExportModel(to, from, {"", network.weights(), WeightType::kBF16});
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
