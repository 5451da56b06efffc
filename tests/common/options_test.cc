#include "common/options.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "common/logging.h"
#include "common/version.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

struct Options {
  int steps = 8;
  double rate = 0.25;
  std::string name = "planner";
  std::vector<std::string> bases = {"a", "b"};
  std::vector<int> numbers;
  bool fast = false;
  bool seed = true;
  uint64_t big = 0;
  double weight = 0;
  std::string url;
};

constexpr const char* kVariable = "AGENTR_TEST_STEPS";

void Declare(OptionSet& set, Options& o) {
  set.Group("Search");
  set.Add("--steps", o.steps, "Steps per tree", kVariable).Min(1);
  set.Add("--rate", o.rate, "Rate of it").Range(0, 1);
  set.Add("--name", o.name, "Name of it");
  set.Add("--bases", o.bases, "Servers");
  set.Add("--numbers", o.numbers, "Numbers");
  set.AddSwitch("--fast", o.fast, "Hurry");
  set.Add("--seed", o.seed, "Send a seed");
  set.Add("--big", o.big, "A big number");
  set.Add("--weight", o.weight, "A number without bounds");
  set.Add("--url", o.url, "Something that is given or left out").NotEmpty().OnlyOnCommandLine();
}

// One parse of a program with Options.
class Parsed {
 public:
  explicit Parsed(std::vector<std::string> arguments) {
    Declare(set, options);
    std::vector<const char*> argv = {"program"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    exit = set.Parse(static_cast<int>(argv.size()), argv.data());
    out = testing::internal::GetCapturedStdout();
    err = testing::internal::GetCapturedStderr();
  }

  Options options;
  OptionSet set{"program", "Does things.", "  program --steps 3"};
  std::optional<ExitCode> exit;
  std::string out;
  std::string err;
};

class OptionsTest : public ::testing::Test {
 protected:
  ~OptionsTest() override { ::unsetenv(kVariable); }
  std::string Config(const std::string& text) {
    return folder_.Write("config.toml", text).string();
  }

  ScratchFolder folder_;
};

TEST_F(OptionsTest, DefaultsStay) {
  const Parsed parsed({});
  EXPECT_FALSE(parsed.exit);
  EXPECT_EQ(parsed.options.steps, 8);
  EXPECT_THAT(parsed.options.bases, ElementsAre("a", "b"));
  EXPECT_FALSE(parsed.set.Given("--steps"));
}

TEST_F(OptionsTest, TheEnvironmentBeatsTheDefault) {
  ::setenv(kVariable, "3", 1);
  const Parsed parsed({});
  EXPECT_EQ(parsed.options.steps, 3);
  EXPECT_TRUE(parsed.set.Given("--steps"));
}

TEST_F(OptionsTest, TheConfigBeatsTheEnvironment) {
  ::setenv(kVariable, "3", 1);
  EXPECT_EQ(Parsed({"--config", Config("steps = 4\n")}).options.steps, 4);
}

TEST_F(OptionsTest, TheFlagBeatsTheConfig) {
  ::setenv(kVariable, "3", 1);
  const Parsed parsed({"--config", Config("steps = 4\nname = 'x'\n"), "--steps", "5"});
  EXPECT_EQ(parsed.options.steps, 5);
  EXPECT_EQ(parsed.options.name, "x");
}

TEST_F(OptionsTest, ConfigsHoldAllSortsOfValues) {
  const Parsed parsed({"--config", Config("# a comment\n"
                                          "rate = 1e-1  # another\n"
                                          "name = \"a \\\"b\\\" \\\\ #c\"\n"
                                          "bases = [ 'x,y', \"z\",\n  # inside\n  'w' ]\n"
                                          "numbers = [1, 0x1F, 1_000]\r\n"
                                          "fast = true\n"
                                          "seed = false\n")});
  ASSERT_FALSE(parsed.exit) << parsed.err;
  EXPECT_EQ(parsed.options.rate, 0.1);
  EXPECT_EQ(parsed.options.name, "a \"b\" \\ #c");
  EXPECT_THAT(parsed.options.bases, ElementsAre("x,y", "z", "w"));
  EXPECT_THAT(parsed.options.numbers, ElementsAre(1, 31, 1000));
  EXPECT_TRUE(parsed.options.fast);
  EXPECT_FALSE(parsed.options.seed);
}

TEST_F(OptionsTest, ResolvedOptionsReadBack) {
  const std::string name = "it's \"here\" = C:\\new # [1] \xc3\xa9";
  const Parsed first({"--name", name, "--bases", "http://a:1", "--bases", "x, y", "--numbers", "3",
                      "--fast", "--seed", "false", "--rate", "0.1", "--big",
                      "18446744073709551615"});
  ASSERT_FALSE(first.exit) << first.err;
  const Parsed second({"--config", Config(first.set.ResolvedToml())});
  ASSERT_FALSE(second.exit) << second.err << first.set.ResolvedToml();
  EXPECT_EQ(second.options.name, name);
  EXPECT_THAT(second.options.bases, ElementsAre("http://a:1", "x, y"));
  EXPECT_THAT(second.options.numbers, ElementsAre(3));
  EXPECT_TRUE(second.options.fast);
  EXPECT_FALSE(second.options.seed);
  EXPECT_EQ(second.options.rate, 0.1);
  EXPECT_EQ(second.options.steps, 8);
  EXPECT_EQ(second.options.big, UINT64_MAX);
  EXPECT_EQ(second.set.ResolvedToml(), first.set.ResolvedToml());
}

TEST_F(OptionsTest, ResolvedOptionsAreWholeTypedAndWithoutSecrets) {
  const Parsed parsed({"--name", ""});
  EXPECT_EQ(parsed.set.ResolvedToml(),
            "steps = 8\nrate = 0.25\nname = \"\"\nbases = [\"a\",\"b\"]\nfast = false\n"
            "seed = true\nbig = 0\nweight = 0.0\n");
  EXPECT_EQ(parsed.set.ResolvedJson().dump(),
            R"({"steps":8,"rate":0.25,"name":"","bases":["a","b"],"numbers":[],"fast":false,)"
            R"("seed":true,"big":0,"weight":0.0})");
  const Parsed again({"--config", Config(parsed.set.ResolvedToml())});
  EXPECT_FALSE(again.exit) << again.err;
  EXPECT_EQ(again.options.name, "");
  EXPECT_THAT(again.options.numbers, IsEmpty());
}

TEST_F(OptionsTest, ResolvedOptionsAreThoseParsed) {
  Parsed parsed({});
  parsed.options.bases = {"http://127.0.0.1:41234"};  // of a server that the program started
  EXPECT_THAT(parsed.set.ResolvedToml(), Not(HasSubstr("41234")));
}

TEST_F(OptionsTest, VerbatimTextsKeepTheirBrackets) {
  const auto parsed = [](std::vector<std::string> stop, const char* flag,
                         const std::string& value) {
    OptionSet set("program", "Does things.");
    set.Add("--stop", stop, "Text at which it ends").Verbatim();
    const char* const argv[] = {"program", flag, value.c_str(), "--stop", "[a, b]"};
    const int count = std::string_view(flag) == "--stop" ? 5 : 3;
    EXPECT_EQ(set.Parse(count, argv), std::nullopt);
    return std::pair(stop, set.ResolvedToml());
  };
  const auto [given, toml] = parsed({}, "--stop", "[INST]");
  EXPECT_THAT(given, ElementsAre("[INST]", "[a, b]"));
  EXPECT_THAT(parsed({}, "--config", Config(toml)).first, ElementsAre("[INST]", "[a, b]"));
}

TEST_F(OptionsTest, ConfigsWithUnknownKeysAreRefused) {
  const Parsed parsed({"--config", Config("stepz = 4\n")});
  EXPECT_EQ(parsed.exit, ExitCode::kUsage);
  EXPECT_THAT(parsed.err, HasSubstr("--config: there is no option 'stepz'"));
}

TEST_F(OptionsTest, MalformedConfigsNameFileAndLine) {
  for (const char* text :
       {"steps = 4\n\"\n", "steps = 4\nname = \"x\n", "steps = 4\nname\n", "steps = 4\n[search]\n",
        "steps = 4\nname = 'a' 'b'\n", "steps = 4\nname =\n", "steps = 4\nbases = ['a'",
        "steps = 4\nname='a", "steps = 4\nsteps = 5\n"}) {
    const Parsed parsed({"--config", Config(text)});
    EXPECT_EQ(parsed.exit, ExitCode::kUsage) << text;
    EXPECT_THAT(parsed.err, HasSubstr("config.toml: line 2: ")) << text;
  }
}

TEST_F(OptionsTest, AMissingConfigIsNamed) {
  const Parsed parsed({"--config", "/nowhere/x.toml"});
  EXPECT_EQ(parsed.exit, ExitCode::kFile);
  EXPECT_THAT(parsed.err, HasSubstr("/nowhere/x.toml"));
  EXPECT_EQ(Parsed({"--config", ""}).exit, ExitCode::kUsage) << "an unset variable, most likely";
}

TEST_F(OptionsTest, BadValuesNameTheFlag) {
  const std::vector<std::vector<std::string>> cases = {{"--steps", "0"},
                                                       {"--steps", "many"},
                                                       {"--rate", "1.5"},
                                                       {"--steps"},
                                                       {"--seed", "maybe"},
                                                       {"--weight", "nan"},
                                                       {"--weight", "inf"},
                                                       {"--big", "-1"},
                                                       {"--big", "18446744073709551616"},
                                                       {"--big", "99999999999999999999"},
                                                       {"--url", ""}};
  for (const std::vector<std::string>& arguments : cases) {
    const Parsed parsed(arguments);
    EXPECT_EQ(parsed.exit, ExitCode::kUsage) << arguments.back();
    EXPECT_THAT(parsed.err, HasSubstr(arguments.front()));
    EXPECT_THAT(parsed.err, HasSubstr("--help"));
  }
}

TEST_F(OptionsTest, BadValuesOfConfigAndEnvironmentNameTheFlag) {
  EXPECT_THAT(Parsed({"--config", Config("rate = 7\n")}).err, HasSubstr("--rate"));
  ::setenv(kVariable, "0", 1);
  const Parsed parsed({});
  EXPECT_EQ(parsed.exit, ExitCode::kUsage);
  EXPECT_THAT(parsed.err, HasSubstr("--steps"));
}

TEST_F(OptionsTest, UnknownFlagsAreRefused) {
  const Parsed parsed({"--stepz", "4"});
  EXPECT_EQ(parsed.exit, ExitCode::kUsage);
  EXPECT_THAT(parsed.err, HasSubstr("--stepz; did you mean --steps?"));
  EXPECT_THAT(Parsed({"-steps", "4"}).err, HasSubstr("did you mean --steps?"));
}

TEST_F(OptionsTest, OneOfListsTheChoices) {
  LogOptions log;
  OptionSet set("program", "");
  Declare(set, log);
  const char* argv[] = {"program", "--log_level", "debgu"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(set.Parse(3, argv), ExitCode::kUsage);
  const std::string err = testing::internal::GetCapturedStderr();
  EXPECT_THAT(err, HasSubstr("--log_level"));
  EXPECT_THAT(err, HasSubstr("did you mean debug?"));
}

enum class Colour { kRed, kGreen };
constexpr std::array<NamedValue<Colour>, 2> kColours = {
    {{"red", Colour::kRed}, {"green", Colour::kGreen}}};

struct PaintOptions {
  Colour colour = Colour::kGreen;
  OptionSet set{"paint", "Paints."};

  PaintOptions() { set.AddNamed("--colour", colour, kColours, "Of the paint"); }
  std::optional<ExitCode> Parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "paint");
    return set.Parse(static_cast<int>(arguments.size()), arguments.data());
  }
};

TEST(NamedValues, AreSetByTheirNames) {
  PaintOptions red;
  EXPECT_FALSE(red.Parse({"--colour", "red"}));
  EXPECT_EQ(red.colour, Colour::kRed);
  EXPECT_EQ(red.set.ResolvedToml(), "colour = \"red\"\n");
  PaintOptions same;
  EXPECT_FALSE(same.Parse({}));
  EXPECT_EQ(same.colour, Colour::kGreen) << "the default";
  EXPECT_EQ(same.set.ResolvedToml(), "colour = \"green\"\n");
}

TEST(NamedValues, OthersAreRefused) {
  PaintOptions blue;
  testing::internal::CaptureStderr();
  EXPECT_EQ(blue.Parse({"--colour", "blue"}), ExitCode::kUsage);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("{red,green}"));
}

TEST(AfterParsing, ChecksTheOptionsTogether) {
  OptionSet set("p", "A program.");
  int low = 0, high = 5;
  set.Add("--low", low, "Low");
  set.Add("--high", high, "High");
  set.AfterParsing([&] {
    if (low >= high) throw FatalError(ExitCode::kUsage, "--low is not below --high");
  });
  const char* good[] = {"p", "--low", "4"};
  EXPECT_FALSE(set.Parse(3, good));
  const char* bad[] = {"p", "--low", "5"};
  EXPECT_THROW(set.Parse(3, bad), FatalError);
}

TEST(NamedValues, AreFoundInBothDirections) {
  EXPECT_EQ(ValueOf(kColours, "red"), Colour::kRed);
  EXPECT_EQ(ValueOf(kColours, "blue"), std::nullopt);
  EXPECT_EQ(NameOf(kColours, Colour::kGreen), "green");
  EXPECT_EQ(NameOf(kColours, static_cast<Colour>(7)), "unknown");
}

TEST(FormerNames, WorkUnlisted) {
  for (const std::vector<const char*>& arguments : {std::vector<const char*>{"p", "--c", "0.5"},
                                                    {"p", "--c=0.5"},
                                                    {"p", "--exploration=0.5"}}) {
    double value = 0.25;
    OptionSet set("p", "A program.");
    set.Add("--exploration", value, "Weight").Formerly("--c");
    EXPECT_EQ(set.Parse(static_cast<int>(arguments.size()), arguments.data()), std::nullopt);
    EXPECT_EQ(value, 0.5);
    EXPECT_TRUE(set.Given("--exploration"));
    EXPECT_EQ(set.ResolvedToml(), "exploration = 0.5\n");
  }
  double value = 0.25;
  OptionSet set("p", "A program.");
  set.Add("--exploration", value, "Weight").Formerly("--c");
  const char* const help[] = {"p", "--help"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(set.Parse(2, help), ExitCode::kOk);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_THAT(text, testing::HasSubstr("--exploration"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("--c ")));
}

TEST_F(OptionsTest, HelpTellsEveryOption) {
  const Parsed parsed({"--help"});
  EXPECT_EQ(parsed.exit, ExitCode::kOk);
  for (const char* part : {"Does things.", "--steps", "Steps per tree", kVariable, "Search",
                           "--config", "program --steps 3"}) {
    EXPECT_THAT(parsed.out, HasSubstr(part));
  }
  EXPECT_THAT(parsed.out, ContainsRegex("--steps [^\n]*8")) << "the default";
}

// A file of options may come from elsewhere.
TEST_F(OptionsTest, MessagesCannotSteerTheTerminal) {
  const std::string hostile = "\x1b[2J\a\u009b1m";
  const std::vector<std::string> configs = {
      "steps = '''" + hostile + "'''", "name = " + hostile, "\"x" + hostile + "\" = 1",
      "steps = \"" + std::string(R"(\u001b[2J\u0007\u009b1m)") + "\""};
  for (const std::string& config : configs) {
    const Parsed parsed({"--config", Config(config)});
    EXPECT_TRUE(parsed.exit) << config;
    for (const char* sequence : {"\x1b", "\a", "\u009b"}) {
      EXPECT_THAT(parsed.err, Not(HasSubstr(sequence)));
    }
  }
  const Parsed argument({"--steps", hostile});
  EXPECT_THAT(argument.err, AllOf(HasSubstr(R"(\x1b[2J\x07\x9b1m)"), Not(HasSubstr("\x1b"))));
}

TEST_F(OptionsTest, WhatIsSaidForEachRunIsNotSaved) {
  bool again = false;
  OptionSet set("p", "A program.");
  set.Add("--again", again, "Do it again").OnlyOnCommandLine();
  const char* const line[] = {"p", "--again", "1"};
  EXPECT_EQ(set.Parse(3, line), std::nullopt);
  EXPECT_TRUE(again);
  EXPECT_EQ(set.ResolvedToml(), "");
  const std::string config = Config("again = true");
  const char* const from_file[] = {"p", "--config", config.c_str()};
  testing::internal::CaptureStderr();
  EXPECT_EQ(set.Parse(3, from_file), ExitCode::kUsage);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("again"));
  const char* const help[] = {"p", "--help"};
  testing::internal::CaptureStdout();
  EXPECT_EQ(set.Parse(2, help), ExitCode::kOk);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), HasSubstr("--again"));
}

TEST(OptionDifferencesTest, NamesEachWithBothValues) {
  EXPECT_EQ(OptionDifferences({{"a", 1}, {"b", "x"}}, {{"a", 2}, {"b", "x"}, {"c", true}}),
            "--a 1 there, 2 now; --c nothing there, true now");
  EXPECT_EQ(OptionDifferences({{"a", 1}, {"old", 5}}, {{"a", 1}}), "--old 5 there, nothing now");
  EXPECT_EQ(OptionDifferences(nullptr, {{"a", 1}}), "");
  EXPECT_EQ(OptionDifferences(nlohmann::ordered_json::object(), nlohmann::ordered_json::object()),
            "");
}

TEST_F(OptionsTest, VersionIsPrinted) {
  const Parsed parsed({"--version"});
  EXPECT_EQ(parsed.exit, ExitCode::kOk);
  EXPECT_EQ(parsed.out, "agentr " + std::string(kVersion) + "\n");
}

TEST_F(OptionsTest, PositionalsAreRequired) {
  std::vector<std::string> files;
  OptionSet set("program", "");
  set.AddPositional("FILE", files, "Files");
  const char* argv[] = {"program", "a", "b"};
  EXPECT_FALSE(set.Parse(3, argv));
  EXPECT_THAT(files, ElementsAre("a", "b"));
  testing::internal::CaptureStderr();
  EXPECT_EQ(set.Parse(1, argv), ExitCode::kUsage);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("FILE"));
}

}  // namespace
}  // namespace agentr
