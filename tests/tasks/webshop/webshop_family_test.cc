#include "tasks/webshop/webshop_family.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "common/random.h"
#include "tasks/scripted_model.h"
#include "tests/tasks/small_webshop.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;

const std::string kItem =
    "Instruction: [SEP] buy a lamp [SEP] Back to Search [SEP] < Prev [SEP] color [SEP] red [SEP] | "
    "blue [SEP] caf\xc3\xa9 [SEP] A Lamp [SEP] Price: $12.5 [SEP] Rating: N.A. [SEP] Description "
    "[SEP] Features [SEP] Reviews [SEP] Buy Now";

TEST(WebShopFamily, ParsesActions) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"Thought: go.\nAction: search[red shoes]", "search[red shoes]"},
      {"Thought: go.\nAction:\nclick[Buy Now]\n", "click[Buy Now]"},
      {"Action: click[a]\nObservation: click[b]", "click[a]"},
      {"Action: click[a]  \nNow wait", "click[a]"},
      {"Action: click[b07x] to see it", "click[b07x]"},
      {"Action: click[a] click[b] then", "click[a] click[b]"},
      {"Action: 1. search[x]", "search[x]"},
      {"Action: click buy now", "click buy now"},
      {"Action: search[] now", "search[] now"},
      {"Action: wait ] here", "wait ] here"},
      {"click[x]", "click[x]"},
      {"Action:", ""},
      {"", ""},
  };
  for (const auto& [response, action] : cases) {
    EXPECT_EQ(WebShopFamily().ParseAction(response), action) << response;
  }
}

TEST(WebShopFamily, OnlyWhatTheShopCannotActOnIsUnchanged) {
  const WebShopFamily family;
  for (const char* action : {"", "wait", "click buy now", "click[]", "buy[red]", "Click[red]",
                             "think[red]", "click[green]", "click[search]", "click[ Search ]",
                             "click[next >]", "click[a", "search[a] click[red]", "click[$12.5]"}) {
    EXPECT_TRUE(family.LeavesStateUnchanged(kItem, action, kItem)) << action;
    EXPECT_FALSE(family.LeavesStateUnchanged(kItem, action, kItem + ".")) << action;
  }
  for (const char* action :
       {"click[red]", "click[RED]", "click[ | blue]", "click[Buy Now]", "click[< prev]",
        "click[caf\xc3\xa9]", "click[CAF\xc3\x89]", "click[\xe2\x84\xaa]", "search[lamp]",
        "search[red]", "click[a lamp]"}) {
    EXPECT_FALSE(family.LeavesStateUnchanged(kItem, action, kItem)) << action;
  }
}

TEST(WebShopFamily, RefusesWhatTheShopCannotActOn) {
  const WebShopFamily family;
  for (const char* action : {"", "wait", "click buy now", "buy[red]", "click[green]"}) {
    EXPECT_TRUE(family.IsRefusal(kItem, action, kItem)) << action;
  }
  for (const char* action : {"click[red]", "click[RED]", "search[lamp]"}) {
    EXPECT_FALSE(family.IsRefusal(kItem, action, kItem)) << action;
  }
  const std::string shop = "WebShop [SEP] Instruction: [SEP] x [SEP] Search";
  EXPECT_FALSE(family.IsRefusal(kItem, "click[back to search]", shop)) << "not on the new page";
}

TEST(WebShopFamily, GuessesWhichActionsChangeNothing) {
  const std::vector<Message> history = {{"user", "WebShop [SEP] Instruction: [SEP] x [SEP] Search"},
                                        {"assistant", "Action: click[a]"},
                                        {"user", kItem}};
  const std::vector<std::string> actions = {"click[red]", "click[search]", "search[x]", "wait",
                                            "click[webshop]"};
  EXPECT_THAT(WebShopFamily().LikelyUnchanged(history, actions),
              ElementsAre(false, true, false, true, true));
}

// What the shop answers to each of `probes` from where it stands, and what it remembers.
std::vector<StepResult> Probe(const SmallWebShop& shop, const std::vector<std::string>& probes) {
  std::vector<StepResult> replies;
  for (const std::string& probe : probes) {
    SmallWebShop fork = shop;
    replies.push_back(fork.Step(probe));
    replies.push_back(fork.Step("click[buy now]"));
  }
  return replies;
}

TEST(WebShopFamily, WhatItCallsUnchangedIsUnchangedInTheShop) {
  const WebShopFamily family;
  const auto model = MakeScriptedModel("planner", family, {.error_rate = 0.7});
  int unchanged = 0;
  int changed_out_of_sight = 0;
  for (uint64_t episode = 0; episode < 300; ++episode) {
    RandomStream random(episode);
    SmallWebShop shop(episode);
    std::vector<Message> conversation = {{"user", shop.Page()}};
    const auto next = [&] {
      SamplingParams sampling;
      sampling.seed = random.Next();
      return model->Complete(conversation, 1, sampling).value().completions[0].text;
    };
    for (bool done = false; !done && conversation.size() < 40;) {
      const std::string text = next();
      const std::string action = family.ParseAction(text);
      const std::vector<std::string> probes = {"click[buy now]", "click[< prev]", action,
                                               family.ParseAction(next())};
      const std::string before = shop.Page();
      const SmallWebShop old = shop;
      const StepResult step = shop.Step(action);
      done = step.done;
      if (family.LeavesStateUnchanged(before, action, step.observation)) {
        ++unchanged;
        ASSERT_EQ(old.chosen(), shop.chosen()) << action;
        ASSERT_EQ(Probe(old, probes), Probe(shop, probes)) << action;
      } else if (before == step.observation && old.chosen() != shop.chosen()) {
        ++changed_out_of_sight;
      }
      conversation.push_back({"assistant", text});
      conversation.push_back({"user", step.observation});
    }
  }
  EXPECT_GT(unchanged, 100);
  EXPECT_GT(changed_out_of_sight, 100);
}

TEST(WebShopFamily, RewordsATurnAsTheDemonstrationsDo) {
  const std::string instruction =
      "Instruction: [SEP] buy a lamp with color: red, and size: big, and price lower than 20.00 "
      "dollars [SEP] ";
  const std::string results = instruction +
                              "Back to Search [SEP] Page 1 (Total results: 2) [SEP] Next > [SEP] "
                              "B000000001 [SEP] A Lamp, 2 Bulbs [SEP] $12.5 [SEP] "
                              "B000000002 [SEP] The Lamp with Shade [SEP] $13.5";
  const std::string item =
      instruction +
      "Back to Search [SEP] < Prev [SEP] color [SEP] red [SEP] blue [SEP] size "
      "[SEP] big [SEP] A Lamp, 2 Bulbs [SEP] Price: $12.5 [SEP] Rating: N.A. "
      "[SEP] Description [SEP] Features [SEP] Reviews [SEP] Buy Now";
  std::vector<Message> history = {{"user", "WebShop [SEP] " + instruction + "Search"}};
  const auto says = [&](const std::string& action) {
    const std::optional<WordedAction> worded = WebShopFamily().Reworded(history, action);
    return worded ? fmt::format("{}|{}|{}", worded->check, worded->thought, worded->action)
                  : "nothing";
  };
  const auto take = [&](const std::string& action, const std::string& page) {
    history.push_back({"assistant", "Thought: x\nAction: " + action});
    history.push_back({"user", page});
  };
  EXPECT_EQ(says("search[lamp]"), "|I look for what is asked for.|search[lamp]");
  take("search[lamp]", results);
  EXPECT_EQ(says("click[b000000001]"), "I searched for lamp.|A Lamp may be it.|click[B000000001]");
  EXPECT_EQ(says("click[next >]"), "I searched for lamp.|I look at more.|click[Next >]");
  take("click[B000000001]", item);
  EXPECT_EQ(says("click[red]"), "This is A Lamp.|color: red, as asked.|click[red]");
  EXPECT_EQ(says("click[blue]"), "nothing") << "nobody asked for it";
  EXPECT_EQ(says("click[Reviews]"), "nothing");
  EXPECT_EQ(says("click[buy now]"), "nothing") << "two options are not chosen";
  take("click[blue]", item);
  take("click[red]", item);
  EXPECT_EQ(says("click[big]"), "I clicked red.|size: big, as asked.|click[big]");
  EXPECT_EQ(says("click[< prev]"), "I clicked red.|I go back.|click[< Prev]");
  take("click on big", item);
  EXPECT_EQ(says("click[big]"), "That did not work.|size: big, as asked.|click[big]");
  take("click[big]", item);
  EXPECT_EQ(says("click[buy now]"),
            "I clicked big.|All that is asked for is chosen.|click[Buy Now]");
  take("wait", "ok.");
  EXPECT_EQ(says("click[buy now]"), "nothing") << "no page is shown";
}

}  // namespace
}  // namespace agentr
