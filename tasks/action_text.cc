#include "tasks/action_text.h"

#include <optional>

#include "common/json_depth.h"
#include "common/text.h"

namespace agentr {
namespace {

using Json = nlohmann::json;

constexpr auto kNone = std::string_view::npos;

size_t SkipDigits(std::string_view text, size_t at) {
  while (at < text.size() && IsAsciiDigit(text[at])) ++at;
  return at;
}

size_t SkipAll(std::string_view text, size_t at, char c) {
  while (at < text.size() && text[at] == c) ++at;
  return at;
}

// The position after a marker such as "Action:", "Action 1:" or "**Action**:" whose word is at `at`;
// kNone if there is none.
size_t EndOfMarker(std::string_view text, size_t at, std::string_view word) {
  at = SkipAll(text, SkipAll(text, at + word.size(), '*'), ' ');
  at = SkipAll(text, SkipDigits(text, at), '*');
  if (at >= text.size() || text[at] != ':') return kNone;
  return at + 1;
}

// Up to the first line "Observation: …" behind an action.
std::string_view WithoutObservation(std::string_view response) {
  constexpr std::string_view kWord = "Observation", kAction = "Action";
  size_t action = response.find(kAction);
  while (action != kNone && EndOfMarker(response, action, kAction) == kNone) {
    action = response.find(kAction, action + 1);
  }
  if (action == kNone) return response;
  for (size_t at = response.find(kWord, action); at != kNone; at = response.find(kWord, at + 1)) {
    const size_t line = response.rfind('\n', at) + 1;
    const bool begins =
        line > action && Trim(response.substr(line, at - line)).find_first_not_of("*#") == kNone;
    if (begins && EndOfMarker(response, at, kWord) != kNone) return response.substr(0, line);
  }
  return response;
}

// The text after the last marker, or the last call of a tool; nullopt if it has neither.
std::optional<std::string_view> MarkedPart(std::string_view response) {
  constexpr std::string_view kWord = "Action";
  for (size_t at = response.rfind(kWord); at != kNone;) {
    const size_t begin = EndOfMarker(response, at, kWord);
    if (begin != kNone) return response.substr(begin);
    at = at == 0 ? kNone : response.rfind(kWord, at - 1);
  }
  const size_t call = response.rfind("<tool_call>");
  if (call != kNone) return response.substr(call);
  return std::nullopt;
}

// The marked text, else the last line that is neither blank nor the end of a fence.
std::string_view ActionPart(std::string_view response) {
  if (const auto marked = MarkedPart(response)) return *marked;
  response = Trim(response);
  while (response.ends_with("```") && response.find('\n') != kNone) {
    response = Trim(response.substr(0, response.size() - 3));
  }
  return response.substr(response.rfind('\n') + 1);  // kNone + 1 is 0: the only line
}

// What stands inside a fence that begins the text; the name of a language behind it is dropped.
std::string_view InsideFence(std::string_view text) {
  text.remove_prefix(SkipAll(text, 0, '`'));
  const size_t line = text.find('\n');
  if (line != kNone && text.substr(0, line).find_first_of(" [") == kNone) {
    text.remove_prefix(line + 1);
  }
  return text.substr(0, text.find("```"));
}

// The action in a call of a tool: the argument of that name, or the only one that is a text.
std::string ToolAction(std::string_view text, std::string_view argument) {
  const size_t begin = text.find('{'), end = text.rfind('}');
  if (begin == kNone || end == kNone || end < begin) return "";
  Json call = ParseJson(text.substr(begin, end - begin + 1));
  for (const char* name : {"function", "arguments", "parameters"}) {
    if (call.is_object() && call.contains(name)) call = Json(call[name]);
    if (call.is_string()) call = ParseJson(call.get<std::string>());
  }
  if (!call.is_object()) return "";
  const auto named = call.find(argument);
  const auto only = call.size() == 1 ? call.begin() : named;
  const auto found = named != call.end() ? named : only;
  return found != call.end() && found->is_string() ? found->get<std::string>() : "";
}

// Without bold marks and backquotes at both ends; marks at one end are the other half of those
// around the marker.
std::string_view Undressed(std::string_view text) {
  for (size_t before = 0; before != text.size();) {
    before = text.size();
    text = Trim(text);
    if (text.starts_with("```")) text = Trim(InsideFence(text));
    for (const std::string_view mark : {"**", "`"}) {
      if (text.starts_with(mark)) text.remove_prefix(mark.size());
      if (text.ends_with(mark)) text.remove_suffix(mark.size());
    }
  }
  return text;
}

}  // namespace

std::string_view WithoutThought(std::string_view response) {
  constexpr std::string_view kBegin = "<think>", kEnd = "</think>";
  if (const size_t end = response.rfind(kEnd); end != kNone) {
    response.remove_prefix(end + kEnd.size());
  }
  return response.substr(0, response.find(kBegin));
}

bool IsOnlyThought(std::string_view response) {
  constexpr std::string_view kThought = "Thought";
  if (TextOfAction(response).empty()) return true;
  const std::string_view said = WithoutThought(response);
  const size_t thought = said.find(kThought);
  return thought != kNone && EndOfMarker(said, thought, kThought) != kNone && !MarkedPart(said);
}

std::string TextOfAction(std::string_view response, std::string_view argument) {
  std::string_view text = Undressed(ActionPart(WithoutObservation(WithoutThought(response))));
  const size_t digits = SkipDigits(text, 0);
  if (digits > 0 && text.substr(digits, 2) == ". ") text = Undressed(text.substr(digits + 2));
  if (text.starts_with('{') || text.starts_with("<tool_call>")) {
    if (std::string action = ToolAction(text, argument); !action.empty()) return action;
  }
  return std::string(text);
}

}  // namespace agentr
