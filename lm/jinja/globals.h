// The functions and conversation variables that every template can use.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "lm/jinja/template.h"
#include "lm/jinja/value.h"

namespace agentr::jinja {

// range, dict, namespace, joiner, cycler, raise_exception, strftime_now; nullopt for other names.
std::optional<Value> GlobalFunction(std::string_view name);

// messages, add_generation_prompt, tools, documents, and the arguments and variables of `options`;
// nullopt for others.
std::optional<Value> ConversationVariable(std::string_view name, std::span<const Message> messages,
                                          const RenderOptions& options);

}  // namespace agentr::jinja
