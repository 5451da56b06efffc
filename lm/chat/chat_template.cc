#include "lm/chat/chat_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "common/file.h"
#include "common/hash.h"
#include "common/json_depth.h"
#include "lm/chat/builtin_templates.h"
#include "lm/chat/chat_text.h"
#include "lm/chat/training_template.h"
#include "lm/chat/turn_shape.h"
#include "lm/jinja/template.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kCure[] =
    "choose one with --chat_template: llama-3, chatml, mistral, plain or a file in Jinja";

// A template and its origin.
struct Source {
  std::string name;
  std::string text;
  std::string origin;
  std::string warning = {};
};

class JinjaTemplate : public ChatTemplate {
 public:
  JinjaTemplate(Source source, jinja::Template parsed, jinja::RenderOptions options,
                MeasuredTemplate measured, const Tokenizer& tokenizer)
      : source_(std::move(source)),
        template_(std::move(parsed)),
        options_(std::move(options)),
        measured_(std::move(measured)),
        tokenizer_(&tokenizer) {
    for (const std::string& end : measured_.shape.ends) {
      if (const auto id = tokenizer.Id(end)) stop_tokens_.push_back(*id);
    }
    if (tokenizer.eos() && std::ranges::count(stop_tokens_, *tokenizer.eos()) == 0) {
      stop_tokens_.push_back(*tokenizer.eos());
    }
  }

  std::string_view name() const override { return source_.name; }
  const std::vector<int32_t>& stop_tokens() const override { return stop_tokens_; }
  bool rewrites_turns() const override { return measured_.rewrites_turns; }
  std::string identity() const override {
    return Sha256(
        fmt::format("{}\n{} {}{}", source_.text, options_.date, options_.tell_date, Arguments()));
  }
  std::string training_template() const override {
    std::string set;
    const auto given = tokenizer_->special_tokens();
    for (const auto& [name, value] : options_.variables) {
      if (given.contains(name)) continue;
      set += fmt::format("{{%- set {} = {} %}}\n", name, nlohmann::json(value).dump());
    }
    return TrainingTemplate(source_.text, options_, measured_.shape, set);
  }
  std::string Describe() const override {
    return fmt::format("{}{}; {}", source_.origin, Arguments(),
                       measured_.shape.assistant_ends && !measured_.shape.ends.empty()
                           ? "a turn ends with " + measured_.shape.ends[0]
                           : "no token ends a turn");
  }
  std::unique_ptr<ChatTemplate> With(const Json& arguments) const override;
  std::string Warning() const override {
    if (!source_.warning.empty() || measured_.shape.assistant_ends) return source_.warning;
    return "the chat template has no token that ends an assistant's turn: a model that is trained "
           "with it does not learn to stop";
  }

  Result<ChatTokens> Apply(std::span<const Message> conversation, bool generation) const override {
    if (conversation.empty()) return Fail(ErrorKind::kRejected, "the conversation is empty");
    for (const Message& message : conversation) {
      if (message.role != "system" && message.role != "user" && message.role != "assistant") {
        return Fail(ErrorKind::kRejected,
                    "the role '" + message.role + "' is not system, user or assistant");
      }
    }
    if (generation && measured_.shape.opening.empty() && conversation.back().role == "assistant") {
      return Fail(ErrorKind::kRejected,
                  "the chat template cannot begin an answer to the assistant's own message");
    }
    jinja::RenderOptions options = options_;
    options.add_generation_prompt = generation;
    std::vector<Message> joined;
    if (!takes_reasoning_ && HasReasoning(conversation)) {
      for (const Message& message : conversation) {
        joined.push_back({message.role, WithThought(message)});
      }
      conversation = joined;
    }
    const auto rendered = template_.Render(conversation, options);
    if (!rendered) {
      return Fail(ErrorKind::kRejected, "the chat template, " + rendered.error().Describe());
    }
    const auto spans = MessageSpans(*rendered, conversation, measured_.shape);
    for (size_t i = 0; i < spans.size() && !generation; ++i) {
      if (spans[i] || conversation[i].role != "assistant") continue;
      return Fail(ErrorKind::kRejected,
                  fmt::format("the position of the assistant's message {} in the rendered chat "
                              "template is unclear, so it cannot be marked for training",
                              i));
    }
    return EncodeRendered(*rendered, spans, *tokenizer_);
  }

 private:
  static bool HasReasoning(std::span<const Message> conversation) {
    return std::ranges::any_of(conversation, [](const Message& m) { return !m.reasoning.empty(); });
  }
  // " with {…}", or empty.
  std::string Arguments() const {
    return options_.arguments ? " with " + options_.arguments->dump() : "";
  }

  const Source source_;
  const bool takes_reasoning_ = source_.text.find("reasoning_content") != std::string::npos;
  const jinja::Template template_;
  const jinja::RenderOptions options_;
  const MeasuredTemplate measured_;
  const Tokenizer* const tokenizer_;
  std::vector<int32_t> stop_tokens_;
};

bool IsSpecial(const Tokenizer& tokenizer, std::string_view token) {
  const std::optional<int32_t> id = tokenizer.Id(token);
  return id && tokenizer.IsSpecial(*id);
}

// The template's control tokens must be special tokens: anyone could write an ordinary token in a
// message.
void NeedSpecial(const Tokenizer& tokenizer, std::string_view format, std::string_view token) {
  if (IsSpecial(tokenizer, token)) return;
  const bool known = tokenizer.Id(token).has_value();
  throw FatalError(
      ExitCode::kUsage,
      known
          ? fmt::format("the chat template {} needs '{}' as a special token: set its \"special\" "
                        "to true in added_tokens of tokenizer.json",
                        format, token)
          : fmt::format(
                "the chat template {} needs the token '{}', which the tokenizer does not have; {}",
                format, token, kCure));
}

std::optional<Source> BuiltIn(std::string_view name, const Tokenizer& tokenizer) {
  const auto source = [&](std::string_view text) {
    return Source{std::string(name), std::string(text), fmt::format("{}, ours", name)};
  };
  if (name == "llama-3") {
    for (const char* token : {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}) {
      NeedSpecial(tokenizer, name, token);
    }
    return source(kLlama3Template);
  }
  if (name == "chatml") {
    for (const char* token : {"<|im_start|>", "<|im_end|>"}) NeedSpecial(tokenizer, name, token);
    return source(kChatMlTemplate);
  }
  if (name == "mistral") {
    if (!tokenizer.eos()) {
      throw FatalError(ExitCode::kUsage, fmt::format("the chat template mistral needs eos_token in "
                                                     "tokenizer_config.json; set it there, or {}",
                                                     kCure));
    }
    return source(kMistralTemplate);
  }
  if (name == "plain") return source(kPlainTemplate);
  return std::nullopt;
}

// The template that came with the tokenizer, else the built-in one for its special tokens.
Source Declared(const Tokenizer& tokenizer) {
  if (!tokenizer.chat_template().empty()) {
    return {"own", tokenizer.chat_template(),
            fmt::format("the model's own ({})", tokenizer.chat_template_file())};
  }
  const std::string_view name = IsSpecial(tokenizer, "<|start_header_id|>") ? "llama-3"
                                : IsSpecial(tokenizer, "<|im_start|>")      ? "chatml"
                                : IsSpecial(tokenizer, "[INST]")            ? "mistral"
                                                                            : "plain";
  Source source = *BuiltIn(name, tokenizer);
  source.warning =
      name == "plain"
          ? fmt::format(
                "the model has no chat template, and its special tokens match none: conversations "
                "are written as '### User:'; {}",
                kCure)
          : fmt::format(
                "the model has no chat template: {} is used because of its special tokens; {}",
                name, kCure);
  return source;
}

Source Choose(std::string_view name, const Tokenizer& tokenizer) {
  if (name == "auto") return Declared(tokenizer);
  if (auto source = BuiltIn(name, tokenizer)) return *std::move(source);
  const std::filesystem::path path(name);
  if (!std::filesystem::is_regular_file(path)) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("there is no chat template '{}'; {}", name, kCure));
  }
  return {std::string(name), ReadFile(path), fmt::format("the file {}", name)};
}

jinja::RenderOptions OptionsFor(const Source& source, const Tokenizer& tokenizer,
                                const std::string& date) {
  jinja::RenderOptions options;
  options.variables = tokenizer.special_tokens();
  if (source.text == kMistralTemplate && IsSpecial(tokenizer, "[INST]")) {
    options.variables["mark_tokens"] = "yes";
  }
  if (source.text == kLlama3Template && !tokenizer.bos() && tokenizer.Id("<|begin_of_text|>")) {
    options.variables["bos_token"] = "<|begin_of_text|>";
  }
  if (date.empty()) return options;
  int year = 0, month = 0, day = 0, length = 0;
  std::sscanf(date.c_str(), "%4d-%2d-%2d%n", &year, &month, &day, &length);
  if (length != static_cast<int>(date.size()) || date.size() != 10 || year < 1 || month < 1 ||
      month > 12 || day < 1 || day > 31) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--chat_date '{}' is not a date such as 2024-07-26", date));
  }
  options.date = date;
  options.tell_date = true;
  return options;
}

// Throws FatalError(kUsage).
Json ParseArguments(const std::string& text) {
  Json json = ParseJson<Json>(text);
  if (!json.is_object()) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("--chat_kwargs '{}' is not a JSON object such as "
                                 "{{\"enable_thinking\": false}}",
                                 text));
  }
  for (const char* own : {"messages", "add_generation_prompt", "tools", "documents"}) {
    if (!json.contains(own)) continue;
    throw FatalError(ExitCode::kUsage, fmt::format("--chat_kwargs sets \"{}\", which the "
                                                   "conversation itself decides",
                                                   own));
  }
  return json;
}

std::unique_ptr<ChatTemplate> Build(Source source, jinja::RenderOptions options,
                                    const Tokenizer& tokenizer) {
  const auto refuse = [&](const std::string& why) {
    return FatalError(ExitCode::kFile, fmt::format("the chat template ({}) cannot be used: {}; {}",
                                                   source.origin, why, kCure));
  };
  auto parsed = jinja::Template::Parse(source.text);
  if (!parsed) throw refuse(parsed.error().Describe());
  auto measured = MeasureTurns(*parsed, options, tokenizer);
  if (!measured) throw refuse(measured.error().message);
  return std::make_unique<JinjaTemplate>(std::move(source), std::move(*parsed), std::move(options),
                                         std::move(*measured), tokenizer);
}

std::unique_ptr<ChatTemplate> JinjaTemplate::With(const Json& arguments) const {
  jinja::RenderOptions options = options_;
  Json all = options.arguments ? *options.arguments : Json::object();
  all.update(ParseArguments(arguments.dump()));
  options.arguments = std::make_shared<const Json>(std::move(all));
  return Build(source_, std::move(options), *tokenizer_);
}

}  // namespace

std::unique_ptr<ChatTemplate> ChatTemplate::Make(std::string_view name, const Tokenizer& tokenizer,
                                                 const std::string& date,
                                                 const std::string& arguments) {
  Source source = Choose(name, tokenizer);
  jinja::RenderOptions options = OptionsFor(source, tokenizer, date);
  if (!arguments.empty()) {
    options.arguments = std::make_shared<const Json>(ParseArguments(arguments));
  }
  return Build(std::move(source), std::move(options), tokenizer);
}

}  // namespace agentr
