// Language models as the search sees them: a conversation goes in, n completions come out.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/error.h"
#include "common/sum_fields.h"

namespace agentr {

struct Message {
  std::string role;  // "system" | "user" | "assistant"
  std::string content;

  bool operator==(const Message&) const = default;
};

// How to sample one request. The values that change the distribution apply in this order:
// repetition penalty, temperature, top-k, top-p, min-p. Models on a server are sent temperature and
// top_p.
struct SamplingParams {
  double temperature = 1.0;            // 0: the most probable token
  int top_k = 0;                       // 0: all
  double top_p = 1.0;                  // smallest set of that probability (Holtzman et al. 2020)
  double min_p = 0.0;                  // least share of the most probable token's probability
  double repetition_penalty = 1.0;     // of tokens in prompt and completion (Keskar et al. 2019)
  int max_tokens = 500;                // per completion
  std::vector<std::string> stop = {};  // strings that end a completion, not part of its text
  uint64_t seed = 0;      // scripted and in-process models: same seed, same completions
  int task_id = -1;       // for planners that look the task up; -1: not told
  bool logprobs = false;  // ask for the log-probability of each sampled token
};

struct Completion {
  std::string text;
  std::string finish_reason;       // "stop" | "length" | "" when unknown
  std::vector<int32_t> token_ids;  // of `text`, where the model tells them
  std::vector<float> logprobs;     // natural log, one per token, where the model tells them
};

// What one Complete cost.
struct Usage {
  int64_t requests = 0;       // calls to the model that were answered
  int64_t retries = 0;        // calls that failed and were made again
  int64_t prompt_tokens = 0;  // as the server counts them; 0 when it does not tell
  int64_t cached_tokens = 0;  // of the prompts, not computed again; 0 when the model does not tell
  int64_t completion_tokens = 0;

  Usage& operator+=(const Usage& other);
  bool operator==(const Usage&) const = default;
};

inline constexpr std::array<SumField<Usage>, 5> kUsageFields = {
    {{"requests", &Usage::requests},
     {"retries", &Usage::retries},
     {"prompt_tokens", &Usage::prompt_tokens},
     {"cached_tokens", &Usage::cached_tokens},
     {"completion_tokens", &Usage::completion_tokens}}};
static_assert(NamesEveryField(kUsageFields));

struct CompletionBatch {
  std::vector<Completion> completions;  // n of them
  Usage usage;
};

// Thread-safe.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  // The name for folders and reports.
  virtual std::string name() const = 0;

  // Tells the model from others of its name, as checkpoints in folders of one name are: a hash, or
  // the options that make a scripted one. Empty where nobody can tell, as of a model on a server.
  virtual std::string identity() const { return ""; }

  // n >= 1 samples of the assistant's next turn. A prompt over the model's limit is the error
  // kContextLength.
  virtual Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                           const SamplingParams& sampling) = 0;

  // Tokens of the conversation as a prompt. The default is an estimate for models that do not tell:
  // a token per four bytes, plus four per message.
  virtual int64_t CountTokens(std::span<const Message> prompt) const;
};

}  // namespace agentr
