// lm_server's extensions of OpenAI's protocol (servers/lm/lm_service.h), as pure functions: a
// conversation is sent once to get its token ids, in which earlier responses are exactly the ids
// that the model sampled; then these ids are completed. So a model on a server gives the same
// completions as in this process.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "clients/language_model.h"
#include "clients/openai/openai_protocol.h"
#include "common/error.h"

namespace agentr {

// The identity of the model `name` in the reply of GET /models; nullopt if the server is not an
// lm_server with this model.
std::optional<std::string> ServedIdentity(std::string_view reply, const std::string& name);

// The body of POST /tokenize, with variables of the chat template if there are some, and the prompt
// in its reply without the messages. Errors: kProtocol naming the field.
std::string TokenizeBody(const std::string& model, std::span<const Message> conversation,
                         SampledIds sampled, const std::string& chat_kwargs = "");
Result<PreparedPrompt> ParseTokenize(std::string_view reply);

// The body of POST /completions for `n` completions of a prompt of ids, with all parameters of
// `sampling`. `first` as for RequestSeed.
std::string CompletionsBody(const std::string& model, std::span<const int32_t> prompt, int n,
                            int first, const SamplingParams& sampling, const ChatExtras& extras);

// Like ParseChat.
Result<CompletionBatch> ParseCompletions(std::string_view reply, size_t max_text = kMaxCompletion);

}  // namespace agentr
