#include "lm/jinja/template.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "lm/jinja/text.h"
#include "tests/lm/tokenizer/golden_tokenizer.h"

namespace agentr::jinja {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using Kind = TemplateError::Kind;

const std::vector<Message> kTalk = {{"system", "Rules."}, {"user", " one\n"}, {"assistant", "tWo"}};

RenderOptions Options(bool generation) {
  RenderOptions options;
  options.add_generation_prompt = generation;
  options.variables = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
  return options;
}

tl::expected<Rendered, TemplateError> Render(std::string_view source,
                                             const std::vector<Message>& talk = kTalk,
                                             bool generation = false) {
  const auto parsed = Template::Parse(source);
  if (!parsed) return tl::make_unexpected(parsed.error());
  return parsed->Render(talk, Options(generation));
}

// As the reference, or where that fails an error.
void ExpectAsReference(const json& row, const tl::expected<Rendered, TemplateError>& ours) {
  if (!row.contains("text")) {
    EXPECT_FALSE(ours) << row << " gave " << ours->text;
    return;
  }
  ASSERT_TRUE(ours) << row << ": " << ours.error().Describe();
  EXPECT_EQ(ours->text, row.at("text").get<std::string>()) << row;
}

TEST(JinjaTemplate, EveryGoldenExpressionIsTransformers) {
  const json golden = ReadGolden("jinja_templates.json");
  const std::vector<Message> talk = ConversationOf(golden.at("conversations").at(1));
  EXPECT_GE(golden.at("expressions").size(), 300u);
  for (const json& row : golden.at("expressions")) {
    const std::string expression = row.at("expression");
    ExpectAsReference(row, Render("{{ " + expression + " }}", talk, true));
  }
}

TEST(JinjaTemplate, EveryGoldenTemplateIsTransformers) {
  const json golden = ReadGolden("jinja_templates.json");
  for (const json& entry : golden.at("templates")) {
    SCOPED_TRACE(entry.at("name"));
    for (const json& row : entry.at("rows")) {
      const auto talk = ConversationOf(golden["conversations"][row["conversation"].get<size_t>()]);
      ExpectAsReference(row, Render(entry.at("template").get<std::string>(), talk,
                                    row.at("generation").get<bool>()));
    }
  }
}

// The text with what messages said in brackets: "[1:one]".
std::string Marked(std::string_view source) {
  const auto rendered = Render(source);
  if (!rendered) return rendered.error().Describe();
  std::string marked;
  size_t done = 0;
  for (const Mark& mark : rendered->marks) {
    marked += rendered->text.substr(done, mark.begin - done);
    marked += fmt::format("[{}:{}]", mark.message,
                          rendered->text.substr(mark.begin, mark.end - mark.begin));
    done = mark.end;
  }
  return marked + rendered->text.substr(done);
}

TEST(JinjaTemplate, MarksFollowWhatMessagesSaid) {
  const auto of = [](const std::string& expression) {
    return Marked("{% set a = messages[1].content %}{% set b = messages[2].content %}{{ " +
                  expression + " }}");
  };
  EXPECT_EQ(of("'x' + a + 'y' ~ b"), "x[1: one\n]y[2:tWo]");
  EXPECT_EQ(of("a | trim ~ b"), "[1:one][2:tWo]");
  EXPECT_EQ(of("b | upper ~ b.lower() ~ b.title()"), "[2:TWOtwoTwo]");
  EXPECT_EQ(of("('<' ~ b ~ '>')[::-1]"), ">[2:oWt]<");
  EXPECT_EQ(of("('<' ~ b ~ '>')[2:]"), "[2:Wo]>");
  EXPECT_EQ(of("b.split('W')[1] ~ b.split('W')[0]"), "[2:ot]");
  EXPECT_EQ(of("b.replace('W', '--')"), "[2:t--o]");
  EXPECT_EQ(of("'a-b'.replace('-', b)"), "a[2:tWo]b");
  EXPECT_EQ(of("{'k': a} | tojson"), "{\"k\": \"[1: one\\n]\"}");
  EXPECT_EQ(of("['q', b] | join('&')"), "q&[2:tWo]");
  EXPECT_EQ(of("'%s!' % b ~ '{}?'.format(b)"), "[2:tWo]![2:tWo]?");
  EXPECT_EQ(of("[b]"), "['[2:tWo]']");
  EXPECT_EQ(of("messages[0].role ~ (b | length)"), "system3");
  EXPECT_EQ(of("'<' ~ a.strip(' one\\n') ~ '>'"), "<[1:]>");
  EXPECT_EQ(Marked("{% set x %}<{{ messages[2].content }}>{% endset %}{{ x | trim('<') }}"),
            "[2:tWo]>");
  EXPECT_EQ(Marked("{% macro m(x) %}({{ x }}){% endmacro %}{{ m(messages[2].content) }}"),
            "([2:tWo])");
  EXPECT_EQ(Marked("{% for c in messages[2].content %}{{ c }}.{% endfor %}"), "[2:t].[2:W].[2:o].");
}

TEST(JinjaTemplate, GenerationAndTurnsAreRegionsOfTheText) {
  const auto rendered = Render(
      "{% for m in messages %}<{% if m.role == 'assistant' %}{% generation %}{{ m.content }}!"
      "{% endgeneration %}{% endif %}>{% endfor %}");
  ASSERT_TRUE(rendered);
  ASSERT_EQ(rendered->text, "<><><tWo!>");
  ASSERT_EQ(rendered->generations.size(), 1u);
  EXPECT_EQ(rendered->generations[0].begin, 5u);
  EXPECT_EQ(rendered->generations[0].end, 9u);
  ASSERT_EQ(rendered->turns.size(), 3u);
  EXPECT_EQ(rendered->turns[2].message, 2);
  EXPECT_EQ(rendered->turns[2].begin, 4u);
}

TEST(JinjaTemplate, ErrorsTellTheirPlace) {
  const auto error = [](std::string_view source) {
    const auto rendered = Render(source);
    return rendered ? "no error" : rendered.error().Describe();
  };
  EXPECT_EQ(error("ab\n {{ 1 + }}"),
            "line 2, column 9: not a template of Jinja: an expression is missing");
  EXPECT_THAT(error("{% if true %}x"), HasSubstr("{% endif %} is missing"));
  EXPECT_THAT(error("{{ 'a }}"), HasSubstr("line 1, column 4: not a template of Jinja: a string"));
  EXPECT_THAT(error("{% include 'x' %}"), HasSubstr("column 4: not supported: the tag {% include"));
  EXPECT_THAT(error("{% break %}"), HasSubstr("stands in no loop"));
  EXPECT_THAT(error("{{ x\n.y }}"), HasSubstr("line 2, column 1: 'x' is undefined"));
  EXPECT_THAT(error("{{ 'a' | pprint }}"), HasSubstr("not supported: the filter 'pprint'"));
  EXPECT_THAT(error("{{ 1 is testing }}"), HasSubstr("not supported: the test 'testing'"));
  EXPECT_THAT(error("{{ messages | map('upper') }}"), HasSubstr("not supported: the text of"));
  EXPECT_THAT(error("{{ ('a' | safe) + 'b' }}"), HasSubstr("not supported: working with a text"));
  EXPECT_THAT(error("{{ raise_exception('no ' ~ 1) }}"), HasSubstr("the template refuses: no 1"));
  EXPECT_THAT(error("{{ [1].append(2) }}"), HasSubstr("the sandbox does not allow"));
  EXPECT_THAT(error("{{ 9223372036854775807 + 1 }}"), HasSubstr("beyond 63 bits"));
}

TEST(JinjaTemplate, HostileTemplatesEndAtALimit) {
  std::string deep = "1", chain = "{{ 1";
  for (int i = 0; i < 5000; ++i) deep = "(" + deep + ")";
  for (int i = 0; i < 50000; ++i) chain += "+1";
  const std::string hostile[] = {
      "{{ " + deep + " }}",
      chain + " }}",
      "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
      "{% set ns = namespace(x='ab') %}{% for i in range(100) %}{% set ns.x = ns.x ~ ns.x %}{% "
      "endfor %}",
      "{% for a in range(99999) %}{% for b in range(99999) %}{{ b }}{% endfor %}{% endfor %}",
      "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
      "{{ 'x' * 99999999999 }}",
      "{{ [0] * 99999999999 }}",
      "{% set ns = namespace(x=1) %}{% for i in range(99999) %}{% set ns.x = [ns.x] %}{% endfor %}",
      "{% set ns = namespace(x=1) %}{% for i in range(99999) %}{% set ns.x = {1: ns.x} %}{% endfor "
      "%}",
      "{{ 'a' | indent(9999999999) | replace('a', 'b' * 999999999) }}",
  };
  for (const std::string& source : hostile) {
    const auto rendered = Render(source);
    ASSERT_FALSE(rendered) << source.substr(0, 60);
    EXPECT_EQ(rendered.error().kind, Kind::kLimit) << rendered.error().Describe();
  }
  // A namespace that holds itself is no error, and no leak.
  EXPECT_TRUE(Render("{% set ns = namespace() %}{% set ns.x = ns %}{% set ns.y = [ns] %}"));
}

// Jinja takes one item from it.
TEST(JinjaTemplate, TheFirstItemOfAGeneratorIsTaken) {
  const auto rendered = Render(
      "{{ (messages | selectattr('role', 'equalto', 'user') | first).content | trim }} "
      "{% set roles = messages | map(attribute='role') %}{{ roles | first }} {{ roles | first }} "
      "{{ roles | join }} {{ roles | first is defined }}");
  ASSERT_TRUE(rendered) << rendered.error().Describe();
  EXPECT_EQ(rendered->text, "one system user assistant False");
}

// Against every place at which the part could stand.
TEST(Occurrences, AreThoseOfAPlainSearch) {
  const std::string letters = "ab";
  for (int text_bits = 0; text_bits < 1 << 9; ++text_bits) {
    std::string text;
    for (int i = 0; i < 9; ++i) text += letters[text_bits >> i & 1];
    for (const std::string part : {"", "a", "aa", "ab", "aba", "abab", "bbbbbbbbbb"}) {
      for (const bool from_right : {false, true}) {
        Occurrences found(text, part, from_right);
        size_t begin = 0, end = text.size();
        while (true) {
          const size_t rest = from_right ? text.substr(0, end).rfind(part) : text.find(part, begin);
          ASSERT_EQ(found.Next(), rest) << text << " " << part << from_right;
          if (rest == std::string::npos || part.empty()) break;
          begin = rest + part.size();
          end = rest;
        }
        if (part.empty()) {
          EXPECT_EQ(found.Next(), std::string::npos);
        }
      }
    }
  }
}

// A search that compares the part at every place would take hours here.
TEST(JinjaTemplate, LongRepetitiveTextsAreSearchedInLinearTime) {
  const std::string begin =
      "{% set text = 'a' * 6000000 %}{% set part = 'a' * 3000000 ~ 'b' ~ 'a' * 10 %}";
  for (const char* search :
       {"part in text", "text.find(part)", "text.rfind(part)", "text.count(part)",
        "text.replace(part, '') | length", "text.split(part) | length",
        "text.rsplit(part) | length", "text.partition(part)[1]", "text.rpartition(part)[0]"}) {
    EXPECT_TRUE(Render(begin + "{{ " + search + " }}")) << search;
  }
  EXPECT_TRUE(Render(begin + "{{ text.strip(part) }}"));
}

TEST(JinjaTemplate, ManyWordsAreSplitWithoutALimit) {
  std::string words;
  for (int i = 0; i < 30'000; ++i) words += " word";
  const auto rendered = Render(
      "{{ messages[0].content.split() | length }} "
      "{{ messages[0].content.split(none, 2) | last | length }}",
      {{"user", words}});
  ASSERT_TRUE(rendered) << rendered.error().Describe();
  EXPECT_EQ(rendered->text, "30000 149989");
}

TEST(JinjaTemplate, ComparisonsOfLongTextsAreWork) {
  const std::string begin =
      "{% set a = 'x' * 9000000 %}{% set b = 'x' * 9000000 %}"
      "{% for i in range(99999) %}";
  for (const char* compare : {"a == b", "a < b", "a.startswith(b)", "b in [a]"}) {
    const auto rendered = Render(begin + "{% if not (" + compare + ") %}x{% endif %}{% endfor %}");
    ASSERT_FALSE(rendered) << compare;
    EXPECT_EQ(rendered.error().kind, Kind::kLimit);
  }
}

TEST(JinjaTemplate, TellsTheDateItIsGiven) {
  RenderOptions options;
  const auto parsed = Template::Parse("{{ strftime_now('%d %b %Y') }}{{ date_string }}");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->Render(kTalk, options)->text, "26 Jul 2024");
  options.date = "2025-02-01";
  options.tell_date = true;
  EXPECT_EQ(parsed->Render(kTalk, options)->text, "01 Feb 202501 Feb 2025");
}

TEST(JinjaTemplate, ContentsThatAreNotUtf8AreRepaired) {
  const std::vector<Message> talk = {{"user", "a\xC3"}};
  EXPECT_EQ(Render("{{ messages[0].content | length }}{{ messages[0].content }}", talk)->text,
            "2a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace agentr::jinja
