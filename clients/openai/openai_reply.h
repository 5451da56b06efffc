// The common parts of replies of OpenAI's protocol, for both kinds of completions.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "clients/language_model.h"
#include "common/error.h"

namespace agentr {

// A kProtocol error: "the <path> reply: <message>".
tl::unexpected<Error> BadReply(std::string_view path, const std::string& message);

// What an error reply says: the value of "error" or of FastAPI's "detail", else the reply itself.
const nlohmann::json& ReplyError(const nlohmann::json& reply);

// The message in it, whose form differs from server to server; "" if there is none.
std::string ReplyErrorText(const nlohmann::json& reply);

// Whether `reply`, the answer to a refused request, a choice or a reply with status 200, has an
// error that says that the prompt is over the model's limit, in the words or with the code of one
// of the usual servers.
bool IsContextError(const nlohmann::json& reply);

// Field "token_ids" of a choice; empty if it is missing.
Result<std::vector<int32_t>> ReplyTokenIds(const nlohmann::json& choice, std::string_view path);

// The completions, each parsed by `parse_choice` but for its finish_reason, and the usage. Has the
// errors of ParseChat.
Result<CompletionBatch> ParseReply(
    std::string_view reply, std::string_view path, size_t max_text,
    const std::function<Result<Completion>(const nlohmann::json& choice)>& parse_choice);

}  // namespace agentr
