// What a family calls unchanged really is unchanged on the server, whatever a confused agent does.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "clients/env/http_environment.h"
#include "common/random.h"
#include "tasks/scripted_model.h"
#include "tasks/task_kinds.h"
#include "tests/clients/env/embedded_server.h"

namespace agentr {
namespace {

// Actions whose replies tell states apart, besides random ones. A purchase shows the options
// chosen.
const std::map<std::string, std::vector<std::string>> kTelling = {
    {"babyai", {"turn left", "pick up", "toggle"}},
    {"detective", {"look", "north", "east", "south", "west"}},
    {"textcraft", {"inventory"}},
    {"webshop", {"click[buy now]", "click[< prev]", "click[next >]", "click[features]", "wait"}},
};

// How the state that `session` stands in answers to a set of actions.
std::vector<StepResult> Probe(Session& session, const std::vector<std::string>& actions) {
  std::vector<StepResult> replies;
  const std::vector<Fork> forks = session.Expand(actions).value();
  for (const Fork& fork : forks) replies.push_back(fork.step);
  return replies;
}

// An agent that does anything plausible, and broken variants of it.
class ConfusedAgent {
 public:
  ConfusedAgent(const TaskFamily& family, const std::string& first_observation, RandomStream random)
      : family_(family), random_(random), model_(MakeScriptedModel("random", family, {})) {
    conversation_ = family.Instruction();
    conversation_.push_back({"user", first_observation});
  }

  std::string Next() {
    SamplingParams sampling;
    sampling.seed = random_.Next();
    const CompletionBatch batch = model_->Complete(conversation_, 1, sampling).value();
    std::string action = family_.ParseAction(batch.completions.front().text);
    const size_t bracket = action.find('[');
    switch (random_.Below(10)) {
      case 0:
        return family_.name() == "webshop" ? "click[search]" : "inventory";
      case 1:
        return action.substr(0, random_.Below(action.size() + 1));
      case 2:
        return action + ", 1 stick";
      case 3:
        return "craft " + action;
      case 4:
        return bracket == std::string::npos ? action : "click[" + action.substr(bracket + 1);
      default:
        return action;
    }
  }

  void Saw(const std::string& action, const std::string& observation) {
    conversation_.push_back({"assistant", "Action: " + action});
    conversation_.push_back({"user", observation});
  }

 private:
  const TaskFamily& family_;
  RandomStream random_;
  std::unique_ptr<LanguageModel> model_;
  std::vector<Message> conversation_;
};

class Unchanged : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Tasks, Unchanged,
                         ::testing::Values("babyai", "webshop", "textcraft", "detective"),
                         [](const auto& test) { return test.param; });

TEST_P(Unchanged, ReallyIsOnTheServer) {
  const auto server = StartServer(GetParam());
  HttpEnvironment environment(MakeProtocol(GetParam()), {server->base_url()}, HttpOptions{});
  const auto family = MakeTaskFamily(GetParam());
  int unchanged = 0;
  int changed = 0;
  for (int task_id = 0; task_id < 40; ++task_id) {
    const auto session = environment.Open().value();
    std::string shown = session->Reset(task_id).value();
    ConfusedAgent agent(*family, shown, RandomStream(11).Split(static_cast<uint64_t>(task_id)));
    for (int turn = 0; turn < 25; ++turn) {
      std::vector<std::string> probes = kTelling.at(GetParam());
      for (int i = 0; i < 3; ++i) probes.push_back(agent.Next());
      const std::string action = agent.Next();
      const std::vector<StepResult> before = Probe(*session, probes);
      const StepResult step = session->Step(action).value();
      // Finished sessions of these take no action.
      if (step.done && (GetParam() == "babyai" || GetParam() == "detective")) break;
      const std::vector<StepResult> after = Probe(*session, probes);
      if (!step.done && family->LeavesStateUnchanged(shown, action, step.observation)) {
        ++unchanged;
        ASSERT_EQ(before, after) << "task " << task_id << ": " << action << " -> "
                                 << step.observation;
      } else {
        changed += before != after ? 1 : 0;
        shown = step.observation;
      }
      agent.Saw(action, step.observation);
    }
  }
  EXPECT_GT(unchanged, 100);
  EXPECT_GT(changed, 100) << "the probes must be able to see a change";
}

}  // namespace
}  // namespace agentr
