// What follows an operand: attributes, subscripts, calls with their arguments, filters and tests.
#include "lm/jinja/expression_parser.h"

namespace agentr::jinja {

ExpressionPtr ExpressionParser::ParsePostfix(ExpressionPtr node) {
  for (;;) {
    if (IsOperator(".") || IsOperator("[")) {
      node = ParseSubscript(node);
    } else if (IsOperator("(")) {
      node = ParseCall(node);
    } else {
      return node;
    }
  }
}

ExpressionPtr ExpressionParser::ParseFilterExpression(ExpressionPtr node) {
  for (;;) {
    if (IsOperator("|")) {
      node = ParseFilter(node, false);
    } else if (IsName("is")) {
      node = ParseTest(node);
    } else if (IsOperator("(")) {
      node = ParseCall(node);
    } else {
      return node;
    }
  }
}

const Filter* ExpressionParser::ParseFilter(ExpressionPtr input, bool inline_start) {
  const Filter* last = nullptr;
  while (inline_start || IsOperator("|")) {
    if (!inline_start) Advance();
    inline_start = false;
    auto* node = New<Filter>();
    node->name = ExpectName();
    if (IsOperator(".")) Refuse("a filter with a dot in its name");
    if (IsOperator("(")) node->arguments = ParseArguments();
    node->input = last != nullptr ? last : input;
    last = node;
  }
  return last;
}

ExpressionPtr ExpressionParser::ParseTest(ExpressionPtr node) {
  const Place place = Current().place;
  Advance();
  const bool negated = SkipName("not");
  auto* test = New<Test>();
  test->input = node;
  test->name = ExpectName();
  if (IsOperator(".")) Refuse("a test with a dot in its name");
  const bool value = Is(TokenKind::kName) || Is(TokenKind::kString) || Is(TokenKind::kInteger) ||
                     Is(TokenKind::kFloat) || IsOperator("[") || IsOperator("{");
  if (IsOperator("(")) {
    test->arguments = ParseArguments();
  } else if (value && !IsName("else") && !IsName("or") && !IsName("and")) {
    if (IsName("is")) Fail("tests cannot be chained with 'is'");
    test->arguments.positional.push_back(ParsePostfix(ParsePrimary()));
  }
  if (!negated) return test;
  auto* negation = New<Not>(place);
  negation->operand = test;
  return negation;
}

ExpressionPtr ExpressionParser::ParseSubscript(ExpressionPtr node) {
  const Place place = Current().place;
  if (SkipOperator(".")) {
    if (Is(TokenKind::kInteger)) {
      auto* item = New<GetItem>(place);
      item->object = node;
      item->index = ParseNumber();
      return item;
    }
    auto* attribute = New<GetAttribute>(place);
    attribute->object = node;
    attribute->name = ExpectName();
    return attribute;
  }
  ExpectOperator("[");
  ExpressionPtr parts[3] = {};
  size_t colons = 0;
  for (; colons < 3; ++colons) {
    if (!IsOperator(":") && !IsOperator("]")) parts[colons] = ParseExpression();
    if (colons == 2 || !SkipOperator(":")) break;
  }
  if (IsOperator(",")) Refuse("a subscript of several values");
  ExpectOperator("]");
  if (colons == 0) {
    if (parts[0] == nullptr) Refuse("an empty subscript");
    auto* item = New<GetItem>(place);
    item->object = node;
    item->index = parts[0];
    return item;
  }
  auto* slice = New<GetSlice>(place);
  slice->object = node;
  slice->begin = parts[0];
  slice->end = parts[1];
  slice->step = parts[2];
  return slice;
}

const Call* ExpressionParser::ParseCall(ExpressionPtr node) {
  auto* call = New<Call>();
  call->callee = node;
  call->arguments = ParseArguments();
  return call;
}

CallArguments ExpressionParser::ParseArguments() {
  const Nested nested(*this);
  CallArguments arguments;
  ExpectOperator("(");
  for (bool first = true; !IsOperator(")"); first = false) {
    if (!first) ExpectOperator(",");
    if (!first && IsOperator(")")) break;
    const bool named =
        Is(TokenKind::kName) && Next().kind == TokenKind::kOperator && Next().text == "=";
    if (arguments.star_star != nullptr) Fail("an argument follows **");
    if (SkipOperator("*")) {
      if (arguments.star != nullptr) Fail("a second * in a call");
      arguments.star = ParseExpression();
    } else if (SkipOperator("**")) {
      arguments.star_star = ParseExpression();
    } else if (named) {
      const std::string name = ExpectName();
      Advance();
      for (const auto& [other, value] : arguments.named) {
        if (other == name) Fail("the argument " + name + " is given twice");
      }
      arguments.named.emplace_back(name, ParseExpression());
    } else {
      if (arguments.star != nullptr || !arguments.named.empty()) {
        Fail("an argument without a name follows one with a name");
      }
      arguments.positional.push_back(ParseExpression());
    }
  }
  ExpectOperator(")");
  return arguments;
}

}  // namespace agentr::jinja
