#include "lm/chat/training_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <string_view>
#include <utility>
#include <vector>

#include "clients/language_model.h"
#include "lm/chat/chat_spans.h"

namespace agentr {
namespace {

constexpr std::string_view kHead =
    "{#- The model's own chat template, with a generation block around each message of the "
    "assistant "
    "whose weight is not 0. -#}\n";

// The end of the macro, and the body. OPENING and ENDING are strings of Jinja. The empty string
// before the end of the macro keeps the white space at the end of the template.
constexpr std::string_view kBody = R"({{ '' }}{%- endmacro %}
{%- set hole = '@@trained reply@@' %}
{%- set ns = namespace(holed=[], replies=[], at=0, done=0) %}
{%- for message in messages %}
{%- if message.role == 'assistant' and (message.weight is not defined or message.weight is none or message.weight) %}
{%- set ns.holed = ns.holed + [{'role': message.role, 'content': hole}] %}
{%- set ns.replies = ns.replies + [message.content] %}
{%- else %}
{%- set ns.holed = ns.holed + [message] %}
{%- endif %}
{%- endfor %}
{%- set prompt = add_generation_prompt is defined and add_generation_prompt %}
{%- set whole = conversation(messages, prompt) %}
{%- set pieces = conversation(ns.holed, prompt).split(hole) %}
{%- if pieces | length != ns.replies | length + 1 or not whole.startswith(pieces[0]) %}
{{- raise_exception('the trained messages cannot be found in the rendered conversation') }}
{%- endif %}
{%- for reply in ns.replies %}
{%- set before = pieces[loop.index0] %}
{%- set after = pieces[loop.index] %}
{%- set begin = ns.at + before | length %}
{%- set said = reply if whole[begin:].startswith(reply + after) else reply | trim %}
{%- if not whole[begin:].startswith(said + after) %}
{{- raise_exception('the template writes a trained message differently from its content') }}
{%- endif %}
{%- set inserted = before.split(OPENING) | last if OPENING and OPENING in before else '' %}
{%- set ends = ENDING | length if after.startswith(ENDING) else 0 %}
{%- set start = begin - inserted | length %}
{%- set ns.at = begin + said | length %}
{{- whole[ns.done:start] }}
{%- generation %}{{- whole[start:ns.at + ends] }}{%- endgeneration %}
{%- set ns.done = ns.at + ends %}
{%- endfor %}
{{- whole[ns.done:] }})";

void Replace(std::string& text, std::string_view name, const std::string& value) {
  for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size()) {
    text.replace(at, name.size(), value);
  }
}

// Its own generation blocks mark every message of the assistant.
std::string WithoutBlocks(std::string own) {
  static const std::regex begin(R"((\{%[-+]?\s*)generation(\s*[-+]?%\}))");
  static const std::regex end(R"((\{%[-+]?\s*)endgeneration(\s*[-+]?%\}))");
  return std::regex_replace(std::regex_replace(own, begin, "$1if true$2"), end, "$1endif$2");
}

std::vector<std::vector<Message>> Probes() {
  std::vector<std::vector<Message>> probes = {{{"user", "First question."}}};
  for (const char* more : {"Yes.", "Two\nlines."}) {
    probes.push_back(probes.back());
    probes.back().push_back({"assistant", more});
    probes.back().push_back({"user", "Go on."});
  }
  probes.push_back(probes.back());
  probes.back().push_back({"assistant", "Done."});
  return probes;
}

// Whether `marked` renders `talk` as `own` does, with a block around each part of the assistant.
bool IsSame(const jinja::Template& own, const jinja::Template& marked,
            const std::vector<Message>& talk, const jinja::RenderOptions& options,
            const TurnShape& shape) {
  const auto expected = own.Render(talk, options);
  const auto got = marked.Render(talk, options);
  if (!expected || !got || expected->text != got->text) return false;
  std::vector<std::pair<size_t, size_t>> blocks, spans;
  for (const jinja::Region& block : got->generations) blocks.emplace_back(block.begin, block.end);
  const auto parts = MessageSpans(*expected, talk, shape);
  for (size_t i = 0; i < talk.size(); ++i) {
    if (talk[i].role != "assistant") continue;
    if (!parts[i]) return false;
    spans.emplace_back(parts[i]->begin, parts[i]->end);
  }
  return blocks == spans;
}

}  // namespace

std::string TrainingTemplate(const std::string& own, const jinja::RenderOptions& options,
                             const TurnShape& shape, const std::string& set) {
  if (own.starts_with(kHead)) return own;
  std::string body(kBody);
  const std::string end = shape.ends.empty() ? "" : shape.before_end + shape.ends[0];
  Replace(body, "OPENING", nlohmann::json(shape.opening).dump());
  Replace(body, "ENDING", nlohmann::json(end).dump());
  std::string text = WithoutBlocks(own);
  if (text.ends_with('\n')) text.pop_back();  // as Jinja does with a template
  text = fmt::format("{}{}{{%- macro conversation(messages, add_generation_prompt=false) %}}\n{}{}",
                     kHead, set, text, body);
  const auto parsed = jinja::Template::Parse(own);
  const auto marked = jinja::Template::Parse(text);
  if (!parsed || !marked) return "";
  const bool same = std::ranges::all_of(Probes(), [&](const std::vector<Message>& talk) {
    return IsSame(*parsed, *marked, talk, options, shape);
  });
  return same ? text : "";
}

}  // namespace agentr
