// Measures how well the mistakes that the verifiers find agree with the truth (step_truth.h), on
// recorded trees:
//
//   mcts_collect --task textcraft --max 120 --planner_error_rate 0.25 --output_dir trees
//   verifier_bench --trees trees/textcraft/planner --error_rate 0.25
//
//   tree     the mistakes of FindMistakes. Recall: of the wrong steps out of states with success
//            that the search went on from.
//   labels   the good steps of LabelSteps; precision is the share that is not wrong in truth
//   rollout  the first error of pairs, from continuations of the planner with this error rate
//   actor    the first error of pairs, judged by the planner: a step is bad where it is not what
//            the planner would do, and each judgement is turned round with the error rate
// For pairs, recall is the share in which the first wrong step of the bad path was found. Actions
// that the environment refused are certainly mistakes: they are counted separately, in recall but
// not in precision.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "clients/env/http_environment.h"
#include "common/file.h"
#include "common/options.h"
#include "mcts/tree_file.h"
#include "mcts/tree_folder.h"
#include "revision/find/mistakes.h"
#include "revision/find/rollout_verifier.h"
#include "revision/make/step_labels.h"
#include "tasks/scripted_model.h"
#include "tasks/scripted_policy.h"
#include "tasks/task_kinds.h"
#include "tests/bench/step_truth.h"
#include "tests/clients/env/embedded_server.h"

namespace agentr {
namespace {

struct BenchOptions {
  std::vector<std::string> trees;
  std::vector<std::string> verifiers = {"tree", "rollout", "actor"};
  std::vector<int> min_evidence = {3};
  double min_success = MistakeOptions{}.min_success;
  std::string truth;
  bool recall = true;
  double error_rate = 0.25;
  int pairs = 20;  // per tree
  int most = 1000000;
  int print = 0;
  RolloutOptions rollout;
};

void Declare(OptionSet& set, BenchOptions& o) {
  set.Add("--trees", o.trees, "Folder with trees of mcts_collect (repeatable)");
  set.Add("--verifier", o.verifiers, "tree, labels, rollout, actor (repeatable)");
  set.Add("--min_evidence", o.min_evidence, "Of the verifier tree (repeatable)");
  set.Add("--min_success", o.min_success, "Of the verifier tree").Range(0, 1);
  set.Add("--truth", o.truth, "Referee: textcraft, webshop, sciworld, player; none: by the trees");
  set.Add("--recall", o.recall,
          "Judge also the steps that were not found (slow with the referee player)");
  set.Add("--error_rate", o.error_rate,
          "Error rate of the planner that continues episodes and judges");
  set.Add("--pairs", o.pairs, "Pairs of each tree, for rollout and actor").Min(1);
  set.Add("--most", o.most, "Largest number of trees per folder").Min(1);
  set.Add("--print", o.print, "Print this many wrong findings of each verifier").Min(0);
  Declare(set, o.rollout);
}

struct Agreement {
  int refused = 0;  // found: actions that the environment refused
  int taken = 0;    // found: others
  int wrong = 0;    // of `taken`, in truth no nearer
  int harmful = 0;  // of `taken`, in truth farther away
  int truth = 0;    // first errors in truth (tree: wrong steps)
  int hit = 0;      // of those, found
  std::map<std::string, std::pair<int, int>> kinds = {};  // of `taken`, by name: wrong, all
};

// A judge that gives the planner's opinion.
class PlannerJudge : public Verifier {
 public:
  PlannerJudge(const Tree& tree, const ScriptedPolicy& policy, double error_rate)
      : tree_(tree), policy_(policy), error_rate_(error_rate) {}

  Result<StepJudgement> Judge(const PathPair& /*pair*/, int node) override {
    const Node& step = tree_.node(node);
    auto state = policy_.read(tree_.Conversation(step.parent), tree_.origin().task_id);
    if (!state) return tl::make_unexpected(state.error());
    RandomStream random = RandomStream(1).Split(static_cast<uint64_t>(node));
    const bool as_planned = *state != nullptr && (*state)->Plan() == step.action;
    const bool turned = random.Chance(error_rate_);
    return StepJudgement{as_planned != turned ? Judgement::kGood : Judgement::kBad, "", true};
  }

 private:
  const Tree& tree_;
  const ScriptedPolicy& policy_;
  const double error_rate_;
};

class Bench {
 public:
  Bench(const BenchOptions& options, const std::string& family)
      : options_(options),
        family_(MakeTaskFamily(family)),
        server_(StartServer(family)),
        environment_(MakeProtocol(family), {server_->base_url()}, {}),
        sessions_(environment_, 8) {
    if (PlansByGold(family)) gold_ = MakeHttpGold(MakeProtocol(family), {server_->base_url()}, {});
    policy_ = MakeScriptedPolicy(family, gold_.get());
    truth_ = MakeStepTruth(options.truth.empty() ? family : options.truth,
                           {gold_.get(), environment_, policy_ ? &*policy_ : nullptr});
    planner_ =
        MakeScriptedModel("planner", *family_, {.error_rate = options.error_rate}, gold_.get());
  }

  void Run(const std::string& folder) {
    for (const std::string& verifier : options_.verifiers) {
      for (const int evidence : verifier == "tree" ? options_.min_evidence : std::vector{0}) {
        Agreement sum;
        printed_ = 0;
        int left = options_.most;
        for (const TreeFile& file : TreeFilesIn(folder)) {
          if (left-- == 0) break;
          const Tree tree = ReadTree(ReadFile(file.path), file.path.string());
          const StateMap states(tree, *family_);
          if (verifier == "tree") {
            ByTree(tree, states, evidence, sum);
          } else if (verifier == "labels") {
            CheckLabels(tree, states, sum);
          } else {
            ByPairs(tree, states, verifier, sum);
          }
        }
        Print(folder, evidence == 0 ? verifier : fmt::format("{} {}", verifier, evidence), sum);
      }
    }
  }

 private:
  void CountFound(const Tree& tree, const StateMap& states, int node, Agreement& sum) {
    if (states.Refused(node)) {
      ++sum.refused;
      return;
    }
    ++sum.taken;
    const bool wrong = truth_->IsWrong(tree, node);
    sum.wrong += wrong ? 1 : 0;
    auto& [wrong_of_kind, of_kind] = sum.kinds[MistakeNameOf(tree, *family_, node)];
    wrong_of_kind += wrong ? 1 : 0;
    ++of_kind;
    sum.harmful += truth_->IsHarmful(tree, node) ? 1 : 0;
    if (wrong || printed_++ >= options_.print) return;
    const Outlook before = truth_->From(tree, tree.node(node).parent);
    const Outlook after = truth_->From(tree, node);
    fmt::print(
        "task {} node {}: {}\n  {:.3f} in {} steps -> {:.3f} in {}; evidence {}, best {:.3f}\n",
        tree.origin().task_id, node, tree.node(node).action, before.reward, before.steps,
        after.reward, after.steps, states.At(node).leaves, states.At(node).best);
  }

  void ByTree(const Tree& tree, const StateMap& states, int min_evidence, Agreement& sum) {
    MistakeOptions options;
    options.min_evidence = min_evidence;
    options.min_success = options_.min_success;
    std::vector<bool> found(static_cast<size_t>(states.size()));
    for (const Mistake& mistake : FindMistakes(tree, states, *family_, options)) {
      CountFound(tree, states, mistake.node, sum);
      if (!mistake.refused) found[static_cast<size_t>(states.Of(mistake.node))] = true;
    }
    if (!options_.recall) return;
    std::vector<bool> seen(static_cast<size_t>(states.size()));
    for (int node = 1; node < tree.size(); ++node) {
      const auto state = static_cast<size_t>(states.Of(node));
      const int above = states.state(states.Of(node)).parent;
      const bool taken = states.Changed(node) && !states.At(node).ended &&
                         !tree.node(node).children.empty() && above >= 0;
      if (!taken || seen[state] || !AtLeast(states.state(above).best, options.choice.alpha)) {
        continue;
      }
      seen[state] = true;
      if (!truth_->IsWrong(tree, node)) continue;
      ++sum.truth;
      sum.hit += found[state] ? 1 : 0;
    }
  }

  void CheckLabels(const Tree& tree, const StateMap& states, Agreement& sum) {
    MistakeOptions options;
    options.choice = InTree(options.choice, LeafPaths(tree), family_->SuccessReward());
    for (const StepLabel& label : LabelSteps(tree, states, *family_, options)) {
      if (!label.good) continue;
      ++sum.taken;
      sum.wrong += truth_->IsWrong(tree, label.node) ? 0 : 1;
    }
  }

  void ByPairs(const Tree& tree, const StateMap& states, const std::string& verifier,
               Agreement& sum) {
    const ValueThresholds choice;
    auto pairs =
        PartByState(tree, states, PairPaths(tree, LeafPaths(tree), choice, Pairing::kSiblings));
    RandomStream random = RandomStream(0).Split(static_cast<uint64_t>(tree.origin().task_id));
    pairs = LimitPairs(tree, std::move(pairs), static_cast<size_t>(options_.pairs),
                       random.Split("pairs"));
    std::optional<RolloutVerifier> rollout;
    std::optional<Replayer> replayer;
    if (verifier == "rollout") {
      replayer.emplace(tree.origin().task_id, *family_, environment_, sessions_, stop_);
      if (const auto start = replayer->Start(); !start) Throw(start.error());
      rollout.emplace(tree, states, *family_, *planner_, *replayer, options_.rollout,
                      random.Split("rollout"));
    }
    PlannerJudge judge(tree, *policy_, options_.error_rate);
    for (const PathPair& pair : pairs) {
      const auto error = rollout ? rollout->Find(pair, pair.good.value - choice.beta)
                                 : FindFirstError(tree, pair, &judge, 1);
      if (!error) Throw(error.error());
      const int found = error->found ? error->steps.back().node : -1;
      if (found >= 0) CountFound(tree, states, found, sum);
      if (!options_.recall) continue;
      const int first = FirstWrong(tree, states, pair);
      sum.truth += first >= 0 ? 1 : 0;
      sum.hit += first >= 0 && first == found ? 1 : 0;
    }
  }

  // The first step of the bad path that was refused or wrong in truth; -1: there is none.
  int FirstWrong(const Tree& tree, const StateMap& states, const PathPair& pair) {
    for (const int node : tree.Path(pair.bad.leaf)) {
      const bool over = tree.node(node).end == End::kDone || tree.node(node).end == End::kDisaster;
      if (tree.node(node).depth <= tree.node(pair.ancestor).depth || over) continue;
      if (states.Refused(node) || truth_->IsWrong(tree, node)) return node;
    }
    return -1;
  }

  [[noreturn]] static void Throw(const Error& error) {
    throw FatalError(ExitCode::kUnavailable, error.message);
  }

  void Print(const std::string& folder, const std::string& verifier, const Agreement& sum) const {
    const auto share = [](int part, int whole) { return whole > 0 ? 1.0 * part / whole : 0.0; };
    fmt::print("{:<38} {:<8} {:>8} {:>7} {:>9.3f} {:>8.3f} {:>7} {:>7.3f}\n", folder, verifier,
               sum.refused, sum.taken, share(sum.wrong, sum.taken), share(sum.harmful, sum.taken),
               sum.truth, share(sum.hit, sum.truth));
    for (const auto& [name, counts] : sum.kinds) {
      fmt::print("  {:<36} {:>25} {:>9.3f}\n", name, counts.second,
                 share(counts.first, counts.second));
    }
    std::fflush(stdout);
  }

  const BenchOptions options_;
  const std::unique_ptr<TaskFamily> family_;
  const std::unique_ptr<EnvServer> server_;
  HttpEnvironment environment_;
  SessionPool sessions_;
  std::unique_ptr<GoldSource> gold_;
  std::optional<ScriptedPolicy> policy_;
  std::unique_ptr<StepTruth> truth_;
  std::unique_ptr<LanguageModel> planner_;
  std::atomic<bool> stop_ = false;
  int printed_ = 0;
};

ExitCode Main(int argc, char** argv) {
  BenchOptions options;
  OptionSet set("verifier_bench", "Measures the verifiers of path_collect against the truth.");
  Declare(set, options);
  if (const auto exit = set.Parse(argc, argv)) return *exit;
  fmt::print("{:<38} {:<8} {:>8} {:>7} {:>9} {:>8} {:>7} {:>7}\n", "trees", "verifier", "refused",
             "taken", "precision", "farther", "errors", "recall");
  for (const std::string& folder : options.trees) {
    const std::vector<TreeFile> files = TreeFilesIn(folder);
    if (files.empty()) throw FatalError(ExitCode::kFile, folder + " holds no trees");
    const Tree first = ReadTree(ReadFile(files.front().path), files.front().path.string());
    Bench(options, first.origin().family).Run(folder);
  }
  return ExitCode::kOk;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] { return agentr::Main(argc, argv); });
}
