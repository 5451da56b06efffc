// The report in a real browser: headless Chromium, where it is installed (Debian's package
// chromium).
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "common/file.h"
#include "common/text.h"
#include "eval/episode_file.h"
#include "report/agent_report.h"
#include "tests/cli/program.h"
#include "tests/report/result_files.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kAttack = "</script><img src=x onerror=alert(1)><b>bold</b>";

class BrowserTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("command -v chromium >/dev/null 2>&1") != 0) {
      GTEST_SKIP() << "there is no chromium";
    }
    const std::filesystem::path trees = folder_.path() / "trees/textcraft/hand";
    WriteSmallTree(trees, SmallTree(7, kAttack));
    WriteFileAtomically(trees / "resolved.toml", kAttack);
    WriteSmallRows(folder_.path() / "rows", trees.string());
    for (int task = 0; task < 4; ++task) {
      WriteSmallEpisode(folder_.path() / "a", task, 0);
      WriteSmallEpisode(folder_.path() / "b", task, 1);
    }
    WriteFileAtomically(folder_.path() / "train/metrics.jsonl",
                        "{\"step\":1,\"train\":{\"loss\":2.5,\"accuracy\":0.5,\"tokens\":9}}\n");
    WriteFileAtomically(
        folder_.path() / "with_reward/metrics.jsonl",
        "{\"step\":0,\"evaluation\":{\"success\":0.25,\"return\":0.2,\"length\":40}}\n"
        "{\"step\":1,\"play\":{\"success\":0.5,\"return\":0.4,\"length\":30},\"train\":{"
        "\"entropy\":1.5},"
        "\"critic\":{\"gap\":0.1},\"transitions\":1024}\n");
    MakePage();
  }

  void MakePage() const {
    ::testing::internal::CaptureStdout();
    AgentReport({{folder_.path().string()}, Page(), {}});
    ::testing::internal::GetCapturedStdout();
  }

  std::string Page() const { return (folder_.path() / "report.html").string(); }

  // What the page's script has made of the view; "" if the browser failed. What the page wrote
  // to its console is in console_. A reader does what `reader` says, in JavaScript, when the view is there.
  std::string Show(const std::string& view, const std::string& reader = "") {
    if (!reader.empty()) {
      MakePage();
      std::string page = ReadFile(Page());
      // A second script is against the policy of the page.
      ReplaceAll(page, "Content-Security-Policy", "no-policy");
      const size_t at = page.rfind("</script>");
      WriteFileAtomically(Page(), page.substr(0, at) + "\nsetTimeout(() => {" + reader +
                                      "}, 1000);" + page.substr(at));
    }
    const std::string dom = (folder_.path() / "dom.html").string();
    const std::string log = (folder_.path() / "log.txt").string();
    const std::string command = fmt::format(
        "chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 "
        "--user-data-dir='{}/profile' --enable-logging=stderr --dump-dom 'file://{}{}' >'{}' "
        "2>'{}'",
        folder_.path().string(), Page(), view, dom, log);
    if (std::system(command.c_str()) != 0) return "";
    console_.clear();
    std::ifstream lines(log);
    for (std::string line; std::getline(lines, line);) {
      if (line.find("CONSOLE") != std::string::npos) console_ += line + "\n";
    }
    const std::string document = ReadFile(dom);
    // The body's attributes, and what the script has made, but not the script.
    return document.substr(document.find("<body"), 100) +
           document.substr(document.rfind("</script>"));
  }

  ScratchFolder folder_;
  std::string console_;
};

TEST_F(BrowserTest, ShowsTextOfAnEnvironmentAsText) {
  // Parts by path: a, b, rows, train, trees, with_reward.
  const std::string tree = Show("#/4/0");
  EXPECT_THAT(tree, AllOf(HasSubstr("data-shown=\"#/4/0\""), HasSubstr("role=\"treeitem\""),
                          HasSubstr("&lt;b&gt;bold&lt;/b&gt;"), Not(HasSubstr("<img"))));
  EXPECT_EQ(console_, "");
}

TEST_F(BrowserTest, TheFirstPageShowsRuns) {
  const std::string dom = Show("#/");
  EXPECT_THAT(dom,
              AllOf(HasSubstr(">Evaluation: textcraft"), HasSubstr("success 100.0 % [51.0, 100.0]"),
                    HasSubstr("1 step, last loss 2.500"), HasSubstr("6 runs")));
  EXPECT_EQ(console_, "");
}

TEST_F(BrowserTest, ShowsEveryKindOfResult) {
  const std::map<std::string, std::string> views = {{"#/", "paired comparisons"},
                                                    {"#/0", "Paired comparisons on the same tasks"},
                                                    {"#/0/1", "Could not execute look"},
                                                    {"#/2", "malformed"},
                                                    {"#/2/0", "bandname part4"},
                                                    {"#/3", "Loss by kind of text"},
                                                    {"#/3/0", "Loss by kind of text"},
                                                    {"#/4", "best reward, mean"},
                                                    {"#/4/99", "best reward, mean"},
                                                    {"#/5", "critic: gap"},
                                                    {"#/compare", "From "}};
  for (const auto& [view, text] : views) {
    const std::string dom = Show(view);
    EXPECT_THAT(dom, AllOf(HasSubstr(fmt::format("data-shown=\"{}\"", view)), HasSubstr(text)))
        << view;
    EXPECT_THAT(dom, Not(HasSubstr("cannot be shown"))) << view;
    EXPECT_EQ(console_, "") << view;
  }
}

// The address says what is on the axis and which run is beside this one.
TEST_F(BrowserTest, DrawsTwoTrainingsOverEachOther) {
  const auto lines = [](double loss) {
    return fmt::format(
        "{{\"step\":1,\"train\":{{\"loss\":{0},\"tokens\":900}},\"speed\":{{\"seconds\":60}}}}\n"
        "{{\"step\":2,\"train\":{{\"loss\":{1},\"tokens\":900}},\"speed\":{{\"seconds\":60}}}}\n",
        loss, loss / 2);
  };
  WriteFileAtomically(folder_.path() / "train/metrics.jsonl", lines(2.5));
  WriteFileAtomically(folder_.path() / "train_too/metrics.jsonl", lines(4));
  MakePage();
  const std::string alone = Show("#/3");
  EXPECT_THAT(alone, AllOf(HasSubstr("no other run"), Not(HasSubstr("c0 dashed"))));
  const std::string beside = Show("#/3?x=tokens&smooth=none&beside=4");
  EXPECT_THAT(beside,
              AllOf(HasSubstr("c0 dashed"), HasSubstr("all, train_too"), HasSubstr(">1,000<")));
  // A run that learns from reward cannot be drawn beside a training.
  EXPECT_THAT(Show("#/3?beside=6"), AllOf(HasSubstr("no other run"), Not(HasSubstr("c0 dashed"))));
  EXPECT_THAT(Show("#/3?x=minutes"), AllOf(HasSubstr(">1.8<"), Not(HasSubstr(">1,000<"))));
  EXPECT_EQ(console_, "");
}

// The link of a list to item `item` of part `part`.
std::string LinkTo(int part, int item) { return fmt::format("href=\"#/{}/{}\"", part, item); }

TEST_F(BrowserTest, FacetsRestrictAListAndAreInItsAddress) {
  WriteSmallEpisode(folder_.path() / "a", 4, 1);
  WriteSmallTree(folder_.path() / "trees/textcraft/hand", SmallTree(8));
  MakePage();
  const std::string all = Show("#/0");
  EXPECT_THAT(all,
              AllOf(HasSubstr("success <span class=\"number\">1</span>"),
                    HasSubstr("failure <span class=\"number\">4</span>"), HasSubstr("5 episodes"),
                    HasSubstr(LinkTo(0, 0)), HasSubstr(LinkTo(0, 4))));
  EXPECT_THAT(
      Show("#/0?facet=result:success&sort=-task"),
      AllOf(HasSubstr("1 of 5 episodes"), HasSubstr(LinkTo(0, 4)), Not(HasSubstr(LinkTo(0, 0))),
            HasSubstr("aria-pressed=\"true\">success"), HasSubstr("aria-sort=\"descending\"")));
  // Two choices at once, of which the counts of each facet are those that the other one leaves.
  EXPECT_THAT(
      Show("#/4?facet=rows:without"),
      AllOf(HasSubstr("1 of 2 trees"), HasSubstr("with rows <span class=\"number\">1</span>"),
            HasSubstr(LinkTo(4, 1))));
  EXPECT_THAT(Show("#/0?facet=result:<b>&facet=nothing&sort=nothing"), HasSubstr("5 episodes"));
  EXPECT_EQ(console_, "");
}

TEST_F(BrowserTest, AChoiceStaysForTheWayBack) {
  WriteSmallEpisode(folder_.path() / "a", 4, 1);
  const std::string chosen = Show("#/0", R"(
      const find = (text) => [...document.querySelectorAll('button')].find((b) => b.textContent.startsWith(text));
      find('success').click();
      find('task').click();
      setTimeout(() => {
        document.querySelector('td a').click();
        setTimeout(() => document.body.append('address ' + location.hash), 1000);
      }, 1000);)");
  EXPECT_THAT(chosen, AllOf(HasSubstr("address #/0/4"),
                            HasSubstr("href=\"#/0?facet=result%3Asuccess&amp;sort=-task\"")));
  EXPECT_EQ(console_, "");
}

// The keys go through the list that is filtered and sorted; the words of the filter are in the address.
TEST_F(BrowserTest, NextIsTheNextOfTheListAsItIsShown) {
  WriteSmallEpisode(folder_.path() / "a", 4, 1);
  MakePage();
  EXPECT_THAT(Show("#/0?filter=4"), AllOf(HasSubstr("1 of 5 episodes"), HasSubstr(LinkTo(0, 4)),
                                          Not(HasSubstr(LinkTo(0, 0)))));
  const std::string walked = Show("#/0?facet=result:failure&sort=-task", R"(
      const links = [...document.querySelectorAll('td a')].map((a) => a.hash);
      document.querySelector('td a').click();
      setTimeout(() => {
        document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'n', bubbles: true}));
        setTimeout(() => document.body.append('walked ' + (location.hash === links[1]) + ' of ' + links.length), 500);
      }, 500);)");
  EXPECT_THAT(walked, AllOf(HasSubstr("walked true of 4"), HasSubstr("2 of 4, filtered of 5"),
                            HasSubstr("facet=result%3Afailure&amp;sort=-task")));
  EXPECT_EQ(console_, "");
}

TEST_F(BrowserTest, AnItemLinksToTheSameTaskInOtherRuns) {
  WriteSmallEpisode(folder_.path() / "b", 7, 1);
  WriteSmallEpisode(folder_.path() / "other_data", 7, 0.25);
  const std::filesystem::path file = folder_.path() / "other_data/search_results_7.json";
  std::string text = ReadFile(file);
  ReplaceAll(text, "hash", "another");
  ReplaceAll(text, "data_another", "data_hash");
  WriteFileAtomically(file, text);
  MakePage();
  // Parts by path: a, b, other_data, rows, train, trees, with_reward.
  const std::string episode = Show("#/1/4");
  EXPECT_THAT(episode, AllOf(HasSubstr("The same task in other runs"), HasSubstr(LinkTo(5, 0)),
                             HasSubstr("5 nodes"), HasSubstr(LinkTo(3, 0)),
                             HasSubstr("row 1, malformed"), HasSubstr("0.500"),
                             Not(HasSubstr(LinkTo(2, 0))), Not(HasSubstr(LinkTo(0, 0)))));
  const std::string tree = Show("#/5/0");
  EXPECT_THAT(tree, AllOf(HasSubstr(LinkTo(1, 4)), HasSubstr("done, 1 step"),
                          Not(HasSubstr(LinkTo(2, 0)))));
  EXPECT_THAT(Show("#/3/0"), AllOf(HasSubstr(LinkTo(1, 4)), HasSubstr(LinkTo(5, 0))));
  EXPECT_EQ(console_, "");
}

TEST_F(BrowserTest, AStepBeginsWithItsActionAndFoldsWhatTheReaderHasSeen) {
  const std::string page =
      "A [SEP] " + std::string(300, 'x') + " [SEP] " + std::string(kAttack) + " [SEP] ";
  Episode episode;
  episode.task_id = 9;
  episode.instruction = {{"user", "Shop."}};
  episode.first_observation = page + "first";
  episode.turns.resize(4);
  const std::vector<std::string> ends = {"second", "third [SEP] fourth", "fourth", "short"};
  for (size_t i = 0; i < ends.size(); ++i) {
    EpisodeTurn& turn = episode.turns[i];
    turn.action = fmt::format("click[{}]", i);
    turn.response = "Thought: because.\nAction: " + turn.action;
    turn.observation = i < 3 ? page + ends[i] : ends[i];
  }
  episode.turns[1].token_ids = {5, 6};
  episode.turns[1].logprobs = {-0.25F, -0.75F};
  episode.turns[3].response = "It says click[3] to me";
  WriteFileAtomically(
      folder_.path() / "a/search_results_9.json",
      WriteEpisode({episode, R"({"task":"textcraft","model":"hand","data_hash":"hash"})"}));
  MakePage();
  const std::string dom = Show("#/0/4");
  const auto step = [](const std::string& number, const std::string& action) {
    return HasSubstr("class=\"count\">" + number + "</span><span class=\"action\">" + action);
  };
  EXPECT_THAT(dom, AllOf(step("1", "click[0]"), step("4", "click[3]"), Not(HasSubstr("Thought:")),
                         HasSubstr("class=\"text\">because.</div>"),
                         HasSubstr("It says click[3] to me"), Not(HasSubstr("<img"))));
  EXPECT_THAT(dom, AllOf(HasSubstr("2 tokens, mean log-probability -0.500"),
                         HasSubstr("class=\"text\">third [SEP] fourth</div>"),
                         HasSubstr("2 of 5 lines are new"), HasSubstr("Nothing new"),
                         HasSubstr("class=\"text\">short</div></div>")));
  EXPECT_EQ(console_, "");
}

TEST_F(BrowserTest, SharesAreBars) {
  WriteSmallEpisode(folder_.path() / "a", 4, 0);
  const std::filesystem::path run = folder_.path() / "rows/textcraft_centric.run.json";
  std::string text = ReadFile(run);
  text.back() = ',';
  WriteFileAtomically(
      run, text + R"("audit":{"rows":8,"tasks":1,"turns":9,"tokens":{"trained":1,"all":2},
      "rows_by":{"mistake":{"not_found":2,"":6}}},"counts":{"replay":{"verified":3,"failed":1},"paths":5}})");
  MakePage();
  const auto row = [](const std::string& name, int value, const std::string& width,
                      const std::string& share) {
    return HasSubstr(
        fmt::format("{}</th><td class=\"number\">{}</td><td class=\"number\"><span "
                    "class=\"share\"><span class=\"meter\"><span style=\"width: {};\"></span>"
                    "</span> {}</span>",
                    name, value, width, share));
  };
  EXPECT_THAT(Show("#/2"),
              AllOf(row("not found", 2, "25%", "25.0 %"), row("–", 6, "75%", "75.0 %"),
                    row("verified", 3, "75%", "75.0 %"), row("failed", 1, "25%", "25.0 %")));
  EXPECT_THAT(Show("#/0"), row("done", 5, "100%", "100.0 %"));
  EXPECT_EQ(console_, "");
}

TEST_F(BrowserTest, ALinkToANodeShowsIt) {
  Tree tree = SmallTree(8);
  for (int i = 0; i < 300; ++i) {
    Node node;
    node.action = fmt::format("get {} stone", i + 1);
    node.response = "Action: " + node.action;
    node.observation = fmt::format("Got {} stone", i + 1);
    tree.Add(0, node);
  }
  WriteSmallTree(folder_.path() / "trees/textcraft/hand", tree);
  EXPECT_THAT(Show("#/4/1?node=250", R"(
      const look = () => {
        const selected = document.querySelector('.line[aria-selected="true"]');
        if (selected === null) return setTimeout(look, 100);
        const line = selected.getBoundingClientRect();
        const list = document.querySelector('.tree').getBoundingClientRect();
        document.body.append('shown ' + (list.top <= line.top && line.bottom <= list.bottom));
      };
      look();)"),
              HasSubstr("shown true"));
  EXPECT_EQ(console_, "");
}

TEST_F(BrowserTest, AChartMayHaveManyPoints) {
  std::string lines = "{\"step\":0,\"train\":{\"loss\":2.5}}\n";
  for (int step = 1; step <= 200'000; ++step) {
    lines += fmt::format("{{\"step\":{},\"lr\":{}}}\n", step, step % 7);
  }
  WriteFileAtomically(folder_.path() / "train/metrics.jsonl", lines);
  MakePage();
  // The page is too long to be printed.
  EXPECT_NE(Show("#/3").find("<figcaption>Learning rate"), std::string::npos);
  EXPECT_EQ(console_, "");
}

// Of a list that a reader has gone through to its end, only what is near the view is there.
TEST_F(BrowserTest, ALongListDrawsOnlyWhatIsNear) {
  for (int task = 10; task < 410; ++task) WriteSmallEpisode(folder_.path() / "b", task, 1);
  const std::string go = R"(
      const more = document.querySelector('.more');
      const links = () => [...document.querySelectorAll('td a')];
      const until = (ready, then) => ready() ? then() : setTimeout(() => until(ready, then), 100);
      document.body.append(`at first ${links().length} rows `);
      while (!more.hidden) more.click();
      document.body.append(`then ${links().length} rows `);
      document.querySelector('.items tbody:last-child').scrollIntoView(false);
      until(() => links().length < 300 && links().at(-1).hash === '#/1/403',
            () => document.body.append('the end'));)";
  EXPECT_THAT(Show("#/1", go), HasSubstr("at first 50 rows then 404 rows the end"));
  EXPECT_EQ(console_, "");
}

}  // namespace
}  // namespace agentr
