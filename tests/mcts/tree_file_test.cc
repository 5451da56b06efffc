#include "mcts/tree_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "common/error.h"
#include "tests/common/fatal_error.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

// Root, a step, and an ended leaf whose prompt was cut by one turn.
Tree ThreeNodes(const std::string& family = "toy") {
  Tree tree({family, 31, "m", "h", R"({"iterations":8,"c":0.5,"alpha":1})", "i"},
            {{"user", "Play."}, {"assistant", "Ok."}}, "Start");
  Node first = Turn("go", "You went.");
  first.response = "Action: go";
  const int a = tree.Add(0, first);
  Node last = Turn("win", "Won!", 1, End::kDone);
  last.response = "Action: win";
  last.dropped_turns = 1;
  last.token_ids = {5, 6};
  last.logprobs = {-0.5F, -0.25F};
  tree.BackUp(tree.Add(a, last));
  return tree;
}

void ExpectSameNode(const Node& read, const Node& written) {
  EXPECT_EQ(read.parent, written.parent);
  EXPECT_EQ(read.depth, written.depth);
  EXPECT_EQ(read.children, written.children);
  EXPECT_EQ(read.response, written.response);
  EXPECT_EQ(read.action, written.action);
  EXPECT_EQ(read.observation, written.observation);
  EXPECT_EQ(read.reward, written.reward);
  EXPECT_EQ(read.dropped_turns, written.dropped_turns);
  EXPECT_EQ(read.visits, written.visits);
  EXPECT_EQ(read.value, written.value);
  EXPECT_EQ(read.terminal, written.terminal);
}

void ExpectSameTree(const Tree& read, const Tree& written) {
  EXPECT_EQ(read.instruction(), written.instruction());
  ASSERT_EQ(read.size(), written.size());
  for (int i = 0; i < read.size(); ++i) {
    SCOPED_TRACE(i);
    ExpectSameNode(read.node(i), written.node(i));
  }
}

std::string ReadError(const std::string& text) {
  return FatalErrorOf(ExitCode::kFile, [&] { ReadTree(text, "folder/tree.json"); });
}

// The text with `from`, which must be in it, replaced by `to`.
std::string Replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string Compact() { return WriteTree(ThreeNodes(), TreeFormat::kCompact); }
std::string AgentR() { return WriteTree(ThreeNodes(), TreeFormat::kAgentR); }

TEST(TreeFileTest, TellsWhatTheModelSaidWhereAnotherThingWasDone) {
  Tree tree({"toy", 3, "hand", "", "{}"}, {{"user", "Play."}}, "Goal.");
  Node slipped = Turn("a", "A", 1, End::kDone);
  slipped.response = "Action: a";
  slipped.slip = Slip{.said = "b", .response = "Action: b"};
  tree.BackUp(tree.Add(0, slipped));
  for (const TreeFormat format : {TreeFormat::kCompact, TreeFormat::kAgentR}) {
    const Tree read = ReadTree(WriteTree(tree, format), "tree");
    EXPECT_EQ(read.node(1).slip, slipped.slip);
    EXPECT_EQ(read.node(1).response, "Action: a");
  }
}

TEST(CompactTreeTest, Golden) {
  EXPECT_EQ(Compact(),
            R"({"format":"agentr-tree","version":1,
"family":"toy","task":31,"model":"m","data_hash":"h",
"model_identity":"i",
"search":{"iterations":8,"c":0.5,"alpha":1},
"instruction":[{"role":"user","content":"Play."},{"role":"assistant","content":"Ok."}],
"nodes":[
{"observation":"Start","visits":1,"value":1.0},
{"parent":0,"response":"Action: go","action":"go","observation":"You went.","visits":1,"value":1.0},
{"parent":1,"response":"Action: win","action":"win","observation":"Won!","reward":1.0,"visits":1,"value":1.0,"end":"done","dropped_turns":1,"token_ids":[5,6],"logprobs":[-0.5,-0.25]}
]}
)");
}

TEST(CompactTreeTest, RoundTripKeepsEverything) {
  const Tree written = ThreeNodes();
  const Tree read = ReadTree(Compact(), "tree");
  ExpectSameTree(read, written);
  EXPECT_EQ(read.node(2).end, End::kDone);
  EXPECT_EQ(read.node(2).token_ids, written.node(2).token_ids);
  EXPECT_EQ(read.node(2).logprobs, written.node(2).logprobs);
  EXPECT_EQ(read.origin().family, "toy");
  EXPECT_EQ(read.origin().task_id, 31);
  EXPECT_EQ(read.origin().model, "m");
  EXPECT_EQ(read.origin().data_hash, "h");
  EXPECT_EQ(read.origin().model_identity, "i");
  EXPECT_EQ(WriteTree(read, TreeFormat::kCompact), Compact()) << "to the byte";
}

TEST(CompactTreeTest, RoundTripOfRandomSearches) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    ToySearch search(/*forks=*/true);
    search.options.seed = seed;
    search.options.max_context = search.options.max_new_tokens + 70;
    const Tree tree = search.MustRun();
    const std::string text = WriteTree(tree, TreeFormat::kCompact);
    const Tree read = ReadTree(text, "tree");
    ExpectSameTree(read, tree);
    EXPECT_EQ(WriteTree(read, TreeFormat::kCompact), text);
    ExpectSameTree(ReadTree(WriteTree(ReadTree(WriteTree(tree, TreeFormat::kAgentR), "tree"),
                                      TreeFormat::kAgentR),
                            "tree"),
                   ReadTree(WriteTree(tree, TreeFormat::kAgentR), "tree"));
  }
}

TEST(CompactTreeTest, LogprobsAreExact) {
  Tree tree({}, {{"user", "x"}}, "Start");
  Node node = Turn("x", "X");
  node.logprobs = {-0.1F, -1e-30F, -17.123457F};
  tree.Add(0, node);
  EXPECT_EQ(ReadTree(WriteTree(tree, TreeFormat::kCompact), "tree").node(1).logprobs,
            node.logprobs);
}

class BothFormatsTest : public ::testing::TestWithParam<TreeFormat> {};

INSTANTIATE_TEST_SUITE_P(Formats, BothFormatsTest,
                         ::testing::Values(TreeFormat::kCompact, TreeFormat::kAgentR));

TEST_P(BothFormatsTest, KeepsUnicodeQuotesAndControlCharacters) {
  Tree tree({}, {{"user", "Grüße \"you\""}}, "日本語\n\t🪵");
  const std::string odd = "a\\b \"q\" \x01 é 🙂 </script>";
  tree.Add(0, Turn(odd, odd));
  const Tree read = ReadTree(WriteTree(tree, GetParam()), "tree");
  EXPECT_EQ(read.instruction().front().content, "Grüße \"you\"");
  EXPECT_EQ(read.root().observation, "日本語\n\t🪵");
  EXPECT_EQ(read.node(1).observation, odd);
  EXPECT_EQ(read.node(1).action, odd);
}

TEST_P(BothFormatsTest, InvalidUtf8BecomesTheReplacementCharacter) {
  Tree tree({}, {{"user", "x"}}, "Start");
  tree.Add(0, Turn("x", "cut \xC3"));
  const Tree read = ReadTree(WriteTree(tree, GetParam()), "tree");
  EXPECT_EQ(read.node(1).observation, "cut \uFFFD");
}

// A leaf of each end.
Tree EveryEnd() {
  Tree tree({}, {{"user", "x"}}, "Start");
  for (const End end : {End::kNone, End::kDone, End::kDisaster, End::kDepth}) {
    tree.Add(0, Turn("x", "X", 0, end));
  }
  return tree;
}

TEST_P(BothFormatsTest, EveryEndIsKept) {
  const Tree tree = EveryEnd();
  const Tree read = ReadTree(WriteTree(tree, GetParam()), "tree");
  for (int i = 1; i < 5; ++i) EXPECT_EQ(read.node(i).end, tree.node(i).end);
}

TEST_P(BothFormatsTest, ARootAloneIsATree) {
  const Tree tree({}, {{"user", "x"}}, "Start");
  const Tree read = ReadTree(WriteTree(tree, GetParam()), "tree");
  ExpectSameTree(read, tree);
}

TEST_P(BothFormatsTest, ACutFileIsAnErrorWithItsLine) {
  const std::string text = WriteTree(ThreeNodes(), GetParam());
  for (size_t size = 0; size + 2 < text.size(); size += 7) {
    EXPECT_THAT(ReadError(text.substr(0, size)),
                AllOf(HasSubstr("folder/tree.json:"), HasSubstr("truncated")))
        << size;
  }
}

TEST(AgentRTreeTest, Golden) {
  // 1 + 0.5 sqrt(ln 1 / 1) = 1 below a root that was visited once.
  const std::string begin =
      R"({"role":"user","content":"Play."},{"role":"assistant","content":"Ok."},{"role":"user","content":"Start"})";
  EXPECT_EQ(
      AgentR(),
      R"({"visits":1,"value":1.0,"prior":1,"puct_value":0.0,"obs":"Start","llm_response":"ROOT","depth":0,"is_terminal":true,"recent_actions":[],"action":"ROOT","env_score":0.0,"disaster":false,"state":[)" +
          begin +
          R"(],"children":[{"visits":1,"value":1.0,"prior":1,"puct_value":1.0,"obs":"You went.","llm_response":"Action: go","depth":1,"is_terminal":true,"recent_actions":[["go","You went."]],"action":"go","env_score":0.0,"disaster":false,"state":[)" +
          begin +
          R"(,{"role":"assistant","content":"Action: go"},{"role":"user","content":"You went."}],"children":[{"visits":1,"value":1.0,"prior":1,"puct_value":1.0,"obs":"Won!","llm_response":"Action: win","depth":2,"is_terminal":true,"recent_actions":[["go","You went."],["win","Won!"]],"action":"win","env_score":1.0,"disaster":false,"state":[)" +
          begin +
          R"(,{"role":"assistant","content":"Action: win"},{"role":"user","content":"Won!"}],"children":[]}]}]}
)");
}

TEST(AgentRTreeTest, RoundTripKeepsWhatTheFormatHas) {
  const Tree read = ReadTree(AgentR(), "tree");
  ExpectSameTree(read, ThreeNodes());
  EXPECT_EQ(read.origin().model, "");
  EXPECT_TRUE(read.node(2).token_ids.empty());
}

TEST(AgentRTreeTest, ItsOwnFilesDoNotTellACutFromAnEnd) {
  const std::string theirs =
      Replaced(WriteTree(EveryEnd(), TreeFormat::kAgentR), R"("end":"depth",)", "");
  EXPECT_EQ(ReadTree(theirs, "tree").node(4).end, End::kDone);
}

// Every field of Agent-R's files, with its type, at every node.
int CheckFields(const json& node, int depth) {
  EXPECT_EQ(node.size(), node.contains("end") ? 15 : 14) << "ours at leaves that were cut";
  EXPECT_TRUE(node.at("visits").is_number_integer());
  EXPECT_TRUE(node.at("value").is_number());
  EXPECT_EQ(node.at("prior"), 1);
  EXPECT_TRUE(node.at("puct_value").is_number());
  EXPECT_TRUE(node.at("obs").is_string());
  EXPECT_TRUE(node.at("llm_response").is_string());
  EXPECT_EQ(node.at("llm_response") == "ROOT", depth == 0);
  EXPECT_EQ(node.at("depth"), depth);
  EXPECT_TRUE(node.at("is_terminal").is_boolean());
  EXPECT_EQ(node.at("recent_actions").size(), static_cast<size_t>(depth));
  EXPECT_TRUE(node.at("action").is_string());
  EXPECT_EQ(node.at("action") == "ROOT", depth == 0);
  EXPECT_TRUE(node.at("env_score").is_number());
  EXPECT_TRUE(node.at("disaster").is_boolean());
  for (const json& message : node.at("state")) {
    EXPECT_TRUE(message.at("role").is_string());
    EXPECT_TRUE(message.at("content").is_string());
  }
  EXPECT_EQ(node.at("state").back().at("content"), node.at("obs"));
  int nodes = 1;
  for (const json& child : node.at("children")) nodes += CheckFields(child, depth + 1);
  return nodes;
}

TEST(AgentRTreeTest, HasEveryFieldAtEveryNode) {
  ToySearch search(/*forks=*/true);
  const Tree tree = search.MustRun();
  EXPECT_EQ(CheckFields(json::parse(WriteTree(tree, TreeFormat::kAgentR)), 0), tree.size());
}

TEST(AgentRTreeTest, ScoresAreThoseOfTheEndOfTheSearch) {
  Tree tree({"toy", 1, "m", "", R"({"c":2.0})"}, {{"user", "x"}}, "Start");
  tree.BackUp(tree.Add(0, Turn("a", "A", 1, End::kDone)));
  tree.BackUp(tree.Add(0, Turn("b", "B", 0, End::kDone)));
  tree.Add(0, Turn("c", "C"));
  const json root = json::parse(WriteTree(tree, TreeFormat::kAgentR));
  EXPECT_DOUBLE_EQ(root["children"][0]["puct_value"], 1 + 2 * std::sqrt(std::log(2)));
  EXPECT_DOUBLE_EQ(root["children"][1]["puct_value"], 2 * std::sqrt(std::log(2)));
  EXPECT_EQ(root["children"][2]["puct_value"], 0) << "unvisited";
  EXPECT_EQ(root["puct_value"], 0);
}

TEST(AgentRTreeTest, RecentActionsOfSciWorldAreStrings) {
  const json root = json::parse(WriteTree(ThreeNodes("sciworld"), TreeFormat::kAgentR));
  EXPECT_EQ(root["children"][0]["children"][0]["recent_actions"],
            json({"(go, You went.)", "(win, Won!)"}));
}

TEST(TreeFileErrorTest, BrokenJsonNamesTheLine) {
  EXPECT_THAT(ReadError(Replaced(Compact(), R"({"parent":1,)", R"({"parent":1)")),
              HasSubstr("folder/tree.json:9:"));
}

TEST(TreeFileErrorTest, ForeignJsonNamesTheFile) {
  for (const std::string foreign : {"[]", "3", "null", "\"text\"", "{}", R"({"a":1})",
                                    R"({"format":"other"})", R"({"state":[]})"}) {
    EXPECT_THAT(ReadError(foreign), HasSubstr("folder/tree.json")) << foreign;
  }
  EXPECT_THAT(ReadError("{}"), HasSubstr("not a tree file"));
  EXPECT_THAT(ReadError(R"({"children":[]})"), HasSubstr("state"));
  EXPECT_THAT(ReadError(R"({"format":"other"})"), HasSubstr("other"));
}

TEST(TreeFileErrorTest, UnknownVersionsAreNamed) {
  EXPECT_THAT(ReadError(Replaced(Compact(), R"("version":1)", R"("version":2)")),
              HasSubstr("version 2"));
}

TEST(TreeFileErrorTest, BadParentsAreNamed) {
  for (const std::string parent : {"2", "7", "-1"}) {
    EXPECT_THAT(ReadError(Replaced(Compact(), R"("parent":1)", R"("parent":)" + parent)),
                AllOf(HasSubstr("node 2"), HasSubstr("\"parent\" " + parent)));
  }
}

TEST(TreeFileErrorTest, OtherBadValuesAreNamed) {
  EXPECT_THAT(ReadError(Replaced(Compact(), R"("end":"done")", R"("end":"gone")")),
              HasSubstr("gone"));
  EXPECT_THAT(ReadError(Replaced(Compact(), R"("dropped_turns":1)", R"("dropped_turns":2)")),
              AllOf(HasSubstr("node 2"), HasSubstr("dropped_turns")));
  EXPECT_THAT(ReadError(R"({"format":"agentr-tree","version":1,"family":"","task":0,"model":"",
                           "data_hash":"","search":{},"instruction":[],"nodes":[]})"),
              HasSubstr("nodes"));
}

TEST(TreeFileErrorTest, MissingFieldsAreNamed) {
  for (const std::string field : {"family", "task", "model", "instruction", "nodes", "parent",
                                  "response", "action", "observation"}) {
    EXPECT_THAT(ReadError(Replaced(Compact(), '"' + field + '"', R"("other")")), HasSubstr(field));
  }
  for (const std::string field : {"visits", "value", "obs", "llm_response", "is_terminal", "action",
                                  "env_score", "disaster", "state", "children"}) {
    json root = json::parse(AgentR());
    root["children"][0]["children"][0].erase(field);
    EXPECT_THAT(ReadError(root.dump()), HasSubstr(field));
  }
}

TEST(TreeFileErrorTest, FieldsOfAnotherTypeAreNamed) {
  const std::vector<std::pair<std::string, std::string>> changes = {
      {R"("version":1)", R"("version":"1")"},
      {R"("family":"toy")", R"("family":[])"},
      {R"("task":31)", R"("task":"31")"},
      {R"("action":"go")", R"("action":3)"},
      {R"("observation":"Won!")", R"("observation":null)"},
      {R"("reward":1.0)", R"("reward":"1")"},
      {R"("visits":1)", R"("visits":{})"},
      {R"("token_ids":[5,6])", R"("token_ids":["a"])"},
      {R"("logprobs":[-0.5,-0.25])", R"("logprobs":3)"}};
  for (const auto& [from, to] : changes) {
    const std::string field = from.substr(1, from.find(':') - 2);
    EXPECT_THAT(ReadError(Replaced(Compact(), from, to)), HasSubstr(field)) << to;
  }
  for (const std::string field : {"visits", "value", "obs", "llm_response", "is_terminal", "action",
                                  "env_score", "disaster"}) {
    json root = json::parse(AgentR());
    root["children"][0]["children"][0][field] = json::array({1});
    EXPECT_THAT(ReadError(root.dump()), HasSubstr(field));
  }
}

}  // namespace
}  // namespace agentr
