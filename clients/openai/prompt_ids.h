// What lm_server offers beyond OpenAI's protocol (servers/lm/lm_service.h), as pure functions: a
// conversation is sent once for its token ids, in which earlier responses are the very ids that the
// model sampled, and these ids are what it completes. So a model on a server gives the completions
// that it would give in this process.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"
#include "clients/openai/openai_protocol.h"
#include "common/error.h"

namespace agentr {

// What GET /models tells of the model `name`: its identity where the server is an lm_server that
// has it, else nothing.
std::optional<std::string> ServedIdentity(std::string_view reply, const std::string& name);

// The body of POST /tokenize, and the prompt in its reply, all but its messages. Errors: kProtocol
// naming the field.
std::string TokenizeBody(const std::string& model, std::span<const Message> conversation,
                         SampledIds sampled);
Result<PreparedPrompt> ParseTokenize(std::string_view reply);

// The body of POST /completions for `n` completions of a prompt in ids, with all parameters of
// `sampling`. `first` as for RequestSeed.
std::string CompletionsBody(const std::string& model, std::span<const int32_t> prompt, int n,
                            int first, const SamplingParams& sampling, const ChatExtras& extras);

// As ParseChat.
Result<CompletionBatch> ParseCompletions(std::string_view reply, size_t max_text = kMaxCompletion);

}  // namespace agentr
