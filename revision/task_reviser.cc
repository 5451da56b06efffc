#include "revision/task_reviser.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "clients/message_json.h"
#include "common/file.h"
#include "common/installed_file.h"
#include "common/hash.h"
#include "common/random.h"
#include "common/text.h"
#include "revision/clean_turns.h"
#include "revision/dedup.h"
#include "revision/row_length.h"
#include "revision/turn_thoughts.h"

namespace agentr {

struct TaskReviser::Work {
  const TreeFile& file;
  const Tree& tree;
  const std::string& text;  // of the file
  RandomStream random;      // of the task
  const StateMap& states;
  TaskRows result = {};
};

// Makes rows from drafts until there are enough, and drops those that repeat an earlier row of the
// task.
class TaskReviser::Decisions {
 public:
  Decisions(const TaskReviser& reviser, Work& work, Replayer* replayer)
      : reviser_(reviser),
        work_(work),
        repairer_(work.tree, work.states, reviser.context_.family, reviser.thoughts_,
                  reviser.repair_, replayer, replayer != nullptr && reviser.forks()) {}

  enum class Outcome { kKept, kDuplicate, kFailed };

  // `decision` without the results of the replay.
  Result<Outcome> Add(Decision decision);

  bool Full() const {
    const int most = reviser_.options_.max_pairs_per_task;
    return most > 0 && kept_ >= most;
  }

  std::vector<Decision> Take() && { return std::move(decisions_); }

 private:
  std::string ThoughtFor(const Decision& decision, RandomStream& random) const;
  bool Contradicts(const Trajectory& trajectory, int error) const;

  const TaskReviser& reviser_;
  Work& work_;
  Repairer repairer_;
  std::vector<Decision> decisions_;
  std::set<std::string> actions_;  // ActionsHash of the rows kept
  int kept_ = 0;
};

std::string TaskReviser::Decisions::ThoughtFor(const Decision& decision,
                                               RandomStream& random) const {
  if (decision.pair.bad.leaf < 0) return "";
  if (decision.mistake.empty()) return reviser_.thoughts_.Pick({}, {}, random);
  const Node& error = work_.tree.node(decision.error.steps.back().node);
  return reviser_.thoughts_.Pick({decision.mistake, decision.refused ? "refused" : "dead_end"},
                                 {error.action, error.observation, ""}, random);
}

// True if the row would train the mistaken action on the same page on which it was a mistake.
bool TaskReviser::Decisions::Contradicts(const Trajectory& trajectory, int error) const {
  if (error < 0) return false;
  const Node& mistaken = work_.tree.node(error);
  std::string page = trajectory.first_observation;
  std::string mistaken_on;
  for (const SplicedTurn& turn : trajectory.turns) {
    if (turn.node == error) mistaken_on = page;
    const bool again = turn.action == mistaken.action && page == mistaken_on;
    if (again && turn.node != error && IsTrained(trajectory, turn)) return true;
    if (turn.part != Part::kRevision && !turn.refused) page = turn.observation;
  }
  return false;
}

Result<TaskReviser::Decisions::Outcome> TaskReviser::Decisions::Add(Decision decision) {
  if (reviser_.context_.stop) return Fail(ErrorKind::kCancelled, "stopped");
  const int error = decision.error.found ? decision.error.steps.back().node : -1;
  RandomStream random = work_.random.Split("thought")
                            .Split(static_cast<uint64_t>(decision.pair.good.leaf))
                            .Split(static_cast<uint64_t>(decision.pair.bad.leaf))
                            .Split(static_cast<uint64_t>(error));
  const std::string thought = ThoughtFor(decision, random);
  AGENTR_ASSIGN_OR_RETURN(
      Repaired repaired, repairer_.Run({decision.pair, decision.error.bad_steps, thought}, random));
  if (!actions_.insert(ActionsHash(repaired.trajectory)).second) {
    ++work_.result.counts.duplicate_drafts;
    return Outcome::kDuplicate;
  }
  if (Contradicts(repaired.trajectory, error)) {
    ++work_.result.counts.contradictions;
    return Outcome::kFailed;
  }
  decision.turns = std::move(repaired.trajectory.turns);
  decision.replay = std::move(repaired.replay);
  decision.pruned = repaired.pruned;
  decision.recovery = repaired.recovery;
  const bool kept = reviser_.Keeps(decision);
  if (kept) ++kept_;
  decisions_.push_back(std::move(decision));
  return kept ? Outcome::kKept : Outcome::kFailed;
}

namespace {

std::string RevisionActionOf(const ReviseOptions& options, const TaskReviser::Context& context) {
  if (!options.revision_action.empty()) return options.revision_action;
  return std::string(context.family.RevisionAction());
}

}  // namespace

TaskReviser::TaskReviser(const ReviseOptions& options, Context context)
    : options_(options),
      context_(std::move(context)),
      verifier_(options.Verifying()),
      mistakes_{options.choice,      options.pairing, options.min_evidence,
                options.min_success, options.notice,  options.notice_steps},
      repair_{options.prune,
              options.prefix_slips,
              options.good_slips,
              options.max_recovery,
              options.choice.alpha,
              options.train_prefix,
              RevisionActionOf(options, context_),
              options.revision_reply} {
  thoughts_ = options_.thoughts.empty() ? Thoughts::BuiltIn()
                                        : Thoughts::Parse(ReadFile(InstalledFile(options_.thoughts)));
  if (verifier_ != "actor") return;
  prompt_ = options_.verifier_prompt.empty() ? JudgementPrompt::Of(context_.family.name())
                                             : JudgementPrompt(ReadFile(InstalledFile(options_.verifier_prompt)));
}

bool TaskReviser::forks() const {
  return context_.environment != nullptr && context_.environment->CanExpand();
}

bool TaskReviser::Keeps(const Decision& decision) const {
  switch (decision.replay.outcome) {
    case ReplayOutcome::kVerified:
    case ReplayOutcome::kUnchecked:
      return true;
    case ReplayOutcome::kDiverged:
      return options_.keep_diverged;
    case ReplayOutcome::kFailed:
      break;
  }
  return false;
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
  const std::vector<LeafPath> paths = LeafPaths(work.tree);
  RevisionCounts& counts = work.result.counts;
  counts.paths = static_cast<int64_t>(paths.size());
  counts.good_paths = std::ranges::count_if(
      paths, [&](const LeafPath& path) { return IsGood(path, options_.choice); });
  counts.without_good = counts.good_paths == 0 ? 1 : 0;
}

Result<std::vector<Decision>> TaskReviser::Decide(Work& work) const {
  CountPaths(work);
  const std::filesystem::path path = context_.records / fmt::format("{}.json", work.file.task_id);
  const std::string key = Records() ? RecordKey(work) : "";
  if (auto known = Records() ? ReadRecord(path, key, work.tree) : std::nullopt) {
    work.result.counts.cache_hits = 1;
    return std::move(*known);
  }
  std::optional<Replayer> replayer;
  if (context_.environment != nullptr && work.result.counts.good_paths > 0) {
    replayer.emplace(work.file.task_id, context_.family, *context_.environment, *context_.sessions,
                     context_.stop);
    AGENTR_ASSIGN_OR_RETURN(const std::string start, replayer->Start());
    if (OneLine(start) != OneLine(work.tree.root().observation)) {
      if (context_.must_replay) {
        return Fail(ErrorKind::kRejected,
                    fmt::format("the environment begins task {} differently than {}: give the "
                                "server of the search with --env_server_base, or use --replay 0",
                                work.file.task_id, work.file.path.string()));
      }
      replayer.reset();
    }
  }
  Decisions decisions(*this, work, replayer ? &*replayer : nullptr);
  AGENTR_RETURN_IF_ERROR(options_.data_type == "good" ? DecideGood(work, decisions)
                         : verifier_ == "tree"
                             ? DecideByTree(work, decisions)
                             : DecideByVerifier(work, replayer ? &*replayer : nullptr, decisions));
  if (replayer) {
    RevisionCounts& counts = work.result.counts;
    counts.episodes = replayer->episodes();
    counts.episode_turns = replayer->turns();
    counts.calls = replayer->calls();
  }
  std::vector<Decision> all = std::move(decisions).Take();
  if (Records()) WriteRecord(path, key, all);
  return all;
}

Result<void> TaskReviser::DecideGood(Work& work, Decisions& decisions) const {
  std::vector<PathPair> good = GoodAlone(LeafPaths(work.tree), options_.choice);
  work.result.counts.pairs_found = static_cast<int64_t>(good.size());
  work.random.Split("pairs").Shuffle(good);
  // The best first; among equal ones, finished paths before those that reached the depth limit.
  std::ranges::stable_sort(good, [&](const PathPair& a, const PathPair& b) {
    const auto cut = [&](const PathPair& p) {
      return work.tree.node(p.good.leaf).end == End::kDepth;
    };
    return std::pair(-a.good.quality, cut(a)) < std::pair(-b.good.quality, cut(b));
  });
  for (const PathPair& pair : good) {
    if (decisions.Full()) break;
    Decision decision;
    decision.pair = pair;
    AGENTR_RETURN_IF_ERROR(decisions.Add(std::move(decision)));
  }
  return {};
}

Result<void> TaskReviser::DecideByTree(Work& work, Decisions& decisions) const {
  const std::vector<Mistake> mistakes =
      FindMistakes(work.tree, work.states, context_.family, mistakes_);
  RevisionCounts& counts = work.result.counts;
  for (const Mistake& m : mistakes) counts.pairs_found += static_cast<int64_t>(m.goods.size());
  counts.mistakes_found = static_cast<int64_t>(mistakes.size());
  counts.bad_paths = counts.mistakes_found;
  counts.without_pairs = counts.good_paths > 0 && mistakes.empty() ? 1 : 0;
  MistakeChooser chooser(work.states, mistakes, work.random.Split("pairs"));
  Pruner pruner(work.tree, work.states, context_.family);
  std::set<std::vector<std::string>> ways;  // the mistake and the good actions after it
  while (!decisions.Full()) {
    const auto choice = chooser.Next();
    if (!choice) break;
    const Mistake& mistake = mistakes[choice->mistake];
    const LeafPath& good = mistake.goods[choice->good];
    const Draft draft = DraftOf(work.tree, work.states, mistake, good, mistakes_,
                                work.random.Split("notice")
                                    .Split(static_cast<uint64_t>(mistake.node))
                                    .Split(static_cast<uint64_t>(good.leaf)));
    const SplicePlan plan =
        pruner.Shorten(PlanOf(work.tree, work.states, draft.pair, draft.error.bad_steps),
                       repair_.prune, repair_.prefix_slips);
    std::vector<std::string> way = {std::to_string(choice->mistake)};
    for (const int node : plan.good) way.push_back(work.tree.node(node).action);
    if (!ways.insert(std::move(way)).second) continue;
    Decision decision;
    decision.pair = draft.pair;
    decision.error = draft.error;
    decision.mistake = mistake.name;
    decision.refused = draft.refused;
    decision.evidence = draft.evidence;
    AGENTR_ASSIGN_OR_RETURN(const auto added, decisions.Add(std::move(decision)));
    if (added == Decisions::Outcome::kKept) chooser.Keep(*choice);
    if (added == Decisions::Outcome::kFailed) chooser.Fail(*choice);
  }
  return {};
}

Result<void> TaskReviser::DecideByVerifier(Work& work, Replayer* replayer,
                                           Decisions& decisions) const {
  const std::vector<LeafPath> paths = LeafPaths(work.tree);
  std::vector<PathPair> pairs = PartByState(
      work.tree, work.states, PairPaths(work.tree, paths, options_.choice, options_.pairing));
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
  if (verifier_ == "rollout") {
    if (replayer == nullptr || !forks() || context_.model == nullptr) {
      return Fail(ErrorKind::kRejected,
                  "--verifier rollout continues episodes in the environment: it needs the server "
                  "of the search, which must be able to fork (ours for WebShop and TextCraft are)");
    }
    rollout.emplace(work.tree, work.states, context_.family, *context_.model, *replayer,
                    options_.rollout, work.random.Split("rollout"));
  }
  const int ahead = verifier_ == "actor" ? options_.judge.ahead : 1;
  for (const PathPair& pair : pairs) {
    if (context_.stop) return Fail(ErrorKind::kCancelled, "stopped");
    const double wanted = pair.good.quality - options_.choice.beta;
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
  if (!Keeps(decision)) return;
  RevisionCounts& counts = work.result.counts;
  Trajectory trajectory{work.tree.instruction(), work.tree.root().observation, decision.turns};
  trajectory.train_prefix = options_.train_prefix;
  ApplyReplay(decision.replay, trajectory);
  if (!CleanTurns(options_.unclean, context_.family, trajectory, counts)) return;
  if (!MendThoughts(options_.turn_thoughts, context_.family, trajectory, counts)) return;
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
                         options_.choice,
                         verifier_,
                         NameOf(kPairings, options_.pairing),
                         NameOf(kPrunes, options_.prune)};
  Row row{source, decision, std::move(trajectory), ""};
  if (!FitRow(row, static_cast<int>(dropped), options_.MaxRowTokens(), context_.encoder)) {
    ++counts.too_long;
    return;
  }
  ++counts.rows;
  row.hash = ContentHash(row.trajectory);
  FinishedRow finished{row.hash, ActionsHash(row.trajectory), {}, {}, {}, false};
  finished.verified = decision.replay.outcome == ReplayOutcome::kVerified;
  for (const auto& format : context_.formats) finished.lines.push_back(format->Line(row));
  finished.audit = AuditRowOf(row.trajectory);
  finished.audit.task = std::to_string(work.file.task_id);
  finished.audit.labels = {{"mistake", decision.mistake},
                           {"replay", std::string(Name(decision.replay.outcome))},
                           {"recovery", std::to_string(decision.recovery)}};
  finished.audit.bad_steps =
      static_cast<int>(std::ranges::count(row.trajectory.turns, Part::kBad, &SplicedTurn::part));
  const RevisionLength length = RevisionLengthOf(row);
  finished.audit.revision_from_start = length.from_start;
  finished.audit.revision_from_ancestor = length.from_ancestor;
  finished.trajectory = std::move(row.trajectory);
  work.result.rows.push_back(std::move(finished));
}

std::string TaskReviser::RecordKey(const Work& work) const {
  const nlohmann::ordered_json key = {
      {"tree", Sha256(work.text)},
      {"nodes", "depth first"},  // earlier records have them in the order of the file
      {"data_type", options_.data_type},
      {"alpha", options_.choice.alpha},
      {"beta", options_.choice.beta},
      {"pairing", NameOf(kPairings, options_.pairing)},
      {"max_pairs", options_.max_pairs_per_task},
      {"seed", options_.seed},
      {"verifier", verifier_},
      {"judge",
       verifier_ != "actor"
           ? nlohmann::ordered_json(nullptr)
           : nlohmann::ordered_json{context_.model->name(), context_.model->identity(),
                                    options_.judge.temperature, options_.judge.max_new_tokens,
                                    options_.judge.max_context, options_.judge.evidence,
                                    MessagesToJson(prompt_->messages())}},
      {"rollout",
       verifier_ != "rollout"
           ? nlohmann::ordered_json(nullptr)
           : nlohmann::ordered_json{context_.model == nullptr ? "" : context_.model->name(),
                                    context_.model == nullptr ? "" : context_.model->identity(),
                                    options_.rollout.continuations, options_.rollout.max_steps,
                                    options_.rollout.temperature, options_.rollout.max_new_tokens}},
      {"replay", context_.environment != nullptr},
      {"must_replay", context_.must_replay},
      {"environment", context_.data_hash},
      {"revision", {repair_.action, repair_.reply}},
      {"min_evidence", {options_.min_evidence, options_.min_success}},
      {"notice", {NameOf(kNotices, options_.notice), options_.notice_steps}},
      {"prune", {NameOf(kPrunes, options_.prune), options_.prefix_slips, options_.good_slips}},
      {"max_recovery", options_.max_recovery},
      {"keep_diverged", options_.keep_diverged},
      {"thoughts", Sha256(thoughts_.Text())},
      {"version", kRowVersion}};
  return Sha256(key.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace agentr
