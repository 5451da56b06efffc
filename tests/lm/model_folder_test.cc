#include "lm/model_folder.h"

#include <gmock/gmock.h>

#include "lm/weights/safetensors.h"
#include "tests/clients/count_tokens.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"
#include "tests/lm/tiny_model_folder.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class ModelFolderTest : public ::testing::Test {
 protected:
  ModelFolderTest() { WriteTinyModel(folder_); }

  // What loading the folder complains about.
  std::string Complaint(const ModelFolderOptions& options = {},
                        ExitCode code = ExitCode::kFile) const {
    return FatalErrorOf(code, [&] { LoadModel(folder_, "", options); });
  }

  ScratchFolder scratch_;
  const std::filesystem::path folder_ = scratch_.path() / "tiny-llama";
};

TEST_F(ModelFolderTest, LoadsAndTalks) {
  LoadedModel loaded = LoadModel(folder_, "", {});
  EXPECT_EQ(loaded.name, "tiny-llama");
  EXPECT_EQ(loaded.chat->name(), "llama-3");
  EXPECT_THAT(loaded.stop_tokens, Contains(705));
  EXPECT_EQ(loaded.decoder->shape().max_context, 4096);
  LocalLanguageModel model(std::move(loaded));
  const std::vector<Message> chat = {{"user", "hello"}};
  const auto batch = model.Complete(chat, 2, {.max_tokens = 20});
  ASSERT_TRUE(batch) << batch.error().message;
  EXPECT_THAT(batch->completions, SizeIs(2));
  EXPECT_EQ(batch->usage.prompt_tokens, CountTokens(model, chat));
}

TEST_F(ModelFolderTest, ItsName) {
  EXPECT_EQ(LoadModel(folder_ / "", "", {}).name, "tiny-llama");
  EXPECT_EQ(LoadModel(folder_ / ".", "", {}).name, "tiny-llama");
  EXPECT_EQ(LoadModel(folder_, "mine", {}).name, "mine");
}

TEST_F(ModelFolderTest, ItsIdentityIsThatOfItsWeightsAndOptions) {
  const std::string identity = LoadModel(folder_, "", {}).identity;
  EXPECT_EQ(LoadModel(folder_, "mine", {}).identity, identity);
  const auto copy = scratch_.path() / "copy" / "tiny-llama";
  WriteTinyModel(copy);
  EXPECT_EQ(LoadModel(copy, "", {}).identity, identity);

  EXPECT_NE(LoadModel(folder_, "", {.chat_template = "plain"}).identity, identity);
  EXPECT_NE(LoadModel(folder_, "", {.decoder = {.dtype = "bfloat16"}}).identity, identity);
  WriteFileAtomically(folder_ / "generation_config.json", R"({"eos_token_id": 701})");
  EXPECT_NE(LoadModel(folder_, "", {}).identity, identity);
  WriteTinyModel(copy, /*seed=*/2);
  EXPECT_NE(LoadModel(copy, "", {}).identity, identity);
}

TEST_F(ModelFolderTest, AModelThatLoadsOthersWeightsIsTheOtherOne) {
  const auto other = scratch_.path() / "other";
  WriteTinyModel(other, /*seed=*/2);
  LocalLanguageModel model(LoadModel(folder_, "", {}));
  LocalLanguageModel fresh(LoadModel(other, "", {}));
  const std::vector<Message> chat = {{"user", "hello"}};
  const auto ids = [&](LocalLanguageModel& asked) {
    return asked.Complete(chat, 1, {.max_tokens = 20}).value().completions[0].token_ids;
  };
  EXPECT_NE(ids(model), ids(fresh));
  EXPECT_NE(model.identity(), fresh.identity());
  EXPECT_EQ(model.Load(std::make_shared<WeightFiles>(other)).value(), 1);
  EXPECT_EQ(ids(model), ids(fresh));
  EXPECT_EQ(model.identity(), fresh.identity());
  EXPECT_EQ(model.Complete(chat, 1, {.max_tokens = 2})->completions[0].weights_version, 1);
  EXPECT_EQ(fresh.Complete(chat, 1, {.max_tokens = 2})->completions[0].weights_version, 0);

  const auto nothing = std::make_shared<WeightsInMemory>("x", std::map<std::string, Weight>());
  EXPECT_EQ(model.Load(nothing).error().kind, ErrorKind::kRejected);
  EXPECT_EQ(model.identity(), fresh.identity());
}

TEST_F(ModelFolderTest, TheEndsOfGenerationConfigCountToo) {
  WriteFileAtomically(folder_ / "generation_config.json", R"({"eos_token_id": [701, 705]})");
  const LoadedModel model = LoadModel(folder_, "", {});
  EXPECT_THAT(model.stop_tokens, Contains(701));
  EXPECT_EQ(std::ranges::count(model.stop_tokens, 705), 1);
}

TEST_F(ModelFolderTest, PointersOfGitLfsAreNamedAsSuch) {
  for (const char* file : {"model.safetensors", "config.json", "tokenizer.json"}) {
    WriteFileAtomically(folder_ / file,
                        "version https://git-lfs.github.com/spec/v1\noid sha256:4d\n");
    EXPECT_THAT(Complaint(), AllOf(HasSubstr(file), HasSubstr("git lfs pull")));
  }
}

// The template that tells the date tells the same one on any day, or that of --chat_date.
TEST_F(ModelFolderTest, TheDateIsAnOption) {
  WriteFileAtomically(folder_ / "chat_template.jinja",
                      "{{ strftime_now('%d %b %Y') }}{% for m in messages %}{{ m.role }}: "
                      "{{ m.content }}<|eot_id|>{% endfor %}"
                      "{% if add_generation_prompt %}assistant: {% endif %}");
  const std::vector<Message> chat = {{"user", "hello"}};
  const auto prompt = [&](const std::string& date) {
    const auto encoder = LoadChatEncoder(folder_, "auto", date);
    return encoder->Decode(encoder->Encode(chat).value().ids);
  };
  EXPECT_THAT(prompt(""), HasSubstr("26 Jul 2024user: hello"));
  EXPECT_THAT(prompt("2025-01-31"), HasSubstr("31 Jan 2025user: hello"));
  EXPECT_NE(LoadModel(folder_, "", {.chat_date = "2025-01-31"}).identity,
            LoadModel(folder_, "", {}).identity)
      << "other prompts, other answers";
}

TEST_F(ModelFolderTest, ATokenizerOfAnotherModelIsRefused) {
  auto config = nlohmann::json::parse(ReadFile(folder_ / "config.json"));
  config["vocab_size"] = 600;
  WriteFileAtomically(folder_ / "config.json", config.dump());
  EXPECT_THAT(Complaint(), HasSubstr("it belongs to another model"));
}

TEST_F(ModelFolderTest, SaysWhatIsMissing) {
  EXPECT_THAT(Complaint({.chat_template = "chatml"}, ExitCode::kUsage),
              HasSubstr("--chat_template"));
  // In the order opposite to loading, so that each is the first that is missed.
  for (const char* file : {"model.safetensors", "config.json", "tokenizer.json"}) {
    std::filesystem::remove(folder_ / file);
    EXPECT_THAT(Complaint(), HasSubstr(file));
  }
  std::filesystem::remove_all(folder_);
  EXPECT_THAT(Complaint(), HasSubstr("--model_dir"));
}

}  // namespace
}  // namespace agentr
