// What replies of OpenAI's protocol have in common, whichever kind of completion they bring.
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

// The words of a reply that is an error; "" where there are none.
std::string ReplyErrorText(const nlohmann::json& reply);

// Field "token_ids" of a choice; none where it is left out.
Result<std::vector<int32_t>> ReplyTokenIds(const nlohmann::json& choice, std::string_view path);

// The completions, each as `parse_choice` reads it, and the usage. Errors as ParseChat.
Result<CompletionBatch> ParseReply(
    std::string_view reply, std::string_view path, size_t max_text,
    const std::function<Result<Completion>(const nlohmann::json& choice)>& parse_choice);

}  // namespace agentr
