#include "tasks/task_kinds.h"

#include <gmock/gmock.h>

#include <map>
#include <string>
#include <vector>

#include "clients/env/protocol.h"
#include "tasks/scripted_policy.h"
#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
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

TEST(TaskKinds, InstructionsTellTheRulesAndTheForm) {
  const std::map<std::string, std::vector<std::string>> parts = {
      {"textcraft", {"craft [count]", "get [count]", "inventory"}},
      {"webshop", {"search[keywords]", "click[value]", "[SEP]", "click[buy now]"}},
      {"sciworld",
       {"look around", "go to X", "focus on X", "wait1", "use X on Y", "pour X into Y",
        "No known action matches that input.", "Ambiguous request"}},
      {"babyai",
       {"turn left", "turn right", "move forward", "go to <thing>", "pickup <thing>", "drop",
        "go through <door>", "toggle and go through <door>"}}};
  for (const auto& [name, rules] : parts) {
    const auto messages = MakeTaskFamily(name)->Instruction();
    ASSERT_EQ(messages.size(), 2u) << name;
    EXPECT_EQ(messages[0].role, "user");
    for (const std::string& part : rules) EXPECT_THAT(messages[0].content, HasSubstr(part));
    EXPECT_THAT(messages[0].content,
                AllOf(HasSubstr("Thought:"), HasSubstr("Action:"), Not(HasSubstr("teleport")),
                      Not(HasSubstr("Format of the files"))))
        << "neither what a family has not, nor a comment of the file";
    EXPECT_EQ(messages[1], (Message{"assistant", "Ok."}));
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
