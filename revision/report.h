#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace agentr {

struct ReviseReport;
struct RevisionCounts;

// The results of a run as a table for people, with the files at the end.
std::string ReportTable(const ReviseReport& report);

// Why a run without rows has none, and the usual cure; `alpha`: the smallest reward of a good path.
std::string WhyNoRows(const ReviseReport& report, double alpha);

// The results for run.json.
nlohmann::ordered_json ToJson(const RevisionCounts& counts);
nlohmann::ordered_json ReportJson(const ReviseReport& report);

}  // namespace agentr
