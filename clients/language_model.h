// The interface to language models: a conversation goes in, n completions come out.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/sum_fields.h"

namespace agentr {

struct Message {
  std::string role;  // "system" | "user" | "assistant"
  std::string content;
  // A thought that is kept apart from the content; empty for most messages. Chat templates name it
  // reasoning_content.
  std::string reasoning = {};

  bool operator==(const Message&) const = default;
};

// How to sample the completions of one request. The values that change the distribution apply in
// this order: repetition penalty, temperature, top-k, top-p, min-p. To a model on a server only
// temperature and top_p are sent.
struct SamplingParams {
  double temperature = 1.0;            // 0: the most probable token
  int top_k = 0;                       // 0: all
  double top_p = 1.0;                  // smallest set of that probability (Holtzman et al. 2020)
  double min_p = 0.0;                  // least share of the most probable token's probability
  double repetition_penalty = 1.0;     // of tokens in prompt and completion (Keskar et al. 2019)
  int max_tokens = 500;                // per completion
  std::vector<std::string> stop = {};  // strings that end a completion, not part of its text
  uint64_t seed = 0;      // for scripted and in-process models, which give the same completions for
                          // the same seed
  int task_id = -1;       // for planners that look the task up; -1: unknown
  bool logprobs = false;  // ask for the log-probability of each sampled token
};

struct Completion {
  std::string text;
  std::string finish_reason;       // "stop" | "length" | "" when unknown
  std::vector<int32_t> token_ids;  // of `text`, if the model returns them
  std::vector<float> logprobs;     // natural log, one per token, if the model returns them
  int64_t weights_version = 0;     // how many times an in-process model had replaced its weights
  std::string reasoning = {};      // the thought that a server sent apart from `text`
};

// Whether the completion ended at a limit of tokens and not where the model ended it.
bool ReachedLimit(const Completion& completion);

// The message's content with its thought before it, between <think> and </think>: the form of
// models whose format has no other place for a thought.
std::string WithThought(const Message& message);

// The cost of one Complete.
struct Usage {
  int64_t requests = 0;       // calls to the model that were answered
  int64_t retries = 0;        // calls that failed and were made again
  int64_t prompt_tokens = 0;  // as the server counts them; 0 if unknown
  int64_t cached_tokens = 0;  // of the prompts, taken from a cache; 0 if unknown
  int64_t completion_tokens = 0;
  int64_t reused_turns = 0;     // earlier responses that went into prompts as the sampled ids
  int64_t reencoded_turns = 0;  // responses whose sampled ids did not fit the prompt's template

  Usage& operator+=(const Usage& other);
  bool operator==(const Usage&) const = default;
};

inline constexpr std::array<SumField<Usage>, 7> kUsageFields = {
    {{"requests", &Usage::requests},
     {"retries", &Usage::retries},
     {"prompt_tokens", &Usage::prompt_tokens},
     {"cached_tokens", &Usage::cached_tokens},
     {"completion_tokens", &Usage::completion_tokens},
     {"reused_turns", &Usage::reused_turns},
     {"reencoded_turns", &Usage::reencoded_turns}}};
static_assert(NamesEveryField(kUsageFields));

struct CompletionBatch {
  std::vector<Completion> completions;  // n of them
  Usage usage;
};

// The known token ids that a model sampled for each message of a conversation; empty for a message
// that it did not write. The list may be shorter than the conversation.
using SampledIds = std::span<const std::span<const int32_t>>;

// A conversation encoded by LanguageModel::Prepare and ready to be completed.
struct PreparedPrompt {
  std::vector<Message> messages;
  int64_t tokens = 0;                  // exact if the model has a tokenizer, else an estimate
  std::vector<int32_t> ids;            // for in-process models; empty for others
  std::vector<size_t> message_begins;  // the position in `ids` where each message's content begins
  int64_t reused_turns = 0;            // as in Usage
  int64_t reencoded_turns = 0;
};

// Thread-safe.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  // The name for folders and reports.
  virtual std::string name() const = 0;

  // Distinguishes the model from others with the same name, such as checkpoints in folders of equal
  // names: a hash, or the options of a scripted model. Empty if unknown, as for a model on a
  // server.
  virtual std::string identity() const { return ""; }

  // Samples the assistant's next turn n >= 1 times. kContextLength for a prompt over the model's
  // limit.
  virtual Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                           const SamplingParams& sampling) = 0;

  // Encodes the conversation once as a prompt, so that a caller can check its length before asking
  // for completions. For a message with a non-empty entry in `sampled` those ids are used, if the
  // model's format allows it. kRejected for a conversation that the format cannot express. The
  // default, for models without token ids, estimates the number of tokens.
  virtual Result<PreparedPrompt> Prepare(std::vector<Message> conversation,
                                         SampledIds sampled = {}) const;

  // Same as Complete, for a prompt made by this model's Prepare.
  virtual Result<CompletionBatch> CompletePrepared(const PreparedPrompt& prompt, int n,
                                                   const SamplingParams& sampling);
};

// An estimate of the number of tokens without a tokenizer: one per four bytes, plus four per
// message.
int64_t EstimateTokens(std::span<const Message> prompt);

}  // namespace agentr
