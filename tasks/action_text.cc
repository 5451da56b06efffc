#include "tasks/action_text.h"

#include <algorithm>
#include <initializer_list>
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

// What models of many makers write around a thought in their text.
constexpr ThoughtMarks kThoughtMarks[] = {
    {"<think>", "</think>"},
    {"<thinking>", "</thinking>"},
    {"<thought>", "</thought>"},
    {"<reasoning>", "</reasoning>"},
    {"[THINK]", "[/THINK]"},                                            // Mistral
    {"<|channel|>analysis<|message|>", "<|channel|>final<|message|>"},  // gpt-oss
    {"<|begin_of_thought|>", "<|end_of_thought|>"},
    {"<|START_THINKING|>", "<|END_THINKING|>"},  // Cohere
    {"<seed:think>", "</seed:think>"},
    {"◁think▷", "◁/think▷"},  // Kimi
};

// The tokens that end a turn, from servers that show them, and what was foretold behind them.
std::string_view WithoutTurnEnd(std::string_view response) {
  if (response.find('<') == kNone) return response;
  size_t end = response.size();
  for (const std::string_view token :
       {"<|im_end|>", "<|eot_id|>", "<|end_of_text|>", "<|endoftext|>", "<|return|>", "<|end|>",
        "<|call|>", "</s>", "<eos>", "<end_of_turn>", "<｜end▁of▁sentence｜>"}) {
    end = std::min(end, response.find(token));
  }
  return response.substr(0, end);
}

// The position after a marker such as "Action:", "Action 1:" or "**Action**:" whose word is at
// `at`; kNone if there is none. The colon may be that of Chinese text.
size_t EndOfMarker(std::string_view text, size_t at, std::string_view word) {
  at = SkipAll(text, SkipAll(text, at + word.size(), '*'), ' ');
  at = SkipAll(text, SkipDigits(text, at), '*');
  for (const std::string_view colon : {":", "："}) {
    if (text.substr(std::min(at, text.size())).starts_with(colon)) return at + colon.size();
  }
  return kNone;
}

// Whether only marks of headings, lists and bold text stand before `at` on its line.
bool BeginsLine(std::string_view text, size_t at) {
  const size_t line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
  return text.substr(line, at - line).find_first_not_of(" \t\r*#>-") == kNone;
}

// The position behind the next marker of the word from `at` on, where the word itself is at `at`
// then; kNone if there is none. In other letter cases the word has to begin a line.
size_t NextMarker(std::string_view text, size_t& at, std::string_view word) {
  const char first = AsciiLower(word[0]), second = AsciiLower(word[1]);
  for (; at + word.size() < text.size(); ++at) {
    if (AsciiLower(text[at]) != first || AsciiLower(text[at + 1]) != second) continue;
    const std::string_view there = text.substr(at, word.size());
    if (there != word && (!EqualIgnoringCase(there, word) || !BeginsLine(text, at))) continue;
    if (const size_t end = EndOfMarker(text, at, word); end != kNone) return end;
  }
  return kNone;
}

// Up to the first line "Observation: …" behind an action.
std::string_view WithoutObservation(std::string_view response) {
  size_t at = 0;
  if (NextMarker(response, at, "Action") == kNone) return response;
  for (++at; NextMarker(response, at, "Observation") != kNone; ++at) {
    if (BeginsLine(response, at)) return response.substr(0, response.rfind('\n', at) + 1);
  }
  return response;
}

// The text after the last marker, or the last call of a tool; nullopt if it has neither.
std::optional<std::string_view> MarkedPart(std::string_view response) {
  const std::vector<size_t> actions = BehindActionMarkers(response);
  if (!actions.empty()) return response.substr(actions.back());
  for (const std::string_view call :
       {"<tool_call>", "<action>", "[TOOL_CALLS]", "<|python_tag|>", "<function=", "<invoke"}) {
    if (const size_t at = response.rfind(call); at != kNone) return response.substr(at);
  }
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
  // "json {…}" on one line.
  const size_t brace = std::min(text.find('{'), text.size());
  if (line == kNone && AsciiLower(Trim(text.substr(0, brace))) == "json") text.remove_prefix(brace);
  return text.substr(0, text.find("```"));
}

// What stands inside <action>…</action> and the like, if that begins the text.
std::string_view InsideTag(std::string_view text) {
  if (!text.starts_with('<')) return text;
  for (const std::string_view name : {"action", "answer", "command"}) {
    const std::string open = "<" + std::string(name) + ">", close = "</" + std::string(name) + ">";
    if (text.starts_with(open)) {
      text.remove_prefix(open.size());
      return text.substr(0, text.find(close));
    }
  }
  return text;
}

bool IsToolCall(std::string_view text) {
  if (text.empty() || (text[0] != '{' && text[0] != '[' && text[0] != '<')) return false;
  for (const std::string_view begin :
       {"{", "[{", "<tool_call>", "[TOOL_CALLS]", "<|python_tag|>", "<function", "<invoke"}) {
    if (text.starts_with(begin)) return true;
  }
  return false;
}

// The parameter of that name in a call of a tool that is written as XML, or the only one.
std::string XmlAction(std::string_view text, std::string_view argument) {
  constexpr std::string_view kParameter = "<parameter";
  size_t at = text.find(kParameter);
  const size_t only = text.rfind(kParameter) == at ? at : kNone;
  while (at != kNone) {
    const size_t end = std::min(text.find('>', at), text.size());
    std::string_view name = text.substr(at, end - at);
    name.remove_prefix(std::min(name.find('=') + 1, name.size()));
    if (at == only || Trim(name, " \"'") == argument) {
      text.remove_prefix(std::min(end + 1, text.size()));
      return std::string(Trim(text.substr(0, text.find("</parameter>"))));
    }
    at = text.find(kParameter, at + 1);
  }
  return "";
}

// The action in a call of a tool: the argument of that name, or the only one that is a text.
std::string ToolAction(std::string_view text, std::string_view argument) {
  if (text.find("<parameter") != kNone) return XmlAction(text, argument);
  const size_t begin = text.find('{'), end = text.rfind('}');
  if (begin == kNone || end == kNone || end < begin) return "";
  Json call = ParseJson(text.substr(begin, end - begin + 1));
  for (const char* name : {"function", "arguments", "parameters", "args", "input"}) {
    if (call.is_object() && call.contains(name)) call = Json(call[name]);
    if (call.is_string()) call = ParseJson(call.get<std::string>());
  }
  if (!call.is_object()) return "";
  const auto named = call.find(argument);
  const auto only = call.size() == 1 ? call.begin() : named;
  const auto found = named != call.end() ? named : only;
  return found != call.end() && found->is_string() ? found->get<std::string>() : "";
}

// The value at one of these names; null if there is none.
Json AtOneOf(const Json& object, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (!object.contains(name)) continue;
    const Json& value = object.at(name);
    const Json inner = value.is_string() ? ParseJson(value.get<std::string>()) : Json();
    return inner.is_structured() ? inner : value;
  }
  return nullptr;
}

// A whole call of a tool in the JSON that is `text`; empty for anything else.
std::string WholeToolCall(std::string_view text) {
  Json call = ParseJson(text);
  if (call.is_array() && !call.empty()) call = Json(call.back());
  if (!call.is_object()) return "";
  if (const Json inner = AtOneOf(call, {"function"}); inner.is_object()) call = inner;
  const Json name = AtOneOf(call, {"name", "tool_name", "tool", "function"});
  const Json arguments = AtOneOf(call, {"arguments", "parameters", "input", "args"});
  if (!name.is_string()) return "";
  return DumpJson(nlohmann::ordered_json{
      {"name", name}, {"arguments", arguments.is_object() ? arguments : Json::object()}});
}

// Without bold marks and backquotes at both ends, where marks at one end are the other half of
// those around the marker, and without quotation marks and italics around all of it.
std::string_view Undressed(std::string_view text) {
  for (size_t before = 0; before != text.size();) {
    before = text.size();
    text = Trim(text);
    if (text.starts_with("```")) text = Trim(InsideFence(text));
    text = InsideTag(text);
    if (text.starts_with("> ") || text.starts_with("- ")) text.remove_prefix(2);
    for (const std::string_view mark : {"**", "`"}) {
      if (text.starts_with(mark)) text.remove_prefix(mark.size());
      if (text.ends_with(mark)) text.remove_suffix(mark.size());
    }
    constexpr std::string_view kFirst = "\"'*_\xE2";
    if (text.empty() || kFirst.find(text[0]) == kNone) continue;
    for (const auto& [open, close] : std::initializer_list<ThoughtMarks>{
             {"\"", "\""}, {"'", "'"}, {"“", "”"}, {"*", "*"}, {"_", "_"}}) {
      if (text.size() <= open.size() + close.size() || !text.starts_with(open)) continue;
      if (text.find(close, open.size()) != text.size() - close.size()) continue;
      text = text.substr(open.size(), text.size() - open.size() - close.size());
    }
  }
  return text;
}

}  // namespace

std::vector<size_t> BehindActionMarkers(std::string_view response) {
  std::vector<size_t> found;
  size_t at = 0;
  for (size_t end; (end = NextMarker(response, at, "Action")) != kNone; ++at) found.push_back(end);
  return found;
}

std::string_view WithoutThought(std::string_view response) {
  size_t begin = 0, unfinished = kNone;
  for (size_t at = 0; at < response.size(); ++at) {
    const char c = response[at];
    if (c != '<' && c != '[' && c != '\xE2') continue;  // the first bytes of all marks
    const std::string_view rest = response.substr(at);
    for (const auto& [open, close] : kThoughtMarks) {
      if (rest.starts_with(close)) {
        begin = at + close.size();
        unfinished = kNone;
      } else if (unfinished == kNone && rest.starts_with(open)) {
        unfinished = at;
      }
    }
  }
  return response.substr(begin, unfinished == kNone ? kNone : unfinished - begin);
}

std::string_view ThoughtOf(std::string_view response) {
  constexpr std::string_view kThought = "Thought:";
  const std::string_view said = WithoutThought(response);
  if (said.size() < response.size()) response = Trim(said);
  response = response.substr(0, response.find("Action:"));
  if (response.starts_with(kThought)) response.remove_prefix(kThought.size());
  return Trim(response);
}

std::optional<ThoughtMarks> ThoughtMarksOf(std::string_view response) {
  for (const ThoughtMarks& marks : kThoughtMarks) {
    if (response.find(marks.close) != kNone) return marks;
  }
  return std::nullopt;
}

bool IsOnlyThought(std::string_view response) {
  constexpr std::string_view kThought = "Thought";
  if (TextOfAction(response).empty()) return true;
  const std::string_view said = WithoutThought(response);
  const size_t thought = said.find(kThought);
  return thought != kNone && EndOfMarker(said, thought, kThought) != kNone && !MarkedPart(said);
}

std::string TextOfToolCall(std::string_view response) {
  const std::string_view text = WithoutObservation(WithoutThought(response));
  const std::string_view part = MarkedPart(text).value_or(text);
  const size_t end = part.rfind('}');
  constexpr int kMostTries = 64;  // braces of prose before the call
  size_t begin = part.find('{');
  for (int tries = 0; begin < end && end != kNone && tries < kMostTries; ++tries) {
    std::string call = WholeToolCall(part.substr(begin, end - begin + 1));
    if (!call.empty()) return call;
    begin = part.find('{', begin + 1);
  }
  return TextOfAction(response);
}

std::string TextOfAction(std::string_view response, std::string_view argument) {
  std::string_view text =
      Undressed(ActionPart(WithoutObservation(WithoutTurnEnd(WithoutThought(response)))));
  const size_t digits = SkipDigits(text, 0);
  if (digits > 0 && text.substr(digits, 2) == ". ") text = Undressed(text.substr(digits + 2));
  if (IsToolCall(text)) {
    if (std::string action = ToolAction(text, argument); !action.empty()) return action;
  }
  return std::string(text);
}

}  // namespace agentr
