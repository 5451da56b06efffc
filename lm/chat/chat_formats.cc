#include "lm/chat/chat_formats.h"

#include <algorithm>

#include "lm/tokenizer/utf8.h"

namespace agentr {
namespace {

constexpr char kDates[] = "Cutting Knowledge Date: December 2023\nToday Date: 26 Jul 2024\n\n";

// Python's strip("\n"), lstrip("\n") and rstrip("\n").
std::string_view StripLinesLeft(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}
std::string_view StripLinesRight(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

// What an assistant's message says, and what it thought before.
struct Thoughts {
  std::string_view thought;
  std::string_view said;
};

Thoughts SplitThoughts(std::string_view content) {
  constexpr std::string_view kOpen = "<think>", kClose = "</think>";
  const size_t first_close = content.find(kClose);
  if (first_close == std::string_view::npos) return {"", content};
  std::string_view thought = StripLinesRight(content.substr(0, first_close));
  if (const size_t open = thought.rfind(kOpen); open != std::string_view::npos) {
    thought.remove_prefix(open + kOpen.size());
  }
  const std::string_view said = content.substr(content.rfind(kClose) + kClose.size());
  return {StripLinesLeft(thought), StripLinesLeft(said)};
}

size_t LastOf(std::string_view role, Conversation conversation) {
  for (size_t i = conversation.size(); i-- > 0;) {
    if (conversation[i].role == role) return i;
  }
  return conversation.size();
}

}  // namespace

Result<void> Llama3Format::Write(Conversation conversation, bool generation, ChatText& text) const {
  const auto header = [&](const std::string& role) {
    text.Add("<|start_header_id|>" + role + "<|end_header_id|>\n\n");
  };
  text.Add(bos);
  if (dates && conversation[0].role != "system") {
    header("system");
    text.Add(std::string(kDates) + "<|eot_id|>");
  }
  for (size_t i = 0; i < conversation.size(); ++i) {
    header(conversation[i].role);
    if (dates && i == 0 && conversation[i].role == "system") text.Add(kDates);
    text.AddContent(std::string(StripSpace(conversation[i].content)), i);
    text.Add("<|eot_id|>", i);
  }
  if (generation) header("assistant");
  return {};
}

Result<void> ChatMlFormat::Write(Conversation conversation, bool generation, ChatText& text) const {
  text.Add(bos);
  if (!default_system.empty() && conversation[0].role != "system") {
    text.Add("<|im_start|>system\n" + default_system + "<|im_end|>\n");
  }
  const size_t last_user = LastOf("user", conversation);
  for (size_t i = 0; i < conversation.size(); ++i) {
    const Message& message = conversation[i];
    text.Add("<|im_start|>" + message.role + "\n");
    if (thoughts && message.role == "assistant") {
      const auto [thought, said] = SplitThoughts(message.content);
      const bool thinks = last_user < i && (i + 1 == conversation.size() || !thought.empty());
      if (thinks) {
        text.Add("<think>\n", i);
        text.AddContent(std::string(StripLinesRight(thought)), i);
        text.Add("\n</think>\n\n", i);
      }
      text.AddContent(std::string(thinks ? StripLinesLeft(said) : said), i);
    } else {
      text.AddContent(message.content, i);
    }
    text.Add("<|im_end|>", i);
    text.Add("\n");
  }
  if (generation) text.Add("<|im_start|>assistant\n");
  return {};
}

Result<void> MistralFormat::Write(Conversation conversation, bool generation,
                                  ChatText& text) const {
  const size_t first = conversation[0].role == "system" ? 1 : 0;
  if (first == conversation.size()) {
    return Fail(ErrorKind::kRejected,
                "the format mistral needs a user's message after the system's");
  }
  const size_t with_system = system_in_last ? LastOf("user", conversation) : first;
  text.Add(bos);
  for (size_t i = first; i < conversation.size(); ++i) {
    const Message& message = conversation[i];
    if (message.role != ((i - first) % 2 == 0 ? "user" : "assistant")) {
      return Fail(ErrorKind::kRejected,
                  "the format mistral needs user and assistant in turn after the system's message; "
                  "message " +
                      std::to_string(i) + " is the " + message.role + "'s");
    }
    if (message.role == "user") {
      text.Add(before_user);
      if (first == 1 && i == with_system) {
        text.AddContent(conversation[0].content, 0);
        text.Add("\n\n");
      }
      text.AddContent(message.content, i);
      text.Add(after_user);
    } else {
      text.Add(before_assistant);
      text.AddContent(trim_assistant ? std::string(StripSpace(message.content)) : message.content,
                      i);
      text.Add(eos, i);
      text.Add(after_assistant);
    }
  }
  // Nothing opens the assistant's turn: it follows the user's.
  if (generation && conversation.back().role == "assistant") {
    return Fail(ErrorKind::kRejected,
                "the format mistral cannot ask for an answer to the assistant's own message");
  }
  return {};
}

Result<void> PlainFormat::Write(Conversation conversation, bool generation, ChatText& text) const {
  const auto title = [](std::string_view role) {
    return role == "system" ? "### System:\n" : role == "user" ? "### User:\n" : "### Assistant:\n";
  };
  text.Add(bos);
  for (size_t i = 0; i < conversation.size(); ++i) {
    text.Add(title(conversation[i].role));
    text.AddContent(conversation[i].content, i);
    if (conversation[i].role == "assistant") text.Add(eos, i);
    text.Add("\n\n");
  }
  if (generation) text.Add(title("assistant"));
  return {};
}

}  // namespace agentr
