#include "tasks/task_kinds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "clients/env/dialect_protocol.h"
#include "clients/env/sciworld_protocol.h"
#include "clients/env/text_game_protocol.h"
#include "clients/env/webshop_protocol.h"
#include "common/error.h"
#include "common/installed_file.h"
#include "common/nearest_name.h"
#include "common/options.h"
#include "games/questions/city_table.h"
#include "games/questions/word_table.h"
#include "tasks/babyai/babyai_family.h"
#include "tasks/babyai/babyai_policy.h"
#include "tasks/detective/detective_family.h"
#include "tasks/detective/detective_policy.h"
#include "tasks/lmrl/maze_family.h"
#include "tasks/lmrl/wordle_family.h"
#include "tasks/questions/questions_family.h"
#include "tasks/questions/questions_policy.h"
#include "tasks/sciworld/sciworld_family.h"
#include "tasks/sciworld/sciworld_policy.h"
#include "tasks/sciworld/sciworld_tasks.h"
#include "tasks/task_file.h"
#include "tasks/textcraft/textcraft_family.h"
#include "tasks/textcraft/textcraft_policy.h"
#include "tasks/webshop/archer_family.h"
#include "tasks/webshop/archer_policy.h"
#include "tasks/webshop/webshop_family.h"
#include "tasks/webshop/webshop_policy.h"

namespace agentr {
namespace {

// A kind whose policy needs nothing but the conversation.
template <typename Family, typename P, typename Read>
TaskKind Row(std::string title, Read read, std::string style_of = "") {
  const std::string name(Family().name());
  return {
      .name = name,
      .title = std::move(title),
      .family = [] { return std::make_unique<Family>(); },
      .protocol = [name] { return std::make_unique<P>(name); },
      .policy = [read](std::span<const Message> shown, int, GoldSource*) { return read(shown); },
      .style_of = std::move(style_of)};
}

// The same for a kind whose protocol is the dialect that `dialect` returns.
template <typename Family, typename Read>
TaskKind RowOf(std::string title, HttpDialect (*dialect)(), Read read) {
  TaskKind kind = Row<Family, Protocol>(std::move(title), read);
  kind.protocol = [dialect] { return std::make_unique<DialectProtocol>(dialect()); };
  return kind;
}

// The policy of a guessing game with the table that `table` returns, which takes a while to read.
auto Asks(const WordTable& (*table)()) {
  return [table](std::span<const Message> shown) { return ReadQuestionsPolicy(shown, table()); };
}

const WordTable& Cities() { return CityTable::BuiltIn().words(); }

std::deque<TaskKind> BuiltIn() {
  return {
      Row<TextCraftFamily, Protocol>("TextCraft", ReadTextCraftPolicy),
      Row<WebShopFamily, WebShopProtocol>("WebShop", ReadWebShopPolicy),
      {.name = "sciworld",
       .title = "SciWorld",
       .family = [] { return std::make_unique<SciWorldFamily>(); },
       .protocol = [] { return std::make_unique<SciWorldProtocol>(); },
       .policy = ReadSciWorldPolicy,
       .plans_by_gold = true,
       .ids_of_types = SciWorldTasksOf,
       .snapping = true,
       .turns_as_text = true},
      Row<BabyAiFamily, TextGameProtocol>("BabyAI-Text", ReadBabyAiPolicy),
      Row<TwentyQuestionsFamily, TextGameProtocol>("Twenty Questions", Asks(WordTable::BuiltIn)),
      Row<GuessMyCityFamily, TextGameProtocol>("Guess My City", Asks(Cities)),
      Row<DetectiveFamily, TextGameProtocol>("Detective", ReadDetectivePolicy),
      Row<ArcherFamily, WebShopProtocol>("WebShop in ArCHer's style", ReadArcherPolicy, "webshop"),
      RowOf<WordleFamily>("Wordle", WordleDialect, ReadWordlePolicy),
      RowOf<MazeFamily>("Maze", MazeDialect, ReadMazePolicy),
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
  std::vector<std::string> names;
  for (const TaskKind& kind : TaskKinds()) names.push_back(kind.name);
  throw FatalError(ExitCode::kUsage, fmt::format("unknown task \"{}\"; the known tasks are: {}{}",
                                                 name, TaskNames(), DidYouMean(name, names)));
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

namespace {

constexpr const char* kTaskFileHelp = "The task file of --task, as a saved configuration names it";

// The file that `task` names; empty: it is a known kind's name, or one of which a copy stands
// beside results.
std::string FileOf(const std::string& task) {
  if (task.ends_with(".toml")) return task;
  const std::string ours = "configs/tasks/" + task + ".toml";
  const bool is_ours =
      FindTaskKind(task) == nullptr && std::filesystem::exists(InstalledFile(ours));
  return is_ours ? ours : "";
}

}  // namespace

void DeclareTaskFiles(OptionSet& set, std::vector<std::string>& files,
                      std::vector<std::string>& tasks, const std::string& group) {
  set.Group("");
  set.Add("--task_file", files, kTaskFileHelp).OnlyOutput();
  set.Group(group);
  set.AfterParsing([&] {
    for (const std::string& file : files) UseTaskFile(InstalledFile(file));
    for (std::string& task : tasks) {
      const std::string file = FileOf(task);
      if (file.empty()) continue;
      files.push_back(file);
      task = UseTaskFile(InstalledFile(file));
    }
  });
}

void DeclareTaskFile(OptionSet& set, std::string& file, std::string& task,
                     const std::string& group) {
  set.Group("");  // --help lists no option without a heading
  set.Add("--task_file", file, kTaskFileHelp).OnlyOutput();
  set.Group(group);
  set.AfterParsing([&] {
    if (!file.empty()) UseTaskFile(InstalledFile(file));
    const std::string named = FileOf(task);
    if (named.empty()) return;
    file = named;
    task = UseTaskFile(InstalledFile(file));
  });
}

void DeclareStyle(OptionSet& set, std::string& style, std::string& task, const std::string& group) {
  set.Group("");
  set.Add("--style", style, "archer: the task webshop_archer");
  set.Group(group);
  set.AfterParsing([&] {
    if (style.empty()) return;
    if (task.empty()) task = "webshop";
    task += "_" + style;
  });
}

}  // namespace agentr
