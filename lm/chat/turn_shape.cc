#include "lm/chat/turn_shape.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace agentr {
namespace {

using jinja::Rendered;

// The special tokens that end a turn or a text in known families of models.
constexpr std::string_view kEnds[] = {"<|im_end|>",      "<|eot_id|>",    "<|eom_id|>",
                                      "<|end_of_text|>", "<|endoftext|>", "<|end|>",
                                      "<end_of_turn>",   "<|eot|>",       "<|return|>"};

// The text after the last message's content.
std::string_view Tail(const Rendered& rendered) {
  return std::string_view(rendered.text).substr(rendered.marks.back().end);
}

// The first special token in `text`; empty if there is none.
std::string FirstSpecial(const Tokenizer& tokenizer, std::string_view text) {
  for (const int32_t id : tokenizer.Encode(text, SpecialText::kToken)) {
    if (tokenizer.IsSpecial(id)) return tokenizer.TokenBytes(id);
  }
  return "";
}

class Measurer {
 public:
  Measurer(const jinja::Template& chat, jinja::RenderOptions options, const Tokenizer& tokenizer)
      : chat_(chat), options_(std::move(options)), tokenizer_(tokenizer) {}

  Result<MeasuredTemplate> Measure() {
    std::vector<Message> talk = {{"user", "First question."}};
    auto closed = Render(talk, false);
    if (!closed) {
      talk.insert(talk.begin(), {"system", "Some rules."});
      const auto with_system = Render(talk, false);
      if (!with_system) return Fail(ErrorKind::kRejected, closed.error().Describe());
      closed = with_system;
    }
    const auto open = Render(talk, true);
    if (!open) return Fail(ErrorKind::kRejected, open.error().Describe());
    const int user = static_cast<int>(talk.size()) - 1;
    const auto says = [&](const Rendered& rendered) {
      return !rendered.marks.empty() && rendered.marks.back().message == user;
    };
    if (!says(*closed) || !says(*open)) {
      return Fail(ErrorKind::kRejected,
                  "the rendered text does not contain the user's message at its end");
    }
    MeasuredTemplate measured;
    if (Tail(*open).starts_with(Tail(*closed))) {
      measured.shape.opening = Tail(*open).substr(Tail(*closed).size());
    }
    FindEnds(talk, measured.shape);
    measured.rewrites_turns = RewritesTurns(talk);
    return measured;
  }

 private:
  tl::expected<Rendered, jinja::TemplateError> Render(const std::vector<Message>& talk,
                                                      bool generation) {
    options_.add_generation_prompt = generation;
    return chat_.Render(talk, options_);
  }

  void AddEnd(TurnShape& shape, std::string token) const {
    if (!token.empty() && std::ranges::count(shape.ends, token) == 0) {
      shape.ends.push_back(std::move(token));
    }
  }

  // The text after an assistant's content, between two turns and at the end.
  void FindEnds(std::vector<Message> talk, TurnShape& shape) {
    const int first = static_cast<int>(talk.size());
    talk.push_back({"assistant", "First answer."});
    talk.push_back({"user", "Second question."});
    talk.push_back({"assistant", "Second answer."});
    const std::string eos = tokenizer_.eos() ? tokenizer_.TokenBytes(*tokenizer_.eos()) : "";
    std::string end;
    if (const auto all = Render(talk, false); all && !all->marks.empty()) {
      std::optional<size_t> begin;
      size_t next = 0;
      for (const jinja::Mark& mark : all->marks) {
        if (mark.message == first) begin = mark.end;
        if (mark.message == first + 1) next = mark.begin;
      }
      const std::string_view gap =
          begin && *begin < next ? std::string_view(all->text).substr(*begin, next - *begin) : "";
      end = FirstSpecial(tokenizer_, gap);
      // The opening of the user's turn occurs between turns, but not at the end.
      const bool known = end == eos || std::ranges::count(kEnds, end) > 0;
      const bool at_end =
          all->marks.back().message == first + 2 && Tail(*all).find(end) != std::string_view::npos;
      if (!known && !at_end) end = "";
      if (!end.empty()) shape.before_end = gap.substr(0, gap.find(end));
      shape.assistant_ends = !end.empty() || !all->generations.empty();
    }
    AddEnd(shape, end);
    AddEnd(shape, eos);
    for (const std::string_view token : kEnds) {
      const std::optional<int32_t> id = tokenizer_.Id(token);
      if (id && tokenizer_.IsSpecial(*id)) AddEnd(shape, std::string(token));
    }
  }

  // Whether the assistant's turn of a conversation is other text after a later turn, with a thought
  // or without.
  bool RewritesTurns(const std::vector<Message>& talk) {
    for (const char* answer : {"First answer.", "<think>\nHm.\n</think>\n\nFirst answer."}) {
      std::vector<Message> shorter = talk;
      shorter.push_back({"assistant", answer});
      std::vector<Message> longer = shorter;
      longer.push_back({"user", "Second question."});
      longer.push_back({"assistant", "Second answer."});
      const auto once = Render(shorter, false), later = Render(longer, false);
      if (!once || !later || once->marks.empty()) continue;
      const size_t own = once->marks.back().end;
      if (later->text.compare(0, own, once->text, 0, own) != 0) return true;
    }
    return false;
  }

  const jinja::Template& chat_;
  jinja::RenderOptions options_;
  const Tokenizer& tokenizer_;
};

}  // namespace

Result<MeasuredTemplate> MeasureTurns(const jinja::Template& chat,
                                      const jinja::RenderOptions& options,
                                      const Tokenizer& tokenizer) {
  return Measurer(chat, options, tokenizer).Measure();
}

}  // namespace agentr
