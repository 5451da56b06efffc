#include "lm/tokenizer/gguf_tokenizer.h"

#include <gmock/gmock.h>

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "common/file.h"
#include "tests/common/file_faults.h"
#include "tests/lm/tokenizer/golden_tokenizer.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;

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

// The golden file of a kind with other values of some text fields. An empty value: the field is
// missing, because another name stands in its place.
std::string Changed(const std::string& kind,
                    const std::vector<std::pair<std::string, std::string>>& changes) {
  std::string bytes = ReadFile(AGENTR_SOURCE_DIR "/tests/golden/gguf/tokenizer_" + kind + ".gguf");
  for (const auto& [name, text] : changes) {
    const size_t at = bytes.find(name);
    if (text.empty()) {
      bytes[at + name.size() - 1] = '?';
      continue;
    }
    const size_t size_at = at + name.size() + sizeof(uint32_t);  // behind the type
    uint64_t size = 0;
    std::memcpy(&size, bytes.data() + size_at, sizeof size);
    bytes.replace(size_at + sizeof size, size, text);
    size = text.size();
    std::memcpy(bytes.data() + size_at, &size, sizeof size);
  }
  return bytes;
}

std::unique_ptr<Tokenizer> LoadChanged(
    const std::string& kind, const std::vector<std::pair<std::string, std::string>>& changes) {
  const ScratchFolder folder;
  return Tokenizer::Load(folder.Write("a.gguf", Changed(kind, changes)));
}

const std::string kPre = "tokenizer.ggml.pre", kArchitecture = "general.architecture";
const std::string kText = "Hello, it's 12345 \n\n caf\xc3\xa9";

TEST(GgufTokenizer, KnowsTheOtherNamesOfDivisions) {
  for (const auto& [kind, names] : {std::pair<std::string, std::vector<std::string>>(
                                        "llama3", {"llama3", "llama-v3", "falcon3", "smaug-bpe"}),
                                    {"qwen2", {"deepseek-r1-qwen"}}}) {
    const std::vector<int32_t> ids = LoadChanged(kind, {})->Encode(kText);
    for (const std::string& name : names) {
      EXPECT_EQ(LoadChanged(kind, {{kPre, name}})->Encode(kText), ids) << name;
    }
  }
}

// Qwen's files take each digit apart, GPT-2's do not.
TEST(GgufTokenizer, WithoutADivisionTakesThatOfTheArchitectureOrWarns) {
  const std::vector<int32_t> ids = LoadChanged("qwen2", {})->Encode(kText);
  ::testing::internal::CaptureStdout();
  for (const std::string architecture : {"qwen2", "qwen3"}) {
    EXPECT_EQ(LoadChanged("qwen2", {{kPre, ""}, {kArchitecture, architecture}})->Encode(kText),
              ids);
  }
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  ::testing::internal::CaptureStdout();
  const auto assumed = LoadChanged("qwen2", {{kPre, ""}});
  EXPECT_THAT(::testing::internal::GetCapturedStdout(),
              HasSubstr("a.gguf does not say how its tokenizer divides a text"));
  EXPECT_EQ(assumed->Encode(kText), LoadChanged("qwen2", {{kPre, "gpt-2"}})->Encode(kText));
}

TEST(GgufTokenizer, BosStandsBeforeATextWhereLlamaCppPutsIt) {
  const auto adds_bos = [](const std::string& kind, const std::string& pre) {
    const ScratchFolder folder;
    const auto file =
        folder.Write("a.gguf", Changed(kind, {{"tokenizer.ggml.add_bos_token", ""}, {kPre, pre}}));
    return GgufTokenizerConfig(GgufFile(file)).adds_bos;
  };
  for (const std::string pre : {"llama-bpe", "llama3", "llama-v3", "falcon3"}) {
    EXPECT_EQ(adds_bos("llama3", pre), true) << pre;
  }
  EXPECT_EQ(adds_bos("llama3", "smaug-bpe"), false);
  EXPECT_EQ(adds_bos("qwen2", "qwen2"), false);
}

TEST(GgufTokenizer, SpecialTokensOfPhi3TakeTheSpaceBehindThem) {
  const auto phi3 = LoadChanged("llama2", {{kArchitecture, "phi3"}});
  EXPECT_EQ(phi3->Encode("</s> \n a"), phi3->Encode("</s>a"));
  EXPECT_NE(phi3->Encode("<s> a"), phi3->Encode("<s>a"));
  const auto llama = LoadChanged("llama2", {});
  EXPECT_NE(llama->Encode("</s> \n a"), llama->Encode("</s>a"));
}

TEST(GgufTokenizer, SaysWhichKindsItReads) {
  EXPECT_THAT(FileErrorOf([] {
                LoadChanged("qwen2", {{kPre, "qwenx"}});
              }),
              ::testing::AllOf(HasSubstr("'qwenx'"), HasSubstr("qwen2, dbrx")));
}

}  // namespace
}  // namespace agentr
