#include "training/data/data_options.h"

#include <fmt/core.h>

#include <cmath>
#include <filesystem>

#include "common/error.h"
#include "common/options.h"
#include "common/text.h"

namespace agentr {

void Declare(OptionSet& set, DataOptions& o) {
  set.Group("Data");
  set.Add(
      "--data", o.data,
      "Rows to train on, PATH or PATH:WEIGHT (repeatable): OpenAI messages, ShareGPT, Agent-R or "
      "token rows, one JSON object per line. WEIGHT: the file's share of the rows drawn, over "
      "the sum of weights; without weights every row is drawn once an epoch");
  set.Add("--held_out", o.held_out,
          "Share of the tasks whose rows are never trained but give the held-out loss; chosen by "
          "task and seed, so that all rows of a task are on the same side")
      .Range(0, 0.9);
  set.Add("--seed", o.seed, "Seed of every random choice of the run");
  set.Add("--max_length", o.max_length, "Largest number of tokens of a row", "MAX_TOKEN_LENGTH")
      .Min(2);
  set.AddNamed(
      "--too_long", o.too_long, kTooLong,
      "Longer rows: cut (leave out their oldest untrained turns after the first observation, or "
      "the row if it still does not fit), drop (leave them out), error");
  set.Add("--batch_rows", o.batch_rows, "Rows of an optimiser step, over all processes").Min(1);
  set.Add("--batch_tokens", o.batch_tokens,
          "Largest number of tokens of a micro-batch; shared tokens count once")
      .Min(2)
      .OnlySpeed();
  set.Add("--share_prefixes", o.share_prefixes,
          "Compute common beginnings of rows in a micro-batch once (false: each row separately)")
      .OnlySpeed();
  set.Add("--inspect", o.inspect, "Print this many rows with their trained tokens in colour")
      .Min(0)
      .OnlyOutput();
  set.Add("--chat_template", o.chat_template,
          "Format of conversations: auto (the folder's own), llama-3, chatml, mistral or plain "
          "(built in), or a Jinja file");
  set.Add(
      "--chat_kwargs", o.chat_kwargs,
      "Variables of the chat template as a JSON object, such as '{\"enable_thinking\": false}'");
  set.Add("--each_turn", o.each_turn,
          "Where the chat template writes earlier turns otherwise (without their thoughts), train "
          "each such turn behind the prefix that the model sees when it writes it, as a sequence "
          "of its own");
}

void Check(const DataOptions& o) {
  if (o.data.empty()) {
    throw FatalError(ExitCode::kUsage, "there is nothing to train on: name the rows with --data");
  }
  if (o.batch_tokens < o.max_length) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--batch_tokens {} is too small for a row of --max_length {}: "
                                 "raise the first or lower the second",
                                 o.batch_tokens, o.max_length));
  }
}

DataPath DataPath::Parse(const std::string& value, std::string_view flag) {
  const size_t colon = value.rfind(':');
  if (colon == std::string::npos || std::filesystem::exists(value)) return {value};
  const auto weight = ParseNumber<double>(std::string_view(value).substr(colon + 1));
  if (!weight) return {value};
  if (!(*weight > 0) || !std::isfinite(*weight)) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("{} {}: the weight after the colon must be above 0", flag, value));
  }
  return {value.substr(0, colon), *weight};
}

}  // namespace agentr
