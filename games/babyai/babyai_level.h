// The levels of BabyAI-Text (Carta et al. 2023, "Grounding large language models in interactive
// environments with online reinforcement learning"): which missions they give, and which pairs of
// colour and type those may name.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "games/babyai/babyai_grid.h"

namespace agentr {

enum class BabyAiTask { kGoTo, kPickUp, kOpen, kPutNext, kSequence };

// The order in which the text of a sequence names its two parts; the first to do is always the
// picking up.
enum class SequenceText { kDrawn, kThen, kAfter };

// The pairs of colour and type that a level's missions may name. Every pair can lie about in the
// world.
enum class NamedPairs { kAll, kTrain, kTest };

struct BabyAiLevel {
  std::string_view name;              // "BabyAI-MixedTrainLocal-v0"
  std::span<const BabyAiTask> tasks;  // the kinds of missions
  NamedPairs pairs = NamedPairs::kAll;
  SequenceText text = SequenceText::kDrawn;
  int distractors = 0;                          // 0: as many as the task has in the mixed levels
  std::optional<GridCell> goal = std::nullopt;  // the goal is always such an object, placed first

  bool MayName(GridCell look) const;
};

std::span<const BabyAiLevel> BabyAiLevels();

// By the name with or without "BabyAI-" and "-v0". Throws FatalError(kUsage) with the list.
const BabyAiLevel& BabyAiLevelOf(std::string_view name);

// "goto", "pickup", "open", "putnext", "seq".
std::string_view BabyAiTaskName(BabyAiTask task);
// Throws FatalError(kUsage) with the list.
BabyAiTask BabyAiTaskOf(std::string_view name);

}  // namespace agentr
