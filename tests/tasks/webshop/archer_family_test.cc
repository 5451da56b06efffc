// The family of WebShop in ArCHer's style on logs that stand here; tests/games/webshop/
// archer_shop_test.cc reads those of the shop.
#include "tasks/webshop/archer_family.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/text.h"
#include "tasks/webshop/archer_log.h"
#include "tasks/webshop/archer_policy.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kWish = "i want a red cup with color: red, and price lower than 20.00 dollars";
const std::string kStartPage = fmt::format("\nWebShop \nInstruction:  \n{} \n[Search] ", kWish);
constexpr std::string_view kFoundPage =
    "\n[Back to Search] \nPage 1 (Total results: 11) \n[Next >] \n[B000000001] \nRed  Cup \n$10.0 "
    "\n[B000000002] \nBlue Cup \n$10.0 to $20.0 ";
constexpr std::string_view kCupPage =
    "\n[Back to Search] \n[< Prev] \ncolor [red][[dark blue]]\nsize [8 oz][x]\nRed  Cup \nPrice: "
    "$10.0 \nRating: N.A. \n[Description] \n[Features] \n[Reviews] \n[Buy Now] ";

struct LogTurn {
  std::string action;
  std::string_view answer;
};

std::string LogOf(const std::vector<LogTurn>& turns) {
  std::string log = "\nObservation:\n" + kStartPage;
  for (const LogTurn& turn : turns) {
    log += fmt::format("\nAction:\n{}\nObservation:\n{}", turn.action, turn.answer);
  }
  return log + "\nInstruction:\n" + kWish + " ";
}

// A conversation whose newest observation is the log on one line.
std::vector<Message> HistoryOf(const std::vector<LogTurn>& turns) {
  return {
      {"user", OneLine(LogOf({}))}, {"assistant", "Action: x"}, {"user", OneLine(LogOf(turns))}};
}

const std::vector<LogTurn> kLooked = {{"search[cup]", kFoundPage}, {"click[B000000001]", kCupPage}};

std::vector<LogTurn> LookedAnd(const std::vector<LogTurn>& more) {
  std::vector<LogTurn> turns = kLooked;
  turns.insert(turns.end(), more.begin(), more.end());
  return turns;
}

TEST(ArcherLog, BecomesAConversationInAgentGymsStyle) {
  const ArcherSession session =
      ReadArcherLog(LogOf(LookedAnd({{"click[blue]", "Invalid action!"},
                                     {"think[hm]", "OK."},
                                     {"click[red]", "You have clicked red."},
                                     {"search[x]", "Invalid action!"}})));
  std::vector<std::string> texts;
  for (const Message& turn : session.turns) texts.push_back(turn.content);
  const std::string cup =
      "Instruction: [SEP] " + kWish +
      " [SEP] Back to Search [SEP] < Prev [SEP] color [SEP] red [SEP] dark blue"
      " [SEP] size [SEP] 8 oz [SEP] x [SEP] Red  Cup [SEP] Price: $10.0 [SEP] "
      "Rating: N.A. [SEP] Description [SEP] Features [SEP] Reviews [SEP] Buy Now";
  EXPECT_THAT(texts,
              ElementsAre("WebShop [SEP] Instruction: [SEP] " + kWish + " [SEP] Search",
                          "Action: search[cup]",
                          "Instruction: [SEP] " + kWish +
                              " [SEP] Back to Search [SEP] Page 1 (Total results: 11) [SEP] Next > "
                              "[SEP] B000000001 [SEP] Red  Cup [SEP] $10.0 [SEP] B000000002 [SEP] "
                              "Blue Cup [SEP] $10.0 to $20.0",
                          "Action: click[B000000001]", cup, "Action: click[red]", cup));
  EXPECT_EQ(session.actions, 6);
  EXPECT_EQ(session.wasted_turns, 1);
  EXPECT_EQ(session.failed_action, "search[x]");
}

TEST(ArcherLog, OtherTextsAreNone) {
  for (const std::string text : {"", "WebShop [SEP] Instruction: [SEP] a cup", " Observation:"}) {
    EXPECT_THAT(ReadArcherLog(text).turns, IsEmpty()) << text;
    EXPECT_EQ(LastObservation(text), text);
  }
  EXPECT_THAT(ReadArcherLog("\nObservation:\n\nAction:\nx").turns, IsEmpty());
}

TEST(ArcherFamily, RefusalsAreInvalidActionsAndPagesShownAgain) {
  const ArcherFamily family;
  const std::string before = LogOf(kLooked);
  const std::string refused = LogOf(LookedAnd({{"click[blue]", "Invalid action!"}}));
  const std::string thought = LogOf(LookedAnd({{"think[Invalid action!]", "OK."}}));
  for (const bool one_line : {false, true}) {
    const auto text = [&](const std::string& log) { return one_line ? OneLine(log) : log; };
    EXPECT_TRUE(family.IsRefusal(text(before), "click[blue]", text(refused)));
    EXPECT_FALSE(family.IsRefusal(text(before), "think[Invalid action!]", text(thought)));
    EXPECT_FALSE(family.IsRefusal("", "click[B000000001]", text(before)));
    const std::string again = LogOf({{"wait", "Invalid action!"}, {"click[Search]", kStartPage}});
    EXPECT_TRUE(family.IsRefusal("", "click[Search]", text(again)));
    EXPECT_FALSE(family.IsRefusal(
        "", "think[x]", text(LogOf({{"click[Search]", kStartPage}, {"think[x]", "OK."}}))));
  }
  EXPECT_FALSE(family.LeavesStateUnchanged(before, "click[blue]", refused));
  const std::vector<std::string> actions = {"click[red]",     "click[blue]",  "click[buy now]",
                                            "click[Buy Now]", "search[cup]",  "think[which?]",
                                            "wait",           "click[< Prev]"};
  EXPECT_THAT(family.LikelyUnchanged(HistoryOf(kLooked), actions),
              ElementsAre(false, true, true, false, true, false, true, false));
  EXPECT_THAT(family.LikelyUnchanged(HistoryOf({}), actions),
              ElementsAre(true, true, true, true, false, false, true, true));
}

TEST(ArcherFamily, TheStateIsThePageAndWhatIsChosen) {
  const ArcherFamily family;
  const auto key = [&](const std::vector<LogTurn>& turns) {
    return family.StateKey(HistoryOf(turns));
  };
  const std::string looked = key(kLooked);
  EXPECT_NE(looked, "");
  EXPECT_EQ(key(LookedAnd({{"wait", "Invalid action!"}, {"think[x]", "OK."}})), looked);
  EXPECT_NE(key(LookedAnd({{"click[red]", "You have clicked red."}})), looked);
  EXPECT_NE(key({kLooked[0]}), looked);
  EXPECT_EQ(key(LookedAnd({{"click[< Prev]", kFoundPage}, kLooked[1]})), looked);
  EXPECT_EQ(family.StateKey({}), "");
}

TEST(ArcherFamily, AnObservationIsItsLastPartAndTheRestIsAReading) {
  const ArcherFamily family;
  const auto one = family.WithoutReadings(LogOf(LookedAnd({{"think[x]", "OK."}})));
  const auto other = family.WithoutReadings(LogOf({{"think[y]", "OK."}}));
  EXPECT_EQ(one.text, "OK.");
  EXPECT_EQ(one.text, other.text);
  EXPECT_NE(one.values, other.values);
  EXPECT_NE(family.WithoutReadings(LogOf(kLooked)).text, one.text);
}

TEST(ArcherFamily, NamesMistakesAndKnowsTheWayBack) {
  const ArcherFamily family;
  const auto name = [&](const std::string& action, std::string_view answer) {
    return family.MistakeName(HistoryOf(kLooked), action, LogOf(LookedAnd({{action, answer}})));
  };
  EXPECT_EQ(name("click[8 oz]", "You have clicked 8 oz."), "wrong_option");
  EXPECT_EQ(name("click[green]", "Invalid action!"), "not_on_page");
  EXPECT_EQ(name("buy", "Invalid action!"), "malformed");
  EXPECT_EQ(name("think[x]", "OK."), "wandered");
  EXPECT_EQ(name("click[Features]", "\n[Back to Search] \n[< Prev] \n It is red. "), "side_page");
  EXPECT_THAT(family.Recoveries(HistoryOf(kLooked), {}),
              ElementsAre("click[< Prev]", "click[Back to Search]"));
  EXPECT_THAT(family.Recoveries({}, {}), IsEmpty());
}

TEST(ArcherFamily, TellsTheModelTheRules) {
  const auto messages = ArcherFamily().Instruction();
  ASSERT_EQ(messages.size(), 2u);
  EXPECT_THAT(messages[0].content, HasSubstr("ten actions"));
}

std::string PlanFor(const std::vector<LogTurn>& turns) {
  return ReadArcherPolicy(HistoryOf(turns))->Plan();
}

TEST(ArcherPolicy, SpellsActionsAsThePageDoes) {
  EXPECT_EQ(PlanFor({}), "search[red cup]");
  EXPECT_EQ(PlanFor({kLooked[0]}), "click[B000000001]");
  EXPECT_EQ(PlanFor(kLooked), "click[red]");
  EXPECT_EQ(PlanFor(LookedAnd({{"click[red]", "You have clicked red."}})), "click[Buy Now]");
  EXPECT_EQ(ReadArcherPolicy(std::vector<Message>{{"user", "Questions:"}}), nullptr);
}

TEST(ArcherPolicy, LooksNoFurtherWhenItsActionsRunOut) {
  const std::string_view plain =
      "\n[Back to Search] \n[< Prev] \nRed  Cup \nPrice: $10.0 \nRating: N.A. \n[Description] "
      "\n[Features] \n[Reviews] \n[Buy Now] ";
  std::vector<LogTurn> turns = {kLooked[0], {"click[B000000001]", plain}};
  EXPECT_EQ(PlanFor(turns), "click[< Prev]") << "the other cup may come in red";
  for (int i = 0; i < 3; ++i) turns.push_back({"think[hm]", "OK."});
  EXPECT_EQ(PlanFor(turns), "click[Buy Now]") << "five actions are left";
}

}  // namespace
}  // namespace agentr
