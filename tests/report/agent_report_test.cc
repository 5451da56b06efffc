#include "report/agent_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/file.h"
#include "common/hash.h"
#include "eval/comparison.h"
#include "report/packed_items.h"
#include "report/report_server.h"
#include "tests/cli/program.h"
#include "tests/report/page_data.h"
#include "tests/report/result_files.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

class AgentReportTest : public ::testing::Test {
 protected:
  std::filesystem::path At(const std::string& name) const { return folder_.path() / name; }

  std::string Page(std::vector<std::string> folders = {}, ReportLimits limits = {}) {
    if (folders.empty()) folders = {folder_.path().string()};
    const AgentReportOptions options{folders, At("report.html").string(), limits};
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(AgentReport(options), ExitCode::kOk);
    out_ = ::testing::internal::GetCapturedStdout();
    return ReadFile(options.output);
  }

  ScratchFolder folder_;
  std::string out_;
};

Json PartOfKind(const Json& index, const std::string& kind) {
  for (const Json& part : index.at("parts")) {
    if (part.at("kind") == kind) return part;
  }
  throw std::invalid_argument("no part " + kind);
}

// Those of earlier versions may have addresses with passwords in them.
TEST_F(AgentReportTest, ShowsNoPasswordOfTheFilesOfARun) {
  const std::string argument = "--llm_base=http://ann:hunter2@host/v1";
  WriteSmallTree(At("trees/textcraft/hand"), SmallTree(7));
  WriteFileAtomically(At("trees/textcraft/hand/resolved.toml"),
                      "llm_base = [\"http://ann:hunter2@host/v1\"]\n");
  const Json options = {{"options", {{"llm_base", {"http://ann:hunter2@host/v1"}}}}};
  WriteFileAtomically(At("trees/textcraft/hand/run.json"), Json{{"runs", {options}}}.dump());
  WriteFileAtomically(At("loop/loop.json"),
                      Json{{"stages", {{{"stage", "x"}, {"arguments", {argument}}}}}}.dump());
  const std::string page = Page();
  EXPECT_THAT(page, ::testing::Not(HasSubstr("hunter2")));
  const Json index = IndexOf(page);
  const Json search = PartOfKind(index, "search");
  const std::string run = ItemOf(page, search.at("run").at(0), search.at("run").at(1)).dump();
  const std::string shown = index.dump() + run;
  EXPECT_THAT(run, HasSubstr("http://ann:***@host/v1"));
  EXPECT_THAT(search.at("toml").get<std::string>(), HasSubstr("http://ann:***@host/v1"));
  EXPECT_THAT(PartOfKind(index, "loop").dump(), HasSubstr("--llm_base=http://ann:***@host/v1"));
  EXPECT_THAT(shown, ::testing::Not(HasSubstr("hunter2")));
}

TEST_F(AgentReportTest, ShowsTheNodesOfATree) {
  WriteSmallTree(At("trees/textcraft/hand"), SmallTree(7));
  const std::string page = Page();
  const Json part = PartOfKind(IndexOf(page), "search");
  EXPECT_EQ(part.at("family"), "textcraft");
  EXPECT_EQ(part.at("total"), 1);
  const Json line = part.at("trees").at(0);
  EXPECT_EQ(line, Json::parse("[7, 5, 2, 2, 1.0, 0.5, 0, 0, 1]"));
  const Json tree = ItemOf(page, line.at(6), line.at(7));
  EXPECT_EQ(tree.at("parent"), Json({-1, 0, 0, 2, 2}));
  EXPECT_EQ(tree.at("end"), Json({0, 0, 0, 1, 3}));
  EXPECT_EQ(tree.at("visits"), Json({2, 0, 2, 1, 1}));
  EXPECT_EQ(tree.at("value"), Json({0.5, 0.0, 0.5, 1.0, 0.0}));
  // The refused action changed nothing, and neither does looking at the inventory.
  EXPECT_EQ(tree.at("flags"), Json({0, 3, 0, 0, 1}));
  const Json& texts = tree.at("texts");
  EXPECT_EQ(texts.at(tree.at("action").at(2).get<size_t>()), "get 2 oak planks");
  EXPECT_EQ(part.at("instructions").at(tree.at("instruction").get<size_t>()),
            Json::parse(R"([["user", "Craft."], ["assistant", "Ok."]])"));
}

TEST_F(AgentReportTest, ShowsWhatTheModelSaidWhereATurnOfATreeSlipped) {
  Tree tree = SmallTree(7);
  Node slipped;
  slipped.action = "get 1 stone";
  slipped.slip = Slip{.said = "get 2 birch planks", .response = "Action: get 2 birch planks"};
  tree.Add(0, slipped);
  WriteSmallTree(At("trees/textcraft/hand"), tree);
  const std::string page = Page();
  const Json line = PartOfKind(IndexOf(page), "search").at("trees").at(0);
  const Json item = ItemOf(page, line.at(6), line.at(7));
  const Json& said = item.at("said");
  ASSERT_EQ(said.size(), 6);
  EXPECT_EQ(said.at(0), -1);
  EXPECT_EQ(said.at(4), -1);
  EXPECT_EQ(item.at("texts").at(said.at(5).get<size_t>()), "get 2 birch planks");
}

// Which messages of the row of WriteSmallRows are trained, and the parts to which they belong.
void ExpectSmallRow(const Json& row) {
  std::vector<int> trained, kinds;
  for (const Json& message : row.at("messages")) {
    trained.push_back(message.at(2));
    kinds.push_back(message.at(3));
  }
  EXPECT_THAT(trained, ElementsAre(0, 0, 0, 0, 0, 1, 0, 1, 0, 1));
  EXPECT_THAT(kinds, ElementsAre(0, 0, 1, 3, 3, 4, 4, 6, 6, 6));
}

TEST_F(AgentReportTest, ShowsRowsByTheirParts) {
  WriteSmallTree(At("trees/textcraft/hand"), SmallTree(7));
  WriteSmallRows(At("rows"), "elsewhere/trees/textcraft/hand");
  const std::string page = Page();
  const Json index = IndexOf(page);
  const Json part = PartOfKind(index, "rows");
  EXPECT_EQ(index.at("parts").at(part.at("search").get<size_t>()).at("kind"), "search");
  const Json line = part.at("rows").at(0);
  EXPECT_EQ(line.at(0), "7");
  EXPECT_EQ(line.at(1), "malformed");
  const std::vector<int> nodes = {line.at(5), line.at(6), line.at(7), line.at(8)};
  EXPECT_THAT(nodes, ElementsAre(3, 1, 0, 1)) << "good, bad, ancestor, first error";
  EXPECT_EQ(line.at(10), "verified");
  EXPECT_EQ(line.at(11), 1) << "steps to the first error";
  EXPECT_EQ(line.at(12), 0.5) << "reward of the replay";
  ExpectSmallRow(ItemOf(page, line.at(3), line.at(4)));
}

// The formats of single turns have a line for each trained turn.
TEST_F(AgentReportTest, JoinsTheLinesOfARow) {
  WriteSmallRows(At("rows"), "trees/textcraft/hand");
  const std::filesystem::path whole = At("rows/textcraft_centric.messages.jsonl");
  Json row = Json::parse(ReadFile(whole));
  const Json messages = row.at("messages");
  std::string lines;
  for (const char* hash : {"first", "second"}) {
    row["provenance"]["hash"] = hash;
    row["messages"] = Json::array();
    for (const Json& message : messages) {
      row["messages"].push_back(message);
      if (!message.value("loss", false)) continue;
      lines += row.dump() + "\n";
      row["messages"].back()["loss"] = false;
    }
  }
  WriteFileAtomically(At("rows/textcraft_centric.last_turn.jsonl"), lines);
  std::filesystem::remove(whole);
  const std::string page = Page();
  const Json part = PartOfKind(IndexOf(page), "rows");
  EXPECT_EQ(part.at("total"), 2);
  const Json line = part.at("rows").at(1);
  EXPECT_EQ(line.at(9), 2) << "its number";
  ExpectSmallRow(ItemOf(page, line.at(3), line.at(4)));
}

TEST_F(AgentReportTest, PreferencesAndJudgementsAreNoRows) {
  WriteSmallRows(At("rows"), "trees/textcraft/hand");
  for (const std::string type : {"preferences", "judgements"}) {
    const Json run = {{"program", "path_collect"}, {"options", {{"data_type", type}}}};
    WriteFileAtomically(At("rows/textcraft_" + type + ".run.json"), run.dump());
  }
  WriteFileAtomically(At("rows/textcraft_preferences.jsonl"), R"({"prompt":[],"chosen":[]})");
  WriteFileAtomically(At("rows/textcraft_judgements.messages.jsonl"), R"({"messages":[]})");
  EXPECT_EQ(IndexOf(Page()).at("parts").size(), 1);
}

TEST_F(AgentReportTest, RowsOfOtherTreesAreLinkedToNone) {
  WriteSmallTree(At("trees/textcraft/hand"), SmallTree(7));
  WriteSmallRows(At("rows"), "trees/webshop/hand");
  EXPECT_EQ(PartOfKind(IndexOf(Page()), "rows").at("search"), -1);
}

TEST_F(AgentReportTest, ComparesEvaluationsAsAgentEvalDoes) {
  for (int task = 0; task < 6; ++task) {
    WriteSmallEpisode(At("a"), task, 0);
    WriteSmallEpisode(At("b"), task, task < 4 ? 1 : 0);
  }
  const Json index = IndexOf(Page());
  ASSERT_EQ(index.at("comparisons").size(), 1);
  const Json& one = index.at("comparisons").at(0);
  EXPECT_EQ(index.at("parts").at(one.at("a").get<size_t>()).at("path"), At("a").string());
  EXPECT_EQ(one.at("tasks"), 6);
  EXPECT_EQ(one.at("won").size(), 4);
  const std::vector<double> differences = {1, 1, 1, 1, 0, 0};
  const PairedDifference expected = PairedBootstrap(differences, {});
  EXPECT_EQ(one.at("success").at("p"), expected.p);
  EXPECT_EQ(one.at("success").at("difference").at("low"), expected.estimate.low);
  const Json part = PartOfKind(index, "evaluation");
  EXPECT_EQ(part.at("episodes").at(0).at(5), 1) << "refused turns";
  EXPECT_EQ(part.at("episodes").at(0).at(8), 0) << "revisions";
  EXPECT_EQ(part.at("episodes").at(0).at(9), 1) << "the last turn was refused";
  EXPECT_EQ(part.at("data"), "hash");
}

// As the table of a loop needs them, also where there are too many evaluations for all pairs.
TEST_F(AgentReportTest, ComparesEveryIterationWithTheStartOfItsLoop) {
  WriteSmallEpisode(At("first"), 1, 0);
  const auto evaluation = [&](int iteration) {
    return At("loop/iteration_" + std::to_string(iteration) + "/evaluate/textcraft/model_local");
  };
  constexpr int kIterations = 13;
  for (int i = 0; i <= kIterations; ++i) WriteSmallEpisode(evaluation(i), 1, 1);
  const Json index = IndexOf(Page());
  int found = 0;
  for (const Json& one : index.at("comparisons")) {
    const Json& a = index.at("parts").at(one.at("a").get<size_t>());
    found += a.at("path") == evaluation(0).string() ? 1 : 0;
  }
  EXPECT_EQ(found, kIterations);
}

TEST_F(AgentReportTest, ShowsSlipsAndTheRecoveryRate) {
  for (int task = 0; task < 4; ++task) {
    WriteSmallEpisode(At("clean"), task, 1);
    WriteSmallEpisode(At("slipped"), task, task < 1 ? 1 : 0, Slip{.said = "craft stick"});
  }
  const std::string page = Page();
  const Json index = IndexOf(page);
  EXPECT_EQ(index.at("comparisons").at(0).at("recovery_rate").at("mean"), 0.25);
  const Json& slipped = index.at("parts").at(1);
  EXPECT_EQ(slipped.at("path"), At("slipped").string());
  EXPECT_EQ(slipped.at("summary").at("slips").at("slips"), 4);
  EXPECT_FALSE(index.at("parts").at(0).at("summary").contains("slips"));
}

TEST_F(AgentReportTest, TakesMetricsAndTheLoopAsTheyAre) {
  WriteFileAtomically(At("train/metrics.jsonl"), "{\"step\":1,\"train\":{\"loss\":2.5}}\nbroken\n");
  WriteFileAtomically(At("loop.json"), R"({"stages": [{"stage": "iteration_0/evaluate"}]})");
  const Json index = IndexOf(Page());
  const Json training = PartOfKind(index, "training");
  EXPECT_EQ(training.at("metrics").at(0).at("train").at("loss"), 2.5);
  EXPECT_THAT(training.at("problems").at(0).get<std::string>(), HasSubstr("line 2"));
  EXPECT_EQ(PartOfKind(index, "loop").at("stages").at(0).at("stage"), "iteration_0/evaluate");
}

TEST_F(AgentReportTest, EachPartHasTheFiguresOfItsRuns) {
  const std::filesystem::path trees = At("trees/textcraft/hand");
  WriteSmallTree(trees, SmallTree(7));
  const Json once = {{"model_name", "small"},
                     {"result", {{"wall_s", 1.5}, {"model", {{"cost", 0.25}}}}}};
  const Json again = {{"options", {{"model_dir", "models/other/"}}}, {"result", {{"wall_s", 2}}}};
  WriteFileAtomically(trees / "run.json", Json{{"runs", {once, again}}}.dump());
  // 2001-02-03 04:05:06 UTC.
  const auto time = std::chrono::sys_days(std::chrono::year(2001) / 2 / 3) +
                    std::chrono::seconds(4 * 3600 + 5 * 60 + 6);
  std::filesystem::last_write_time(trees / "run.json", std::chrono::file_clock::from_sys(time));
  WriteSmallRows(At("rows"), trees.string());
  WriteFileAtomically(
      At("train/metrics.jsonl"),
      "{\"step\":1,\"speed\":{\"seconds\":3}}\n{\"step\":2,\"speed\":{\"seconds\":4}}\n");
  const Json index = IndexOf(Page());
  const Json search = PartOfKind(index, "search");
  EXPECT_EQ(search.at("model"), "other") << "that of the last run";
  EXPECT_EQ(search.at("seconds"), 3.5);
  EXPECT_EQ(search.at("cost"), 0.25);
  EXPECT_EQ(search.at("written"), "2001-02-03 04:05");
  const Json rows = PartOfKind(index, "rows");
  EXPECT_EQ(rows.at("model"), "hand") << "by the folder of the trees";
  EXPECT_TRUE(rows.at("verified").is_null());
  const Json training = PartOfKind(index, "training");
  EXPECT_EQ(training.at("seconds"), 7);
  EXPECT_TRUE(training.at("cost").is_null());
  EXPECT_FALSE(index.contains("follow"));
}

TEST_F(AgentReportTest, TheStampChangesWithAnyFile) {
  WriteSmallEpisode(At("a"), 1, 1);
  const std::vector<std::string> folders = {folder_.path().string(), At("missing").string()};
  const std::string stamp = StampOf(folders);
  EXPECT_EQ(StampOf(folders), stamp);
  WriteSmallEpisode(At("a"), 2, 1);
  const std::string added = StampOf(folders);
  EXPECT_NE(added, stamp);
  const std::filesystem::path file = *std::filesystem::directory_iterator(At("a"));
  std::filesystem::last_write_time(file,
                                   std::filesystem::last_write_time(file) + std::chrono::hours(1));
  EXPECT_NE(StampOf(folders), added) << "written again";
}

TEST_F(AgentReportTest, AServerFollowsTheResults) {
  AgentReportOptions options{{folder_.path().string()}, "unused.html", {}};
  options.serve = 0;
  ReportServer server(options);
  httplib::Client client(server.base_url());
  auto page = client.Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, 503);
  EXPECT_THAT(page->body, HasSubstr("nothing to report"));

  WriteSmallTree(At("trees/textcraft/hand"), SmallTree(7));
  page = client.Get("/");
  ASSERT_EQ(page->status, 200);
  const std::string follow = IndexOf(page->body).at("follow");
  EXPECT_EQ(client.Get("/stamp")->body, follow);
  EXPECT_EQ(client.Get("/")->body, page->body);
  EXPECT_THAT(page->body, HasSubstr("connect-src 'self'"));

  WriteSmallEpisode(At("a"), 1, 1);
  while (client.Get("/stamp")->body == follow) std::this_thread::yield();
  const Json index = IndexOf(client.Get("/")->body);
  EXPECT_EQ(index.at("parts").size(), 2);
  EXPECT_NE(index.at("follow"), follow);
}

TEST_F(AgentReportTest, NoTextOfAnEnvironmentIsPartOfTheMarkup) {
  const std::string attack = "</script><script>alert(1)</script><img src=x onerror=alert(1)>";
  WriteSmallTree(At("trees/textcraft/hand"), SmallTree(7, attack));
  WriteFileAtomically(At("trees/textcraft/hand/resolved.toml"), "model = \"" + attack + "\"");
  const std::string page = Page();
  EXPECT_EQ(page.find("alert(1)</script>"), std::string::npos);
  EXPECT_EQ(page.find("<img"), std::string::npos);
  const Json part = PartOfKind(IndexOf(page), "search");
  EXPECT_THAT(part.at("toml").get<std::string>(), HasSubstr(attack));
  const Json tree = ItemOf(page, part.at("trees").at(0).at(6), part.at("trees").at(0).at(7));
  EXPECT_THAT(tree.at("texts").dump(), HasSubstr("alert(1)"));
}

// What a browser computes for an element of the page.
std::string HashSource(const std::string& text) {
  std::string bytes;
  const std::string digits = Sha256(text);
  for (size_t i = 0; i < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return "'sha256-" + Base64(bytes) + "'";
}

TEST_F(AgentReportTest, ThePolicyAllowsOnlyThePagesOwnScriptAndStyle) {
  WriteSmallTree(At("trees/textcraft/hand"), SmallTree(7));
  const std::string page = Page();
  const auto between = [&](const std::string& begin, const std::string& end) {
    const size_t at = page.find(begin) + begin.size();
    return page.substr(at, page.find(end, at) - at);
  };
  const std::string policy = between("Content-Security-Policy\" content=\"", "\">");
  EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
  EXPECT_THAT(policy,
              HasSubstr("script-src " + HashSource(between("<script>", "</script>")) + ";"));
  EXPECT_THAT(policy, HasSubstr("style-src " + HashSource(between("<style>", "</style>")) + ";"));
  EXPECT_EQ(policy.find("unsafe"), std::string::npos);
  EXPECT_EQ(page.find("http:"), page.find("http://www.w3.org/2000/svg"))
      << "a name, not an address";
  EXPECT_EQ(page.find("https:"), std::string::npos);
  EXPECT_EQ(page.find(".innerHTML"), std::string::npos);
}

TEST_F(AgentReportTest, TheSameFilesGiveTheSameBytes) {
  WriteSmallTree(At("trees/textcraft/hand"), SmallTree(7));
  WriteSmallEpisode(At("a"), 1, 1);
  EXPECT_EQ(Page(), Page());
}

TEST_F(AgentReportTest, SaysWhichFilesItCouldNotRead) {
  WriteSmallTree(At("trees/textcraft/hand"), SmallTree(7));
  WriteFileAtomically(At("trees/textcraft/hand/search_results_8.json"), "{\"format\":");
  const Json part = PartOfKind(IndexOf(Page()), "search");
  EXPECT_EQ(part.at("trees").size(), 1);
  EXPECT_THAT(part.at("problems").at(0).get<std::string>(), HasSubstr("search_results_8.json"));
}

TEST_F(AgentReportTest, LimitsTheTreesAndSaysSo) {
  for (int task = 0; task < 10; ++task) {
    WriteSmallTree(At("trees/textcraft/hand"), SmallTree(task));
  }
  const Json part = PartOfKind(IndexOf(Page({}, {.trees = 3})), "search");
  EXPECT_EQ(part.at("total"), 10);
  std::vector<int> tasks;
  for (const Json& line : part.at("trees")) tasks.push_back(line.at(0));
  EXPECT_THAT(tasks, ElementsAre(0, 3, 6));
}

TEST_F(AgentReportTest, LeavesOutHiddenFoldersCheckpointsAndWhatItSawBefore) {
  WriteSmallTree(At("trees/textcraft/hand"), SmallTree(7));
  WriteSmallTree(At("trees/.hidden/hand"), SmallTree(7));
  WriteFileAtomically(At("train/checkpoints/metrics.jsonl"), "");
  const std::string trees = At("trees").string();
  EXPECT_EQ(IndexOf(Page({trees, trees, folder_.path().string()})).at("parts").size(), 1);
}

// As the shell completes it. The page finds the results of a loop's stages by their paths.
TEST_F(AgentReportTest, AFolderMayEndWithASlash) {
  WriteFileAtomically(At("loop/loop.json"), R"({"stages": []})");
  WriteSmallEpisode(At("loop/iteration_0/evaluate"), 1, 1);
  const Json index = IndexOf(Page({At("loop").string() + "/"}));
  EXPECT_EQ(PartOfKind(index, "loop").at("path"), At("loop").string());
  EXPECT_EQ(PartOfKind(index, "evaluation").at("path"), At("loop/iteration_0/evaluate").string());
}

TEST_F(AgentReportTest, GoesOnWithoutAMissingFolder) {
  WriteSmallTree(At("trees/textcraft/hand"), SmallTree(7));
  const std::string page = Page({At("missing").string(), At("trees").string()});
  EXPECT_EQ(IndexOf(page).at("parts").size(), 1);
}

TEST_F(AgentReportTest, RefusesFoldersWithNothingToShow) {
  const AgentReportOptions empty{{folder_.path().string()}, At("report.html").string(), {}};
  EXPECT_THROW(AgentReport(empty), FatalError);
  const AgentReportOptions missing{{At("missing").string()}, At("report.html").string(), {}};
  EXPECT_THROW(AgentReport(missing), FatalError);
  EXPECT_FALSE(std::filesystem::exists(At("report.html")));
}

}  // namespace
}  // namespace agentr
