#include "lm/jinja/expression_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace agentr::jinja {
namespace {

constexpr int kMaxNesting = 120;

}  // namespace

ExpressionParser::Nested::Nested(ExpressionParser& parser) : parser_(parser) {
  if (++parser.nesting_ > kMaxNesting) {
    throw Failure(TemplateError::Kind::kLimit, parser.Current().place,
                  fmt::format("more than {} levels of nesting", kMaxNesting));
  }
}

void ExpressionParser::Fail(const std::string& message) const {
  throw Failure(TemplateError::Kind::kSyntax, Current().place, message);
}

void ExpressionParser::Refuse(const std::string& what) const {
  throw Failure(TemplateError::Kind::kUnsupported, Current().place, what);
}

bool ExpressionParser::IsOperator(std::string_view text) const {
  return Is(TokenKind::kOperator) && Current().text == text;
}
bool ExpressionParser::IsName(std::string_view text) const {
  return Is(TokenKind::kName) && Current().text == text;
}
bool ExpressionParser::SkipOperator(std::string_view text) {
  const bool found = IsOperator(text);
  if (found) Advance();
  return found;
}
bool ExpressionParser::SkipName(std::string_view text) {
  const bool found = IsName(text);
  if (found) Advance();
  return found;
}
void ExpressionParser::ExpectOperator(std::string_view text) {
  if (!SkipOperator(text)) Fail(fmt::format("expected '{}', not '{}'", text, Current().text));
}
std::string ExpressionParser::ExpectName() {
  if (!Is(TokenKind::kName)) Fail(fmt::format("expected a name, not '{}'", Current().text));
  std::string name = Current().text;
  Advance();
  return name;
}
void ExpressionParser::Expect(TokenKind kind, std::string_view what) {
  if (!Is(kind)) Fail(fmt::format("expected {}, not '{}'", what, Current().text));
  Advance();
}

int ExpressionParser::Symbol(const std::string& name) {
  const auto [found, is_new] = symbols_.try_emplace(name, static_cast<int>(symbols_.size()));
  if (is_new) program_->symbols.push_back(name);
  return found->second;
}

ExpressionPtr ExpressionParser::ParseExpression(bool with_conditional) {
  const Nested nested(*this);
  return with_conditional ? ParseConditional() : ParseOr();
}

bool ExpressionParser::IsTupleEnd(std::string_view end) const {
  return Is(TokenKind::kVariableEnd) || Is(TokenKind::kBlockEnd) || IsOperator(")") ||
         (!end.empty() && IsName(end));
}

ExpressionPtr ExpressionParser::ParseTuple(bool with_conditional, std::string_view end,
                                           bool in_parentheses) {
  const Place place = Current().place;
  std::vector<ExpressionPtr> items;
  bool is_tuple = false;
  while (!IsTupleEnd(end)) {
    items.push_back(ParseExpression(with_conditional));
    if (!SkipOperator(",")) break;
    is_tuple = true;
  }
  if (!is_tuple && !items.empty()) return items[0];
  if (!is_tuple && !in_parentheses) Fail("expected an expression");
  auto* tuple = New<ListDisplay>(place);
  tuple->kind = ListKind::kTuple;
  tuple->items = std::move(items);
  return tuple;
}

ExpressionPtr ExpressionParser::ParseConditional() {
  ExpressionPtr left = ParseOr();
  while (IsName("if")) {
    auto* node = New<Conditional>();
    Advance();
    node->then = left;
    node->condition = ParseOr();
    if (SkipName("else")) {
      const Nested nested(*this);
      node->otherwise = ParseConditional();
    }
    left = node;
  }
  return left;
}

ExpressionPtr ExpressionParser::ParseLogical(std::string_view name, Operand operand) {
  ExpressionPtr left = (this->*operand)();
  while (IsName(name)) {
    auto* node = New<Logical>();
    Advance();
    node->is_and = name == "and";
    node->left = left;
    node->right = (this->*operand)();
    left = node;
  }
  return left;
}

ExpressionPtr ExpressionParser::ParseOr() {
  return ParseLogical("or", &ExpressionParser::ParseAnd);
}

ExpressionPtr ExpressionParser::ParseAnd() {
  return ParseLogical("and", &ExpressionParser::ParseNot);
}

ExpressionPtr ExpressionParser::ParseNot() {
  if (!IsName("not")) return ParseCompare();
  const Nested nested(*this);
  auto* node = New<Not>();
  Advance();
  node->operand = ParseNot();
  return node;
}

ExpressionPtr ExpressionParser::ParseCompare() {
  const Place place = Current().place;
  ExpressionPtr left = ParseSum();
  std::vector<std::pair<std::string, ExpressionPtr>> operations;
  for (;;) {
    constexpr std::string_view kOperators[] = {"==", "!=", "<", "<=", ">", ">="};
    if (Is(TokenKind::kOperator) && std::ranges::count(kOperators, Current().text)) {
      const std::string operation = Current().text;
      Advance();
      operations.emplace_back(operation, ParseSum());
    } else if (SkipName("in")) {
      operations.emplace_back("in", ParseSum());
    } else if (IsName("not") && Next().kind == TokenKind::kName && Next().text == "in") {
      Advance();
      Advance();
      operations.emplace_back("not in", ParseSum());
    } else {
      break;
    }
  }
  if (operations.empty()) return left;
  auto* node = New<Compare>(place);
  node->left = left;
  node->operations = std::move(operations);
  return node;
}

ExpressionPtr ExpressionParser::ParseBinary(std::initializer_list<std::string_view> operators,
                                            Operand operand) {
  ExpressionPtr left = (this->*operand)();
  while (std::ranges::any_of(operators, [&](auto text) { return IsOperator(text); })) {
    auto* node = New<Binary>();
    node->operation = Current().text;
    Advance();
    node->left = left;
    node->right = (this->*operand)();
    left = node;
  }
  return left;
}

ExpressionPtr ExpressionParser::ParseSum() {
  return ParseBinary({"+", "-"}, &ExpressionParser::ParseConcat);
}

ExpressionPtr ExpressionParser::ParseConcat() {
  const Place place = Current().place;
  std::vector<ExpressionPtr> parts = {ParseProduct()};
  while (SkipOperator("~")) parts.push_back(ParseProduct());
  if (parts.size() == 1) return parts[0];
  auto* node = New<Concat>(place);
  node->parts = std::move(parts);
  return node;
}

ExpressionPtr ExpressionParser::ParseProduct() {
  return ParseBinary({"*", "/", "//", "%"}, &ExpressionParser::ParsePower);
}

ExpressionPtr ExpressionParser::ParsePower() {
  return ParseBinary({"**"}, &ExpressionParser::ParseFiltered);
}

ExpressionPtr ExpressionParser::ParseFiltered() { return ParseFilterExpression(ParseUnary()); }

ExpressionPtr ExpressionParser::ParseUnary() {
  ExpressionPtr node;
  if (IsOperator("-") || IsOperator("+")) {
    const Nested nested(*this);
    auto* sign = New<Sign>();
    sign->negative = IsOperator("-");
    Advance();
    sign->operand = ParseUnary();
    node = sign;
  } else {
    node = ParsePrimary();
  }
  return ParsePostfix(node);
}

ExpressionPtr ExpressionParser::ParsePrimary() {
  if (Is(TokenKind::kName)) return ParseName();
  if (Is(TokenKind::kInteger) || Is(TokenKind::kFloat)) return ParseNumber();
  if (Is(TokenKind::kString)) {
    auto* node = New<Constant>();
    std::string text;
    for (; Is(TokenKind::kString); Advance()) text += Current().text;
    node->value = Value(std::move(text));
    return node;
  }
  if (SkipOperator("(")) {
    const Nested nested(*this);
    const ExpressionPtr node = ParseTuple(true, {}, /*in_parentheses=*/true);
    ExpectOperator(")");
    return node;
  }
  if (IsOperator("[")) return ParseList();
  if (IsOperator("{")) return ParseDict();
  Fail(Is(TokenKind::kBlockEnd) || Is(TokenKind::kVariableEnd)
           ? "an expression is missing"
           : fmt::format("unexpected '{}'", Current().text));
}

ExpressionPtr ExpressionParser::ParseName() {
  const Place place = Current().place;
  const std::string name = ExpectName();
  const bool is_true = name == "true" || name == "True";
  const bool is_false = name == "false" || name == "False";
  if (is_true || is_false || name == "none" || name == "None") {
    auto* node = New<Constant>(place);
    node->value = is_true || is_false ? Value(is_true) : Value(None{});
    return node;
  }
  if (name == "caller" || name == "varargs" || name == "kwargs") ++macro_names_[name];
  if (name == "self" || name == "super" || name == "lipsum") Refuse("the variable " + name);
  auto* node = New<Name>(place);
  node->symbol = Symbol(name);
  node->name = name;
  return node;
}

ExpressionPtr ExpressionParser::ParseNumber() {
  auto* node = New<Constant>();
  const std::string& text = Current().text;
  if (Is(TokenKind::kFloat)) {
    double number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    node->value = Value(number);
  } else {
    int64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
    if (end.ec != std::errc()) Refuse("an integer of more than 63 bits");
    node->value = Value(number);
  }
  Advance();
  return node;
}

ExpressionPtr ExpressionParser::ParseList() {
  auto* node = New<ListDisplay>();
  ExpectOperator("[");
  while (!IsOperator("]")) {
    if (!node->items.empty()) ExpectOperator(",");
    if (IsOperator("]")) break;
    node->items.push_back(ParseExpression());
  }
  ExpectOperator("]");
  return node;
}

ExpressionPtr ExpressionParser::ParseDict() {
  auto* node = New<DictDisplay>();
  ExpectOperator("{");
  while (!IsOperator("}")) {
    if (!node->items.empty()) ExpectOperator(",");
    if (IsOperator("}")) break;
    const ExpressionPtr key = ParseExpression();
    ExpectOperator(":");
    node->items.emplace_back(key, ParseExpression());
  }
  ExpectOperator("}");
  return node;
}

}  // namespace agentr::jinja
