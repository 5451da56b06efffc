// Parses the statements of a template.
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "lm/jinja/expression_parser.h"

namespace agentr::jinja {
namespace {

class StatementParser : public ExpressionParser {
 public:
  explicit StatementParser(std::vector<Token> tokens) : ExpressionParser(std::move(tokens)) {}

  std::unique_ptr<const Program> Parse() {
    program_->body = ParseUntil({});
    return std::move(program_);
  }

 private:
  using Names = std::initializer_list<std::string_view>;

  // Text and statements up to a tag that begins with one of `ends`; that name is then the current
  // token.
  Block ParseUntil(Names ends) {
    const Nested nested(*this);
    Block block;
    while (!Is(TokenKind::kEnd)) {
      if (Is(TokenKind::kData)) {
        auto* data = New<Data>();
        data->text = Current().text;
        block.push_back(data);
        Advance();
      } else if (Is(TokenKind::kVariableBegin)) {
        Advance();
        auto* output = New<Output>();
        output->value = ParseTuple(true);
        block.push_back(output);
        Expect(TokenKind::kVariableEnd, "}}");
      } else {
        Expect(TokenKind::kBlockBegin, "a tag");
        if (std::ranges::any_of(ends, [&](std::string_view end) { return IsName(end); })) {
          return block;
        }
        block.push_back(ParseStatement());
        Expect(TokenKind::kBlockEnd, "%}");
      }
    }
    if (ends.size() > 0) Fail(fmt::format("{{% {} %}} is missing", *(ends.end() - 1)));
    return block;
  }

  // The rest of a tag, and the block up to one of `ends`.
  Block ParseBody(Names ends) {
    SkipOperator(":");
    Expect(TokenKind::kBlockEnd, "%}");
    return ParseUntil(ends);
  }
  Block ParseBodyTo(std::string_view end) {
    Block block = ParseBody({end});
    Advance();
    return block;
  }

  const Statement* ParseStatement() {
    if (!Is(TokenKind::kName)) Fail("the name of a tag is missing");
    if (IsName("if")) return ParseIf();
    if (IsName("for")) return ParseFor();
    if (IsName("set")) return ParseSet();
    if (IsName("macro")) return ParseMacro();
    if (IsName("call")) return ParseCallBlock();
    if (IsName("with")) return ParseWith();
    if (IsName("filter")) return ParseFilterBlock();
    if (IsName("print")) return ParsePrint();
    if (IsName("generation")) {
      auto* node = New<Generation>();
      Advance();
      const size_t loops = std::exchange(loops_, 0);  // the body is a separate call, in which an
                                                      // outer loop cannot be left
      node->body = ParseBodyTo("endgeneration");
      loops_ = loops;
      return node;
    }
    if (IsName("break") || IsName("continue")) {
      auto* node = New<LoopControl>();
      if (loops_ == 0) Fail("'" + Current().text + "' stands in no loop");
      node->flow = IsName("break") ? Flow::kBreak : Flow::kContinue;
      Advance();
      return node;
    }
    constexpr std::string_view kOthers[] = {"block",      "extends", "include", "import", "from",
                                            "autoescape", "trans",   "do",      "debug"};
    if (std::ranges::count(kOthers, Current().text) > 0) {
      Refuse("the tag {% " + Current().text + " %}");
    }
    Fail("unknown tag '" + Current().text + "'");
  }

  const Statement* ParseIf() {
    auto* node = New<If>();
    do {
      Advance();
      const ExpressionPtr condition = ParseTuple(false);
      node->branches.emplace_back(condition, ParseBody({"elif", "else", "endif"}));
    } while (IsName("elif"));
    const bool has_else = IsName("else");
    Advance();
    if (has_else) node->otherwise = ParseBodyTo("endif");
    return node;
  }

  const Statement* ParseFor() {
    auto* node = New<For>();
    Advance();
    node->target = ParseTarget("in", false);
    if (!SkipName("in")) Fail("expected 'in'");
    node->items = ParseTuple(false, "recursive");
    if (SkipName("if")) node->filter = ParseExpression();
    if (IsName("recursive")) Refuse("a recursive loop");
    node->loop_symbol = Symbol("loop");
    ++loops_;
    node->body = ParseBody({"else", "endfor"});
    --loops_;
    const bool has_else = IsName("else");
    Advance();
    if (has_else) node->otherwise = ParseBodyTo("endfor");
    return node;
  }

  Target ParseOneTarget(bool with_namespace) {
    if (SkipOperator("(")) {
      const Nested nested(*this);
      Target target = ParseTarget({}, with_namespace);
      ExpectOperator(")");
      return target;
    }
    const std::string name = ExpectName();
    constexpr std::string_view kConstants[] = {"true", "false", "none", "True", "False", "None"};
    if (std::ranges::count(kConstants, name) > 0) Fail("'" + name + "' cannot be assigned to");
    Target target;
    target.symbol = Symbol(name);
    if (with_namespace && SkipOperator(".")) target.attribute = ExpectName();
    return target;
  }

  Target ParseTarget(std::string_view end, bool with_namespace) {
    Target first = ParseOneTarget(with_namespace);
    if (!IsOperator(",")) return first;
    Target all;
    all.parts.push_back(std::move(first));
    while (SkipOperator(",")) {
      if (IsOperator("=") || IsOperator(")") || (!end.empty() && IsName(end))) break;
      all.parts.push_back(ParseOneTarget(with_namespace));
    }
    return all;
  }

  const Statement* ParseSet() {
    const Place place = Current().place;
    Advance();
    Target target = ParseTarget({}, true);
    if (SkipOperator("=")) {
      auto* node = New<Set>(place);
      node->target = std::move(target);
      node->value = ParseTuple(true);
      return node;
    }
    auto* node = New<SetBlock>(place);
    node->target = std::move(target);
    node->filter = ParseFilter(nullptr, false);
    node->body = ParseBodyTo("endset");
    return node;
  }

  const Statement* ParseWith() {
    auto* node = New<With>();
    Advance();
    while (!Is(TokenKind::kBlockEnd)) {
      if (!node->values.empty()) ExpectOperator(",");
      Target target = ParseOneTarget(false);
      ExpectOperator("=");
      node->values.emplace_back(std::move(target), ParseExpression());
    }
    node->body = ParseBodyTo("endwith");
    return node;
  }

  const Statement* ParseFilterBlock() {
    auto* node = New<FilterBlock>();
    Advance();
    node->filter = ParseFilter(nullptr, true);
    node->body = ParseBodyTo("endfilter");
    return node;
  }

  const Statement* ParsePrint() {
    Advance();
    auto* node = New<Output>();
    node->value = ParseTuple(true);
    if (IsOperator(",")) Refuse("{% print %} of several values");
    return node;
  }

  void ParseSignature(MacroBody& macro) {
    ExpectOperator("(");
    while (!IsOperator(")")) {
      if (!macro.parameters.empty()) ExpectOperator(",");
      MacroBody::Parameter parameter{0, ExpectName(), nullptr};
      parameter.symbol = Symbol(parameter.name);
      if (SkipOperator("=")) {
        parameter.value = ParseExpression();
      } else if (!macro.parameters.empty() && macro.parameters.back().value != nullptr) {
        Fail("a parameter without a default follows one with a default");
      }
      macro.parameters.push_back(std::move(parameter));
    }
    ExpectOperator(")");
  }

  // A macro accepts caller, varargs and kwargs if its body reads them.
  void ParseMacroBody(MacroBody& macro, std::string_view end) {
    const auto before = macro_names_;
    const size_t loops = std::exchange(loops_, 0);
    macro.body = ParseBodyTo(end);
    loops_ = loops;
    const auto symbol = [&](const std::string& name) {
      const auto old = before.find(name);
      const size_t count = macro_names_[name];
      return count > (old == before.end() ? 0 : old->second) ? Symbol(name) : -1;
    };
    macro.caller_symbol = symbol("caller");
    macro.varargs_symbol = symbol("varargs");
    macro.kwargs_symbol = symbol("kwargs");
    for (const MacroBody::Parameter& parameter : macro.parameters) {
      if (parameter.name == "caller" || parameter.name == "varargs" || parameter.name == "kwargs") {
        Refuse("a parameter named " + parameter.name);
      }
    }
  }

  const Statement* ParseMacro() {
    auto* node = New<Macro>();
    Advance();
    node->body.name = ExpectName();
    node->symbol = Symbol(node->body.name);
    ParseSignature(node->body);
    ParseMacroBody(node->body, "endmacro");
    return node;
  }

  const Statement* ParseCallBlock() {
    auto* node = New<CallBlock>();
    Advance();
    node->body.name = "caller";
    if (IsOperator("(")) ParseSignature(node->body);
    node->call = dynamic_cast<const Call*>(ParseExpression());
    if (node->call == nullptr) Fail("{% call %} needs a call");
    ParseMacroBody(node->body, "endcall");
    return node;
  }

  size_t loops_ = 0;  // loops around the current place, within its macro
};

}  // namespace

std::unique_ptr<const Program> ParseProgram(std::string_view source) {
  return StatementParser(Tokenize(source)).Parse();
}

}  // namespace agentr::jinja
