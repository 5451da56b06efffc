// Templates of conversations in Jinja, as model folders carry them, rendered as transformers does.
//
// The language is that of Jinja 3.1 as transformers sets it up: an immutable sandbox, trim_blocks,
// lstrip_blocks, loop controls, {% generation %}, raise_exception, strftime_now, and a tojson that
// leaves characters as they are. What templates of conversations do not use (inheritance, imports,
// autoescaping, some filters) is refused with its place; nothing is rendered in another way.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "clients/language_model.h"
#include "lm/chat/jinja/text.h"

namespace agentr::jinja {

// In the template, both from 1; columns count bytes.
struct Place {
  int line = 1;
  int column = 1;
};

struct TemplateError {
  enum class Kind {
    kSyntax,       // not Jinja
    kUnsupported,  // Jinja that this interpreter lacks
    kRaised,       // by the template: raise_exception
    kFailed,       // as Python or Jinja fails: a type or value that an operation does not take
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
  int message = -1;  // the message whose turn of a loop wrote it; -1: none
};

struct Rendered {
  std::string text;
  std::vector<Mark> marks;          // what the messages said
  std::vector<Region> generations;  // {% generation %}: what an assistant says in its turn
  std::vector<Region> turns;        // what loops over messages wrote for each
};

struct RenderOptions {
  bool add_generation_prompt = false;
  std::string date = "2024-07-26";  // what strftime_now tells, at midnight: YYYY-MM-DD
  bool tell_date = false;           // date_string too, as Llama 3 writes it: 26 Jul 2024
  // bos_token, eos_token and their like.
  std::map<std::string, std::string> variables = {};
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
