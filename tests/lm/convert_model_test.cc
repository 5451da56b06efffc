#include "lm/convert_model.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/file.h"
#include "lm/model_files.h"
#include "lm/tokenizer/tokenizer.h"
#include "lm/weights/model_config.h"
#include "tests/common/fatal_error.h"
#include "tests/common/file_faults.h"
#include "tests/common/scratch_folder.h"
#include "tests/lm/expect_weights.h"
#include "tests/lm/tiny_adapter.h"
#include "tests/lm/tiny_model_folder.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kGguf = AGENTR_SOURCE_DIR "/tests/golden/gguf";

std::string ErrorOf(const ConvertModelOptions& options) {
  return FatalErrorOf(ExitCode::kUsage, [&] { ConvertModel(options); });
}

TEST(ConvertModel, AGgufFileBecomesAFolderAndAFileAgain) {
  const ScratchFolder scratch;
  const fs::path from = kGguf / "tiny_llama3.gguf", folder = scratch / "folder",
                 file = scratch / "again.gguf";
  ConvertModel({from, {}}, folder, WeightType::kF32);
  ExpectWeights(folder, *OpenWeights(from), 0);
  EXPECT_EQ(ReadModelConfig(folder).weight_type, WeightType::kF32);
  ConvertModel({from, {}}, file, WeightType::kF32);
  ExpectWeights(file, *OpenWeights(from), 1e-6);
  const std::string text = "Hello, it's 1234 \n\n caf\xc3\xa9";
  const auto ids = Tokenizer::Load(from)->Encode(text);
  EXPECT_EQ(Tokenizer::Load(folder)->Encode(text), ids);
  EXPECT_EQ(Tokenizer::Load(file)->Encode(text), ids);
  // Nothing else is left beside them.
  EXPECT_EQ(std::distance(fs::directory_iterator(scratch.path()), {}), 2);
}

TEST(ConvertModel, AFolderBesideTheOutputStays) {
  const ScratchFolder scratch;
  WriteFileAtomically(scratch / "folder.old/mine.txt", "mine");
  ConvertModel({kGguf / "tiny_llama3.gguf", {}}, scratch / "folder", WeightType::kF32);
  EXPECT_EQ(ReadFile(scratch / "folder.old/mine.txt"), "mine");
  EXPECT_EQ(scratch.entries(), 2U);
}

// Without a field the file's division says it: Llama 3's. A folder says it in another file than the
// tokenizer's own.
TEST(ConvertModel, WhetherBosStandsBeforeATextGoesAlong) {
  const ScratchFolder scratch;
  const fs::path folder = scratch / "folder", file = scratch / "again.gguf";
  ConvertModel({kGguf / "tiny_llama3.gguf", {}}, folder, WeightType::kF32);
  EXPECT_TRUE(Tokenizer::Load(folder)->adds_bos());
  ConvertModel({folder, {}}, file, WeightType::kF32);
  EXPECT_TRUE(Tokenizer::Load(file)->adds_bos());
}

TEST(ConvertModel, SaysWhatIsNoModel) {
  const ScratchFolder scratch;
  fs::copy_file(kGguf / "tiny_llama3.gguf", scratch / "tiny.gguf");
  EXPECT_THAT(FileErrorOf([&] {
                ConvertModel({.model_dir = scratch.path(), .output = scratch / "folder"});
              }),
              HasSubstr("holds GGUF files: give one of them"));
}

TEST(ConvertModel, MatricesGetTheType) {
  const ScratchFolder scratch;
  const fs::path from = kGguf / "tiny_llama3.gguf";
  for (const auto& [type, kind, error] :
       {std::tuple("f16", WeightType::kF16, 1e-3), {"bf16", WeightType::kBF16, 8e-3}}) {
    const fs::path folder = scratch / type;
    ConvertModel({.model_dir = from, .output = folder, .type = type});
    EXPECT_EQ(ReadModelConfig(folder).weight_type, kind);
    ExpectWeights(folder, *OpenWeights(from), error);
  }
  for (const auto& [type, kind] :
       {std::pair("q8_0", WeightType::kQ8_0), {"q4_0", WeightType::kQ4_0}}) {
    const fs::path file = scratch / (std::string(type) + ".gguf");
    ConvertModel({.model_dir = from, .output = file, .type = type});
    const auto written = OpenWeights(file);
    int of_kind = 0;
    for (const auto& [name, weight] : written->weights()) {
      const bool blocks = weight.shape.size() > 1 && weight.shape[1] % 32 == 0;
      of_kind += blocks ? 1 : 0;
      EXPECT_EQ(weight.type, blocks                     ? kind
                             : weight.shape.size() == 1 ? WeightType::kF32
                                                        : WeightType::kF16)
          << name;
    }
    EXPECT_GT(of_kind, 4);
  }
}

TEST(ConvertModel, AnAdapterIsMerged) {
  const ScratchFolder scratch;
  WriteTinyModel(scratch / "base");
  WriteTinyAdapter(scratch / "adapter", "../base");
  const FoundModel model = FindModel(scratch / "adapter");
  ConvertModel({.model_dir = scratch / "adapter", .output = scratch / "merged/"});
  ExpectWeights(scratch / "merged", *OpenWeights(model), 0);
  const auto files = ModelFiles(scratch / "base");
  EXPECT_EQ(ModelFiles(scratch / "merged").at("tokenizer.json"), files.at("tokenizer.json"));
}

TEST(ConvertModel, WhatIsThereStaysAndQuantisedFoldersAreRefused) {
  const ScratchFolder scratch;
  WriteFileAtomically(scratch / "there.gguf", "mine");
  const std::string from = kGguf / "tiny_llama3.gguf";
  EXPECT_THAT(ErrorOf({.model_dir = from, .output = scratch / "there.gguf"}),
              HasSubstr("there.gguf is there already: remove it"));
  EXPECT_EQ(ReadFile(scratch / "there.gguf"), "mine");
  EXPECT_THAT(ErrorOf({.model_dir = from, .output = scratch / "folder", .type = "q8_0"}),
              HasSubstr("--type q8_0 has no place in a folder"));
  EXPECT_FALSE(fs::exists(scratch / "folder"));
  EXPECT_THAT(ErrorOf({.model_dir = from}), HasSubstr("--output is missing"));
}

}  // namespace
}  // namespace agentr
