// The parts of a report: what each kind of result gives to the page. A part is a JSON object for
// the page's index, which the page reads when it opens; the long texts of its items go into
// `items`.
//
// Common fields of a part:
//   "kind"     of kResultKinds
//   "path"     as found
//   "family"   "webshop"; "" if unknown
//   "run"      place of the content of its run.json, or null
//   "toml"     the text of its resolved options, or null
//   "model"    the model that played or is trained, by its name; "" if unknown
//   "written"  when its record was last written, "2026-11-26 14:26" (UTC); "" if it has none
//   "seconds"  wall time of all its runs together; null if no record says it
//   "cost"     of their requests to models, in the money of --llm_price; null if none was counted
//   "data"     of searches, rows and evaluations: the hash of the environment's data; "" if
//              unknown. The same ids name the same tasks only where it is the same
//   "problems" what could not be read, as messages
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/json_lenient.h"
#include "report/packed_items.h"
#include "report/run_results.h"
#include "rollout/episode.h"

namespace agentr {

struct ReportLimits {
  // The most items of each result that the page contains; 0: all. If there are more, they are
  // chosen at equal distances, and the page says how many there are.
  int trees = 1000;
  int rows = 2000;
  int episodes = 2000;
};

// Fields beside the common ones:
//   search      "total", "instructions": [messages…], "trees": [[task, nodes, leaves, depth,
//               best reward, mean value, block, at, ended leaves without a reward], …],
//               "files": [path, …]
//               item: {"task", "model", "instruction": index, "texts": […], "parent", "action",
//               "response", "observation": columns of indices into texts, "reward", "visits",
//               "value" (mean), "end": 0 none | 1 done | 2 disaster | 3 depth, "flags": 1 changed
//               nothing, 2 refused by the environment, "dropped"}
nlohmann::ordered_json SearchPart(const RunResult& result, const ReportLimits& limits,
                                  PackedItems& items);

//   rows        "total", "verified" (by a replay; null if unknown), "counts", "audit", "rows":
//               [[task, mistake, bad_steps, block, at, good, bad, ancestor, first_error, number in
//               the file, replay, steps to the first error (-1 if unknown), reward of the replay or
//               null], …] (nodes are -1 where there is none), "trees": the folder of the trees
//               item: {"messages": [[role, text, trained, part], …], "provenance"}; part: 0
//               instruction, 1 first observation, 2 prefix, 3 bad, 4 revision, 5 recovery, 6 good
nlohmann::ordered_json RowsPart(const RunResult& result, const ReportLimits& limits,
                                PackedItems& items);

//   evaluation  "summary", "total", "episodes": [[task, attempt, reward, end, steps, refused,
//               block, at, revisions, 1 if the last step was refused], …], "instruction"
//               item: {"first", "turns": [[response, action, observation, refused, of a slip the
//               action said, or "" if it was lost, else null, and where they were recorded the
//               tokens and their mean log-probability], …] (what is not there is left out at the
//               end), "replayed", "error"}
// The episodes are also given to the caller for comparisons.
struct EvaluationPart {
  nlohmann::ordered_json part;
  std::vector<Episode> episodes;
  double success_threshold = 1;
};
EvaluationPart ReadEvaluationPart(const RunResult& result, const ReportLimits& limits,
                                  PackedItems& items);

//   training    "metrics": the lines of metrics.jsonl
nlohmann::ordered_json TrainingPart(const RunResult& result, PackedItems& items);

//   loop        "stages" of loop.json
nlohmann::ordered_json LoopPart(const RunResult& result, PackedItems& items);

// The common fields. `stem`: the path before "run.json" and "resolved.toml".
nlohmann::ordered_json CommonPart(const RunResult& result, const std::string& run_file,
                                  const std::string& toml_file, PackedItems& items);

// The JSON of the file; null if it is missing or is not JSON.
nlohmann::ordered_json JsonOrNull(const std::filesystem::path& file);

// The indices of at most `most` of `count` items, at equal distances.
std::vector<size_t> Spread(size_t count, int most);

}  // namespace agentr
