#include "lm/chat/chat_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "lm/chat/chat_formats.h"
#include "lm/chat/chat_text.h"

namespace agentr {
namespace {

constexpr char kCure[] = "choose one with --chat_template: llama-3, chatml, mistral or plain";

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool HasAny(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return Has(text, part); });
}

template <typename Format>
class FormatTemplate : public ChatTemplate {
 public:
  FormatTemplate(std::string_view name, Format format, std::vector<int32_t> stop_tokens,
                 const Tokenizer& tokenizer)
      : name_(name),
        format_(std::move(format)),
        stop_tokens_(std::move(stop_tokens)),
        tokenizer_(&tokenizer) {}

  std::string_view name() const override { return name_; }
  const std::vector<int32_t>& stop_tokens() const override { return stop_tokens_; }

  Result<ChatTokens> Apply(std::span<const Message> conversation, bool generation) const override {
    if (conversation.empty()) return Fail(ErrorKind::kRejected, "the conversation is empty");
    for (const Message& message : conversation) {
      if (message.role != "system" && message.role != "user" && message.role != "assistant") {
        return Fail(ErrorKind::kRejected,
                    "the role '" + message.role + "' is none of system, user and assistant");
      }
    }
    ChatText text;
    if (const Result<void> written = format_.Write(conversation, generation, text); !written) {
      return tl::make_unexpected(written.error());
    }
    return text.Encode(*tokenizer_, conversation.size());
  }

 private:
  std::string_view name_;
  Format format_;
  std::vector<int32_t> stop_tokens_;
  const Tokenizer* tokenizer_;
};

std::string Spelling(const Tokenizer& tokenizer, std::optional<int32_t> id) {
  return id ? tokenizer.TokenBytes(*id) : "";
}

bool IsSpecial(const Tokenizer& tokenizer, std::string_view token) {
  const std::optional<int32_t> id = tokenizer.Id(token);
  return id && tokenizer.IsSpecial(*id);
}

// Anyone could write in a message what is an ordinary token.
void NeedSpecial(const Tokenizer& tokenizer, std::string_view format, std::string_view token) {
  if (IsSpecial(tokenizer, token)) return;
  const bool known = tokenizer.Id(token).has_value();
  throw FatalError(
      ExitCode::kUsage,
      known
          ? fmt::format("the chat template {} needs '{}' as a special token: set \"special\" of "
                        "it to true among added_tokens of tokenizer.json",
                        format, token)
          : fmt::format("the chat template {} needs the token '{}', which the tokenizer lacks; {}",
                        format, token, kCure));
}

// Those of `tokens` that there are, and EOS.
std::vector<int32_t> StopTokens(const Tokenizer& tokenizer,
                                std::initializer_list<std::string_view> tokens) {
  std::vector<int32_t> ids;
  const auto add = [&](std::optional<int32_t> id) {
    if (id && std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(*id);
  };
  for (const std::string_view token : tokens) add(tokenizer.Id(token));
  add(tokenizer.eos());
  return ids;
}

std::unique_ptr<ChatTemplate> MakeLlama3(const Tokenizer& tokenizer) {
  for (const char* token : {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}) {
    NeedSpecial(tokenizer, "llama-3", token);
  }
  const Llama3Format format{
      Spelling(tokenizer, tokenizer.bos() ? tokenizer.bos() : tokenizer.Id("<|begin_of_text|>")),
      Has(tokenizer.chat_template(), "Cutting Knowledge Date")};
  return std::make_unique<FormatTemplate<Llama3Format>>(
      "llama-3", format, StopTokens(tokenizer, {"<|eot_id|>", "<|eom_id|>", "<|end_of_text|>"}),
      tokenizer);
}

// The system text that a template of ChatML says by itself: in its source, what stands between
// "<|im_start|>system\n" and "<|im_end|>" as one literal.
std::string DefaultSystem(std::string_view source) {
  constexpr std::string_view kOpen = "<|im_start|>system", kClose = "<|im_end|>";
  for (size_t at = 0; (at = source.find(kOpen, at)) != std::string_view::npos;) {
    const char quote = at > 0 ? source[at - 1] : '\0';
    at += kOpen.size();
    std::string text;
    for (size_t i = at; i < source.size(); ++i) {
      if (source.substr(i).starts_with(kClose)) {
        if (text.size() > 1 && text[0] == '\n') return text.substr(1);
        break;
      }
      if (source[i] == '{' || ((quote == '\'' || quote == '"') && source[i] == quote)) break;
      if (source[i] == '\\' && i + 1 < source.size()) {
        ++i;
        text += source[i] == 'n' ? '\n' : source[i];
      } else {
        text += source[i];
      }
    }
  }
  return "";
}

std::unique_ptr<ChatTemplate> MakeChatMl(const Tokenizer& tokenizer) {
  for (const char* token : {"<|im_start|>", "<|im_end|>"}) NeedSpecial(tokenizer, "chatml", token);
  const std::string& source = tokenizer.chat_template();
  const ChatMlFormat format{Has(source, "bos_token") ? Spelling(tokenizer, tokenizer.bos()) : "",
                            DefaultSystem(source), Has(source, "</think>")};
  return std::make_unique<FormatTemplate<ChatMlFormat>>(
      "chatml", format, StopTokens(tokenizer, {"<|im_end|>", "<|endoftext|>"}), tokenizer);
}

// The versions differ in their spaces and in the turn that takes the system text.
std::unique_ptr<ChatTemplate> MakeMistral(const Tokenizer& tokenizer) {
  if (!tokenizer.eos()) {
    throw FatalError(ExitCode::kUsage, fmt::format("the chat template mistral needs eos_token in "
                                                   "tokenizer_config.json; set it there, or {}",
                                                   kCure));
  }
  const std::string& source = tokenizer.chat_template();
  MistralFormat format;
  format.bos = Spelling(tokenizer, tokenizer.bos());
  format.eos = Spelling(tokenizer, tokenizer.eos());
  const bool plain_marks = Has(source, " [/INST]") || !IsSpecial(tokenizer, "[INST]");  // 7B v0.2
  const bool spaces = plain_marks || Has(source, "[INST] ");                            // 7B v0.3
  format.before_user = Has(source, " [INST] ") ? " [INST] " : spaces ? "[INST] " : "[INST]";
  format.after_user = plain_marks ? " [/INST]" : "[/INST]";
  if (source.empty() ? spaces : HasAny(source, {"' ' + message", "\" \" + message"})) {
    format.before_assistant = " ";
  }
  if (HasAny(source, {"eos_token + ' '", "eos_token + \" \""})) format.after_assistant = " ";
  format.system_in_last = !plain_marks;
  format.trim_assistant = Has(source, "trim");
  return std::make_unique<FormatTemplate<MistralFormat>>("mistral", format,
                                                         StopTokens(tokenizer, {}), tokenizer);
}

std::unique_ptr<ChatTemplate> MakePlain(const Tokenizer& tokenizer) {
  const PlainFormat format{Spelling(tokenizer, tokenizer.bos()),
                           Spelling(tokenizer, tokenizer.eos())};
  return std::make_unique<FormatTemplate<PlainFormat>>("plain", format, StopTokens(tokenizer, {}),
                                                       tokenizer);
}

// The format that the folder declares: by its template, or without one by its tokens.
std::string_view Declared(const Tokenizer& tokenizer) {
  const std::string& source = tokenizer.chat_template();
  const auto declares = [&](std::string_view token) {
    return source.empty() ? IsSpecial(tokenizer, token) : Has(source, token);
  };
  if (declares("<|start_header_id|>")) return "llama-3";
  if (declares("<|im_start|>")) return "chatml";
  // Llama 2 writes its system text, and Mistral from 2024-07 on, between marks of their own.
  if (declares("[INST]") && !declares("<<SYS>>") && !declares("[SYSTEM_PROMPT]")) return "mistral";
  if (source.empty()) return "plain";
  throw FatalError(ExitCode::kUsage,
                   fmt::format("the model's chat template is of no known family; {}", kCure));
}

}  // namespace

std::unique_ptr<ChatTemplate> ChatTemplate::Make(std::string_view name,
                                                 const Tokenizer& tokenizer) {
  const std::string_view chosen = name == "auto" ? Declared(tokenizer) : name;
  if (chosen == "llama-3") return MakeLlama3(tokenizer);
  if (chosen == "chatml") return MakeChatMl(tokenizer);
  if (chosen == "mistral") return MakeMistral(tokenizer);
  if (chosen == "plain") return MakePlain(tokenizer);
  throw FatalError(ExitCode::kUsage,
                   fmt::format("there is no chat template '{}'; {}", name, kCure));
}

}  // namespace agentr
