// The rows that an earlier run left where a run is about to write its own. A run that was given
// fewer trees, no environment or other options by mistake must not take better rows away.
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace agentr {

struct RowsWorth {
  int64_t rows = 0;
  int64_t verified = 0;  // of them: run in the environment, with the outcome that they tell
};

struct StandingRows {
  std::filesystem::path file;  // one of the row files
  RowsWorth worth;
  nlohmann::ordered_json options;  // of the run that wrote them; null where that is not known
};

// Those in `<stem>.jsonl` and `<stem>.<format>.jsonl`, as `<stem>.run.json` tells; where it is
// missing or damaged the lines of the longest file count as rows, and none as verified. Nothing
// where there is no such file, or only empty ones. Throws FatalError(kFile).
std::optional<StandingRows> FindStandingRows(const std::filesystem::path& stem);

// Why rows that are worth `now` must not take the place of `standing`: they are fewer, or a smaller
// share of them is verified. With the options that differ and the cure; empty where they may.
std::string WhyKeep(const StandingRows& standing, const RowsWorth& now,
                    const nlohmann::ordered_json& options);

}  // namespace agentr
