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
  // to its console is in console_. A reader does what `reader` says, in JavaScript, when the view
  // is there.
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
        "chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=20000 {} "
        "--user-data-dir='{}/profile' --enable-logging=stderr --dump-dom 'file://{}{}' >'{}' "
        "2>'{}'",
        narrow_ ? "--window-size=500,900" : "", folder_.path().string(), Page(), view, dom, log);
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

  // The episode of task 9 in the folder a.
  void WriteEpisodeOfPages(const std::string& first, const std::vector<std::string>& pages) const {
    Episode episode;
    episode.task_id = 9;
    episode.instruction = {{"user", "Shop."}};
    episode.first_observation = first;
    for (const std::string& page : pages) {
      EpisodeTurn turn;
      turn.action = "click[it]";
      turn.response = "Action: click[it]";
      turn.observation = page;
      episode.turns.push_back(turn);
    }
    WriteFileAtomically(
        folder_.path() / "a/search_results_9.json",
        WriteEpisode({episode, R"({"task":"textcraft","model":"hand","data_hash":"hash"})"}));
    MakePage();
  }

  ScratchFolder folder_;
  std::string console_;
  bool narrow_ = false;  // a window for which the page has its narrow form
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
                    HasSubstr("1 step, last loss 2.500"), HasSubstr("6 runs"),
                    HasSubstr(">1 paired comparison of evaluations on the same tasks<")));
  EXPECT_EQ(console_, "");
}

TEST_F(BrowserTest, ShowsEveryKindOfResult) {
  const std::map<std::string, std::string> views = {{"#/", "paired comparison"},
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
  // The lines of the legend are drawn as those of the chart.
  EXPECT_THAT(Show("#/3?beside=4", R"(
      const dash = (line) => getComputedStyle(document.querySelector(line)).strokeDasharray;
      const keys = ['.key:not(.dashed)', '.key.dashed'].map((key) => dash(key + ' polyline'));
      const chart = dash('.chart .dashed polyline');
      document.body.append(`legend ${keys.join(', ')} chart ${chart}.`);)"),
              HasSubstr("legend none, 5px, 4px chart 5px, 4px."));
  EXPECT_EQ(console_, "");
}

// Also those of 100 steps, of which each mean is of the latest 4.
TEST_F(BrowserTest, TheThickLineIsTheMeanOfTheLatestPoints) {
  std::string lines;
  for (int step = 0; step < 100; ++step) {
    lines += fmt::format("{{\"step\":{},\"lr\":0,\"gradient_norm\":{}}}\n", step, step * 37 % 11);
  }
  WriteFileAtomically(folder_.path() / "train/metrics.jsonl", lines);
  EXPECT_THAT(Show("#/3", R"(
      const heights = (line) => document.querySelector('.chart ' + line).getAttribute('points')
        .split(' ').map((point) => Number(point.split(',')[1]));
      const points = heights('.thin'), means = heights('.thick');
      const wrong = means.filter((mean, i) => {
        const near = points.slice(Math.max(0, i - 3), i + 1);
        return Math.abs(near.reduce((sum, one) => sum + one, 0) / near.length - mean) > 0.11;
      });
      document.body.append(`means ${means.length}, wrong ${wrong.length}.`);)"),
              HasSubstr("means 100, wrong 0."));
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

TEST_F(BrowserTest, EpisodesHaveAFacetOfTheirRefusals) {
  for (int refused = 0; refused < 6; ++refused) {
    Episode episode;
    episode.task_id = 10 + refused;
    episode.turns.resize(8);
    for (int i = 0; i < refused; ++i) episode.turns[static_cast<size_t>(2 * i % 7)].refused = true;
    WriteFileAtomically(
        folder_.path() / fmt::format("only/search_results_{}.json", 10 + refused),
        WriteEpisode({episode, R"({"task":"textcraft","model":"hand","data_hash":"hash"})"}));
  }
  MakePage();
  // Parts by path: a, b, only, rows, train, trees, with_reward.
  EXPECT_THAT(Show("#/2"), AllOf(HasSubstr(">none <span class=\"number\">1</span>"),
                                 HasSubstr(">1 <span class=\"number\">1</span>"),
                                 HasSubstr(">2 or 3 <span class=\"number\">2</span>"),
                                 HasSubstr(">4 or more <span class=\"number\">2</span>")));
  EXPECT_THAT(Show("#/2?facet=refusals:2%20or%203"),
              AllOf(HasSubstr("2 of 6 episodes"), HasSubstr(LinkTo(2, 2)), HasSubstr(LinkTo(2, 3)),
                    Not(HasSubstr(LinkTo(2, 1))), Not(HasSubstr(LinkTo(2, 4)))));
  EXPECT_EQ(console_, "");
}

TEST_F(BrowserTest, TreesHaveFacetsOfTheirMistakesAndFailedPaths) {
  Tree tree({"textcraft", 8, "hand", "hash", "{}"}, {{"user", "Craft."}}, "Goal: craft stick.");
  Node done;
  done.action = done.response = "craft 4 stick";
  done.end = End::kDone;
  done.reward = 1;
  tree.BackUp(tree.Add(0, done));
  WriteSmallTree(folder_.path() / "trees/textcraft/hand", tree);
  MakePage();
  EXPECT_THAT(Show("#/4"), AllOf(HasSubstr(">with a failed one <span class=\"number\">1</span>"),
                                 HasSubstr(">none failed <span class=\"number\">1</span>"),
                                 HasSubstr(">with a mistake <span class=\"number\">1</span>"),
                                 HasSubstr(">malformed <span class=\"number\">1</span>")));
  EXPECT_THAT(
      Show("#/4?facet=paths:none%20failed"),
      AllOf(HasSubstr("1 of 2 trees"), HasSubstr(LinkTo(4, 1)), Not(HasSubstr(LinkTo(4, 0)))));
  EXPECT_THAT(
      Show("#/4?facet=mistakes:malformed"),
      AllOf(HasSubstr("1 of 2 trees"), HasSubstr(LinkTo(4, 0)), Not(HasSubstr(LinkTo(4, 1)))));
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

// The keys go through the list that is filtered and sorted; the words of the filter are in the
// address.
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

TEST_F(BrowserTest, APageSeenBeforeIsOneLine) {
  const std::string goal = "Instruction: [SEP] i'd like a rug with color: blush pink [SEP] ";
  const std::string start = "WebShop [SEP] " + goal + "Search" + std::string(60, '.');
  const std::string results = "Back to Search [SEP] " + std::string(300, 'x');
  const std::string product = "< Prev [SEP] " + std::string(300, 'y');
  WriteEpisodeOfPages(start, {goal + results, goal + product, goal + results, start, "ok.", "ok."});
  const std::string dom = Show("#/0/4");
  const auto step = [](int number, const std::string& shown) {
    return HasSubstr(
        fmt::format("class=\"count\">{}</span><span class=\"action\">click[it]</span>"
                    "<span class=\"note\"></span></div><div class=\"message user\">"
                    "{}",
                    number, shown));
  };
  const auto folded = [](const std::string& summary) {
    return "<details><summary class=\"note\">" + summary + "</summary><div";
  };
  // What is new is in full, but for the goal.
  const std::string again =
      "<div class=\"text\">" + folded("2 lines as at the start") + ">" + goal + "</div></details>";
  EXPECT_THAT(dom, AllOf(step(1, again + results), HasSubstr(again + "&lt; Prev [SEP] y"),
                         step(3, folded("As in step 1") + " class=\"text\">" + goal + results),
                         step(4, folded("As at the start")), step(5, "<div class=\"text\">ok."),
                         step(6, "<div class=\"text\">ok.")));
  EXPECT_EQ(console_, "");
}

// The path in the tree and the row have it beside each other.
TEST_F(BrowserTest, ARowHasThePageOfItsBadStepOnce) {
  const std::string page = "Nothing " + std::string(200, 'x');
  const std::filesystem::path tree = folder_.path() / "trees/textcraft/hand/search_results_7.json";
  const std::filesystem::path rows = folder_.path() / "rows/textcraft_centric.messages.jsonl";
  for (const auto& [file, reply] :
       {std::pair(tree, "Could not execute craft 1 stone"), std::pair(rows, "Could not execute")}) {
    std::string text = ReadFile(file);
    ReplaceAll(text, reply, page);
    WriteFileAtomically(file, text);
  }
  MakePage();
  const std::string reply = "environment, step 1</div>", text = "<div class=\"text\">" + page;
  EXPECT_THAT(Show("#/2/0"),
              AllOf(HasSubstr(reply + text),
                    HasSubstr(reply +
                              "<details><summary class=\"note\">As in step 1 of the bad path"
                              "</summary>" +
                              text)));
  EXPECT_EQ(console_, "");
}

TEST_F(BrowserTest, ANarrowScreenShowsTablesAndTreesInTheirFullWidth) {
  narrow_ = true;
  Tree tree({"textcraft", 7, "hand", "hash", "{}"}, {{"user", "Craft."}}, "Goal: craft stick.");
  int at = 0;
  for (int level = 0; level < 12; ++level) {
    Node node;
    node.action = node.response = fmt::format("search[{} and so on]", std::string(80, 'x'));
    node.observation = fmt::format("{} {}", level, std::string(80, 'y'));
    node.end = level == 11 ? End::kDone : End::kNone;
    node.reward = level == 11 ? 1 : 0;
    at = tree.Add(at, node);
  }
  WriteSmallTree(folder_.path() / "trees/textcraft/hand", tree);
  const std::string measure = R"(
      document.documentElement.style.width = '420px';  // no window of Chromium is as narrow
      for (const box of document.querySelectorAll('.scroll, .tree')) {
        const fits = box.scrollWidth <= box.clientWidth;
        document.body.append(`${box.className} ${fits ? 'fits' : 'is cut'}. `);
      })";
  for (const char* list : {"#/0", "#/2", "#/4"}) {
    EXPECT_THAT(Show(list, measure), AllOf(HasSubstr("scroll fits."), Not(HasSubstr("is cut."))))
        << list;
  }
  EXPECT_THAT(Show("#/4/0", measure), AllOf(HasSubstr("tree fits."), HasSubstr("and so on]")));
  EXPECT_EQ(console_, "");
}

TEST_F(BrowserTest, CountsOfRowsAreSharesAndZerosAreOneLine) {
  const std::filesystem::path run = folder_.path() / "rows/textcraft_centric.run.json";
  std::string text = ReadFile(run);
  text.back() = ',';
  WriteFileAtomically(
      run, text + R"("audit":{"rows":8,"tasks":1,"turns":9,"tokens":{"trained":1,"all":2}},
      "counts":{"trees":4,"without_good":1,"other_start":0,"paths":10,"good_paths":5,"bad_paths":0,
      "pairs_found":0,"pairs":3,"pruned_turns":7}})");
  MakePage();
  const auto line = [](int level, const std::string& name, int value, const std::string& share) {
    return fmt::format(
        "<tr><th scope=\"row\"><span class=\"inner\" style=\"--level: {};\">{}</span></th>"
        "<td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
        level, name, value, share);
  };
  const auto bar = [](int percent) {
    return fmt::format(
        "<span class=\"share\"><span class=\"meter\"><span style=\"width: {0}%;\"></span></span> "
        "{0}.0 %</span>",
        percent);
  };
  EXPECT_THAT(Show("#/2"),
              AllOf(HasSubstr(line(0, "trees", 4, "") + line(1, "without good", 1, bar(25)) +
                              line(0, "paths", 10, "") + line(1, "good paths", 5, bar(50)) +
                              line(0, "pairs", 3, "") + line(0, "pruned turns", 7, "")),
                    HasSubstr("None of: other start, bad paths, pairs found<")));
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

// The mean of each point over hundreds before it is not made by going through them again.
TEST_F(BrowserTest, AMeanOfManyPointsTakesLinearTime) {
  std::string lines;
  for (int step = 0; step < 4000; ++step) {
    lines += fmt::format("{{\"step\":{},\"gradient_norm\":{}}}\n", step, step % 7);
  }
  WriteFileAtomically(folder_.path() / "train/metrics.jsonl", lines);
  EXPECT_THAT(Show("#/3?smooth=none", R"(
      let visited = 0;
      for (const name of ['slice', 'reduce', 'map', 'forEach', 'filter']) {
        const method = Array.prototype[name];
        Array.prototype[name] = function(...given) {
          const out = method.apply(this, given);
          visited += name === 'slice' ? out.length : this.length;
          return out;
        };
      }
      const draw = (smooth) => { visited = 0; location.hash = '#/3?smooth=' + smooth; };
      const until = (smooth, then) => setTimeout(() =>
        document.body.dataset.shown.endsWith(smooth) ? then(visited) : until(smooth, then), 50);
      draw('mean');
      until('mean', (few) => {
        draw('more');  // means of three times as many
        until('more', (more) => document.body.append(`more ${few > 4000 && more < 1.5 * few}.`));
      });)"),
              HasSubstr("more true."));
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
