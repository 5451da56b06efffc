// Requests and replies of OpenAI-compatible POST /chat/completions, as pure functions.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "clients/http/http_client.h"
#include "clients/language_model.h"
#include "common/error.h"

namespace agentr {

// What is sent beyond the fields that every server takes.
struct ChatExtras {
  bool seed = true;        // "seed"
  bool token_ids = false;  // "return_token_ids" (vLLM): strict servers refuse unknown fields
  bool logprobs = false;   // "logprobs", whether or not SamplingParams asks for them
};

// Bytes of one completion's text: some 100,000 tokens, and as an action within what environment
// servers take.
inline constexpr size_t kMaxCompletion = 512 << 10;

// The seed that stands for SamplingParams::seed in a request: 31 bits, on which servers agree.
// `first` is how many completions of the same call came before.
int64_t RequestSeed(uint64_t seed, int first);

// The body of a request for `n` completions ("n" is left out when it is 1). `first` as for
// RequestSeed.
std::string ChatBody(const std::string& model, std::span<const Message> prompt, int n, int first,
                     const SamplingParams& sampling, const ChatExtras& extras);

// At least one completion, and the usage of one request. A completion whose content is null (a
// reasoning model that ran out of tokens) is the empty text. Errors: kProtocol naming the field;
// kServer for an error object in a reply with HTTP status 200; kRejected for a text of more than
// `max_text` bytes, which no environment would take as an action.
Result<CompletionBatch> ParseChat(std::string_view reply, size_t max_text = kMaxCompletion);

// The error that a failed call means: kContextLength for a prompt over the model's limit, and the
// server's own words in the message where it gives them.
Error ChatError(const HttpError& error);

}  // namespace agentr
