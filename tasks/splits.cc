#include "tasks/splits.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "common/error.h"
#include "tasks/task_kinds.h"

namespace agentr {
namespace embedded {
extern const std::span<const NamedValue<std::string_view>> kSplits;
}

namespace {

// The files are embedded, so one that is not a split is a bug of the build.
Split ReadSplit(std::string_view text) {
  const auto json = nlohmann::json::parse(text);
  return {json.at("test").get<std::vector<int>>(), json.at("train").get<std::vector<int>>()};
}

}  // namespace

Split::Split(std::vector<int> test, std::vector<int> train)
    : test_(std::move(test)), train_(std::move(train)) {
  std::sort(test_.begin(), test_.end());
  std::sort(train_.begin(), train_.end());
}

bool Split::IsTest(int id) const { return std::binary_search(test_.begin(), test_.end(), id); }

bool Split::Has(SplitPart part, int id) const {
  return part == SplitPart::kAll || IsTest(id) == (part == SplitPart::kTest);
}

void CheckPublished(SplitPart part, std::string_view family) {
  if (part != SplitPart::kTest || !SplitOf(family).test().empty()) return;
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("--split test: no test ids are published for {}, so all ids are train ids; use "
                  "--split train and reserve tasks with --min and --max",
                  family));
}

const Split& SplitOf(std::string_view family) {
  static const Split none;
  static const std::map<std::string_view, Split> splits = [] {
    std::map<std::string_view, Split> read;
    for (const auto& [name, text] : embedded::kSplits) read.emplace(name, ReadSplit(text));
    return read;
  }();
  const std::string_view name = WithoutStyle(family);
  const TaskKind* kind = FindTaskKind(name);
  if (kind != nullptr && kind->split) return *kind->split;
  const auto at = splits.find(name);
  return at == splits.end() ? none : at->second;
}

}  // namespace agentr
