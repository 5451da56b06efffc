#include "revision/task_reviser.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>

#include "clients/message_json.h"
#include "common/file.h"
#include "common/fingerprint.h"
#include "common/hash.h"
#include "common/installed_file.h"
#include "common/json_depth.h"
#include "common/random.h"
#include "common/text.h"
#include "revision/make/clean_turns.h"
#include "revision/make/decision_collector.h"
#include "revision/make/dedup.h"
#include "revision/make/turn_thoughts.h"
#include "revision/row_draft.h"
#include "rows/provenance.h"
#include "tasks/revision_hints.h"

namespace agentr {

struct TaskReviser::Work {
  const TreeFile& file;
  const Tree& tree;
  const std::string& text;  // of the file
  RandomStream random;      // of the task
  const StateMap& states;
  std::vector<LeafPath> paths = {};  // of the tree
  ValueThresholds choice = {};       // in this tree
  TaskRows result = {};
};

namespace {

// Counts up whenever the same tree and options give other decisions, so that records of before are
// not used.
constexpr int kProcedure = 5;

Row AuditedRow(const NewRow& made) {
  Row row;
  for (const RowMessage& message : made.messages) {
    row.messages.push_back(message.AsMessage());
    row.trained.push_back(message.trained);
  }
  row.task = std::to_string(made.task_id);
  nlohmann::ordered_json provenance = *made.provenance;
  provenance.erase("verifier");  // one for all rows of a run: the audit need not count by it
  row.provenance = std::make_shared<const nlohmann::ordered_json>(std::move(provenance));
  return row;
}

}  // namespace

TaskReviser::TaskReviser(const ReviseOptions& options, Context context)
    : options_(options),
      context_(std::move(context)),
      verifier_(options.Verifying()),
      repair_(options.repair) {
  if (repair_.action.empty()) repair_.action = context_.family.RevisionAction();
  repair_.alpha = options.mistakes.choice.alpha;  // each tree may set a higher one
  thoughts_ = options_.thoughts.empty()
                  ? Thoughts::BuiltIn()
                  : Thoughts::Parse(ReadFile(InstalledFile(options_.thoughts)));
  if (options_.revision_turn != "own" &&
      (!options_.repair.action.empty() || options_.repair.reply.empty() ||
       options_.revision_thinking != "0")) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("with --revision_turn {} there is no turn for --revision_action, "
                                 "an empty --revision_reply and --revision_thinking: leave them "
                                 "out, or use --revision_turn own",
                                 options_.revision_turn));
  }
  if (options_.revision_thinking != "0") {
    thinking_ = options_.revision_thinking == "1"
                    ? Thoughts::BuiltInThinking()
                    : Thoughts::Parse(ReadFile(InstalledFile(options_.revision_thinking)));
  }
  if (verifier_ == "actor") {
    prompt_ = options_.verifier_prompt.empty()
                  ? JudgementPrompt::Of(context_.family.name())
                  : JudgementPrompt(ReadFile(InstalledFile(options_.verifier_prompt)));
  }
  if (Records()) key_ = MakeKey();
}

bool TaskReviser::forks() const {
  return context_.environment != nullptr && context_.environment->CanExpand();
}

tl::expected<TaskRows, TaskFailure> TaskReviser::Run(const TreeFile& file) const {
  std::string text;
  std::optional<Tree> tree;
  try {
    text = ReadFile(file.path);
    tree = LoadTree(file, std::string(context_.family.name()), text);
  } catch (const FatalError& error) {
    return tl::make_unexpected(
        TaskFailure{file.task_id, true, {ErrorKind::kRejected, error.what()}});
  }
  const StateMap states(*tree, context_.family);
  Work work{file, *tree, text,
            RandomStream(options_.seed).Split(static_cast<uint64_t>(file.task_id)), states};
  work.paths = LeafPaths(*tree);
  work.choice = InTree(options_.mistakes.choice, work.paths, context_.family.SuccessReward());
  work.result.counts.trees = 1;
  const Result<std::vector<Decision>> decisions = Decide(work);
  if (!decisions) return tl::make_unexpected(TaskFailure{file.task_id, false, decisions.error()});
  const bool replayed = context_.environment != nullptr && !decisions->empty();
  if (replayed && decisions->front().replay.outcome == ReplayOutcome::kUnchecked) {
    work.result.counts.other_start = 1;
  }
  for (const Decision& decision : *decisions) {
    Count(decision, work.result.counts);
    AddRow(decision, work);
  }
  return std::move(work.result);
}

void TaskReviser::CountPaths(Work& work) const {
  RevisionCounts& counts = work.result.counts;
  counts.paths = static_cast<int64_t>(work.paths.size());
  counts.good_paths = std::ranges::count_if(
      work.paths, [&](const LeafPath& path) { return IsGood(path, work.choice); });
  counts.without_good = counts.good_paths == 0 ? 1 : 0;
  for (const LeafPath& path : work.paths) {
    counts.best_reward = std::max(counts.best_reward, std::optional(path.value));
  }
}

Result<std::vector<Decision>> TaskReviser::Decide(Work& work) const {
  CountPaths(work);
  const std::filesystem::path path = context_.records / fmt::format("{}.json", work.file.task_id);
  const std::string key = Records() ? RecordKey(work) : "";
  RevisionCounts& counts = work.result.counts;
  if (auto known = Records() ? ReadRecord(path, key, work.tree, counts) : std::nullopt) {
    counts.cache_hits = 1;
    return std::move(*known);
  }
  std::optional<Replayer> replayer;
  bool other_start = false;
  if (context_.environment != nullptr && work.result.counts.good_paths > 0) {
    replayer.emplace(work.file.task_id, context_.family, *context_.environment, *context_.sessions,
                     context_.stop);
    AGENTR_ASSIGN_OR_RETURN(const std::string start, replayer->Start());
    if (!SameButForReadings(context_.family, start, work.tree.root().observation)) {
      if (context_.must_replay) {
        return Fail(ErrorKind::kRejected,
                    fmt::format("the environment begins task {} differently than {}: give the "
                                "server of the search with --env_server_base, or use --replay 0",
                                work.file.task_id, work.file.path.string()));
      }
      other_start = true;
      replayer.reset();
    }
  }
  RepairOptions repair = repair_;
  repair.alpha = work.choice.alpha;
  DecisionCollector decisions(
      {work.tree, work.states, context_.family, thoughts_, repair, options_.max_pairs_per_task,
       options_.max_form_share, options_.keep_diverged, context_.stop, work.result.counts},
      work.random, replayer ? &*replayer : nullptr, replayer && forks());
  AGENTR_RETURN_IF_ERROR(options_.data_type == "good" ? DecideGood(work, decisions)
                         : verifier_ == "tree"
                             ? DecideByTree(work, decisions)
                             : DecideByVerifier(work, replayer ? &*replayer : nullptr, decisions));
  if (replayer) {
    counts.episodes = replayer->episodes();
    counts.episode_turns = replayer->turns();
    counts.calls = replayer->calls();
  }
  std::vector<Decision> all = std::move(decisions).Take();
  // What another environment left unchecked is decided again: the key need not tell the two apart.
  if (Records() && !other_start) WriteRecord(path, key, all, counts);
  return all;
}

Result<void> TaskReviser::DecideGood(Work& work, DecisionCollector& decisions) const {
  std::vector<PathPair> good = GoodAlone(work.paths, work.choice);
  work.result.counts.pairs_found = static_cast<int64_t>(good.size());
  work.random.Split("pairs").Shuffle(good);
  // The best first; among equal ones, finished paths before those that were cut off.
  std::ranges::stable_sort(good, [&](const PathPair& a, const PathPair& b) {
    const auto cut = [&](const PathPair& p) {
      const End end = work.tree.node(p.good.leaf).end;
      return end == End::kDepth || end == End::kCut;
    };
    return std::pair(-a.good.value, cut(a)) < std::pair(-b.good.value, cut(b));
  });
  for (const PathPair& pair : good) {
    if (decisions.Full()) break;
    AGENTR_RETURN_IF_ERROR(decisions.Add({pair, {}}));
  }
  return {};
}

// Offers the tree's mistakes with their good paths, one at a time, until there are enough rows or
// none is left. The chooser decides the order and learns from each outcome, so every pair is
// offered at most once. Neither are two rows made of the same mistake and the same good actions,
// nor is a good step tried again behind a mistake of the same name if it has failed there: if
// "click[buy]" after "wrong size" did not work on one good path, the other good paths with that
// step are skipped. A good path that holds a slip would teach to go on after it without a word.
Result<void> TaskReviser::DecideByTree(Work& work, DecisionCollector& decisions) const {
  MistakeOptions finding = options_.mistakes;
  finding.choice = work.choice;
  const std::vector<Mistake> mistakes =
      FindMistakes(work.tree, work.states, context_.family, finding);
  RevisionCounts& counts = work.result.counts;
  for (const Mistake& m : mistakes) counts.pairs_found += static_cast<int64_t>(m.goods.size());
  counts.mistakes_found = static_cast<int64_t>(mistakes.size());
  counts.bad_paths = counts.mistakes_found;
  counts.without_pairs = counts.good_paths > 0 && mistakes.empty() ? 1 : 0;
  MistakeChooser chooser(work.states, mistakes, work.random.Split("pairs"));
  Pruner pruner(work.tree, work.states, context_.family);
  std::set<std::vector<std::string>> ways;  // the mistake and the good actions after it
  // Good steps, by state and action, that did not work after a mistake of this name. They are not
  // tried again: where the environment has gone on meanwhile, no other beginning helps.
  std::set<std::tuple<std::string, int, std::string>> broken;
  const auto step = [&](const Mistake& mistake, int node) {
    const Node& taken = work.tree.node(node);
    return std::tuple(mistake.name, work.states.Of(taken.parent), taken.action);
  };
  while (!decisions.Full()) {
    const auto choice = chooser.Next(decisions.AllowsForm());
    if (!choice) break;
    const Mistake& mistake = mistakes[choice->mistake];
    const LeafPath& good = mistake.goods[choice->good];
    Draft draft = DraftOf(work.tree, work.states, mistake, good, finding,
                          work.random.Split("notice")
                              .Split(static_cast<uint64_t>(mistake.node))
                              .Split(static_cast<uint64_t>(good.leaf)));
    const SplicePlan plan =
        pruner.Shorten(PlanOf(work.tree, work.states, draft.pair, draft.error.bad_steps),
                       repair_.prune, repair_.prefix_slips);
    const auto breaks = [&](int node) { return broken.contains(step(mistake, node)); };
    const auto slipped = [&](int node) { return work.tree.node(node).slip.has_value(); };
    if (std::ranges::any_of(plan.good, breaks) || std::ranges::any_of(plan.good, slipped)) continue;
    std::vector<std::string> way = {std::to_string(choice->mistake)};
    for (const int node : plan.good) way.push_back(work.tree.node(node).action);
    if (!ways.insert(std::move(way)).second) continue;
    AGENTR_ASSIGN_OR_RETURN(const auto added,
                            decisions.Add({draft.pair, std::move(draft.error), mistake.name,
                                           mistake.refused, mistake.evidence}));
    if (added == DecisionCollector::Outcome::kKept) chooser.Keep(*choice);
    if (added == DecisionCollector::Outcome::kHopeless) chooser.GiveUp(*choice);
    if (added == DecisionCollector::Outcome::kFailed) {
      chooser.Fail(*choice);
      if (decisions.broken_at() >= 0) broken.insert(step(mistake, decisions.broken_at()));
    }
  }
  return {};
}

Result<void> TaskReviser::DecideByVerifier(Work& work, Replayer* replayer,
                                           DecisionCollector& decisions) const {
  std::vector<PathPair> pairs =
      PartByState(work.tree, work.states,
                  PairPaths(work.tree, work.paths, work.choice, options_.mistakes.pairing));
  RevisionCounts& counts = work.result.counts;
  std::set<int> bad;
  for (const PathPair& pair : pairs) bad.insert(pair.bad.leaf);
  counts.bad_paths = static_cast<int64_t>(bad.size());
  counts.pairs_found = static_cast<int64_t>(pairs.size());
  counts.without_pairs = counts.good_paths > 0 && pairs.empty() ? 1 : 0;
  pairs = LimitPairs(work.tree, std::move(pairs), static_cast<size_t>(options_.max_pairs_per_task),
                     work.random.Split("pairs"));
  const std::unique_ptr<Verifier> verifier = MakeVerifier(work);
  std::optional<RolloutVerifier> rollout;
  if (verifier_ == "rollout" && !pairs.empty()) {
    if (replayer == nullptr || !forks() || context_.model == nullptr) {
      return Fail(ErrorKind::kRejected,
                  "--verifier rollout continues episodes in the environment: it needs the server "
                  "of the search, which must be able to fork (ours for WebShop and TextCraft are)");
    }
    RolloutOptions rollout_options = options_.rollout;
    rollout_options.max_context = options_.judge.max_context;
    rollout.emplace(work.tree, work.states, context_.family, *context_.model, *replayer,
                    rollout_options, work.random.Split("rollout"));
  }
  const int ahead = verifier_ == "actor" ? options_.judge.ahead : 1;
  for (const PathPair& pair : pairs) {
    if (context_.stop) return Fail(ErrorKind::kCancelled, "stopped");
    const double wanted = pair.good.value - work.choice.beta;
    AGENTR_ASSIGN_OR_RETURN(FirstError error,
                            rollout ? rollout->Find(pair, wanted)
                                    : FindFirstError(work.tree, pair, verifier.get(), ahead));
    Decision decision;
    decision.pair = pair;
    if (error.found) {
      const int node = error.steps.back().node;
      decision.mistake = MistakeNameOf(work.tree, context_.family, node);
      decision.refused = work.states.Refused(node);
      decision.evidence = work.states.At(node).leaves;
    }
    if (IsOfForm(decision.mistake) && !decisions.AllowsForm()) continue;
    decision.error = std::move(error);
    AGENTR_RETURN_IF_ERROR(decisions.Add(std::move(decision)));
  }
  return {};
}

std::unique_ptr<Verifier> TaskReviser::MakeVerifier(const Work& work) const {
  if (verifier_ != "actor") return nullptr;
  return std::make_unique<CachingVerifier>(
      std::make_unique<ActorVerifier>(work.tree, work.states, *context_.model, *prompt_,
                                      options_.judge, work.random.Split("judge")));
}

void TaskReviser::AddRow(const Decision& decision, Work& work) const {
  if (!Keeps(decision, options_.keep_diverged)) return;
  RevisionCounts& counts = work.result.counts;
  Trajectory trajectory{work.tree.instruction(), work.tree.root().observation, decision.turns};
  trajectory.train_prefix = options_.repair.train_prefix;
  ApplyReplay(decision.replay, trajectory);
  if (!CleanTurns(options_.unclean, context_.family, trajectory, counts)) return;
  if (options_.revision_turn != "own") {
    TakeOutRevisionTurn(options_.revision_turn, repair_.reply, trajectory);
  }
  if (!MendThoughts(options_.turn_thoughts, context_.family, trajectory, counts)) return;
  if (thinking_) {
    const uint64_t bad = static_cast<uint64_t>(decision.pair.bad.leaf);
    const uint64_t good = static_cast<uint64_t>(decision.pair.good.leaf);
    ThinkBeforeInserted(*thinking_, decision.mistake,
                        work.random.Split("thinking").Split(bad).Split(good), trajectory);
  }
  // The turns that the model did not see, as far as they are left.
  const int unseen = work.tree.node(decision.pair.good.leaf).dropped_turns;
  const auto dropped = std::ranges::count_if(trajectory.turns, [&](const SplicedTurn& turn) {
    const bool oldest = turn.part == Part::kPrefix || decision.pair.bad.leaf < 0;
    return oldest && turn.node >= 0 && work.tree.node(turn.node).depth <= unseen;
  });
  const std::string& model = work.tree.origin().model;
  const RowSource source{work.tree,
                         work.file.path.string(),
                         std::string(context_.family.name()),
                         work.file.task_id,
                         model.empty() ? context_.model_name : model,
                         options_.seed,
                         options_.mistakes.choice,
                         verifier_,
                         NameOf(kPairings, options_.mistakes.pairing),
                         NameOf(kPrunes, options_.repair.prune),
                         options_.repeats};
  RowDraft row{source, decision, std::move(trajectory), ""};
  if (!FitRow(row, static_cast<int>(dropped), options_.MaxRowTokens(), context_.encoder)) {
    ++counts.too_long;
    return;
  }
  ++counts.rows;
  row.hash = ContentHash(row.trajectory);
  FinishedRow finished{row.hash, ActionsHash(row.trajectory), {}, {}, {}, false};
  finished.verified = decision.replay.outcome == ReplayOutcome::kVerified;
  const NewRow made = RowOf(row);
  for (const auto& format : context_.formats) finished.lines.push_back(format->Line(made));
  finished.audit = AuditedRow(made);
  finished.trajectory = std::move(row.trajectory);
  work.result.rows.push_back(std::move(finished));
}

nlohmann::ordered_json TaskReviser::MakeKey() const {
  using Json = nlohmann::ordered_json;
  Json options = FingerprintOf(options_);
  Json later = ChangedOptions(options_);
  const auto take = [&](const char* name) {
    later.erase(name);
    return options.at(name);
  };
  const Json model = context_.model == nullptr
                         ? Json{"", ""}
                         : Json{context_.model->name(), context_.model->identity()};
  Json judge = model;
  for (const char* name : {"judge_temperature", "judge_max_new_tokens", "max_context",
                           "judge_evidence", "judge_refusals"}) {
    judge.push_back(take(name));
  }
  if (prompt_) judge.push_back(MessagesToJson(prompt_->messages()));
  Json rollout = model;
  for (const char* name : {"rollouts", "rollout_steps", "rollout_temperature",
                           "rollout_max_new_tokens", "max_context"}) {
    rollout.push_back(take(name));
  }
  Json key = {{"tree", ""},
              {"data_type", take("data_type")},
              {"alpha", take("alpha")},
              {"beta", take("beta")},
              {"good_margin", take("good_margin")},
              {"pairing", take("pairing")},
              {"max_pairs", take("max_pairs_per_task")},
              {"seed", take("seed")},
              {"verifier", verifier_},
              {"judge", verifier_ == "actor" ? judge : Json()},
              {"rollout", verifier_ == "rollout" ? rollout : Json()},
              {"replay", context_.environment != nullptr},
              {"must_replay", context_.must_replay},
              {"environment", context_.data_hash},
              {"revision", {repair_.action, take("revision_reply")}},
              {"min_evidence", {take("min_evidence"), take("min_success")}},
              {"notice", {take("notice"), take("notice_steps")}},
              {"prune", {take("prune"), take("prefix_slips"), take("good_slips")}},
              {"max_recovery", take("max_recovery")},
              {"keep_diverged", take("keep_diverged")},
              {"thoughts", Sha256(thoughts_.Text())},
              {"procedure", kProcedure},
              {"version", kRowVersion}};
  // The others stand there as what follows from them, or concern preferences, which have no record.
  for (const char* name :
       {"revise", "verifier", "verifier_prompt", "revision_action", "thoughts"}) {
    later.erase(name);
  }
  const Json preferences = FingerprintOf(options_.preferences);
  for (const auto& [name, value] : preferences.items()) later.erase(name);
  if (!later.empty()) key["later"] = later;
  return key;
}

std::string TaskReviser::RecordKey(const Work& work) const {
  nlohmann::ordered_json key = key_;
  key["tree"] = Sha256(work.text);
  return Sha256(DumpJson(key));
}

}  // namespace agentr
