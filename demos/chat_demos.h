// Small talk about words and recipes: rows that teach to read, without any task.
//
// A short question, and an answer that says again what the question shows: a list of words, or the
// recipes of some items out of a short list of commands. A model from random weights learns from
// them to copy words that it has never seen side by side, many times faster than from the long
// conversations of a task.
#pragma once

#include <cstdint>
#include <vector>

#include "demos/demo_row.h"

namespace agentr {

// The rows of part number `part`, `count` of them: a pure function of the arguments. Thread-safe.
std::vector<DemoRow> ChatDemos(uint64_t seed, int part, int count);

}  // namespace agentr
