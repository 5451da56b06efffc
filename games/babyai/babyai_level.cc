#include "games/babyai/babyai_level.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <vector>

#include "common/error.h"

namespace agentr {
namespace {

using enum BabyAiTask;

constexpr std::array kAllTasks = {kGoTo, kPickUp, kOpen, kPutNext, kSequence};
constexpr std::array kGoToOnly = {kGoTo};
constexpr std::array kSequenceOnly = {kSequence};

constexpr std::array<std::string_view, 5> kTaskNames = {"goto", "pickup", "open", "putnext", "seq"};

// What the missions of the training levels never name, and those of the test level only.
constexpr std::array<GridCell, 5> kHeldOut = {{
    {GridType::kBox, GridColor::kYellow},
    {GridType::kKey, GridColor::kRed},
    {GridType::kDoor, GridColor::kRed},
    {GridType::kBall, GridColor::kGreen},
    {GridType::kDoor, GridColor::kGrey},
}};

constexpr std::array<BabyAiLevel, 7> kLevels = {{
    {"BabyAI-MixedTrainLocal-v0", kAllTasks, NamedPairs::kTrain},
    {"BabyAI-MixedTestLocal-v0", kAllTasks, NamedPairs::kTest},
    {"BabyAI-PickUpSeqGoToLocal-v0", kSequenceOnly, NamedPairs::kTrain},
    {"BabyAI-PickUpThenGoToLocal-v0", kSequenceOnly, NamedPairs::kTrain, SequenceText::kThen},
    {"BabyAI-GoToAfterPickUpLocal-v0", kSequenceOnly, NamedPairs::kTrain, SequenceText::kAfter},
    {"BabyAI-GoToLocal-v0", kGoToOnly, NamedPairs::kAll, SequenceText::kDrawn, 8},
    {"BabyAI-GoToRedBall-v0", kGoToOnly, NamedPairs::kAll, SequenceText::kDrawn, 7,
     GridCell(GridType::kBall, GridColor::kRed)},
}};

std::string_view ShortName(std::string_view name) {
  constexpr std::string_view kPrefix = "BabyAI-";
  constexpr std::string_view kSuffix = "-v0";
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  return name;
}

}  // namespace

bool BabyAiLevel::MayName(GridCell look) const {
  if (pairs == NamedPairs::kAll) return true;
  // A door is named by its colour, in whatever state it is.
  const bool held_out =
      std::ranges::find(kHeldOut, GridCell(look.type(), look.color())) != kHeldOut.end();
  return held_out == (pairs == NamedPairs::kTest);
}

std::span<const BabyAiLevel> BabyAiLevels() { return kLevels; }

const BabyAiLevel& BabyAiLevelOf(std::string_view name) {
  const auto level = std::ranges::find_if(kLevels, [&](const BabyAiLevel& candidate) {
    return ShortName(candidate.name) == ShortName(name);
  });
  if (level != kLevels.end()) return *level;
  std::vector<std::string_view> names;
  for (const BabyAiLevel& known : kLevels) names.push_back(ShortName(known.name));
  throw FatalError(ExitCode::kUsage,
                   fmt::format("BabyAI has no level \"{}\" here; choose one of: {}", name,
                               fmt::join(names, ", ")));
}

std::string_view BabyAiTaskName(BabyAiTask task) { return kTaskNames[static_cast<size_t>(task)]; }

BabyAiTask BabyAiTaskOf(std::string_view name) {
  const auto at = std::ranges::find(kTaskNames, name);
  if (at != kTaskNames.end()) return static_cast<BabyAiTask>(at - kTaskNames.begin());
  throw FatalError(ExitCode::kUsage, fmt::format("BabyAI has no task \"{}\"; choose one of: {}",
                                                 name, fmt::join(kTaskNames, ", ")));
}

}  // namespace agentr
