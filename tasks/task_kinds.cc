#include "tasks/task_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "clients/env/sciworld_protocol.h"
#include "clients/env/text_game_protocol.h"
#include "clients/env/webshop_protocol.h"
#include "common/error.h"
#include "common/options.h"
#include "games/questions/city_table.h"
#include "games/questions/word_table.h"
#include "tasks/babyai/babyai_family.h"
#include "tasks/babyai/babyai_policy.h"
#include "tasks/detective/detective_family.h"
#include "tasks/detective/detective_policy.h"
#include "tasks/questions/questions_family.h"
#include "tasks/questions/questions_policy.h"
#include "tasks/sciworld/sciworld_family.h"
#include "tasks/sciworld/sciworld_policy.h"
#include "tasks/sciworld/sciworld_tasks.h"
#include "tasks/textcraft/textcraft_family.h"
#include "tasks/textcraft/textcraft_policy.h"
#include "tasks/webshop/archer_family.h"
#include "tasks/webshop/archer_policy.h"
#include "tasks/webshop/webshop_family.h"
#include "tasks/webshop/webshop_policy.h"

namespace agentr {
namespace {

using Conversation = std::span<const Message>;

template <typename Family>
std::unique_ptr<TaskFamily> Make() {
  return std::make_unique<Family>();
}

// A maker of protocols that are told the name of their kind, as most are.
template <typename P>
std::function<std::unique_ptr<Protocol>()> Speaks(std::string name) {
  return [name = std::move(name)] { return std::make_unique<P>(name); };
}

// A policy that needs nothing but the conversation.
template <typename Read>
auto Shown(Read read) {
  return [read](Conversation shown, int /*task_id*/, GoldSource* /*gold*/) { return read(shown); };
}

std::deque<TaskKind> BuiltIn() {
  return {
      {.name = "textcraft",
       .title = "TextCraft",
       .family = Make<TextCraftFamily>,
       .protocol = Speaks<Protocol>("textcraft"),
       .policy = Shown(ReadTextCraftPolicy)},
      {.name = "webshop",
       .title = "WebShop",
       .family = Make<WebShopFamily>,
       .protocol = Speaks<WebShopProtocol>("webshop"),
       .policy = Shown(ReadWebShopPolicy)},
      {.name = "sciworld",
       .title = "SciWorld",
       .family = Make<SciWorldFamily>,
       .protocol = [] { return std::make_unique<SciWorldProtocol>(); },
       .policy = ReadSciWorldPolicy,
       .plans_by_gold = true,
       .ids_of_types = SciWorldTasksOf,
       .snapping = true,
       .turns_as_text = true},
      {.name = "babyai",
       .title = "BabyAI-Text",
       .family = Make<BabyAiFamily>,
       .protocol = Speaks<TextGameProtocol>("babyai"),
       .policy = Shown(ReadBabyAiPolicy)},
      {.name = "twenty_questions",
       .title = "Twenty Questions",
       .family = Make<TwentyQuestionsFamily>,
       .protocol = Speaks<TextGameProtocol>("twenty_questions"),
       .policy = Shown(
           [](Conversation shown) { return ReadQuestionsPolicy(shown, WordTable::BuiltIn()); })},
      {.name = "guess_my_city",
       .title = "Guess My City",
       .family = Make<GuessMyCityFamily>,
       .protocol = Speaks<TextGameProtocol>("guess_my_city"),
       .policy = Shown([](Conversation shown) {
         return ReadQuestionsPolicy(shown, CityTable::BuiltIn().words());
       })},
      {.name = "detective",
       .title = "Detective",
       .family = Make<DetectiveFamily>,
       .protocol = Speaks<TextGameProtocol>("detective"),
       .policy = Shown(ReadDetectivePolicy)},
      {.name = "webshop_archer",
       .title = "WebShop in ArCHer's style",
       .family = Make<ArcherFamily>,
       .protocol = Speaks<WebShopProtocol>("webshop_archer"),
       .policy = Shown(ReadArcherPolicy),
       .style_of = "webshop"},
  };
}

std::deque<TaskKind>& Table() {
  static std::deque<TaskKind> table = BuiltIn();
  return table;
}

}  // namespace

const std::deque<TaskKind>& TaskKinds() { return Table(); }

void RegisterTaskKind(TaskKind kind) {
  if (FindTaskKind(kind.name) != nullptr) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("there is already a kind of task \"{}\"", kind.name));
  }
  Table().push_back(std::move(kind));
}

std::string TaskNames() {
  std::vector<std::string_view> names;
  for (const TaskKind& kind : Table()) names.push_back(kind.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const TaskKind* FindTaskKind(std::string_view name) {
  const auto at = std::ranges::find(Table(), name, &TaskKind::name);
  return at == Table().end() ? nullptr : &*at;
}

const TaskKind& TaskKindOf(std::string_view name) {
  if (const TaskKind* kind = FindTaskKind(name)) return *kind;
  throw FatalError(ExitCode::kUsage,
                   fmt::format("unknown task \"{}\"; the known tasks are: {}", name, TaskNames()));
}

std::unique_ptr<TaskFamily> MakeTaskFamily(std::string_view name) {
  return TaskKindOf(name).family();
}

std::unique_ptr<Protocol> MakeProtocol(std::string_view name) {
  return TaskKindOf(name).protocol();
}

std::string_view WithoutStyle(std::string_view name) {
  const TaskKind* kind = FindTaskKind(name);
  return kind == nullptr || kind->style_of.empty() ? name : kind->style_of;
}

void DeclareStyle(OptionSet& set, std::string& style, std::string& task, const std::string& group) {
  set.Group("");  // --help lists no option without a heading
  set.Add("--style", style, "archer: the task webshop_archer");
  set.Group(group);
  set.AfterParsing([&] {
    if (style.empty()) return;
    if (task.empty()) task = "webshop";
    task += "_" + style;
  });
}

}  // namespace agentr
