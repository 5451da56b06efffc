#include "rows/audit.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "common/json_lenient.h"
#include "common/text.h"
#include "rows/provenance.h"
#include "rows/row_reader.h"
#include "tasks/action_text.h"
#include "tasks/revision_hints.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace {

using AuditJson = nlohmann::ordered_json;

double ShareOf(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

double MeanOf(const std::map<int, int64_t>& counts) {
  int64_t sum = 0;
  int64_t all = 0;
  for (const auto& [value, count] : counts) {
    sum += value * count;
    all += count;
  }
  return ShareOf(sum, all);
}

bool IsContext(const auto& turn) { return !turn.trained && !turn.instruction; }

// The revision turn is the first trained turn after the first untrained ones: later untrained turns
// are slips that a good path keeps. `end()` if there is none.
auto FirstRevision(const auto& turns) {
  const auto context = std::ranges::find_if(turns, [](const auto& t) { return IsContext(t); });
  return std::find_if(context, turns.end(), [](const auto& t) { return t.trained; });
}

}  // namespace

// A turn of the agent with the state before it and the reply.
struct Audit::Turn {
  std::string before;  // RevisionHints::StateKey or, where that is unknown, the page
  std::string action;
  std::string after;
  bool trained = false;
  bool has_reply = false;  // the last turn of a row has none
  bool instruction = false;
  bool refused = false;
  bool idle = false;          // not refused, but changed nothing
  bool contradicted = false;  // by its thought
  int64_t tokens = 0;
};

std::vector<Audit::Turn> Audit::TurnsOf(const Row& row) const {
  std::vector<Turn> turns;
  std::vector<Message> history;
  std::vector<Message> played;  // what changed the state: the first observation and later turns
  std::string entered;          // the observation with which the state was entered
  int users = 0;
  for (size_t i = 0; i < row.messages.size(); ++i) {
    const Message& line = row.messages[i];
    if (line.role == "assistant") {
      Turn turn;
      turn.before = family_.hints().StateKey(played);
      if (turn.before.empty()) turn.before = entered;
      turn.action = family_.ParseAction(line.content);
      turn.trained = row.trained[i];
      turn.instruction = users < 2;
      turn.tokens = EstimateTokens(std::span(&line, 1));
      turn.contradicted = turn.trained && !family_.hints().ThoughtFits(
                                              history, ThoughtOf(line.content), turn.action);
      turns.push_back(std::move(turn));
    } else if (line.role == "user") {
      ++users;
      if (!turns.empty() && !turns.back().has_reply && !turns.back().instruction) {
        Turn& turn = turns.back();
        turn.after = line.content;
        turn.has_reply = true;
        turn.refused = family_.IsRefusal(entered, turn.action, turn.after);
        const bool same = family_.LeavesStateUnchanged(entered, turn.action, turn.after);
        turn.idle = same && !turn.refused;
        // The reply to the revision turn is not a page: the state stays the one before.
        const bool revision = turn.trained && !same && line.content == "ok.";
        if (!same && !revision) {
          entered = line.content;
          played.insert(played.end(), {history.back(), {line.role, line.content}});
        }
      } else {
        entered = line.content;
        played = {{line.role, line.content}};
      }
    }
    history.push_back({line.role, line.content});
  }
  return turns;
}

void Audit::Add(const Row& row) {
  ++counts_.rows;
  counts_.all_tokens += EstimateTokens(row.messages);
  const std::vector<Turn> turns = TurnsOf(row);
  CountTurns(turns);
  CountMistake(turns);
  std::string suffix;
  for (const Turn& turn : turns) {
    if (turn.trained) suffix += turn.action + '\n';
  }
  suffixes_.insert(row.task + '\n' + suffix);
  if (!row.task.empty()) ++rows_of_task_[row.task];
  if (row.provenance) CountProvenance(*row.provenance);
}

void Audit::CountProvenance(const AuditJson& provenance) {
  const int bad_steps = FieldOr(provenance, "bad_steps", -1);
  if (bad_steps > 0) {
    ++counts_.tell_bad_steps;
    counts_.bad_steps += bad_steps;
  }
  for (const ProvenanceField& field : kProvenanceFields) {
    const auto found = field.counted ? provenance.find(field.name) : provenance.end();
    if (found == provenance.end()) continue;
    ++labels_[field.name][found->is_string() ? found->get<std::string>()
                          : found->is_null() ? ""
                                             : found->dump()];
  }
  const auto length = provenance.find("revision_length");
  if (length == provenance.end()) return;
  const int from_start = FieldOr(*length, "from_start", -1);
  const int from_ancestor = FieldOr(*length, "from_ancestor", -1);
  if (from_start >= 0) ++from_start_[from_start];
  if (from_ancestor >= 0) ++from_ancestor_[from_ancestor];
}

void Audit::CountTurns(const std::vector<Turn>& turns) {
  std::set<std::pair<std::string, std::string>> in_vain;
  const auto masked = std::ranges::find_if(turns, [](const Turn& t) { return IsContext(t); });
  const auto revision = FirstRevision(turns);
  bool refused = false;
  for (auto turn = turns.begin(); turn != turns.end(); ++turn) {
    ++counts_.turns;
    const std::pair what(turn->before, turn->action);
    const bool again = in_vain.contains(what);
    if (turn->refused || turn->idle) in_vain.insert(what);
    if (!turn->trained) continue;
    ++counts_.trained;
    counts_.trained_tokens += turn->tokens;
    if (turn->instruction) ++counts_.instruction;
    if (turn->contradicted && !turn->instruction) ++counts_.contradicted;
    if (masked != turns.end() && turn < masked && !turn->instruction) ++counts_.before_mistake;
    // The turn that admits the mistake is meant to change nothing.
    if (turn == revision || turn->instruction) continue;
    if (turn->refused) ++counts_.refused;
    if (turn->idle) ++counts_.without_effect;
    if (again) ++counts_.repeated;
    refused = refused || turn->refused;
  }
  if (refused) ++counts_.trains_refused;
}

void Audit::CountMistake(const std::vector<Turn>& turns) {
  const auto revision = FirstRevision(turns);
  if (revision == turns.end()) return;
  ++counts_.with_revision;
  const Turn& error = *(revision - 1);
  if (revision + 1 != turns.end() && (revision + 1)->action == error.action) ++counts_.good_is_bad;
  const bool contradicts = std::any_of(revision + 1, turns.end(), [&](const Turn& turn) {
    return turn.trained && turn.action == error.action && turn.before == error.before;
  });
  if (contradicts) ++counts_.trains_masked;
}

nlohmann::ordered_json Audit::Json() const {
  const Counts& c = counts_;
  AuditJson json = {
      {"rows", c.rows},
      {"tasks", rows_of_task_.size()},
      {"turns", c.turns},
      {"tokens", {{"trained", c.trained_tokens}, {"all", c.all_tokens}}},
      {"trained",
       {{"turns", c.trained},
        {"instruction", c.instruction},
        {"before_the_mistake", c.before_mistake},
        {"refused", c.refused},
        {"without_effect", c.without_effect},
        {"repeated", c.repeated},
        {"contradicted_by_the_thought", c.contradicted}}},
      {"rows_that_train_a_refused_turn", c.trains_refused},
      {"rows_with_a_revision", c.with_revision},
      {"bad_steps_per_row", ShareOf(c.bad_steps, c.tell_bad_steps)},
      {"contradictions",
       {{"good_action_is_the_bad_one", c.good_is_bad},
        {"masked_action_trained_in_the_same_state", c.trains_masked}}},
      {"unique_suffixes", suffixes_.size()},
      {"revision_length",
       {{"from_start", MeanOf(from_start_)}, {"from_ancestor", MeanOf(from_ancestor_)}}}};
  for (const auto& [name, values] : labels_) {
    for (const auto& [value, count] : values) json["rows_by"][name][value] = count;
  }
  std::map<int64_t, int64_t> tasks_with;
  for (const auto& [task, rows] : rows_of_task_) ++tasks_with[rows];
  for (const auto& [rows, tasks] : tasks_with) {
    json["tasks_by_rows"][std::to_string(rows)] = tasks;
  }
  for (const auto& [steps, rows] : from_start_) json["positions"][std::to_string(steps)] = rows;
  return json;
}

std::string Audit::Table() const {
  const Counts& c = counts_;
  const auto share = [](int64_t part, int64_t whole) {
    return fmt::format("{} ({:.1f} %)", part, 100 * ShareOf(part, whole));
  };
  std::string table = fmt::format(
      "audit         {} rows of {} tasks, {} different ways to go on\n"
      "trained       {} of {} turns, {} of {} tokens (estimated)\n"
      "  of those    refused {}, without effect {}, repeated in vain {}\n"
      "              instruction {}, before the mistake {}, contradicted by the thought {}\n"
      "rows          that train a refused turn: {}; with a revision: {}, {:.2f} bad steps each\n"
      "contradict    good action = bad action: {}; masked action trained in the same state: {}\n",
      c.rows, rows_of_task_.size(), suffixes_.size(), share(c.trained, c.turns), c.turns,
      share(c.trained_tokens, c.all_tokens), c.all_tokens, share(c.refused, c.trained),
      share(c.without_effect, c.trained), share(c.repeated, c.trained),
      share(c.instruction, c.trained), share(c.before_mistake, c.trained),
      share(c.contradicted, c.trained), share(c.trains_refused, c.rows),
      share(c.with_revision, c.rows), ShareOf(c.bad_steps, c.tell_bad_steps),
      share(c.good_is_bad, c.with_revision), share(c.trains_masked, c.with_revision));
  if (!from_start_.empty()) {
    table += fmt::format("error at      step {:.2f} from the start, {:.2f} from the ancestor\n",
                         MeanOf(from_start_), MeanOf(from_ancestor_));
  }
  return table;
}

std::string FamilyOfRows(const std::filesystem::path& path, const std::vector<Row>& rows) {
  // The longest name for which `shows` is true: "webshop_archer" contains "webshop".
  const auto longest = [](const auto& shows) {
    std::string found;
    for (const TaskKind& kind : TaskKinds()) {
      if (kind.name.size() > found.size() && shows(kind.name)) found = kind.name;
    }
    return found;
  };
  const std::string file = path.filename().string();
  const std::string named =
      longest([&](const std::string& name) { return file.find(name) != std::string::npos; });
  if (!named.empty() || rows.empty()) return named;
  return longest([&](const std::string& name) { return rows.front().task.starts_with(name); });
}

ExitCode AuditFile(const std::string& path, std::string task) {
  const std::vector<Row> rows = ReadRowFile(path);
  if (task.empty()) task = FamilyOfRows(path, rows);
  if (task.empty()) {
    throw FatalError(
        ExitCode::kUsage,
        fmt::format("{}: neither its name nor its rows show the kind of task: give it with --task",
                    path));
  }
  const std::unique_ptr<TaskFamily> family = MakeTaskFamily(task);
  Audit audit(*family);
  for (const Row& row : rows) audit.Add(row);
  fmt::print("{}{}\n", audit.Table(), audit.Json().dump(1));
  return ExitCode::kOk;
}

}  // namespace agentr
