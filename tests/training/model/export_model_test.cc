#include "training/model/export_model.h"

#include <nlohmann/json.hpp>

#include "common/file.h"
#include "tests/common/scratch_folder.h"
#include "tests/lm/tiny_model_folder.h"
#include "tests/training/batches.h"
#include "tests/training/tiny_network.h"

namespace agentr {
namespace {

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

}  // namespace
}  // namespace agentr
