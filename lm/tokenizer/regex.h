// Runs the regular expressions of tokenizer.json with PCRE2 (Unicode properties, JIT).
//
// The tokenizers library runs them with Oniguruma in Ruby's syntax: ^ and $ match at each line, and
// \s is Unicode's White_Space. This class gives them the same meaning.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lm/tokenizer/tokenizer_json.h"

struct pcre2_real_code_8;

namespace agentr {

// Immutable and thread-safe.
class Regex {
 public:
  // Throws FatalError(kFile) naming `where` for a pattern that PCRE2 cannot compile.
  Regex(const std::string& pattern, const std::string& where);

  static Regex Literal(std::string_view text);  // matches `text` itself
  // From {"Regex": pattern} or {"String": text}, as tokenizer.json writes them.
  static Regex FromPattern(const TokenizerJson& field);

  // Calls `on_match` with begin and end of each match in turn; `text` is valid UTF-8. Throws
  // FatalError(kInternal) if the pattern needs more memory than PCRE2 allows it.
  void ForEachMatch(std::string_view text,
                    const std::function<void(size_t begin, size_t end)>& on_match) const;

 private:
  std::shared_ptr<pcre2_real_code_8> code_;
};

}  // namespace agentr
