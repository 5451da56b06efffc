// The existing rows of an earlier run in the place where a run will write its own. A run with fewer
// trees, no environment or other options by mistake must not replace better rows.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace agentr {

struct RowsWorth {
  int64_t rows = 0;
  int64_t verified = 0;  // rows that were replayed in the environment with the expected outcome
};

struct StandingRows {
  std::filesystem::path file;  // one of the row files
  RowsWorth worth;
  nlohmann::ordered_json options;  // options of the run that wrote them; null if unknown
};

// The rows in `<stem>.jsonl` and `<stem>.<format>.jsonl`, according to `<stem>.run.json`. If that
// is missing or damaged, the lines of the longest file count as rows, and none as verified. nullopt
// if there is no such file, or only empty ones. Throws FatalError(kFile).
std::optional<StandingRows> FindStandingRows(const std::filesystem::path& stem);

// The reason why new rows of the quality `now` must not replace `standing`: a smaller share of them
// is verified, or they are fewer and no more rows are newly verified than are lost. Contains the
// differing options and the cure; empty if they may.
std::string WhyKeep(const StandingRows& standing, const RowsWorth& now,
                    const nlohmann::ordered_json& options);

}  // namespace agentr
