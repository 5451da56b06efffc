#include "rows/standing_rows.h"

#include <fmt/core.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "common/file.h"
#include "common/json_depth.h"
#include "common/json_fields.h"
#include "common/options.h"
#include "rows/row.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

// `<stem>.jsonl`, `<stem>.messages.jsonl`, …, by name.
std::vector<fs::path> RowFiles(const fs::path& stem) {
  std::vector<fs::path> files;
  std::error_code none_there;
  const std::string begin = stem.filename().string() + ".";
  const fs::path folder = stem.has_parent_path() ? stem.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, none_there)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(begin) || !name.ends_with(".jsonl") || !entry.is_regular_file()) continue;
    if (entry.file_size() > 0) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

int64_t CountLines(const std::vector<fs::path>& files) {
  int64_t most = 0;
  for (const fs::path& file : files) {
    // These formats have a line for each trained turn, not for each row.
    const auto is = [&](DataFormat format) {
      return file.string().ends_with(NamesOf(format).suffix);
    };
    if (is(DataFormat::kPromptCompletion) || is(DataFormat::kLastTurn)) continue;
    const std::string text = ReadFile(file);
    most = std::max<int64_t>(most, std::ranges::count(text, '\n'));
  }
  return most;
}

Json ReadRun(const fs::path& path) {
  if (!fs::is_regular_file(path)) return nullptr;
  Json run = ParseJson<Json>(ReadFile(path));
  const bool whole = run.is_object() && run.contains("rows") && IsJson<int64_t>(run["rows"]);
  return whole ? run : Json();
}

int64_t Verified(const Json& run) {
  const auto verified = run.find("verified");
  return verified != run.end() && IsJson<int64_t>(*verified) ? verified->get<int64_t>() : 0;
}

std::string Text(const RowsWorth& worth) {
  return fmt::format("{} row{}, {} of {} verified", worth.rows, worth.rows == 1 ? "" : "s",
                     worth.verified, worth.rows == 1 ? "it" : "them");
}

}  // namespace

std::optional<StandingRows> FindStandingRows(const fs::path& stem) {
  const std::vector<fs::path> files = RowFiles(stem);
  if (files.empty()) return std::nullopt;
  const Json run = ReadRun(stem.string() + ".run.json");
  if (run.is_null()) return StandingRows{files.front(), {CountLines(files), 0}, nullptr};
  const Json options = run.contains("options") ? run["options"] : Json();
  return StandingRows{files.front(), {run["rows"].get<int64_t>(), Verified(run)}, options};
}

std::string WhyKeep(const StandingRows& standing, const RowsWorth& now, const Json& options) {
  const RowsWorth& there = standing.worth;
  // a / b < c / d without a division, which is undefined for 0 rows.
  const bool less_verified = now.verified * there.rows < there.verified * now.rows;
  const int64_t fewer_rows = there.rows - now.rows;
  const int64_t newly_verified = now.verified - there.verified;
  if (!less_verified && (fewer_rows <= 0 || newly_verified > fewer_rows)) return "";
  const std::string differences = OptionDifferences(standing.options, options);
  return fmt::format(
      "{} was kept: it contains {}, but this run made {}{}. To replace it give --overwrite 1; to "
      "keep both give another --output_dir",
      standing.file.string(), Text(there), Text(now),
      differences.empty() ? "" : fmt::format(" (options that differ: {})", differences));
}

}  // namespace agentr
