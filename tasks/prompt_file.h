// Reads prompt files: editable texts with the turns that open a conversation
// (configs/prompts/*.txt; textcraft.txt explains the format).
#pragma once

#include <string_view>
#include <vector>

#include "clients/language_model.h"

namespace agentr {

// The built-in instruction of the named family (configs/prompts/NAME.txt).
std::vector<Message> InstructionOf(std::string_view family);

// The messages of a prompt file. Throws FatalError(kUsage) when it has none.
std::vector<Message> ParsePromptFile(std::string_view text);

}  // namespace agentr
