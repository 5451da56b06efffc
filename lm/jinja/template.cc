#include "lm/jinja/template.h"

#include <fmt/format.h>

#include <utility>

#include "lm/jinja/globals.h"
#include "lm/jinja/nodes.h"

namespace agentr::jinja {
namespace {

constexpr size_t kMaxSource = size_t{4} << 20;

TemplateError ErrorOf(const Failure& failure) {
  return {failure.kind, failure.place, failure.what()};
}

size_t BytesOf(std::span<const Message> messages) {
  size_t bytes = 0;
  for (const Message& message : messages)
    bytes += message.content.size() + message.reasoning.size();
  return bytes;
}

}  // namespace

std::string TemplateError::Describe() const {
  constexpr std::string_view kKinds[] = {"not a template of Jinja: ", "not supported: ",
                                         "the template refuses: ", "", "beyond a limit: "};
  return fmt::format("line {}, column {}: {}{}", place.line, place.column,
                     kKinds[static_cast<size_t>(kind)], message);
}

Template::Template(std::unique_ptr<const Program> program) : program_(std::move(program)) {}
Template::Template(Template&&) noexcept = default;
Template& Template::operator=(Template&&) noexcept = default;
Template::~Template() = default;

tl::expected<Template, TemplateError> Template::Parse(std::string_view source) {
  try {
    if (source.size() > kMaxSource) {
      throw Failure(TemplateError::Kind::kLimit, {},
                    fmt::format("more than {} bytes of source", kMaxSource));
    }
    return Template(ParseProgram(source));
  } catch (const Failure& failure) {
    return tl::make_unexpected(ErrorOf(failure));
  }
}

tl::expected<Rendered, TemplateError> Template::Render(std::span<const Message> messages,
                                                       const RenderOptions& options) const {
  const std::vector<std::string>& symbols = program_->symbols;
  std::vector<Value> globals(symbols.size());
  std::vector<bool> has_global(symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i) {
    auto value = ConversationVariable(symbols[i], messages, options);
    if (!value) value = GlobalFunction(symbols[i]);
    has_global[i] = value.has_value();
    if (value) globals[i] = std::move(*value);
  }
  Run run(std::move(globals), std::move(has_global), options, BytesOf(messages));
  try {
    ExecuteBlock(program_->body, run);
  } catch (const Failure& failure) {
    return tl::make_unexpected(ErrorOf(failure));
  }
  return Rendered{std::move(run.whole.bytes), std::move(run.whole.marks),
                  std::move(run.generations), std::move(run.turns)};
}

}  // namespace agentr::jinja
