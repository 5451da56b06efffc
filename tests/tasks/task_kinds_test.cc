#include "tasks/task_kinds.h"

#include <gmock/gmock.h>

#include "clients/env/protocol.h"
#include "tasks/scripted_policy.h"
#include "tests/common/fatal_error_of.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(TaskKinds, AllHaveTheirNameInFamilyAndProtocolAndAreThere) {
  EXPECT_THAT(TaskNames(),
              StartsWith("textcraft, webshop, sciworld, babyai, twenty_questions, guess_my_city, "
                         "detective, webshop_archer, wordle, maze"));
  for (const TaskKind& kind : TaskKinds()) {
    if (!kind.file.empty()) continue;  // of another test
    EXPECT_EQ(MakeTaskFamily(kind.name)->name(), kind.name);
    EXPECT_EQ(MakeProtocol(kind.name)->family(), kind.name);
    EXPECT_EQ(MakeScriptedPolicy(kind.name)->title, kind.title);
    EXPECT_FALSE(MakeTaskFamily(kind.name)->Instruction().empty());
    EXPECT_FALSE(SplitOf(kind.name).test().empty()) << kind.name;
    EXPECT_EQ(PlansByGold(kind.name), kind.name == "sciworld");
  }
}

TEST(TaskKinds, WhoNamesAnotherIsToldTheNames) {
  const auto names =
      AllOf(HasSubstr("\"chess\""), HasSubstr("textcraft, webshop, sciworld, babyai"));
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [] { MakeTaskFamily("chess"); }), names);
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [] { MakeProtocol("chess"); }), names);
}

TEST(TaskKinds, AStyleHasTheSplitOfItsTasks) {
  EXPECT_EQ(WithoutStyle("webshop_archer"), "webshop");
  EXPECT_EQ(WithoutStyle("webshop"), "webshop");
  EXPECT_EQ(WithoutStyle("chess"), "chess");
  EXPECT_EQ(&SplitOf("webshop_archer"), &SplitOf("webshop"));
}

// The kind stays in the table of this process, so no other test may count on the whole table.
TEST(TaskKinds, AProgramAddsItsOwn) {
  const TaskKind& textcraft = TaskKindOf("textcraft");
  TaskKind own{.name = "own", .title = "Own", .family = textcraft.family};
  own.protocol = textcraft.protocol;
  own.split = Split({5, 3}, {});
  RegisterTaskKind(own);
  EXPECT_EQ(&TaskKindOf("textcraft"), &textcraft) << "references stay valid";
  EXPECT_EQ(MakeTaskFamily("own")->name(), "textcraft");
  EXPECT_TRUE(SplitOf("own").IsTest(3));
  EXPECT_FALSE(MakeScriptedPolicy("own")) << "it has none";
  EXPECT_THAT(TaskNames(), EndsWith(", own"));
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage,
                           [] { RegisterTaskKind({.name = "webshop", .title = "Mine"}); }),
              HasSubstr("\"webshop\""));
}

}  // namespace
}  // namespace agentr
