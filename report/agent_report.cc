#include "report/agent_report.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "common/file.h"
#include "common/options.h"
#include "common/text.h"
#include "eval/comparison.h"
#include "eval/slip_metrics.h"
#include "eval/summary.h"
#include "report/report_page.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

// An evaluation on the page, for comparisons.
struct Evaluated {
  int part = 0;  // its number on the page
  EvaluationPart evaluation;
};

// The same ids name the same tasks in both.
bool Comparable(const Evaluated& a, const Evaluated& b) {
  const Json &of_a = a.evaluation.part, &of_b = b.evaluation.part;
  return !a.evaluation.episodes.empty() && !b.evaluation.episodes.empty() &&
         of_a["family"] == of_b["family"] &&
         FieldOr<std::string>(of_a["options"], "data_hash", "") ==
             FieldOr<std::string>(of_b["options"], "data_hash", "");
}

// `a` is of the start model of the loop and `b` of a later one, in the same stage.
bool IsStartOf(const Evaluated& a, const Evaluated& b) {
  fs::path start;
  for (const fs::path& folder : fs::path(b.evaluation.part["path"].get<std::string>())) {
    start /= folder.string().starts_with("iteration_") ? "iteration_0" : folder;
  }
  return a.evaluation.part["path"] == start.string();
}

Json CompareEvaluations(const std::vector<Evaluated>& evaluated) {
  // With many evaluations, every pair would take minutes and hide the pairs that matter.
  constexpr size_t kAllPairs = 12;
  Json comparisons = Json::array();
  for (size_t b = 0; b < evaluated.size(); ++b) {
    for (size_t a = 0; a < b; ++a) {
      if (!Comparable(evaluated[a], evaluated[b])) continue;
      const bool matters = a == 0 || a + 1 == b || IsStartOf(evaluated[a], evaluated[b]);
      if (evaluated.size() > kAllPairs && !matters) continue;
      CompareOptions options;
      options.success_threshold = evaluated[b].evaluation.success_threshold;
      const Comparison compared =
          Compare(evaluated[a].evaluation.episodes, evaluated[b].evaluation.episodes, options);
      if (compared.tasks == 0) continue;
      Json json = ComparisonJson(compared, "", "");
      json["a"] = evaluated[a].part;
      json["b"] = evaluated[b].part;
      SlipMetricOptions slip_options;
      slip_options.success_threshold = options.success_threshold;
      const std::optional<SlipComparison> slips =
          CompareSlips(evaluated[a].evaluation.episodes, evaluated[b].evaluation.episodes,
                       evaluated[a].evaluation.part["options"].dump(),
                       evaluated[b].evaluation.part["options"].dump(), slip_options);
      if (slips && slips->recovery_rate.tasks > 0) {
        json["recovery_rate"] = ToJson(slips->recovery_rate);
      }
      comparisons.push_back(std::move(json));
    }
  }
  return comparisons;
}

Json PartOf(const RunResult& result, const ReportLimits& limits, PackedItems& items) {
  switch (result.kind) {
    case ResultKind::kLoop:
      return LoopPart(result, items);
    case ResultKind::kSearch:
      return SearchPart(result, limits, items);
    case ResultKind::kRows:
      return RowsPart(result, limits, items);
    case ResultKind::kTraining:
      return TrainingPart(result, items);
    case ResultKind::kEvaluation:
      break;
  }
  return nullptr;
}

// The name of a folder of trees for people and for rows that refer to it.
void LinkRowsToTrees(Json& parts) {
  for (Json& rows : parts) {
    if (rows["kind"] != "rows") continue;
    const fs::path wanted = rows["trees"].get<std::string>();
    int best = -1;
    std::ptrdiff_t longest = 0;  // of the common ends of both paths, in folders
    for (size_t i = 0; i < parts.size(); ++i) {
      if (parts[i]["kind"] != "search") continue;
      const fs::path path = parts[i]["path"].get<std::string>();
      const std::vector<fs::path> a(wanted.begin(), wanted.end()), b(path.begin(), path.end());
      const auto same =
          std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin();
      if (same > longest) {
        best = static_cast<int>(i);
        longest = same;
      }
    }
    // `<task>/<model>` are the least that tells one search from another.
    rows["search"] = longest >= 2 ? best : -1;
  }
}

}  // namespace

void Declare(OptionSet& set, AgentReportOptions& o) {
  set.AddPositional("DIR", o.folders, "Folders of results, with all folders in them");
  set.Group("Report");
  set.Add("--output", o.output, "The HTML file to write").OnlyOutput();
  set.Add("--trees", o.limits.trees, "The most trees of each search on the page (0: all)")
      .Min(0)
      .OnlyOutput();
  set.Add("--rows", o.limits.rows, "The most rows of each run of path_collect (0: all)")
      .Min(0)
      .OnlyOutput();
  set.Add("--episodes", o.limits.episodes, "The most episodes of each evaluation (0: all)")
      .Min(0)
      .OnlyOutput();
  set.Add("--serve", o.serve,
          "Serve the page on this port of this machine, instead of writing a file, and follow the "
          "results while they are made (0: a free port; -1: no)")
      .Min(-1)
      .OnlyOutput();
}

ReportText MakeReport(const AgentReportOptions& options, const std::string& follow) {
  PackedItems items;
  Json parts = Json::array();
  std::vector<Evaluated> evaluated;
  for (const RunResult& result : FindResults(options.folders)) {
    if (result.kind == ResultKind::kEvaluation) {
      evaluated.push_back(
          {static_cast<int>(parts.size()), ReadEvaluationPart(result, options.limits, items)});
      parts.push_back(evaluated.back().evaluation.part);
    } else {
      parts.push_back(PartOf(result, options.limits, items));
    }
    for (const Json& problem : parts.back()["problems"]) {
      spdlog::warn("{}: {}", result.path.string(), EscapeControls(problem.get<std::string>()));
    }
  }
  LinkRowsToTrees(parts);
  Json index = {{"title", fmt::format("agentr: {}", fmt::join(options.folders, ", "))},
                {"version", AGENTR_VERSION},
                {"comparisons", CompareEvaluations(evaluated)},
                {"parts", std::move(parts)}};
  if (!follow.empty()) index["follow"] = follow;
  return {ReportPage(index, items.Blocks()), index["parts"].size()};
}

ExitCode AgentReport(const AgentReportOptions& options) {
  const ReportText report = MakeReport(options);
  WriteFileAtomically(options.output, report.page);
  fmt::print("{}: {} results, {:.1f} MB\n", options.output, report.results,
             static_cast<double>(report.page.size()) / 1e6);
  return ExitCode::kOk;
}

}  // namespace agentr
