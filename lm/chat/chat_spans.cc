#include "lm/chat/chat_spans.h"

#include <algorithm>

#include "common/utf8.h"

namespace agentr {
namespace {

using jinja::Mark;
using jinja::Region;
using jinja::Rendered;

class SpanFinder {
 public:
  SpanFinder(const Rendered& rendered, const TurnShape& shape)
      : rendered_(rendered), text_(rendered.text), shape_(shape) {}

  std::optional<ByteSpan> Find(int message, bool assistant) const {
    const std::optional<ByteSpan> content = Content(message, assistant);
    if (!content) return assistant ? EmptyTurn(message) : std::nullopt;
    if (!assistant) return ByteSpan{content->begin, EndOf(*content, "")};
    if (const auto block = Generation(message)) return block;
    return ByteSpan{BeginOf(*content), EndOf(*content, shape_.before_end)};
  }

 private:
  // The part of the text from the first to the last mark of the message, with no other message in
  // between. If the template writes a content twice, it is the part in the message's own turn; if
  // there is none, an assistant's part cannot be determined.
  std::optional<ByteSpan> Content(int message, bool assistant) const {
    std::vector<ByteSpan> stretches;
    int last = -1;
    for (const Mark& mark : rendered_.marks) {
      if (mark.message == message) {
        if (last != message) stretches.push_back({mark.begin, mark.end});
        stretches.back().end = mark.end;
      }
      last = mark.message;
    }
    if (stretches.empty()) return std::nullopt;
    if (stretches.size() == 1) return stretches[0];
    for (const ByteSpan& stretch : stretches) {
      for (const Region& turn : rendered_.turns) {
        if (turn.message == message && turn.begin <= stretch.begin && stretch.end <= turn.end) {
          return stretch;
        }
      }
    }
    return assistant ? std::nullopt : std::optional(stretches[0]);
  }

  // The {% generation %} block that contains the whole content of the message and no other message.
  std::optional<ByteSpan> Generation(int message) const {
    for (const Region& block : rendered_.generations) {
      bool own = false, other = false;
      for (const Mark& mark : rendered_.marks) {
        if (mark.begin < block.begin || mark.end > block.end) continue;
        // An empty mark at a border belongs to both neighbouring regions.
        const bool inside = mark.begin < mark.end || mark.message == message;
        own |= mark.message == message;
        other |= inside && mark.message != message;
      }
      if (own && !other) return ByteSpan{block.begin, block.end};
    }
    return std::nullopt;
  }

  // For a turn in which the template writes nothing of the content.
  std::optional<ByteSpan> EmptyTurn(int message) const {
    for (const Region& turn : rendered_.turns) {
      if (turn.message != message || shape_.opening.empty()) continue;
      const size_t at = text_.find(shape_.opening, turn.begin);
      if (at == std::string::npos || at + shape_.opening.size() > turn.end) continue;
      const size_t begin = at + shape_.opening.size();
      return ByteSpan{begin, EndOf({begin, begin}, shape_.before_end)};
    }
    return std::nullopt;
  }

  size_t BeginOf(const ByteSpan& content) const {
    if (shape_.opening.empty()) return content.begin;
    size_t before = 0;
    for (const Mark& mark : rendered_.marks) {
      if (mark.end <= content.begin && mark.begin < content.begin) before = mark.end;
    }
    const size_t at = text_.substr(before, content.begin - before).rfind(shape_.opening);
    return at == std::string::npos ? content.begin : before + at + shape_.opening.size();
  }

  // The position after the token that ends the turn, if only white space or `between` precedes it.
  size_t EndOf(const ByteSpan& content, std::string_view between) const {
    size_t limit = text_.size();
    for (const Mark& mark : rendered_.marks) {
      if (mark.begin >= content.end && mark.end > content.end) limit = std::min(limit, mark.begin);
    }
    const std::string_view rest = text_.substr(content.end, limit - content.end);
    size_t first = std::string_view::npos, end = content.end;
    for (const std::string& token : shape_.ends) {
      const size_t at = rest.find(token);
      if (at >= first) continue;
      first = at;
      const std::string_view gap = rest.substr(0, at);
      const bool near = gap == between || StripSpace(gap).empty();
      end = near ? content.end + at + token.size() : content.end;
    }
    return end;
  }

  const Rendered& rendered_;
  const std::string_view text_;
  const TurnShape& shape_;
};

}  // namespace

std::vector<std::optional<ByteSpan>> MessageSpans(const Rendered& rendered,
                                                  std::span<const Message> conversation,
                                                  const TurnShape& shape) {
  const SpanFinder finder(rendered, shape);
  std::vector<std::optional<ByteSpan>> spans;
  for (size_t i = 0; i < conversation.size(); ++i) {
    spans.push_back(finder.Find(static_cast<int>(i), conversation[i].role == "assistant"));
  }
  return spans;
}

}  // namespace agentr
