#include "revision/make/thoughts.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/config_lines.h"
#include "common/error.h"

namespace agentr {
namespace embedded {
extern const std::string_view kRevisionThoughts;
extern const std::string_view kRevisionThinking;
}  // namespace embedded

namespace {

constexpr std::string_view kAnyMistake = "any";

using Slots = std::array<std::pair<std::string_view, std::string_view>, 6>;

bool CanFill(std::string_view thought, const Slots& slots) {
  return std::ranges::none_of(slots, [&](const auto& slot) {
    return slot.second.empty() && thought.find(slot.first) != std::string_view::npos;
  });
}

// A thought quotes only short replies.
std::string_view Short(std::string_view text) {
  constexpr size_t kMost = 160;
  return text.size() <= kMost ? text : std::string_view();
}

std::string_view ObjectOf(std::string_view action) {
  std::string_view object = action.substr(VerbOf(action).size());
  if (object.starts_with('[') && object.ends_with(']')) object.remove_suffix(1);
  return object.substr(std::min<size_t>(1, object.size()));
}

std::string Filled(std::string_view thought, const Slots& slots) {
  std::string text;
  for (size_t at = 0; at < thought.size();) {
    const auto slot = std::ranges::find_if(
        slots, [&](const auto& one) { return thought.substr(at).starts_with(one.first); });
    if (slot == slots.end()) {
      text += thought[at++];
    } else {
      text += slot->second;
      at += slot->first.size();
    }
  }
  return text;
}

}  // namespace

std::string_view VerbOf(std::string_view action) {
  return action.substr(0, action.find_first_of(" ["));
}

Thoughts Thoughts::Parse(std::string_view text) {
  Thoughts thoughts;
  std::string kind(kAnyMistake);
  ConfigLines lines(text, "revision thoughts");
  while (lines.Next()) {
    if (const auto heading = lines.Heading()) {
      kind = *heading;
    } else {
      thoughts.by_kind_[kind].emplace_back(lines.line());
    }
  }
  if (!thoughts.by_kind_.contains(std::string(kAnyMistake))) {
    throw FatalError(ExitCode::kUsage,
                     "a file of revision thoughts needs some for every kind of mistake: write "
                     "them, one per line, before the first heading");
  }
  return thoughts;
}

const Thoughts& Thoughts::BuiltIn() {
  static const Thoughts thoughts = Parse(embedded::kRevisionThoughts);
  return thoughts;
}

const Thoughts& Thoughts::BuiltInThinking() {
  static const Thoughts thoughts = Parse(embedded::kRevisionThinking);
  return thoughts;
}

const std::vector<std::string>& Thoughts::Of(const std::string& kind) const {
  static const std::vector<std::string> none;
  const auto found = by_kind_.find(kind);
  return found == by_kind_.end() ? none : found->second;
}

std::string Thoughts::Pick(const std::vector<std::string>& kinds, const Words& words,
                           RandomStream& random) const {
  const Slots slots = {{{"{action}", Short(words.action)},
                        {"{reply}", Short(words.reply)},
                        {"{next}", Short(words.next)},
                        {"{said}", Short(words.said)},
                        {"{object}", Short(ObjectOf(words.action))},
                        {"{said_object}", Short(ObjectOf(words.said))}}};
  std::vector<std::string> all = kinds;
  all.emplace_back(kAnyMistake);
  for (const std::string& kind : all) {
    std::vector<std::string> fitting;
    std::ranges::copy_if(Of(kind), std::back_inserter(fitting),
                         [&](const std::string& thought) { return CanFill(thought, slots); });
    if (!fitting.empty()) return Filled(random.Pick(fitting), slots);
  }
  return "That was a mistake of mine.";
}

std::string Thoughts::Text() const {
  std::string text;
  for (const auto& [kind, thoughts] : by_kind_) {
    text += "[" + kind + "]\n";
    for (const std::string& thought : thoughts) text += thought + "\n";
  }
  return text;
}

}  // namespace agentr
