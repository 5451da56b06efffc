#include "common/option_docs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

ProgramDoc Doc() {
  return {"walk",
          "Walks far. Or\n.Not a request, but text.",
          "  walk --steps 3 \\\n       --slow",
          "1.2",
          {{"Options", "-h,--help", "", "", "", "Print this text", {}, false, false},
           {"Walking",
            "--steps",
            "INT",
            "8",
            "STEPS",
            "Steps [at most]: it's a number",
            {},
            true,
            false},
           {"Walking", "--pace", "TEXT", "slow", "", "How fast", {"slow", "fast"}, false, false},
           {"Walking", "PLACE", "TEXT", "", "", "Where to", {}, true, true}}};
}

TEST(OptionDocsTest, ManPage) {
  EXPECT_THAT(
      ManPage(Doc()),
      AllOf(HasSubstr(".TH WALK 1 \"\" \"agentr 1.2\""), HasSubstr("walk \\- Walks far\n"),
            HasSubstr("\n\\&.Not a request, but text."), HasSubstr("\\fIPLACE\\fR..."),
            HasSubstr(".SH \"WALKING\"\n.TP\n\\fB\\-\\-steps\\fR \\fIINT\\fR\nSteps [at most]: "
                      "it's a number.\n"),
            HasSubstr("Default: 8.\nMay be given several times.\nEnvironment variable: STEPS.\n"),
            HasSubstr("\\fB\\-\\-pace\\fR \\fIslow|fast\\fR"),
            HasSubstr("walk \\-\\-steps 3 \\e\n")));
}

TEST(OptionDocsTest, BashCompletion) {
  EXPECT_THAT(
      BashCompletion(Doc()),
      AllOf(HasSubstr("compgen -W '-h --help --steps --pace' --"),
            HasSubstr("--pace) COMPREPLY=($(compgen -W 'slow fast' --"),
            HasSubstr("complete -o filenames -F _agentr_walk walk"), Not(HasSubstr("PLACE"))));
}

TEST(OptionDocsTest, ZshCompletion) {
  EXPECT_THAT(ZshCompletion(Doc()),
              AllOf(HasSubstr("#compdef walk\n"),
                    HasSubstr("'*--steps[Steps \\[at most\\]\\: it'\\''s a number]:INT:_files' \\"),
                    HasSubstr("'--pace[How fast]:value:(slow fast)' \\")));
}

}  // namespace
}  // namespace agentr
