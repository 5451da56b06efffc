// Where the action stands in a model's response.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// The text after the last "Action:" of a response, or its last line that is not blank, without what
// models add around it:
//   a thought between <think> and </think> or other marks of that kind, in which no action counts,
//     and in which all that follows counts as thought while it is not ended;
//   the observation that a model foretells itself, the token that ends a turn, and what follows it;
//   a number of a list, a code fence, backquotes, bold marks, quotation marks, <action>…</action>,
//     and the form of a call of a tool {"name": …, "arguments": {"action": …}}, where `argument`
//     holds the action, or the only one does.
// Empty if the response holds none. The text may have several lines.
std::string TextOfAction(std::string_view response, std::string_view argument = "action");

// What stands before and behind a thought.
struct ThoughtMarks {
  std::string_view open, close;
};

// Those around the ended thought of a response; nullopt if it has none.
std::optional<ThoughtMarks> ThoughtMarksOf(std::string_view response);

// The call of a tool in a response, as {"name": …, "arguments": {…}} on one line, whatever names it
// has for both and wherever it stands; TextOfAction if it has none.
std::string TextOfToolCall(std::string_view response);

// The positions behind each "Action:" (or "action 2:", "**Action**:") of a response, in its order.
std::vector<size_t> BehindActionMarkers(std::string_view response);

// The part of `response` behind its last ended thought and before one that is not ended: all of it
// if it has none. A view into `response`.
std::string_view WithoutThought(std::string_view response);

// The text between "Thought:" and "Action:" of a response, trimmed.
std::string_view ThoughtOf(std::string_view response);

// True if all that the response says is thought: it holds no action, or no action stands behind its
// "Thought:". This matters only for a response that was cut, because the last line of a whole one
// counts as its action.
bool IsOnlyThought(std::string_view response);

}  // namespace agentr
