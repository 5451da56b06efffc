#include "lm/jinja/strings.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

#include "common/named_values.h"
#include "common/utf8.h"
#include "lm/jinja/methods.h"
#include "lm/jinja/operators.h"

namespace agentr::jinja {
namespace {

constexpr int64_t kAll = int64_t{1} << 40;

// An integer argument; `otherwise` if it is not given.
int64_t IntegerOr(Run& run, const Value& value, int64_t otherwise) {
  if (value.IsUndefined()) return otherwise;
  if (!IsInteger(value)) run.Fail("expected an int");
  return IntegerOf(value);
}

// Whether the character at `at` is white space; moves `at` behind it.
bool TakesSpace(std::string_view text, size_t& at) {
  return IsSpaceCharacter(NextCodePoint(text, at));
}

// The parts between white space, with at most `limit` splits from the left or the right.
std::vector<Text> SplitSpace(Run& run, const Text& text, int64_t limit, bool from_right) {
  std::vector<Text> parts;
  if (from_right && limit < kAll) run.Refuse("rsplit at white space with a limit");
  const std::string_view bytes = text.bytes;
  size_t begin = 0;
  while (true) {
    for (size_t next = begin; next < bytes.size() && TakesSpace(bytes, next);) begin = next;
    if (begin == bytes.size()) return parts;
    size_t end = begin;
    const bool last = static_cast<int64_t>(parts.size()) == limit;
    if (last) end = bytes.size();
    for (size_t next = end; next < bytes.size() && !TakesSpace(bytes, next);) end = next;
    run.Charge(end - begin + sizeof(Text));
    run.Step(1 + text.marks.size());
    parts.push_back(text.Slice(begin, end));
    begin = end;
  }
}

std::vector<Text> SplitAt(Run& run, const Text& text, const std::string& separator, int64_t limit,
                          bool from_right) {
  if (separator.empty()) run.Fail("the separator is empty");
  std::vector<Text> parts;
  size_t begin = 0, end = text.bytes.size();
  const auto add = [&](size_t from, size_t to) {
    run.Charge(to - from + 64);
    run.Step(1 + text.marks.size());
    parts.push_back(text.Slice(from, to));
  };
  Occurrences separators(text.bytes, separator, from_right);
  while (static_cast<int64_t>(parts.size()) < limit) {
    const size_t found = separators.Next();
    if (found == std::string::npos) break;
    if (from_right) {
      add(found + separator.size(), end);
      end = found;
    } else {
      add(begin, found);
      begin = found + separator.size();
    }
  }
  add(begin, end);
  if (from_right) std::ranges::reverse(parts);
  return parts;
}

template <bool kFromRight>
Value Split(Run& run, const Text& text, const Arguments& arguments) {
  const Items a = BindArguments(run, "split", arguments, {"sep", "maxsplit"});
  int64_t limit = IntegerOr(run, a[1], -1);
  if (limit < 0) limit = kAll;
  const bool space = a[0].IsNone() || (a[0].IsUndefined() && arguments.positional.empty());
  if (space) return TextList(run, SplitSpace(run, text, limit, kFromRight));
  return TextList(run, SplitAt(run, text, TextOf(run, a[0]).bytes, limit, kFromRight));
}

Value SplitLines(Run& run, const Text& text, const Arguments& arguments) {
  const Items a = BindArguments(run, "splitlines", arguments, {"keepends"});
  std::vector<Text> lines;
  size_t begin = 0;
  for (size_t at = 0; at < text.bytes.size();) {
    const size_t end = at;
    const int32_t c = NextCodePoint(text.bytes, at);
    const bool breaks = (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 ||
                        c == 0x2028 || c == 0x2029;
    if (!breaks) continue;
    if (c == '\r' && at < text.bytes.size() && text.bytes[at] == '\n') ++at;
    run.Step(1 + text.marks.size());
    lines.push_back(text.Slice(begin, Truth(a[0]) ? at : end));
    begin = at;
  }
  if (begin < text.bytes.size()) lines.push_back(text.Slice(begin, text.bytes.size()));
  return TextList(run, std::move(lines));
}

template <bool kLeft, bool kRight>
Value StripMethod(Run& run, const Text& text, const Arguments& arguments) {
  constexpr StripSides sides{kLeft, kRight};
  const Items a = BindArguments(run, "strip", arguments, {"chars"});
  const bool space = a[0].IsNone() || arguments.positional.empty();
  return NewText(run, space ? Strip(text, sides) : Strip(text, TextOf(run, a[0]).bytes, sides));
}

template <bool kEnd>
Value Affixed(Run& run, const Text& text, const Arguments& arguments) {
  const Items a = BindArguments(run, "startswith", arguments, {"prefix"}, 1);
  const auto matches = [&](const Value& affix) {
    const std::string& other = TextOf(run, affix).bytes;
    run.Step(1 + other.size() / 64);
    return kEnd ? text.bytes.ends_with(other) : text.bytes.starts_with(other);
  };
  if (a[0].list() == nullptr) return Value(matches(a[0]));
  if (a[0].list()->kind != ListKind::kTuple) run.Fail("startswith takes a str or a tuple");
  return Value(std::ranges::any_of(a[0].list()->items, matches));
}

template <bool kEnd>
Value RemoveAffix(Run& run, const Text& text, const Arguments& arguments) {
  const Items a = BindArguments(run, "removeprefix", arguments, {"prefix"}, 1);
  const std::string& other = TextOf(run, a[0]).bytes;
  const size_t size = text.bytes.size();
  if (kEnd && text.bytes.ends_with(other)) {
    return NewText(run, text.Slice(0, size - other.size()));
  }
  if (!kEnd && text.bytes.starts_with(other)) return NewText(run, text.Slice(other.size(), size));
  return NewText(run, text);
}

template <bool kFromRight>
Value Partition(Run& run, const Text& text, const Arguments& arguments) {
  const Items a = BindArguments(run, "partition", arguments, {"sep"}, 1);
  const std::string& separator = TextOf(run, a[0]).bytes;
  if (separator.empty()) run.Fail("the separator is empty");
  const size_t at = Occurrences(text.bytes, separator, kFromRight).Next();
  if (at == std::string::npos) {
    const Value empty(Text{});
    return run.NewList(ListKind::kTuple, kFromRight ? Items{empty, empty, NewText(run, text)}
                                                    : Items{NewText(run, text), empty, empty});
  }
  return run.NewList(
      ListKind::kTuple,
      {NewText(run, text.Slice(0, at)), NewText(run, text.Slice(at, at + separator.size())),
       NewText(run, text.Slice(at + separator.size(), text.bytes.size()))});
}

template <bool kFromRight, bool kMustBeThere>
Value FindText(Run& run, const Text& text, const Arguments& arguments) {
  const Items a = BindArguments(run, "find", arguments, {"sub"}, 1);
  const std::string& part = TextOf(run, a[0]).bytes;
  const size_t at = Occurrences(text.bytes, part, kFromRight).Next();
  if (at == std::string::npos && kMustBeThere) run.Fail("substring not found");
  if (at == std::string::npos) return Value(int64_t{-1});
  return Value(static_cast<int64_t>(CountCharacters(std::string_view(text.bytes).substr(0, at))));
}

Value CountText(Run& run, const Text& text, const Arguments& arguments) {
  const Items a = BindArguments(run, "count", arguments, {"sub"}, 1);
  const std::string& part = TextOf(run, a[0]).bytes;
  if (part.empty()) return Value(static_cast<int64_t>(CountCharacters(text.bytes)) + 1);
  int64_t count = 0;
  Occurrences parts(text.bytes, part);
  while (parts.Next() != std::string::npos) ++count;
  return Value(count);
}

Value ReplaceMethod(Run& run, const Text& text, const Arguments& arguments) {
  const Items a = BindArguments(run, "replace", arguments, {"old", "new", "count"}, 2);
  return NewText(run, ReplaceText(run, text, TextOf(run, a[0]).bytes, TextOf(run, a[1]),
                                  IntegerOr(run, a[2], -1)));
}

Value JoinMethod(Run& run, const Text& text, const Arguments& arguments) {
  const Items a = BindArguments(run, "join", arguments, {"iterable"}, 1);
  std::vector<Text> parts;
  for (const Value& part : ItemsOf(run, a[0])) parts.push_back(TextOf(run, part));
  return NewText(run, JoinTexts(run, text, parts));
}

// True if the text is not empty and `is` holds for all its characters.
bool All(const Text& text, const std::function<bool(int32_t)>& is) {
  for (size_t at = 0; at < text.bytes.size();) {
    if (!is(NextCodePoint(text.bytes, at))) return false;
  }
  return !text.bytes.empty();
}

// A letter that follows no letter becomes upper case, others lower case.
Text TitleText(Run& run, const Text& text) {
  if (!IsAscii(text.bytes)) run.Refuse("title of letters beyond ASCII");
  Text result = LowerText(run, text);
  bool after_letter = false;
  for (char& c : result.bytes) {
    const bool letter = std::isalpha(c) != 0;
    if (letter && !after_letter) c = static_cast<char>(std::toupper(c));
    after_letter = letter;
  }
  return result;
}

Value NoArguments(Run& run, const Arguments& arguments, Value value) {
  BindArguments(run, "the method", arguments, {});
  return value;
}

template <Text (*kChange)(Run&, const Text&)>
Value CaseMethod(Run& run, const Text& text, const Arguments& arguments) {
  return NoArguments(run, arguments, NewText(run, kChange(run, text)));
}

template <bool kUpper>
Value HasCaseMethod(Run& run, const Text& text, const Arguments& arguments) {
  return NoArguments(run, arguments, Value(HasCase(run, text, kUpper)));
}

using Method = Value (*)(Run&, const Text&, const Arguments&);

constexpr auto kMethods = std::to_array<NamedValue<Method>>({
    {"split", Split<false>},
    {"rsplit", Split<true>},
    {"splitlines", SplitLines},
    {"strip", StripMethod<true, true>},
    {"lstrip", StripMethod<true, false>},
    {"rstrip", StripMethod<false, true>},
    {"startswith", Affixed<false>},
    {"endswith", Affixed<true>},
    {"removeprefix", RemoveAffix<false>},
    {"removesuffix", RemoveAffix<true>},
    {"partition", Partition<false>},
    {"rpartition", Partition<true>},
    {"find", FindText<false, false>},
    {"rfind", FindText<true, false>},
    {"index", FindText<false, true>},
    {"rindex", FindText<true, true>},
    {"count", CountText},
    {"replace", ReplaceMethod},
    {"join", JoinMethod},
    {"upper", CaseMethod<UpperText>},
    {"lower", CaseMethod<LowerText>},
    {"capitalize", CaseMethod<CapitalizeText>},
    {"title", CaseMethod<TitleText>},
    {"isupper", HasCaseMethod<true>},
    {"islower", HasCaseMethod<false>},
    {"isspace",
     [](Run& r, const Text& t, const Arguments& a) {
       return NoArguments(r, a, Value(All(t, IsSpaceCharacter)));
     }},
    {"isdigit",
     [](Run& r, const Text& t, const Arguments& a) {
       if (!IsAscii(t.bytes)) r.Refuse("isdigit beyond ASCII");
       return NoArguments(r, a, Value(All(t, [](int32_t c) { return c >= '0' && c <= '9'; })));
     }},
    {"isalpha",
     [](Run& r, const Text& t, const Arguments& a) {
       return NoArguments(r, a, Value(All(t, [](int32_t c) { return u_isalpha(c) != 0; })));
     }},
});

}  // namespace

std::optional<Value> CallStringMethod(Run& run, const Text& text, std::string_view name,
                                      const Arguments& arguments) {
  run.Step(text.bytes.size() / 64);
  const auto method = ValueOf(kMethods, name);
  return method ? std::optional((*method)(run, text, arguments)) : std::nullopt;
}

}  // namespace agentr::jinja
