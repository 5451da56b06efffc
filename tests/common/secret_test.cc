#include "common/secret.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "common/error.h"
#include "common/logging.h"
#include "common/options.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// No writer compiles with a secret.
template <typename T>
concept Printed = requires(std::ostream& out, const T& value) {
  out << value;
};
static_assert(!Printed<Secret>);
static_assert(!fmt::is_formattable<Secret>::value);
static_assert(!std::is_constructible_v<nlohmann::json, Secret>);
static_assert(!std::is_constructible_v<nlohmann::ordered_json, std::vector<Secret>>);
static_assert(!std::is_convertible_v<Secret, std::string>);
static_assert(!std::is_convertible_v<Secret, std::string_view>);

TEST(Secret, IsRedactedByItsForm) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"postgresql://ann:pw@db.example.org:5432/agentr?sslmode=require",
       "postgresql://ann:***@db.example.org:5432/agentr?sslmode=require"},
      {"postgresql://ann@db/agentr", "postgresql://ann@db/agentr"},
      {"postgresql:///agentr?host=/run/postgresql", "postgresql:///agentr?host=/run/postgresql"},
      {"postgresql://db/agentr?user=ann&password=pw&sslmode=prefer",
       "postgresql://db/agentr?user=ann&password=***&sslmode=prefer"},
      {"postgresql://db/agentr?p%61ssword=pw", "postgresql://db/agentr?p%61ssword=***"},
      {"host=db user=ann password=pw dbname=agentr", "host=db user=ann password=*** dbname=agentr"},
      {"host=db password = 'p w\\' x' dbname=agentr", "host=db password = '***' dbname=agentr"},
      {"http://ann:pw@10.0.0.7:8000/v1", "http://ann:***@10.0.0.7:8000/v1"},
      {"https://ghp_token@host/v1", "https://***@host/v1"},
      {"http://10.0.0.7:8000/v1", "http://10.0.0.7:8000/v1"},
      {"http://[::1]:8000/v1", "http://[::1]:8000/v1"},
      {"http://ann:pw@[::1]:8000/v1", "http://ann:***@[::1]:8000/v1"},
      {"http://host/v1?api_key=pw&n=3", "http://host/v1?api_key=***&n=3"},
      // Passwords that should have been escaped.
      {"postgresql://ann:p@ss@db/agentr", "postgresql://ann:***@db/agentr"},
      {"postgresql://ann:p/s?s#x@db/agentr", "postgresql://ann:***@db/agentr"},
      {"postgresql://ann:12/34@db/agentr", "postgresql://ann:***@db/agentr"},
      {"postgresql://ann:p w@db/agentr", "postgresql://ann:***@db/agentr"},
      {"postgresql://ann:p\"w@db/agentr", "postgresql://ann:***@db/agentr"},
      // Arguments of other programs.
      {"--store=postgresql://ann:pw@db/agentr", "--store=postgresql://ann:***@db/agentr"},
      {"webshop:--llm_base=http://ann:pw@host/v1", "webshop:--llm_base=http://ann:***@host/v1"},
      {"--store=host=db password=pw", "--store=host=db password=***"},
      {"--api_key=sk-1", "--api_key=***"},
      {"--max_new_tokens=500", "--max_new_tokens=500"},
      {"--data=rows.jsonl:0.5", "--data=rows.jsonl:0.5"},
      {"", ""}};
  for (const auto& [text, redacted] : cases) {
    EXPECT_EQ(Secret(text).Redacted(), redacted);
    EXPECT_EQ(Secret(text).Reveal(), text);
    EXPECT_EQ(RedactSecrets(redacted), redacted) << "redacting twice changes nothing";
    EXPECT_EQ(Secret(redacted).IsRedacted(),
              std::string(redacted).find("***") != std::string::npos);
    EXPECT_TRUE(std::string(text) == redacted || !Secret(text).IsRedacted()) << text;
  }
  EXPECT_EQ(Secret::Key("sk-1").Redacted(), "***");
  EXPECT_EQ(Secret::Key().Redacted(), "");
  EXPECT_THAT(Redacted({Secret("a"), Secret("http://u:p@h")}), ElementsAre("a", "http://u:***@h"));
}

TEST(Secret, SentencesStayReadable) {
  for (const char* text :
       {"GET http://127.0.0.1:8000/observation?id=3: cannot connect; is the server running?",
        "give the base URL of a server, http://host:port/v1, or --model_dir",
        "see http://127.0.0.1:32361, http://127.0.0.1:32362. Then mail ann@example.org",
        "(http://host:80), or ask b@c", "POST http://[::1]:8000/step: no reply in 60 s",
        "--max_new_tokens 500 tokens = 4"}) {
    EXPECT_EQ(RedactSecrets(text), text);
  }
  EXPECT_EQ(RedactSecrets("'postgresql://ann:pw@db/x' and http://b:c@d/e: no reply"),
            "'postgresql://ann:***@db/x' and http://b:***@d/e: no reply");
}

TEST(Secret, WhatOthersSayLosesIt) {
  const Secret url("postgresql://ann:hun%74er2@db/agentr");
  EXPECT_EQ(url.WithoutIt("FATAL: no user hunter2, but hun%74er2"), "FATAL: no user ***, but ***");
  // libpq takes such a password apart at its first "@".
  const Secret broken("postgresql://ann:p@ss@db/agentr");
  EXPECT_EQ(broken.WithoutIt("could not translate host name \"ss@db\" to address"),
            "could not translate host name \"***\" to address");
  EXPECT_EQ(broken.WithoutIt("user \"ann\" of database \"agentr\""),
            "user \"ann\" of database \"agentr\"");
  const Secret header = Secret::Key("Bearer sk-hunter2");
  EXPECT_EQ(header.WithoutIt("bad key sk-hunter2 in 'Bearer sk-hunter2'"), "bad key *** in '***'");
  EXPECT_EQ(Secret().WithoutIt("all"), "all");
  EXPECT_EQ(Secret::Key().WithoutIt("a \"\" b"), "a \"\" b");
}

// Options.

constexpr const char* kVariable = "AGENTR_TEST_BASE";

struct SecretOptions {
  std::vector<Secret> bases;
  Secret store;
  Secret key = Secret::Key();
  std::vector<Secret> arguments;
};

class ParsedSecrets {
 public:
  explicit ParsedSecrets(std::vector<std::string> arguments) {
    set.Add("--base", o.bases, "Servers", kVariable);
    set.Add("--store", o.store, "A database");
    set.Add("--key", o.key, "A key");
    set.AddArguments("--collect", o.arguments, "Of another program");
    std::vector<const char*> argv = {"program"};
    for (const std::string& argument : arguments) argv.push_back(argument.c_str());
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    exit = set.Parse(static_cast<int>(argv.size()), argv.data());
    said = testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr();
  }

  SecretOptions o;
  OptionSet set{"program", "Does things."};
  std::optional<ExitCode> exit;
  std::string said;
};

class SecretOptionsTest : public ::testing::Test {
 protected:
  ~SecretOptionsTest() override { ::unsetenv(kVariable); }
  std::string Config(const std::string& text) {
    return folder_.Write("config.toml", text).string();
  }

  ScratchFolder folder_;
};

TEST_F(SecretOptionsTest, AreRevealedToTheProgramAndRedactedInItsRecords) {
  const ParsedSecrets parsed({"--base", "http://u:pw@a/v1", "--base", "http://b/v1", "--store",
                              "postgresql://u:pw@db/x", "--key", "pw",
                              "--collect=--store=x://u:pw@h"});
  ASSERT_FALSE(parsed.exit) << parsed.said;
  EXPECT_EQ(parsed.o.bases[0].Reveal(), "http://u:pw@a/v1");
  EXPECT_EQ(parsed.o.store.Reveal(), "postgresql://u:pw@db/x");
  EXPECT_EQ(parsed.o.key.Reveal(), "pw");
  EXPECT_EQ(parsed.o.arguments[0].Reveal(), "--store=x://u:pw@h");
  EXPECT_EQ(parsed.set.ResolvedToml(),
            "base = [\"http://u:***@a/v1\",\"http://b/v1\"]\nstore = \"postgresql://u:***@db/x\"\n"
            "key = \"***\"\ncollect = [\"--store=x://u:***@h\"]\n");
  EXPECT_THAT(parsed.set.ResolvedJson().dump(), Not(HasSubstr("pw")));
  EXPECT_THAT(ParsedSecrets({"--base=http://u:pw@a/v1", "--help"}).said,
              AllOf(HasSubstr("--base"), Not(HasSubstr("pw"))));
}

TEST_F(SecretOptionsTest, WithoutSecretsTheFileReadsBack) {
  const ParsedSecrets first({"--base", "http://a/v1", "--store", "postgresql://ann@db/x"});
  const ParsedSecrets second({"--config", Config(first.set.ResolvedToml())});
  ASSERT_FALSE(second.exit) << second.said;
  EXPECT_EQ(second.o.bases, first.o.bases);
  EXPECT_EQ(second.o.store, first.o.store);
}

TEST_F(SecretOptionsTest, ARedactedValueSaysWhatIsMissing) {
  const ParsedSecrets parsed({"--config", Config("base = [\"http://u:***@a/v1\"]\n")});
  EXPECT_EQ(parsed.exit, ExitCode::kUsage);
  EXPECT_THAT(parsed.said, AllOf(HasSubstr("--base: http://u:***@a/v1 is without its secret"),
                                 HasSubstr("on the command line"), HasSubstr(kVariable)));
  EXPECT_THAT(ParsedSecrets({"--config", Config("store = \"postgresql://u:***@db/x\"\n")}).said,
              HasSubstr("--store"));
  EXPECT_EQ(ParsedSecrets({"--key", "***"}).exit, ExitCode::kUsage);
}

TEST_F(SecretOptionsTest, ARedactedValueIsCompletedFromTheEnvironment) {
  const std::string config = Config("base = [\"http://u:***@a/v1\"]\n");
  ::setenv(kVariable, "http://u:pw@a/v1", 1);
  const ParsedSecrets parsed({"--config", config});
  ASSERT_FALSE(parsed.exit) << parsed.said;
  EXPECT_THAT(parsed.o.bases, ElementsAre(Secret("http://u:pw@a/v1")));
  ::setenv(kVariable, "http://u:pw@elsewhere/v1", 1);
  EXPECT_EQ(ParsedSecrets({"--config", config}).exit, ExitCode::kUsage) << "that is another server";
  EXPECT_EQ(ParsedSecrets({"--config", config, "--base", "http://b/v1"}).exit, std::nullopt)
      << "the command line wins";
}

TEST_F(SecretOptionsTest, RedactedArgumentsAreLeftToTheirProgram) {
  const ParsedSecrets parsed(
      {"--config", Config("collect = [\"--store=postgresql://u:***@db/x\"]\n")});
  EXPECT_FALSE(parsed.exit) << parsed.said;
}

TEST_F(SecretOptionsTest, ComplaintsDoNotRepeatThem) {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--stor=postgresql://u:pw@db/x"},
        {"postgresql://u:pw@db/x"},
        {"--config", Config("store = postgresql://u:pw@db/x\n")},
        {"--config", Config("stor = \"postgresql://u:pw@db/x\"\n")}}) {
    const ParsedSecrets parsed(arguments);
    EXPECT_TRUE(parsed.exit) << arguments.back();
    EXPECT_THAT(parsed.said, AllOf(HasSubstr("error: "), Not(HasSubstr("pw"))));
  }
}

// The last places before a terminal.

TEST(Secret, IsInNoLogAndNoLastMessage) {
  testing::internal::CaptureStderr();
  InitLogging({});
  spdlog::warn("cannot reach {}", "http://u:pw@host/v1");
  RunMain([]() -> ExitCode { throw FatalError(ExitCode::kUsage, "bad postgresql://u:pw@db/x"); });
  RunMain([]() -> ExitCode { throw std::runtime_error("bad postgresql://u:pw@db/x"); });
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, AllOf(HasSubstr("http://u:***@host/v1"), HasSubstr("u:***@db/x"),
                          Not(HasSubstr("pw"))));
}

}  // namespace
}  // namespace agentr
