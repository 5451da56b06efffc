// Where the action stands in a model's response.
#pragma once

#include <string>
#include <string_view>

namespace agentr {

// The text after the last "Action:" of a response, or its last line that is not blank, without what
// models add around it:
//   a thought between <think> and </think>, in which no action counts, and in which all that
//     follows counts as thought while it is not ended;
//   the observation that a model foretells itself, and what follows it;
//   a number of a list, a code fence, backquotes, bold marks, and the form of a call of a tool
//     {"name": …, "arguments": {"action": …}}.
// Empty if the response holds none. The text may have several lines.
std::string TextOfAction(std::string_view response);

}  // namespace agentr
