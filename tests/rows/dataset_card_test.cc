#include "rows/dataset_card.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/file.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class DatasetCardTest : public ::testing::Test {
 protected:
  void WriteRun(const std::string& stem) const {
    folder_.Write(stem + ".run.json",
                  R"({"program":"path_collect","version":"1.2","trees":"trees/of/a/run","rows":12,)"
                  R"("verified":11,"audit":{"tasks":9,"turns":121,"trained":{"turns":41}}})");
  }
  std::string Card() const {
    WriteDatasetCard(folder_.path());
    return ReadFile(folder_ / "README.md");
  }

  const ScratchFolder folder_;
};

TEST_F(DatasetCardTest, SaysWhatTheRowsAreAndNamesEachFileWithItsColumns) {
  WriteRun("webshop_centric");
  folder_.Write("webshop_centric.messages.jsonl", "{}\n");
  folder_.Write("webshop_centric.jsonl", "{}\n");
  folder_.Write("webshop_centric.provenance.jsonl", "{}\n");
  const std::string card = Card();
  EXPECT_THAT(card, StartsWith("---\n"));
  EXPECT_THAT(card, HasSubstr("- config_name: webshop_centric.messages\n"
                              "  data_files: webshop_centric.messages.jsonl\n"
                              "- config_name: webshop_centric\n"
                              "  data_files: webshop_centric.jsonl\n"
                              "dataset_info:\n"
                              "- config_name: webshop_centric.messages\n"
                              "  features:\n"
                              "  - name: messages\n"
                              "    list:\n"
                              "    - name: role\n"
                              "      dtype: string\n"));
  EXPECT_THAT(card, HasSubstr("| rows | 12, of 9 tasks; 11 verified by playing them again |"));
  EXPECT_THAT(card, HasSubstr("| trained turns | 41 of 121 |"));
  EXPECT_THAT(card, HasSubstr("`trees/of/a/run`"));
  EXPECT_THAT(card, Not(HasSubstr("provenance.jsonl")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "dataset_info.json"))
      << "LLaMA-Factory reads no marks, and there is no file without need of them";
}

TEST_F(DatasetCardTest, HasTheRunsOfAFolderAndStaysTheSame) {
  for (const char* stem : {"webshop_centric", "babyai_centric"}) {
    WriteRun(stem);
    folder_.Write(std::string(stem) + ".sharegpt.jsonl", "{}\n");
  }
  folder_.Write("webshop_gone.run.json", R"({"program":"path_collect","rows":3})");
  folder_.Write("other.run.json", R"({"program":"agent_eval","rows":3})");
  folder_.Write("broken.run.json", "{");
  const std::string card = Card();
  EXPECT_LT(card.find("## babyai_centric"), card.find("## webshop_centric"));
  EXPECT_THAT(card, Not(HasSubstr("gone")));
  EXPECT_EQ(Card(), card);
}

TEST_F(DatasetCardTest, TheReadmeOfSomebodyElseStays) {
  WriteRun("webshop_centric");
  folder_.Write("webshop_centric.jsonl", "{}\n");
  folder_.Write("README.md", "my notes\n");
  EXPECT_EQ(Card(), "my notes\n");
}

TEST_F(DatasetCardTest, TokenRowsHaveTheColumnsOfTheirForm) {
  WriteRun("a");
  folder_.Write("a.tokens.jsonl", R"({"ids":[1],"loss":[0]})");
  EXPECT_THAT(Card(), AllOf(HasSubstr("  - name: labels\n    list: int32\n"),
                            Not(HasSubstr("- name: segments"))));
  folder_.Write("a.tokens.jsonl", R"({"segments":[]})");
  EXPECT_THAT(Card(), AllOf(HasSubstr("  - name: segments\n"), Not(HasSubstr("labels\n"))));
}

TEST_F(DatasetCardTest, LlamaFactoryIsToldOnlyOfRowsThatItTrainsRightly) {
  WriteRun("webshop_centric");
  for (const char* format : {"messages", "last_turn", "sharegpt"}) {
    folder_.Write(std::string("webshop_centric.") + format + ".jsonl", "{}\n");
  }
  folder_.Write("dataset_info.json", R"({"mine":{"file_name":"mine.json"}})");
  WriteDatasetCard(folder_.path());
  const json info = json::parse(ReadFile(folder_ / "dataset_info.json"));
  ASSERT_EQ(info.size(), 2U);
  EXPECT_EQ(info["mine"]["file_name"], "mine.json");
  const json& ours = info["webshop_centric.last_turn"];
  EXPECT_EQ(ours["file_name"], "webshop_centric.last_turn.jsonl");
  EXPECT_EQ(ours["formatting"], "sharegpt");
  EXPECT_EQ(ours["columns"]["messages"], "messages");
  EXPECT_EQ(ours["tags"]["assistant_tag"], "assistant");
  std::filesystem::remove(folder_ / "webshop_centric.last_turn.jsonl");
  WriteDatasetCard(folder_.path());
  EXPECT_EQ(json::parse(ReadFile(folder_ / "dataset_info.json")).dump(),
            R"({"mine":{"file_name":"mine.json"}})")
      << "a file that is gone is not named any more";
}

TEST_F(DatasetCardTest, AFolderWithoutRowsGetsNone) {
  WriteDatasetCard(folder_.path());
  EXPECT_EQ(folder_.entries(), 0U);
}

}  // namespace
}  // namespace agentr
