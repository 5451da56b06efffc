#include "mcts/search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "mcts/tree_file.h"
#include "tests/mcts/toy_search.h"

namespace agentr {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Op = ToyEnvironment::Op;
using Call = ToyEnvironment::Call;
using Texts = std::vector<std::string>;

std::string Bytes(const Tree& tree) { return WriteTree(tree, TreeFormat::kCompact); }

TEST(SearchTest, BeginsAfterTheFirstObservation) {
  ToySearch search;
  AlwaysReply(search, {"end 1"});
  const Tree tree = search.MustRun(5);
  EXPECT_THAT(search.model.prompts(),
              ElementsAre(ElementsAre(Message{"user", "You are in a toy world."},
                                      Message{"assistant", "Ok."}, Message{"user", "Goal 5."})));
  EXPECT_EQ(tree.instruction(), search.family.Instruction());
  EXPECT_EQ(tree.root().observation, "Goal 5.");
  EXPECT_EQ(tree.origin().task_id, 5);
  EXPECT_EQ(tree.origin().search, ToJson(search.options));
}

TEST(SearchTest, OptionsOfTheFirstTreesAreWrittenAlwaysAndLaterOnesIfSet) {
  const std::string first =
      R"({"iterations":8,"max_depth":0,"n_gen":4,"c":0.25,"temperature":1.0,"top_p":1.0,)"
      R"("max_new_tokens":500,"max_context":8192,"seed":0)";
  SearchOptions options;
  EXPECT_EQ(ToJson(options), first + "}");
  options.snap_actions = true;
  EXPECT_EQ(ToJson(options), first + R"(,"snap_actions":true})");
}

TEST(SearchTest, AsksTheModelAsTheOptionsSay) {
  ToySearch search;
  search.options.n_gen = 7;
  search.options.temperature = 0.5;
  search.options.top_p = 0.9;
  search.options.max_new_tokens = 33;
  int asked_for = 0;
  search.model.reply = [&](std::span<const Message>, int n) -> Result<Texts> {
    asked_for = n;
    return Texts{ToyModel::Response("end 1")};
  };
  search.MustRun();
  EXPECT_EQ(asked_for, 7);
  const SamplingParams sampling = search.model.samplings().front();
  EXPECT_EQ(sampling.temperature, 0.5);
  EXPECT_EQ(sampling.top_p, 0.9);
  EXPECT_EQ(sampling.max_tokens, 33);
}

TEST(SearchTest, CutResponsesAreNeitherExecutedNorNodes) {
  ToySearch search;
  search.options.iterations = 2;
  search.model.finish_reason = "length";
  search.model.reply = [](std::span<const Message> prompt, int) -> Result<Texts> {
    if (prompt.size() == 3) {
      return Texts{ToyModel::Response("gain 0.5"), "Thought: I could", "<think>Action: go a",
                   ToyModel::Response("end 1")};
    }
    return Texts{"Thought: hm", "Thought: hm"};
  };
  const Tree tree = search.MustRun();
  ASSERT_EQ(tree.size(), 3);
  EXPECT_EQ(tree.root().cut_turns, 2);
  EXPECT_EQ(tree.node(1).end, End::kCut) << "all responses to it were cut";
  EXPECT_EQ(tree.node(1).cut_turns, 2);
  EXPECT_EQ(tree.node(1).reward, 0.5);
  EXPECT_EQ(tree.node(1).visits, 1);
  EXPECT_TRUE(tree.node(1).terminal);
  EXPECT_EQ(tree.node(2).end, End::kDone);
  EXPECT_EQ(search.world.counts.steps, 2);
  EXPECT_EQ(search.cut_turns.count(), 4);
  ExpectCountersFollowFromLeaves(tree);
  EXPECT_EQ(Bytes(ReadTree(Bytes(tree), "tree")), Bytes(tree));
  const std::string theirs = WriteTree(tree, TreeFormat::kAgentR);
  EXPECT_EQ(ReadTree(theirs, "tree").node(1).end, End::kCut);
}

TEST(SearchTest, ASearchWhoseFirstResponsesAreAllCutFails) {
  ToySearch search;
  search.model.finish_reason = "length";
  search.model.reply = [](std::span<const Message>, int) -> Result<Texts> {
    return Texts{"Thought: hm"};
  };
  const Result<Tree> tree = search.Run();
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, ErrorKind::kRejected);
  EXPECT_THAT(tree.error().message, HasSubstr("--max_new_tokens"));
}

TEST(SearchTest, StopTextsAndThoughtsAreThoseOfTheOptions) {
  ToySearch search;
  search.options.stop = {"Observation:"};
  search.options.thinking = Thinking::kStripHistory;
  search.options.max_depth = 2;
  search.options.iterations = 1;
  search.model.reasoning = "apart";
  const std::string whole = "<think>\ninside\n</think>\n\nAction: go a";
  search.model.reply = [&](std::span<const Message>, int) -> Result<Texts> { return Texts{whole}; };
  const Tree tree = search.MustRun();
  EXPECT_EQ(tree.node(1).response, whole);
  EXPECT_EQ(tree.node(1).reasoning, "apart");
  EXPECT_EQ(search.model.prompts()[1][3], (Message{"assistant", "Action: go a"}));
  EXPECT_EQ(tree.Conversation(1)[3], (Message{"assistant", whole, "apart"}));
  EXPECT_THAT(search.model.samplings().front().stop, ElementsAre("Observation:"));
  EXPECT_EQ(Bytes(ReadTree(Bytes(tree), "tree")), Bytes(tree));
  EXPECT_THAT(ToJson(search.options),
              HasSubstr(R"("stop":["Observation:"],"thinking":"strip_history")"));
}

TEST(SearchTest, DropsDuplicateResponsesAndExecutesEachActionOnce) {
  ToySearch search;
  const Texts texts = {ToyModel::Response("end 1"), ToyModel::Response("end 1"),
                       ToyModel::Response("end 0"), ToyModel::Response("end 1", 1)};
  search.model.reply = [&](std::span<const Message>, int) -> Result<Texts> { return texts; };
  const Tree tree = search.MustRun();
  ASSERT_EQ(tree.size(), 4);
  EXPECT_EQ(tree.node(1).response, texts[0]);
  EXPECT_EQ(tree.node(2).response, texts[2]);
  EXPECT_EQ(tree.node(3).response, texts[3]);
  EXPECT_EQ(tree.node(1).action, "end 1");
  EXPECT_EQ(tree.node(3).action, "end 1");
  EXPECT_EQ(tree.node(1).observation, tree.node(3).observation);
  EXPECT_EQ(tree.node(3).reward, 1);
  EXPECT_EQ(search.world.counts.steps, 2);
}

TEST(SearchTest, EndsLeavesByTheRules) {
  ToySearch search;
  search.options.max_depth = 1;
  AlwaysReply(search, {"end 0.25", "gain -0.5", "end -1", "gain 0.5"});
  const Tree tree = search.MustRun();
  ASSERT_EQ(tree.size(), 9);
  EXPECT_EQ(tree.node(1).end, End::kDone);
  EXPECT_EQ(tree.node(1).reward, 0.25);
  EXPECT_EQ(tree.node(2).end, End::kDisaster);
  EXPECT_EQ(tree.node(2).reward, 0);
  EXPECT_EQ(tree.node(3).end, End::kDisaster);
  EXPECT_EQ(tree.node(3).reward, 0);
  EXPECT_EQ(tree.node(4).end, End::kNone) << "depth 1 is not beyond max_depth 1";
  EXPECT_EQ(tree.node(4).reward, 0.5);
  EXPECT_EQ(tree.node(5).end, End::kDone) << "done goes before the depth limit";
  EXPECT_EQ(tree.node(6).end, End::kDisaster);
  EXPECT_EQ(tree.node(8).end, End::kDepth);
  EXPECT_EQ(tree.node(8).depth, 2);
  EXPECT_EQ(tree.node(8).reward, 0.5) << "the partial reward is kept";
  EXPECT_EQ(tree.root().visits, 7);
  EXPECT_EQ(tree.root().value, 0.25 + 0.25 + 0.5);
  ExpectCountersFollowFromLeaves(tree);
}

TEST(SearchTest, EndsWhenTheRootIsTerminal) {
  ToySearch search;
  search.options.iterations = 100;
  AlwaysReply(search, {"end 1", "end 0"});
  const Tree tree = search.MustRun();
  EXPECT_TRUE(tree.root().terminal);
  EXPECT_EQ(search.model.prompts().size(), 1);
}

TEST(SearchTest, EndsAfterItsIterations) {
  ToySearch search;
  search.options.max_depth = 3;
  AlwaysReply(search, {"go a", "go b"});
  // The first iteration goes down from the root to depth 4, where both children end.
  search.options.iterations = 1;
  EXPECT_EQ(search.MustRun().size(), 1 + 4 * 2);
  EXPECT_EQ(search.model.prompts().size(), 4);
  // The second starts at the root again. The branch that holds the two ended leaves (value 0)
  // scores below the unvisited ones, so it goes down the other child of the root: three expansions.
  search.options.iterations = 2;
  const Tree tree = search.MustRun();
  EXPECT_EQ(tree.size(), 1 + (4 + 3) * 2);
  EXPECT_FALSE(tree.root().terminal);
}

TEST(SearchTest, IterationsUntilTheWholeTreeIsExplored) {
  ToySearch search;
  search.options.max_depth = 3;
  search.options.iterations = 1000;
  AlwaysReply(search, {"go a", "go b"});
  const Tree tree = search.MustRun();
  EXPECT_EQ(tree.size(), 1 + 2 + 4 + 8 + 16);
  EXPECT_TRUE(tree.root().terminal);
  EXPECT_EQ(tree.root().visits, 16);
  EXPECT_EQ(search.model.prompts().size(), 15);
}

TEST(SearchTest, TheTurnThatNoticesAMistakeIsAnsweredAsInRows) {
  ToySearch search;
  search.family.revision_action = "stuck";  // refused in the toy world
  AlwaysReply(search, {"stuck", "go a"});
  const Tree tree = search.MustRun();
  int turns = 0;
  for (int i = 1; i < tree.size(); ++i) {
    if (tree.node(i).action == "go a") {
      EXPECT_NE(tree.node(i).observation, "ok.");
    } else {
      EXPECT_EQ(tree.node(i).observation, "ok.");
      ++turns;
    }
  }
  EXPECT_GT(turns, 1);
  const bool told = std::ranges::any_of(search.model.prompts(), [](const auto& prompt) {
    return std::ranges::find(prompt, Message{"user", "ok."}) != prompt.end();
  });
  EXPECT_TRUE(told);
}

// Where the action does something, the agent has to know what.
TEST(SearchTest, ATurnThatNoticesAMistakeAndChangesSomethingIsAnsweredByTheWorld) {
  ToySearch search;
  search.family.revision_action = "go a";
  AlwaysReply(search, {"go a"});
  EXPECT_NE(search.MustRun().node(1).observation, "ok.");
}

TEST(SearchTest, StoresObservationsOnOneLine) {
  ToySearch search;
  search.world.garble = [](std::string observation, const Call& call) {
    return call.op == Op::kStep ? "a\nb\tc\r\n" + observation : observation;
  };
  AlwaysReply(search, {"end 1"});
  const Tree tree = search.MustRun();
  EXPECT_EQ(tree.node(1).observation, "a b c  task 1: end 1");
}

TEST(SearchTest, KeepsTokensOfTheModel) {
  ToySearch search;
  AlwaysReply(search, {"end 1"});
  const Tree tree = search.MustRun();
  EXPECT_THAT(tree.node(1).token_ids,
              ElementsAre(static_cast<int32_t>(tree.node(1).response.size()), 7));
  EXPECT_THAT(tree.node(1).logprobs, ElementsAre(-0.5F, -1.25F));
}

TEST(SearchTest, CountsUsageAndNodes) {
  ToySearch search;
  const Tree tree = search.MustRun();
  const auto requests = static_cast<int64_t>(search.model.prompts().size());
  EXPECT_EQ(search.usage.requests, requests);
  EXPECT_EQ(search.usage.completion_tokens, requests * search.options.n_gen);
  EXPECT_EQ(search.nodes_told, tree.size() - 1);
}

TEST(SearchTest, SaysAfterHowManyNodesItSucceeded) {
  ToySearch search;
  search.options.iterations = 3;
  // Each expansion below the root's ends one episode without a success, except the third.
  int expansions = 0;
  search.model.reply = [&](std::span<const Message>, int) -> Result<Texts> {
    const char* end = ++expansions == 3 ? "end 1" : "end 0.5";
    return Texts{ToyModel::Response("go a"), ToyModel::Response(end)};
  };
  search.MustRun();
  EXPECT_GT(expansions, 3) << "the search goes on after it";
  EXPECT_EQ(search.nodes_to_success, 1 + 3 * 2);

  AlwaysReply(search, {"end 0.5", "end 0"});
  search.MustRun();
  EXPECT_EQ(search.nodes_to_success, 0);

  search.family.success = 0.5;  // of a family whose rewards shrink with the steps
  search.MustRun();
  EXPECT_EQ(search.nodes_to_success, 1 + 2);
}

TEST(SearchTest, OtherErrorsOfTheModelEndTheSearch) {
  ToySearch search;
  search.model.reply = [](std::span<const Message>, int) -> Result<Texts> {
    return Fail(ErrorKind::kServer, "no GPU");
  };
  const auto tree = search.Run();
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, ErrorKind::kServer);
  EXPECT_EQ(tree.error().message, "no GPU");
  EXPECT_EQ(search.model.prompts().size(), 1);
}

TEST(SearchTest, AnEmptyAnswerIsAnError) {
  ToySearch search;
  AlwaysReply(search, {});
  const auto tree = search.Run();
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, ErrorKind::kProtocol);
}

TEST(SearchTest, AFailedStepIsAnErrorAndNoReward) {
  ToySearch search;
  search.world.fault = FailCalls(ErrorKind::kRejected, [](const Call& call) {
    return call.op == Op::kStep && call.number > 4;
  });
  const auto tree = search.Run();
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, ErrorKind::kRejected);
}

TEST(SearchTest, StopCancels) {
  ToySearch search;
  search.model.wait = [&] { search.stop = search.model.prompts().size() >= 2; };
  AlwaysReply(search, {"go a", "go b"});
  const auto tree = search.Run();
  ASSERT_FALSE(tree);
  EXPECT_EQ(tree.error().kind, ErrorKind::kCancelled);
  EXPECT_EQ(search.model.prompts().size(), 2);
}

TEST(SearchTest, TheSameSeedGivesTheSameTreeWhateverTheExecutor) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ToySearch plain;
    ToySearch one_session(/*forks=*/false, 1);
    ToySearch forks(/*forks=*/true);
    ToySearch rough;
    rough.world.fault = RandomFaults(Op::kStep, 0.05, seed);
    for (ToySearch* search : {&plain, &one_session, &forks, &rough}) search->options.seed = seed;
    const std::string expected = Bytes(plain.MustRun());
    EXPECT_EQ(Bytes(plain.MustRun()), expected);
    EXPECT_EQ(Bytes(one_session.MustRun()), expected);
    EXPECT_EQ(Bytes(forks.MustRun()), expected);
    EXPECT_EQ(Bytes(rough.MustRun()), expected);
  }
}

std::vector<std::string> Actions(const Tree& tree) {
  std::vector<std::string> actions;
  for (const Node& node : tree.nodes()) actions.push_back(node.action);
  return actions;
}

TEST(SearchTest, TasksAndSeedsDrawDifferently) {
  ToySearch search;
  const std::vector<std::string> first = Actions(search.MustRun(1));
  EXPECT_NE(Actions(search.MustRun(2)), first);
  search.options.seed = 1;
  EXPECT_NE(Actions(search.MustRun(1)), first);
}

TEST(SearchTest, CountersFollowFromTheEndedLeavesInBothFormats) {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    ToySearch search(/*forks=*/true);
    search.options.seed = seed;
    search.options.iterations = 1 + static_cast<int>(seed % 12);
    const Tree tree = search.MustRun();
    ExpectCountersFollowFromLeaves(tree);
    for (const TreeFormat format : {TreeFormat::kCompact, TreeFormat::kAgentR}) {
      const Tree read = ReadTree(WriteTree(tree, format), "tree");
      EXPECT_EQ(read.size(), tree.size());
      ExpectCountersFollowFromLeaves(read);
    }
  }
}

TEST(SearchTest, EveryNodeHasAtMostOneChildPerResponse) {
  ToySearch search(/*forks=*/true);
  search.options.n_gen = 8;
  search.options.iterations = 20;
  const Tree tree = search.MustRun();
  ASSERT_GT(tree.nodes().size(), 20U);
  for (const Node& node : tree.nodes()) {
    std::vector<std::string> responses;
    for (const int child : node.children) responses.push_back(tree.node(child).response);
    std::ranges::sort(responses);
    EXPECT_EQ(std::ranges::adjacent_find(responses), responses.end());
  }
}

}  // namespace
}  // namespace agentr
