// From one tree to its rows:
//   load -> states -> mistakes -> repairs (shorten, splice, run, recover) -> fit, format
// Repairs and the verifiers actor and rollout make calls outside the process, so their results are
// kept in a record.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "clients/environment.h"
#include "clients/language_model.h"
#include "mcts/tree_folder.h"
#include "revision/find/judgement_prompt.h"
#include "revision/find/mistakes.h"
#include "revision/make/counts.h"
#include "revision/make/repair.h"
#include "revision/make/thoughts.h"
#include "revision/revise_options.h"
#include "rollout/session_pool.h"
#include "rows/row_format.h"
#include "tasks/task_family.h"

namespace agentr {

class DecisionCollector;
class Replayer;
struct Decision;

// A row in each format.
struct FinishedRow {
  std::string hash;          // ContentHash
  std::string actions_hash;  // ActionsHash
  std::vector<std::string> lines;
  Trajectory trajectory;
  Row audit;              // for the audit
  bool verified = false;  // by replay
};

struct TaskRows {
  std::vector<FinishedRow> rows;
  RevisionCounts counts;
};

struct TaskFailure {
  int task_id = 0;
  bool bad_tree = false;  // the file is at fault, so trying again cannot help
  Error error;
};

// Thread-safe: one object revises many tasks at once.
class TaskReviser {
 public:
  // The objects that it uses; they outlive it.
  struct Context {
    const TaskFamily& family;
    LanguageModel* model = nullptr;      // for the verifiers actor and rollout
    Environment* environment = nullptr;  // null: no replay
    SessionPool* sessions = nullptr;     // set if there is an environment
    std::string data_hash = "";          // of the environment
    // If set, a tree that begins differently in the environment is an error; otherwise its rows
    // stay unchecked.
    bool must_replay = false;
    const std::atomic<bool>& stop;
    std::string model_name = "";         // for trees that do not contain it
    std::filesystem::path records = "";  // folder of the records
    std::vector<std::unique_ptr<RowFormat>> formats = {};
    const ChatEncoder* encoder = nullptr;  // counts the tokens of rows; null: they are estimated
  };

  // Throws FatalError if thoughts or a prompt cannot be read.
  TaskReviser(const ReviseOptions& options, Context context);

  // Throws FatalError(kFile) if a record cannot be written.
  tl::expected<TaskRows, TaskFailure> Run(const TreeFile& file) const;

 private:
  struct Work;  // one tree and its state

  Result<std::vector<Decision>> Decide(Work& work) const;
  Result<void> DecideGood(Work& work, DecisionCollector& decisions) const;
  // Tries mistakes that the tree shows until there are enough rows.
  Result<void> DecideByTree(Work& work, DecisionCollector& decisions) const;
  // Uses pairs of leaves, whose first error a verifier finds.
  Result<void> DecideByVerifier(Work& work, Replayer* replayer, DecisionCollector& decisions) const;
  void CountPaths(Work& work) const;
  void AddRow(const Decision& decision, Work& work) const;

  std::unique_ptr<Verifier> MakeVerifier(const Work& work) const;
  bool forks() const;
  // True if decisions need calls, so that a record is useful.
  bool Records() const { return context_.environment != nullptr || context_.model != nullptr; }
  nlohmann::ordered_json MakeKey() const;
  std::string RecordKey(const Work& work) const;

  const ReviseOptions options_;
  const Context context_;
  const std::string verifier_;
  RepairOptions repair_;
  Thoughts thoughts_;
  std::optional<Thoughts> thinking_;       // of inserted turns; unset: none
  std::optional<JudgementPrompt> prompt_;  // for the verifier actor
  nlohmann::ordered_json key_;             // of a record, but for its tree
};

}  // namespace agentr
