// Options of the training data: --data, --held_out, --batch_rows and so on.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/named_values.h"

namespace agentr {

class OptionSet;

// What is done with a row that is longer than max_length.
enum class TooLong { kDrop, kCut, kError };
inline constexpr std::array<NamedValue<TooLong>, 3> kTooLong = {
    {{"drop", TooLong::kDrop}, {"cut", TooLong::kCut}, {"error", TooLong::kError}}};

// Of options that end a training by its trained tokens.
inline constexpr double kMostTrainTokens = 1e12;

struct DataOptions {
  std::vector<std::string> data;       // PATH[:weight]; weights for all of them or for none
  double held_out = 0.02;              // share of the tasks whose rows are never trained
  uint64_t seed = 0;                   // of the held-out split and of the order
  int max_length = 8192;               // tokens of a row
  TooLong too_long = TooLong::kCut;    // treatment of longer rows
  int batch_rows = 64;                 // rows of an optimiser step
  int batch_tokens = 16384;            // largest number of distinct tokens in a micro-batch
  bool share_prefixes = true;          // false: separate rows (plain packing)
  int inspect = 0;                     // rows to print, before training
  std::string chat_template = "auto";  // as of ChatTemplate::Make
  std::string chat_kwargs = "";        // its arguments
  bool each_turn = false;  // train each turn that the template rewrites later in its own prefix
};

void Declare(OptionSet& set, DataOptions& options);

// Throws FatalError(kUsage) for inconsistent values.
void Check(const DataOptions& options);

// Parses one value of --data, or of another option `flag` in its form. The text after the last
// colon is the weight if it is a number and no file has the whole name. Throws FatalError(kUsage)
// for a weight that is not above 0.
struct DataPath {
  std::string path;
  double weight = 0;  // 0: not given

  static DataPath Parse(const std::string& value, std::string_view flag = "--data");
};

}  // namespace agentr
