// Parses the expressions of a template; base class of the parser of statements.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lm/jinja/lexer.h"
#include "lm/jinja/nodes.h"

namespace agentr::jinja {

// Each function parses the same as the function of that name in Jinja's parser, if there is one.
class ExpressionParser {
 protected:
  explicit ExpressionParser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  // Counts one level of nesting in the source.
  class Nested {
   public:
    explicit Nested(ExpressionParser& parser);
    ~Nested() { --parser_.nesting_; }

   private:
    ExpressionParser& parser_;
  };

  [[noreturn]] void Fail(const std::string& message) const;
  [[noreturn]] void Refuse(const std::string& what) const;

  const Token& Current() const { return tokens_[at_]; }
  const Token& Next() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  bool Is(TokenKind kind) const { return Current().kind == kind; }
  bool IsOperator(std::string_view text) const;
  bool IsName(std::string_view text) const;
  bool SkipOperator(std::string_view text);
  bool SkipName(std::string_view text);
  void ExpectOperator(std::string_view text);
  std::string ExpectName();
  void Expect(TokenKind kind, std::string_view what);
  void Advance() {
    if (at_ + 1 < tokens_.size()) ++at_;
  }

  int Symbol(const std::string& name);

  // A new node of the program, at the current token or at `place`.
  template <typename T>
  T* New(Place place) {
    auto node = std::make_unique<T>();
    node->place = place;
    T* raw = node.get();
    program_->nodes.push_back(std::move(node));
    return raw;
  }
  template <typename T>
  T* New() {
    return New<T>(Current().place);
  }

  ExpressionPtr ParseExpression(bool with_conditional = true);
  // One expression, or a tuple of several with commas. `end`: a name that ends it.
  ExpressionPtr ParseTuple(bool with_conditional, std::string_view end = {},
                           bool in_parentheses = false);
  // The following filters, applied to `input` (null in {% filter %} and {% set %}).
  const Filter* ParseFilter(ExpressionPtr input, bool inline_start);

  std::unique_ptr<Program> program_ = std::make_unique<Program>();
  std::map<std::string, size_t> macro_names_;  // how often caller, varargs and kwargs occurred

 private:
  ExpressionPtr ParseConditional();
  ExpressionPtr ParseOr();
  ExpressionPtr ParseAnd();
  ExpressionPtr ParseNot();
  ExpressionPtr ParseCompare();
  ExpressionPtr ParseSum();
  ExpressionPtr ParseConcat();
  ExpressionPtr ParseProduct();
  ExpressionPtr ParsePower();
  ExpressionPtr ParseFiltered();
  ExpressionPtr ParseUnary();
  ExpressionPtr ParsePrimary();
  ExpressionPtr ParseName();
  ExpressionPtr ParseNumber();
  ExpressionPtr ParseList();
  ExpressionPtr ParseDict();
  ExpressionPtr ParsePostfix(ExpressionPtr node);
  ExpressionPtr ParseFilterExpression(ExpressionPtr node);
  ExpressionPtr ParseTest(ExpressionPtr node);
  ExpressionPtr ParseSubscript(ExpressionPtr node);
  const Call* ParseCall(ExpressionPtr node);
  CallArguments ParseArguments();
  bool IsTupleEnd(std::string_view end) const;

  using Operand = ExpressionPtr (ExpressionParser::*)();
  // Operands with operators of one precedence between them, joined from the left.
  ExpressionPtr ParseLogical(std::string_view name, Operand operand);
  ExpressionPtr ParseBinary(std::initializer_list<std::string_view> operators, Operand operand);

  const std::vector<Token> tokens_;
  size_t at_ = 0;
  int nesting_ = 0;
  std::map<std::string, int> symbols_;
};

}  // namespace agentr::jinja
