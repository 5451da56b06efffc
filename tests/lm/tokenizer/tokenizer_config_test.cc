#include "lm/tokenizer/tokenizer_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/common/file_faults.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class TokenizerConfigTest : public ::testing::Test {
 protected:
  TokenizerConfig Read() const { return ReadTokenizerConfig(folder_.path()); }
  const ScratchFolder folder_;
};

// As transformers takes them: chat_template.jinja, else tokenizer_config.json, else the template of
// a processor in chat_template.json.
TEST_F(TokenizerConfigTest, TheTemplateComesFromTheNearestFile) {
  EXPECT_EQ(Read().chat_template_file, "");
  folder_.Write("chat_template.json", R"({"chat_template": "of the processor"})");
  EXPECT_EQ(Read().chat_template, "of the processor");
  EXPECT_EQ(Read().chat_template_file, "chat_template.json");
  folder_.Write("tokenizer_config.json", R"({"bos_token": "<s>"})");
  EXPECT_EQ(Read().chat_template, "of the processor") << "a file without one takes none away";
  folder_.Write("tokenizer_config.json", R"({"chat_template": [
      {"name": "tool_use", "template": "with tools"}, {"name": "default", "template": "plain"}]})");
  EXPECT_EQ(Read().chat_template, "plain");
  EXPECT_EQ(Read().chat_template_file, "tokenizer_config.json");
  folder_.Write("chat_template.jinja", "{{ messages }}");
  EXPECT_EQ(Read().chat_template, "{{ messages }}");
  EXPECT_EQ(Read().chat_template_file, "chat_template.jinja");
}

// Spellings of special_tokens_map.json count where tokenizer_config.json has no list of its tokens,
// as in transformers.
TEST_F(TokenizerConfigTest, SpecialTokensOfAnOlderFolder) {
  folder_.Write("special_tokens_map.json",
                R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>", "unk_token": null})");
  EXPECT_EQ(Read().special_tokens.at("bos_token"), "<s>");
  EXPECT_EQ(Read().special_tokens.at("eos_token"), "</s>");
  EXPECT_FALSE(Read().special_tokens.contains("unk_token"));
  folder_.Write("tokenizer_config.json", R"({"bos_token": "[BOS]", "pad_token": "[PAD]"})");
  EXPECT_EQ(Read().special_tokens.at("bos_token"), "<s>") << "the map comes later";
  EXPECT_EQ(Read().special_tokens.at("pad_token"), "[PAD]");
  folder_.Write("tokenizer_config.json",
                R"({"bos_token": "[BOS]", "added_tokens_decoder": {"0": {"content": "[BOS]"}}})");
  EXPECT_EQ(Read().special_tokens.at("bos_token"), "[BOS]") << "the map counts for nothing";
  EXPECT_FALSE(Read().special_tokens.contains("eos_token"));
}

TEST_F(TokenizerConfigTest, SaysWhatIsWrongAndWhatHelps) {
  for (const char* file :
       {"tokenizer_config.json", "special_tokens_map.json", "chat_template.json"}) {
    const auto complaint = [&](const std::string& text) {
      folder_.Write(file, text);
      return FileErrorOf([&] { Read(); });
    };
    EXPECT_THAT(complaint("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n"),
                AllOf(HasSubstr(file), HasSubstr("git lfs pull")));
    EXPECT_THAT(complaint("{\"bos_token\": "), AllOf(HasSubstr(file), HasSubstr("incomplete")));
    EXPECT_THAT(complaint(std::string(8'000'000, '[')),
                AllOf(HasSubstr(file), HasSubstr("nested deeper than 100 levels")));
    std::filesystem::remove(folder_ / file);
  }
}

}  // namespace
}  // namespace agentr
