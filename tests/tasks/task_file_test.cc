#include "tasks/task_file.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "clients/env/protocol.h"
#include "common/file.h"
#include "common/json_depth.h"
#include "tasks/revision_hints.h"
#include "tasks/scripted_policy.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kTask = R"([task]
name = "doors"
instruction = "Open the door. Answer with \"Action: ...\"."
)";

TaskKind KindOf(const std::string& more) {
  return ReadTaskFile(std::string(kTask) + more, "doors.toml");
}

std::string Refusal(const std::string& text) {
  SCOPED_TRACE(text);
  return FatalErrorOf(ExitCode::kUsage, [&] { ReadTaskFile(text, "doors.toml"); });
}

std::string RefusalOf(const std::string& more) { return Refusal(std::string(kTask) + more); }

TEST(TaskFile, ANameAndAnInstructionAreEnough) {
  const TaskKind kind = KindOf("");
  EXPECT_EQ(kind.name, "doors");
  EXPECT_EQ(kind.title, "doors");
  const auto family = kind.family();
  EXPECT_EQ(family->name(), "doors");
  EXPECT_EQ(family->Instruction(),
            (std::vector<Message>{{"user", "Open the door. Answer with \"Action: ...\"."},
                                  {"assistant", "Ok."}}));
  EXPECT_EQ(family->ParseAction("I see a door.\nAction: open door\nObservation: x"), "open door");
  EXPECT_FALSE(family->IsRefusal("", "x", "No."));
  EXPECT_EQ(family->SearchDepth(0), 20);
  EXPECT_EQ(kind.policy, nullptr);
  EXPECT_FALSE(kind.split.has_value());
}

TEST(TaskFile, WithoutSectionsItSpeaksAgentGymsFirstDialect) {
  const auto own = KindOf("").protocol(), built_in = MakeProtocol("textcraft");
  EXPECT_EQ(own->CreateBody(), built_in->CreateBody());
  EXPECT_EQ(nlohmann::json::parse(own->ResetBody(3, 7)),
            nlohmann::json::parse(built_in->ResetBody(3, 7)));
  EXPECT_EQ(nlohmann::json::parse(own->StepBody(3, "a \"b\"")),
            nlohmann::json::parse(built_in->StepBody(3, "a \"b\"")));
  EXPECT_EQ(own->CloseBody(3), built_in->CloseBody(3));
  EXPECT_EQ(own->AskPath("observation", 3), built_in->AskPath("observation", 3));
  EXPECT_EQ(own->ParseCreate(R"({"id": 3})"), 3);
  EXPECT_EQ(own->ParseReset(R"({"observation": "x"})"), "x");
  EXPECT_EQ(own->ParseStep(R"({"observation": "x", "reward": 0.5, "done": true})"),
            (StepResult{"x", 0.5, true}));
  EXPECT_EQ(own->ParseStep(R"({"observation": "x", "reward": null, "done": 0, "error": null})"),
            (StepResult{"x", 0, false}));
  EXPECT_EQ(own->ParseObservation(R"("x")", ""), "x");
  const auto lost = own->ParseStep(R"({"error": "session 3 not found"})");
  EXPECT_EQ(lost.error().kind, ErrorKind::kEnvironment);
  EXPECT_TRUE(own->IsLostSession(lost.error()));
  EXPECT_EQ(own->Hash().size(), 16U);
}

TEST(TaskFile, AnotherDialect) {
  const auto protocol = KindOf(R"(
[session]
base_path = "/maze"
fault_patterns = ["^TimeoutError$"]
lost_patterns = ["who are you"]
[create]
body = ""
id = ""
[reset]
path = "/begin"
body = {env_idx = "{id}", game = "{task}", world_type = "Text", note = "task {task} of {id}"}
observation = "/0"
template = "{/1}\n{observation}"
list_suffix = {pointer = "/2", head = "\nAVAILABLE ACTIONS: ", join = ","}
task_offset = 10
task_modulo = 12
[step]
body = {env_idx = "{id}", action = "{action}"}
observation = "/state"
reward = "/score"
done = ["/terminated", "/truncated"]
[observe]
path = "/look?env={id}"
observation = "/text"
[close]
path = ""
)")
                            .protocol();
  EXPECT_EQ(protocol->PathOf("/create"), "/maze/create");
  EXPECT_EQ(protocol->PathOf("/reset"), "/maze/begin");
  EXPECT_EQ(protocol->PathOf("/step"), "/maze/step");
  EXPECT_EQ(protocol->PathOf("/close"), "");
  EXPECT_EQ(protocol->CreateBody(), "");
  const int64_t number = protocol->ParseCreate("7").value();
  EXPECT_EQ(number, 7);
  EXPECT_EQ(nlohmann::json::parse(protocol->ResetBody(number, 3)),
            nlohmann::json::parse(
                R"({"env_idx": 7, "game": 1, "world_type": "Text", "note": "task 1 of 7"})"));
  EXPECT_EQ(protocol->ParseReset(R"(["A maze.", "Task: out", ["left", "right"]])"),
            "Task: out\nA maze.\nAVAILABLE ACTIONS: left,right");
  EXPECT_EQ(
      protocol->ParseStep(R"({"state": "x", "score": 1, "terminated": false, "truncated": true})"),
      (StepResult{"x", 1, true}));
  EXPECT_EQ(protocol->ParseStep(R"({"state": "TimeoutError", "score": 0, "terminated": false})")
                .error()
                .kind,
            ErrorKind::kEnvironment);
  EXPECT_EQ(protocol->AskPath("observation", number), "/maze/look?env=7");
  EXPECT_EQ(protocol->ParseObservation(R"({"text": "y"})", ""), "y");
  EXPECT_TRUE(protocol->IsLostSession({ErrorKind::kEnvironment, "who are you?", 0}));
  EXPECT_THAT(std::string(protocol->ReplyShape("/step")),
              HasSubstr("\"/terminated\" or \"/truncated\""));
}

TEST(TaskFile, IdsThatAreTextsKeepTheirText) {
  const auto protocol = KindOf("").protocol();
  const int64_t a = protocol->ParseCreate(R"({"id": "a/1"})").value();
  const int64_t b = protocol->ParseCreate(R"({"id": "b"})").value();
  EXPECT_NE(a, b);
  EXPECT_EQ(protocol->ParseCreate(R"({"id": "a/1"})"), a);
  EXPECT_EQ(protocol->CloseBody(a), R"({"id":"a/1"})");
  EXPECT_EQ(protocol->AskPath("observation", a), "/observation?id=a%2F1");
  EXPECT_EQ(nlohmann::json::parse(protocol->StepBody(b, "x"))["id"], "b");
}

TEST(TaskFile, WhatAReplyLacksIsNamed) {
  const auto protocol = KindOf("").protocol();
  const auto fault = [&](const char* reply) { return protocol->ParseStep(reply).error().message; };
  EXPECT_THAT(fault(R"({"reward": 0, "done": false})"),
              HasSubstr("no observation at \"/observation\""));
  EXPECT_THAT(fault(R"({"observation": "x", "reward": 0})"),
              HasSubstr("no end of the episode at \"/done\""));
  EXPECT_THAT(fault(R"({"observation": "x", "done": true})"),
              HasSubstr("no number for the reward at \"/reward\""));
  EXPECT_THAT(fault(R"({"observation": "x", "reward": 0, "done": "no"})"),
              HasSubstr("not true or false"));
  for (const char* nothing : {"null", "false", "\"\""}) {
    EXPECT_TRUE(protocol->ParseStep(
        std::string(R"({"observation": "x", "reward": 1, "done": true, "error": )") + nothing +
        "}"))
        << nothing;
  }
  EXPECT_THAT(protocol->ParseCreate("[]").error().message, HasSubstr("no id of a session"));
}

// Rewards of an episode whose replies have these numbers; it ends with the last.
std::vector<double> Rewards(const std::string& section, const std::vector<double>& numbers) {
  const auto protocol = KindOf("[reward]\n" + section).protocol();
  RewardTally tally;
  std::vector<double> rewards;
  for (size_t i = 0; i < numbers.size(); ++i) {
    rewards.push_back(protocol->RewardSoFar(tally, {"", numbers[i], i + 1 == numbers.size()}));
  }
  return rewards;
}

TEST(TaskFile, RewardsAreReckonedAsTheFileSays) {
  EXPECT_THAT(Rewards("", {0, 0.5, 0.25}), ElementsAre(0, 0.5, 0.25));
  EXPECT_THAT(Rewards("mode = \"sum\"", {1, 0, 2}), ElementsAre(1, 1, 3));
  EXPECT_THAT(Rewards("mode = \"max\"", {-2, 3, 1}), ElementsAre(-2, 3, 3));
  EXPECT_THAT(Rewards("mode = \"delta\"", {1, 4, 4}), ElementsAre(1, 3, 0));
  EXPECT_THAT(Rewards("scale = 0.01\nclip = [0, 1]", {-100, 50, 250}), ElementsAre(0, 0.5, 1));
  EXPECT_THAT(Rewards("mode = \"sum\"\nclip = [0, 1]", {0.75, 0.75, -1}), ElementsAre(0.75, 1, 0.5))
      << "what is clipped is not lost for the sum";
  EXPECT_THAT(Rewards("only_when_done = true\noffset = 1", {1, 1, 1}), ElementsAre(0, 0, 2));
}

TEST(TaskFile, FormsOfActions) {
  const auto action = [](const std::string& section, const char* response) {
    return KindOf("[action]\n" + section).family()->ParseAction(response);
  };
  EXPECT_EQ(action("format = \"whole\"\none_line = false", "<think>hm</think> SELECT 1\nFROM t "),
            "SELECT 1\nFROM t");
  EXPECT_EQ(action("format = \"fence\"\none_line = false", "So:\n```sql\nSELECT 1;\n```\nDone."),
            "SELECT 1;");
  EXPECT_EQ(action("format = \"fence\"", "no fence"), "");
  EXPECT_EQ(action("format = \"regex\"\npattern = '<act>(.*?)</act>'", "<act>a</act><act>b</act>"),
            "b");
  EXPECT_EQ(action("format = \"regex\"\npattern = '<act>(.*?)</act>'\nmatch = \"first\"",
                   "<act>a</act><act>b</act>"),
            "a");
  EXPECT_EQ(action("format = \"tool_json\"", "Action: {\"name\": \"f\",\n\"arguments\": {}}"),
            R"({"name":"f","arguments":{}})");
  constexpr const char* kCall = R"({"name": "act", "arguments": {"why": "so", "command": "go"}})";
  EXPECT_EQ(action("argument = \"command\"", kCall), "go");
  EXPECT_EQ(action("", kCall), kCall) << "which of the two is not said";
  EXPECT_EQ(action("remove = '[^a-z ]'\nlower = true", "Action: go *north*!"), "go north");
}

TEST(TaskFile, Judgement) {
  const auto family = KindOf(R"([judgement]
refused = ["^Nothing happened", "^Could not"]
unchanged = ["^You look"]
informing = ["^look"]
readings = ['\d+ degrees']
same_observation_is_unchanged = true
same_observation_is_same_state = true
revision_action = "look"
mistakes = [{name = "no_key", pattern = "key"}, {name = "wrong_way", pattern = "wall"}]
)")
                          .family();
  EXPECT_TRUE(family->IsRefusal("a", "x", "Well.\nNothing happened."));
  EXPECT_FALSE(family->IsRefusal("a", "look", "You look around."));
  EXPECT_TRUE(family->LeavesStateUnchanged("a", "look", "You look around."));
  EXPECT_TRUE(family->LeavesStateUnchanged("a", "x", "Could not do it."));
  EXPECT_TRUE(family->LeavesStateUnchanged("a", "x", "a"));
  EXPECT_FALSE(family->LeavesStateUnchanged("a", "x", "b"));
  EXPECT_EQ(family->RevisionAction(), "look");
  const RevisionHints& hints = family->hints();
  EXPECT_TRUE(hints.MayInform("look at door"));
  EXPECT_FALSE(hints.MayInform("open door"));
  EXPECT_EQ(hints.MistakeName({}, "x", "You have no key."), "no_key");
  EXPECT_EQ(hints.MistakeName({}, "x", "A wall."), "wrong_way");
  EXPECT_EQ(hints.MistakeName({}, "x", "Hm."), "");
  EXPECT_EQ(hints.WithoutReadings("It is 20 degrees.").text, "It is #.");
  const std::vector<Message> history = {{"user", "start"}, {"assistant", "x"}, {"user", "a room"}};
  EXPECT_EQ(hints.StateKey(history), "a room");
}

TEST(TaskFile, AHeaderMayNameTheSession) {
  const auto cookie = KindOf("[session]\nid_in = \"cookie\"\n").protocol();
  EXPECT_EQ(cookie->SessionHeader(), "Set-Cookie");
  const int64_t id = cookie->ParseSession("sid=7").value();
  EXPECT_EQ(cookie->RequestHeader(id), "Cookie: sid=7");
  EXPECT_EQ(cookie->ResetBody(id, 3), R"({"data_idx":3})");
  EXPECT_EQ(cookie->StepBody(id, "go"), R"({"action":"go"})");
  EXPECT_EQ(cookie->AskPath("observation", id), "/observation");
  const auto header = KindOf("[session]\nid_in = \"header:X-Session-ID\"\n").protocol();
  EXPECT_EQ(header->RequestHeader(header->ParseCreate(R"({"id": 4})").value()), "X-Session-ID: 4");
  EXPECT_EQ(KindOf("").protocol()->RequestHeader(4), "");
  for (const char* wrong : {"query", "header:", "header:a b"}) {
    EXPECT_THAT(RefusalOf(fmt::format("[session]\nid_in = \"{}\"\n", wrong)),
                HasSubstr("[session] id_in: is"));
  }
}

TEST(TaskFile, ARefusalMayUseUpATurn) {
  const auto family =
      KindOf("[judgement]\nrefused = [\"^No\"]\nrefusal_is_unchanged = false\n").family();
  EXPECT_TRUE(family->IsRefusal("a", "x", "No."));
  EXPECT_FALSE(family->LeavesStateUnchanged("a", "x", "No."));
}

TEST(TaskFile, SplitsAreIdsAndRanges) {
  const TaskKind kind = KindOf("[splits]\ntest = [\"0-2\", 7]\ntrain = \"3-5\"\n");
  EXPECT_THAT(kind.split->test(), ElementsAre(0, 1, 2, 7));
  EXPECT_THAT(kind.split->train(), ElementsAre(3, 4, 5));
}

TEST(TaskFile, AScriptedPlayerTakesWhatIsOffered) {
  const TaskKind kind =
      KindOf("[action]\nexamples = [\"wait\"]\noffered = 'Actions: \\[(.*)\\]'\n");
  const std::vector<Message> shown = {{"user", "A room. Actions: ['go north', 'open door']"}};
  const auto state = kind.policy(shown, 0, nullptr).value();
  RandomStream random(3);
  std::set<std::string> actions;
  for (int i = 0; i < 100; ++i) actions.insert(state->AnyAction(random));
  EXPECT_THAT(actions, ElementsAre("go north", "open door", "wait"));
  EXPECT_THAT(kind.family()->hints().Recoveries(shown, {}),
              ElementsAre("wait", "go north", "open door"));
  EXPECT_EQ(state->Plan(), kind.policy(shown, 0, nullptr).value()->Plan());
  // A reply without a list, such as that to a revision's turn, takes nothing back.
  const TaskKind listed = KindOf("[action]\noffered = 'Actions: (.*)'\n");
  const std::vector<Message> later = {
      {"user", "A room. Actions: go north"}, {"assistant", "Action: wait"}, {"user", "ok."}};
  const auto there = listed.policy(later, 0, nullptr).value();
  ASSERT_NE(there, nullptr);
  EXPECT_EQ(there->Plan(), "go north");
}

constexpr const char* kShop = R"([action]
examples = ["search[x]"]
offered = '(?s)\A.* \[SEP\] .*\z'
offered_between = " [SEP] "
offered_as = "click[{offered}]"
[judgement]
must_be_offered = '\Aclick\[([^\[\n]+)\]'
need_not_be_offered = '\Asearch\['
offered_ignore_case = true
labels = ["Search"]
)";

TEST(TaskFile, WhatIsNotOfferedIsRefusedWhereTheObservationStays) {
  const auto family = KindOf(kShop).family();
  const std::string page = "Search [SEP]  Buy Now  [SEP] < Prev [SEP] 5.5\"";
  const auto refused = [&](const char* action, const std::string& after) {
    EXPECT_EQ(family->LeavesStateUnchanged(page, action, after),
              family->IsRefusal(page, action, after));
    return family->IsRefusal(page, action, after);
  };
  EXPECT_TRUE(refused("click[add to cart]", page));
  EXPECT_TRUE(refused("click[buy]", page)) << "a part of a piece";
  EXPECT_TRUE(refused("click[search]", page)) << "a label";
  EXPECT_TRUE(refused("buy now", page)) << "no action";
  EXPECT_FALSE(refused("click[add to cart]", "Thanks [SEP] Bye"));
  EXPECT_FALSE(refused("click[buy now]", page)) << "an equal page after what is offered";
  EXPECT_FALSE(refused("click[5.5\"]", page));
  EXPECT_FALSE(refused("click[ÉCRU]", page)) << "how the server folds it is not known";
  EXPECT_FALSE(refused("search[shoes]", page));
  EXPECT_FALSE(family->IsRefusal("No pieces.", "click[x]", "No pieces."));
  const std::vector<Message> history = {{"user", page}};
  EXPECT_THAT(family->LikelyUnchanged(
                  history, std::vector<std::string>{"click[x]", "click[< Prev]", "search[x]", "x"}),
              ElementsAre(true, false, false, true));
  const RevisionHints& hints = family->hints();
  EXPECT_EQ(hints.MistakeName(history, "click[x]", page), "not_offered");
  EXPECT_EQ(hints.MistakeName(history, "buy now", page), "malformed");
  EXPECT_EQ(hints.MistakeName(history, "click[x]", "Thanks [SEP] Bye"), "");
  EXPECT_EQ(hints.MistakeName(history, "click[buy now]", page), "");
  EXPECT_THAT(hints.Recoveries(history, {}),
              ElementsAre("search[x]", "click[Buy Now]", "click[< Prev]", "click[5.5\"]"));
}

// A task's first observation keeps its lines, and what is shown again does not.
TEST(TaskFile, TheFirstObservationIsTheSameOnOneLine) {
  const auto family = KindOf(kShop).family();
  const std::string first = "Search\nhere [SEP] Buy Now [SEP] < Prev";
  const std::string again = "Search here [SEP] Buy Now [SEP] < Prev";
  EXPECT_TRUE(family->IsRefusal(first, "click[add to cart]", again));
  EXPECT_TRUE(family->LeavesStateUnchanged(first, "click[add to cart]", again));
  EXPECT_EQ(family->hints().MistakeName(std::vector<Message>{{"user", first}}, "click[x]", again),
            "not_offered");
  EXPECT_FALSE(family->IsRefusal(first, "click[buy now]", again));
}

TEST(TaskFile, EveryMatchMayBeAnOffer) {
  const auto family = KindOf(R"([action]
offered = '\[(\w+)\]'
offered_between = ""
[judgement]
must_be_offered = '^use (.*)'
refusal_is_unchanged = false
)")
                          .family();
  const std::string shown = "You see a [key] and a [box].";
  EXPECT_TRUE(family->IsRefusal(shown, "use lamp", shown));
  EXPECT_TRUE(family->IsRefusal(shown, "use KEY", shown)) << "case counts unless the file says so";
  EXPECT_FALSE(family->IsRefusal(shown, "use box", shown));
  EXPECT_FALSE(family->IsRefusal(shown, "sing", shown)) << "nothing is said about other actions";
  EXPECT_FALSE(family->LeavesStateUnchanged(shown, "use lamp", shown)) << "it uses up a turn";
  EXPECT_THAT(family->LikelyUnchanged(std::vector<Message>{{"user", shown}},
                                      std::vector<std::string>{"use lamp"}),
              ElementsAre(false));
}

struct Fault {
  std::string text;
  int line;
  const char* says;
  const char* cure;
};

std::string Head(const std::string& more) {
  return "[task]\nname = \"x\"\ninstruction = \"x\"\n" + more;
}

// Each with its line and what helps.
TEST(TaskFile, FaultsNameTheirLineAndTheCure) {
  const std::vector<Fault> faults = {
      {"[task]\nname = \"x\"\n", 1, "[task] has no instruction", "with the form of an answer"},
      {"[task]\ninstruction = \"x\"\n", 1, "[task] has no name", "it names the folders"},
      {"name = \"x\"\n", 1, "name stands in no section", "most likely [task] is missing above it"},
      {Head("success_reward = 2\n"), 4, "[task] success_reward", "rewards lie from 0 to 1"},
      {Head("max_depth = 0\n"), 4, "[task] max_depth", "a whole number of at least 1"},
      {Head("tasks = 10\n[splits]\ntest = \"5-10\"\n"), 6, "[splits] test: there is no task 10",
       "[task] tasks = 10 means 0 to 9"},
      {"[task]\nname = \"My Game\"\ninstruction = \"x\"\n", 2, "[task] name",
       "small letters, digits and \"_\" only"},
      {Head("transport = \"ws\"\n"), 4, "[task] transport", "is \"http\" or \"openenv\""},
      {Head("ids_of = \"webshopp\"\n"), 4, "[task] ids_of", "is none of"},
      {"[task]\nname = x\n", 2, "", "a text needs quotes"},
      {Head("[step]\nreward = \"/a\"\nreward = \"/b\"\n"), 6, "", "a key stands once in a section"},
      {"[task]\nname = \"caf\xe9\"\n", 2, "", "invalid utf-8 sequence"},
      {Head("[stepp]\n"), 4, "there is no section [stepp]", "did you mean step?"},
      {Head("[step]\nreword = \"/r\"\n"), 5, "[step] reword: there is no such key",
       "did you mean reward?"},
      {Head("[step]\nreward = \"r\"\n"), 5, "[step] reward: \"r\" is no JSON pointer",
       "write \"/name\" for a field"},
      {Head("[step]\ndone = []\n"), 5, "[step] done", "needs at least one pointer"},
      {Head("[step]\nbody = {id = \"{id}\"}\n"), 5, "[step] body", "{action} is missing in it"},
      {Head("[reset]\nbody = {data_idx = \"{task}\"}\n"), 5, "[reset] body",
       "{id} is missing in it"},
      {Head("[reset]\nbody = {id = \"{id}\"}\n"), 5, "[reset] body", "{task} is missing in it"},
      {Head("[reset]\nbody = \"{id}\"\n"), 5, "[reset] body", "needs a table"},
      {Head("[reset]\npath = \"reset\"\n"), 5, "[reset] path", "a path begins with \"/\""},
      {Head("[session]\nbase_path = \"/maze/\"\n"), 5, "[session] base_path",
       "begins with \"/\" and does not end with it"},
      {Head("[session]\nid_in = \"query\"\n"), 5, "[session] id_in",
       "\"header:\" and the header's"},
      {Head("[reward]\nmode = \"total\"\n"), 5, "[reward] mode: \"total\"",
       "is none of last, sum, max, delta"},
      {Head("[reward]\nclip = [1, 0]\n"), 5, "[reward] clip", "the lower one first"},
      {Head("[reward]\nscale = \"1\"\n"), 5, "[reward] scale", "needs a number"},
      {Head("[action]\nformat = \"regex\"\n"), 4, "[action] has no pattern",
       "format = \"regex\" and pattern = '…' belong together"},
      {Head("[action]\npattern = 'a'\n"), 5, "[action] pattern", "belong together"},
      {Head("[action]\nmatch = \"middle\"\n"), 5, "[action] match", "is \"first\" or \"last\""},
      {Head("[action]\noffered_as = \"click[{offered}]\"\n"), 5, "[action] offered_as",
       "needs offered = '…'"},
      {Head("[action]\noffered = '.*'\noffered_as = \"click[{piece}]\"\n"), 6,
       "[action] offered_as", "{offered} is missing in it"},
      {Head("[judgement]\nrefused = [\"(\"]\n"), 5,
       "[judgement] refused: the pattern '(' is wrong at character", "missing"},
      {Head("[judgement]\nmistakes = [{name = \"x\"}]\n"), 5, "[judgement] mistakes",
       "needs a name and a pattern"},
      {Head("[judgement]\nsame_observation_is_unchanged = \"yes\"\n"), 5,
       "[judgement] same_observation_is_unchanged", "needs true or false, without quotes"},
      {Head("[judgement]\nmust_be_offered = '^click (.*)'\n"), 5, "[judgement] must_be_offered",
       "needs [action] offered"},
      {Head("[action]\noffered = '.*'\n[judgement]\nmust_be_offered = ['a', '[']\n"), 7,
       "[judgement] must_be_offered: the pattern '[' is wrong", "missing"},
      {Head("[judgement]\nneed_not_be_offered = '^search'\n"), 5, "[judgement] need_not_be_offered",
       "needs must_be_offered"},
      {Head("[judgement]\nlabels = [\"Search\"]\n"), 5, "[judgement] labels",
       "needs must_be_offered"},
      {Head("[action]\noffered = '.*'\n[judgement]\nmust_be_offered = 'a'\noffered_ignore_case = "
            "1\n"),
       8, "[judgement] offered_ignore_case", "needs true or false, without quotes"},
      {Head("[judgement]\nmust_be_ofered = 'a'\n"), 5,
       "[judgement] must_be_ofered: there is no such key", "did you mean must_be_offered?"},
      {Head("[splits]\ntest = \"5-2\"\n"), 5, "[splits] test", "ranges such as \"0-373\""},
      {Head("[splits]\ntest = 5\ntrain = \"0-9\"\n"), 6,
       "[splits] train: task 5 is a test task too", "tests would tell nothing"},
  };
  EXPECT_GE(faults.size(), 20U);
  for (const Fault& fault : faults) {
    const std::string message = Refusal(fault.text);
    EXPECT_THAT(message,
                StartsWith(fmt::format("doors.toml, line {}: {}", fault.line, fault.says)));
    EXPECT_THAT(message, HasSubstr(fault.cure)) << fault.text;
  }
}

TEST(TaskFile, AnOpenEnvServersSessionsAreConnections) {
  const std::string openenv =
      "[task]\nname = \"doors\"\ninstruction = \"x\"\ntransport = \"openenv\"\n";
  const auto kind = [&](const std::string& more) {
    return ReadTaskFile(openenv + more, "doors.toml");
  };
  const auto protocol = kind("").protocol();
  EXPECT_EQ(protocol->SocketPath(), "/ws");
  EXPECT_EQ(protocol->ResetBody(1, 7), R"({"type":"reset","data":{"seed":7}})");
  EXPECT_EQ(protocol->StepBody(1, "go"), R"({"type":"step","data":{"message":"go"}})");
  EXPECT_EQ(protocol->CloseBody(1), R"({"type":"close"})");
  EXPECT_EQ(protocol->SessionsPerServer(), 1);
  const auto other =
      kind(
          "[session]\nbase_path = \"/env\"\n[reset]\nbody = {level = \"{task}\"}\ntask_offset = 1\n"
          "[step]\nbody = {action_id = \"{action}\"}\n")
          .protocol();
  EXPECT_EQ(other->SocketPath(), "/env/ws");
  EXPECT_EQ(other->ResetBody(1, 7), R"({"type":"reset","data":{"level":8}})");
  EXPECT_EQ(other->StepBody(1, "3"), R"({"type":"step","data":{"action_id":"3"}})");
  EXPECT_EQ(KindOf("").protocol()->SocketPath(), "");
  for (const char* const section : {"create", "observe", "close"}) {
    EXPECT_THAT(Refusal(openenv + "[" + section + "]\n"),
                HasSubstr("an OpenEnv server has no such call"));
  }
  EXPECT_THAT(Refusal(openenv + "[session]\nsessions_per_server = 0\n"),
              HasSubstr("[session] sessions_per_server"));
  EXPECT_THAT(Refusal(openenv + "[step]\npath = \"/x\"\n"), HasSubstr("there is no such key"));
  EXPECT_THAT(Refusal(openenv + "[reset]\nbody = {seed = 1}\n"), HasSubstr("{task} is missing"));
}

TEST(TaskFile, ATextIsWhereTheFirstPointerFindsOne) {
  const auto protocol =
      KindOf("[step]\nobservation = [\"/result\", \"/error/message\"]\n").protocol();
  const auto shown = [&](const std::string& reply) {
    const auto step = protocol->ParseStep(reply);
    return step ? step->observation : "";
  };
  EXPECT_EQ(shown(R"({"result":"yes","done":false})"), "yes");
  EXPECT_EQ(KindOf("[session]\nfault = \"\"\n[step]\nobservation = [\"/result\", \"/error\"]\n")
                .protocol()
                ->ParseStep(R"({"result":null,"error":"no","done":false})")
                .value()
                .observation,
            "no");
  EXPECT_THAT(RefusalOf("[step]\nobservation = []\n"), HasSubstr("at least one pointer"));
}

TEST(TaskFile, OnlyTheNewPartOfALongTextIsShown) {
  const auto protocol = KindOf("[step]\nextract = '(?s).*\\[GAME\\] (.*)'\n").protocol();
  const auto shown = [&](const char* text) {
    return protocol->ParseStep(DumpJson({{"observation", text}, {"done", false}}))->observation;
  };
  EXPECT_EQ(shown("[GAME] Rules\n[GAME] Board: A\nB"), "Board: A\nB");
  EXPECT_EQ(shown("no mark"), "no mark");
}

TEST(TaskFile, AListMayShowItsLastItemsAndAPartOfThem) {
  const auto protocol = KindOf(
                            "[step]\ntemplate = \"\"\nobservation = \"/prompt\"\nlist_suffix = "
                            "{pointer = \"/messages\", "
                            "item = \"/content\", last = 2, head = \": \", join = \" \"}\n")
                            .protocol();
  const auto step = protocol->ParseStep(
      R"({"prompt":"So","messages":[{"content":"a"},{"content":"b"},{"content":"c"}],"done":false})");
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(step->observation, "So: b c");
}

// The files that come with the programs.
TEST(TaskFile, ThoseThatComeWithTheProgramsAreRead) {
  std::set<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(AGENTR_SOURCE_DIR "/configs/tasks")) {
    const TaskKind kind = ReadTaskFile(ReadFile(entry.path()), entry.path().string());
    EXPECT_EQ(kind.name, entry.path().stem().string());
    EXPECT_THAT(kind.family()->Instruction().front().content, HasSubstr("Think first"));
    names.insert(kind.name);
  }
  EXPECT_GE(names.size(), 17U);
}

TEST(TaskFile, IsRegisteredOnceAndKeptBesideResults) {
  const ScratchFolder folder;
  const auto file = folder.path() / "doors.toml";
  WriteFileAtomically(file, std::string(kTask));
  EXPECT_EQ(UseTaskFile(file), "doors");
  EXPECT_EQ(UseTaskFile(file), "doors");
  EXPECT_EQ(MakeTaskFamily("doors")->name(), "doors");
  KeepTaskFile(folder.path() / "results", "doors");
  EXPECT_EQ(ReadFile(folder.path() / "results" / "task.toml"), kTask);
  WriteFileAtomically(file, std::string(kTask) + "[splits]\ntest = 1\n");
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [&] { UseTaskFile(file); }),
              HasSubstr("there is already a kind of task \"doors\""));
  WriteFileAtomically(file, "[task]\nname = \"textcraft\"\ninstruction = \"x\"\n");
  EXPECT_THROW(UseTaskFile(file), FatalError);
}

}  // namespace
}  // namespace agentr
