// Measures the quality of rows of training data: how many turns are trained, how many of those had
// no effect, and whether rows contradict themselves. It works for the rows of a run and for files
// of any origin: ours in each text format, Agent-R's JSONL, and AgentGym's ShareGPT.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "common/error.h"
#include "rows/row.h"
#include "tasks/task_family.h"

namespace agentr {

class Audit {
 public:
  // `family` outlives it.
  explicit Audit(const TaskFamily& family) : family_(family) {}

  void Add(const Row& row);

  nlohmann::ordered_json Json() const;
  // A table for people.
  std::string Table() const;

 private:
  // Sums over turns and rows.
  struct Counts {
    int64_t rows = 0;
    int64_t turns = 0;           // all turns of the agent
    int64_t trained = 0;         // turns
    int64_t trained_tokens = 0;  // estimated (EstimateTokens)
    int64_t all_tokens = 0;      // of whole rows
    int64_t refused = 0;         // trained turns that the environment refused
    int64_t without_effect = 0;  // other trained turns that changed nothing
    int64_t repeated = 0;        // trained turns that repeat an action which had already changed
                                 // nothing in this state
    int64_t contradicted = 0;    // trained turns whose thought contradicts their action
    int64_t instruction = 0;     // trained turns before the first observation
    int64_t before_mistake = 0;  // trained turns before the first turn that is not trained
    int64_t trains_refused = 0;  // rows that train a refused turn
    int64_t with_revision = 0;   // rows with bad steps and a revision turn
    int64_t bad_steps = 0;       // in rows that say their number
    int64_t tell_bad_steps = 0;  // rows
    int64_t good_is_bad = 0;     // rows whose first action after the revision is the masked one
    int64_t trains_masked = 0;   // rows that train a masked action in the same state
  };
  struct Turn;

  std::vector<Turn> TurnsOf(const Row& row) const;
  void CountTurns(const std::vector<Turn>& turns);
  void CountProvenance(const nlohmann::ordered_json& provenance);
  void CountMistake(const std::vector<Turn>& turns);

  const TaskFamily& family_;
  Counts counts_;
  std::set<std::string> suffixes_;  // the trained actions of each row
  std::map<std::string, int64_t> rows_of_task_;
  std::map<std::string, std::map<std::string, int64_t>> labels_;
  std::map<int, int64_t> from_start_;
  std::map<int, int64_t> from_ancestor_;
};

// Prints the audit of a file's rows, as a table and as JSON; `task`: their kind of task, empty if
// the file shows it. Throws FatalError: kFile like ReadRowFile, kUsage if the kind is unknown.
ExitCode AuditFile(const std::string& path, std::string task);

// The kind of task of the rows, from the file's name or the rows' ids ("webshop_12"); "" if neither
// shows it.
std::string FamilyOfRows(const std::filesystem::path& path, const std::vector<Row>& rows);

}  // namespace agentr
