#include "lm/tokenizer/gguf_tokenizer.h"

#include <gmock/gmock.h>

#include "common/error.h"
#include "common/file.h"
#include "tests/lm/tokenizer/golden_tokenizer.h"

namespace agentr {
namespace {

// The ids are llama.cpp's (scripts/golden/gguf_files.py).
TEST(GgufTokenizer, GivesTheIdsOfLlamaCpp) {
  const nlohmann::json golden = ReadGolden("gguf/ids.json");
  ASSERT_FALSE(golden.at("ids").empty());
  for (const auto& [kind, ids] : golden.at("ids").items()) {
    const auto tokenizer =
        Tokenizer::Load(AGENTR_SOURCE_DIR "/tests/golden/gguf/tokenizer_" + kind + ".gguf");
    int different = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (ids[i].is_null()) continue;
      const auto text = golden["texts"][i].get<std::string>();
      const std::vector<int32_t> ours = tokenizer->Encode(text, SpecialText::kToken);
      if (ours == ids[i].get<std::vector<int32_t>>()) continue;
      if (++different > 3) continue;
      ADD_FAILURE() << kind << " " << golden["texts"][i].dump() << "\n"
                    << nlohmann::json(ours).dump() << "\n"
                    << ids[i].dump();
    }
    EXPECT_EQ(different, 0) << kind;
  }
}

TEST(GgufTokenizer, SaysWhichKindsItReads) {
  const ScratchFolder folder;
  std::string bytes = ReadFile(AGENTR_SOURCE_DIR "/tests/golden/gguf/tokenizer_qwen2.gguf");
  const size_t at = bytes.find("qwen2", bytes.find("tokenizer.ggml.pre"));
  folder.Write("a.gguf", bytes.replace(at, 5, "qwenx"));
  try {
    Tokenizer::Load(folder.path() / "a.gguf");
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::kFile);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("'qwenx'"));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("qwen2, dbrx"));
  }
}

}  // namespace
}  // namespace agentr
