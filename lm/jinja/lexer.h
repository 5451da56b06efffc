// Splits a template into tokens; Jinja's white space control is already applied.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lm/jinja/template.h"

namespace agentr::jinja {

enum class TokenKind {
  kData,  // text between tags
  kBlockBegin,
  kBlockEnd,
  kVariableBegin,
  kVariableEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;  // for a string, its value
  Place place = {};
};

// Throws Failure(kSyntax, kUnsupported).
std::vector<Token> Tokenize(std::string_view source);

}  // namespace agentr::jinja
