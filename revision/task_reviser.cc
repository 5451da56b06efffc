#include "revision/task_reviser.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "clients/message_json.h"
#include "common/file.h"
#include "common/hash.h"
#include "common/random.h"
#include "revision/dedup.h"
#include "revision/thoughts.h"
#include "revision/tree_verifier.h"

namespace agentr {

struct TaskReviser::Work {
  const TreeFile& file;
  const Tree& tree;
  const std::string& text;  // of the file
  RandomStream random;      // of the task
  TaskRows result = {};
};

TaskReviser::TaskReviser(const ReviseOptions& options, Context context)
    : options_(options),
      context_(std::move(context)),
      verifier_(options.Verifying()),
      pairing_(ParsePairing(options.pairing)) {
  thoughts_ =
      options_.thoughts.empty() ? BuiltInThoughts() : ParseThoughts(ReadFile(options_.thoughts));
  if (verifier_ != "actor") return;
  prompt_ = options_.verifier_prompt.empty() ? JudgementPrompt::Of(context_.family.name())
                                             : JudgementPrompt(ReadFile(options_.verifier_prompt));
}

tl::expected<TaskRows, TaskFailure> TaskReviser::Run(const TreeFile& file) const {
  std::string text;
  std::optional<Tree> tree;
  try {
    text = ReadFile(file.path);
    tree = LoadTree(file, std::string(context_.family.name()), text);
  } catch (const FatalError& error) {
    return tl::make_unexpected(TaskFailure{file.task, true, {ErrorKind::kRejected, error.what()}});
  }
  Work work{file, *tree, text, RandomStream(options_.seed).Split(static_cast<uint64_t>(file.task))};
  work.result.counts.trees = 1;
  const Result<std::vector<Decision>> decisions = Decide(work);
  if (!decisions) return tl::make_unexpected(TaskFailure{file.task, false, decisions.error()});
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

std::vector<PathPair> TaskReviser::Pairs(Work& work) const {
  const std::vector<LeafPath> paths = LeafPaths(work.tree);
  const std::vector<PathPair> good = GoodAlone(paths, options_.choice);
  const bool alone = options_.data_type == "good";
  std::vector<PathPair> pairs =
      alone ? good : PairPaths(work.tree, paths, options_.choice, pairing_);
  RevisionCounts& counts = work.result.counts;
  std::set<int> bad;
  for (const PathPair& pair : pairs) bad.insert(pair.bad.leaf);
  counts.paths = static_cast<int64_t>(paths.size());
  counts.good_paths = static_cast<int64_t>(good.size());
  counts.bad_paths = alone ? 0 : static_cast<int64_t>(bad.size());
  counts.pairs_found = static_cast<int64_t>(pairs.size());
  counts.without_good = good.empty() ? 1 : 0;
  counts.without_pairs = !good.empty() && pairs.empty() ? 1 : 0;
  return LimitPairs(work.tree, std::move(pairs), static_cast<size_t>(options_.max_pairs_per_task),
                    work.random.Split("pairs"));
}

Result<std::vector<Decision>> TaskReviser::Decide(Work& work) const {
  if (!Records()) return FindErrors(work);
  const std::filesystem::path path = context_.records / fmt::format("{}.json", work.file.task);
  const std::string key = RecordKey(work);
  if (auto known = ReadRecord(path, key)) {
    Pairs(work);  // for its counts
    work.result.counts.cache_hits = 1;
    return std::move(*known);
  }
  Result<std::vector<Decision>> decisions = FindErrors(work);
  if (!decisions) return decisions;
  if (auto replayed = ReplayAll(work, *decisions); !replayed) {
    return tl::make_unexpected(replayed.error());
  }
  WriteRecord(path, key, *decisions);
  return decisions;
}

std::unique_ptr<Verifier> TaskReviser::MakeVerifier(const Tree& tree, RandomStream random) const {
  if (verifier_ == "tree") return std::make_unique<TreeVerifier>(tree, options_.choice);
  if (verifier_ != "actor") return nullptr;
  return std::make_unique<CachingVerifier>(std::make_unique<ActorVerifier>(
      tree, *context_.model, *prompt_, options_.judge, random.Split("judge")));
}

Result<std::vector<Decision>> TaskReviser::FindErrors(Work& work) const {
  const std::unique_ptr<Verifier> verifier = MakeVerifier(work.tree, work.random);
  const int ahead = verifier_ == "actor" ? options_.judge.ahead : 1;
  std::vector<Decision> decisions;
  for (const PathPair& pair : Pairs(work)) {
    if (context_.stop) return Fail(ErrorKind::kCancelled, "stopped");
    FirstError error;
    if (pair.bad.leaf >= 0) {
      Result<FirstError> found = FindFirstError(work.tree, pair, verifier.get(), ahead);
      if (!found) return tl::make_unexpected(std::move(found.error()));
      error = std::move(*found);
    }
    decisions.push_back({pair, std::move(error), {}});
  }
  return decisions;
}

Trajectory TaskReviser::SpliceOf(const Work& work, const Decision& decision) const {
  RandomStream random = work.random.Split("thought")
                            .Split(static_cast<uint64_t>(decision.pair.good.leaf))
                            .Split(static_cast<uint64_t>(decision.pair.bad.leaf));
  const std::string& thought = random.Pick(thoughts_);
  return Splice(work.tree, decision.pair, decision.error.bad_steps,
                {thought, options_.revision_action, options_.revision_reply});
}

Result<void> TaskReviser::ReplayAll(Work& work, std::vector<Decision>& decisions) const {
  if (context_.environment == nullptr || decisions.empty()) return {};
  std::vector<Trajectory> trajectories;
  for (const Decision& decision : decisions) trajectories.push_back(SpliceOf(work, decision));
  const Result<TaskEpisodes> run =
      RunEpisodes(work.file.task, trajectories, context_.family, *context_.environment,
                  *context_.sessions, context_.stop);
  if (!run) return tl::make_unexpected(run.error());
  if (!run->same_start && context_.must_replay) {
    return Fail(
        ErrorKind::kRejected,
        fmt::format("the environment begins task {} otherwise than {}: give the server that "
                    "the trees come from with --env_server_base, or --replay 0",
                    work.file.task, work.file.path.string()));
  }
  RevisionCounts& counts = work.result.counts;
  for (size_t i = 0; i < run->episodes.size(); ++i) {
    decisions[i].replay = JudgeReplay(trajectories[i], run->episodes[i], options_.choice.alpha);
    counts.episode_turns += static_cast<int64_t>(run->episodes[i].size());
  }
  counts.episodes = static_cast<int64_t>(run->episodes.size());
  counts.calls = run->calls;
  return {};
}

void TaskReviser::AddRow(const Decision& decision, Work& work) const {
  if (decision.replay.outcome == ReplayOutcome::kFailed) return;
  Trajectory trajectory = SpliceOf(work, decision);
  ApplyReplay(decision.replay, trajectory);
  const std::string& model = work.tree.origin().model;
  const RowSource source{work.tree,
                         work.file.path.string(),
                         std::string(context_.family.name()),
                         work.file.task,
                         model.empty() ? context_.model_name : model,
                         options_.seed,
                         options_.choice,
                         verifier_,
                         options_.pairing};
  Row row{source, decision.pair, decision.error, decision.replay, std::move(trajectory), ""};
  const int dropped = work.tree.node(decision.pair.good.leaf).dropped_turns;
  if (!FitRow(row, dropped, options_.MaxRowTokens(), context_.encoder)) {
    ++work.result.counts.too_long;
    return;
  }
  ++work.result.counts.rows;
  row.hash = ContentHash(row.trajectory);
  FinishedRow finished{row.hash, ActionsHash(row.trajectory), {}, {}};
  for (const auto& format : context_.formats) finished.lines.push_back(format->Line(row));
  finished.trajectory = std::move(row.trajectory);
  work.result.rows.push_back(std::move(finished));
}

std::string TaskReviser::RecordKey(const Work& work) const {
  const nlohmann::ordered_json key = {
      {"tree", Sha256(work.text)},
      {"data_type", options_.data_type},
      {"alpha", options_.choice.alpha},
      {"beta", options_.choice.beta},
      {"pairing", options_.pairing},
      {"max_pairs", options_.max_pairs_per_task},
      {"seed", options_.seed},
      {"verifier", verifier_},
      {"judge",
       verifier_ != "actor"
           ? nlohmann::ordered_json(nullptr)
           : nlohmann::ordered_json{context_.model->name(), context_.model->identity(),
                                    options_.judge.temperature, options_.judge.max_new_tokens,
                                    options_.judge.max_context,
                                    MessagesToJson(prompt_->messages())}},
      {"replay", context_.environment != nullptr},
      {"must_replay", context_.must_replay},
      {"environment", context_.data_hash},
      {"revision", {options_.revision_action, options_.revision_reply}}};
  return Sha256(key.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace agentr
