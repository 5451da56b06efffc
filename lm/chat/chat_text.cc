#include "lm/chat/chat_text.h"

#include <algorithm>

namespace agentr {
namespace {

// The positions at which the text is divided: the borders of marks and spans.
std::vector<size_t> Cuts(const jinja::Rendered& rendered,
                         std::span<const std::optional<ByteSpan>> spans) {
  std::vector<size_t> cuts = {0, rendered.text.size()};
  for (const jinja::Mark& mark : rendered.marks) {
    cuts.push_back(mark.begin);
    cuts.push_back(mark.end);
  }
  for (const auto& span : spans) {
    if (!span) continue;
    cuts.push_back(span->begin);
    cuts.push_back(span->end);
  }
  std::ranges::sort(cuts);
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace

ChatTokens EncodeRendered(const jinja::Rendered& rendered,
                          std::span<const std::optional<ByteSpan>> spans,
                          const Tokenizer& tokenizer) {
  const std::vector<size_t> cuts = Cuts(rendered, spans);
  const std::string_view text = rendered.text;
  std::vector<TextPart> parts;
  auto mark = rendered.marks.begin();
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    while (mark != rendered.marks.end() && mark->end <= cuts[i]) ++mark;
    const bool said = mark != rendered.marks.end() && mark->begin <= cuts[i];
    parts.push_back({text.substr(cuts[i], cuts[i + 1] - cuts[i]),
                     said ? SpecialText::kPlain : SpecialText::kToken});
  }
  EncodedParts encoded = tokenizer.EncodeParts(parts);
  const auto part_at = [&](size_t byte) {
    return static_cast<size_t>(std::ranges::lower_bound(cuts, byte) - cuts.begin());
  };
  ChatTokens tokens{std::move(encoded.ids), {}};
  for (const auto& span : spans) {
    ChatTokens::Span own;
    if (span) {
      const size_t begin = part_at(span->begin), end = part_at(span->end);
      own.begin = begin < parts.size() ? encoded.parts[begin].begin : tokens.ids.size();
      own.end = own.begin;
      for (size_t i = begin; i < end; ++i) own.end = std::max(own.end, encoded.parts[i].end);
    }
    tokens.messages.push_back(own);
  }
  return tokens;
}

}  // namespace agentr
