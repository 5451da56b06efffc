// Renders the Jinja chat templates of model folders as transformers does.
//
// The language is Jinja 3.1 as transformers configures it: an immutable sandbox, trim_blocks,
// lstrip_blocks, loop controls, {% generation %}, raise_exception, strftime_now, and a tojson that
// does not escape characters. Features that chat templates do not use (inheritance, imports,
// autoescaping, some filters) are refused with their place; nothing is rendered differently from
// Jinja.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "clients/language_model.h"
#include "lm/jinja/text.h"

namespace agentr::jinja {

// A position in the template, counted from 1; columns count bytes.
struct Place {
  int line = 1;
  int column = 1;
};

struct TemplateError {
  enum class Kind {
    kSyntax,       // not Jinja
    kUnsupported,  // a Jinja feature that is not implemented
    kRaised,       // the template called raise_exception
    kFailed,       // a failure of Python or Jinja, such as a wrong type or value
    kLimit,        // too deep, too long or too much
  };
  Kind kind = Kind::kSyntax;
  Place place = {};
  std::string message = {};

  std::string Describe() const;  // "line 3, column 14: …"
};

// Bytes [begin, end) of the rendered text.
struct Region {
  size_t begin = 0;
  size_t end = 0;
  int message = -1;  // the message in whose loop iteration it was written; -1: none
};

struct Rendered {
  std::string text;
  std::vector<Mark> marks;          // the contents of messages
  std::vector<Region> generations;  // {% generation %}: the text of an assistant in its turn
  std::vector<Region> turns;        // the text that loops over messages wrote for each message
};

struct RenderOptions {
  bool add_generation_prompt = false;
  std::string date = "2024-07-26";  // the value of strftime_now (at midnight): YYYY-MM-DD
  bool tell_date = false;           // also set date_string, in the form of Llama 3: 26 Jul 2024
  // bos_token, eos_token and so on.
  std::map<std::string, std::string> variables = {};
  // An object of further variables (transformers' keyword arguments of apply_chat_template), before
  // those of the same name in `variables`; null: none.
  std::shared_ptr<const nlohmann::ordered_json> arguments = nullptr;
};

class Program;

// Immutable and thread-safe.
class Template {
 public:
  static tl::expected<Template, TemplateError> Parse(std::string_view source);
  Template(Template&&) noexcept;
  Template& operator=(Template&&) noexcept;
  ~Template();

  tl::expected<Rendered, TemplateError> Render(std::span<const Message> messages,
                                               const RenderOptions& options) const;

 private:
  explicit Template(std::unique_ptr<const Program> program);

  std::unique_ptr<const Program> program_;
};

}  // namespace agentr::jinja
