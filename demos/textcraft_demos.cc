#include "demos/textcraft_demos.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "common/random.h"
#include "common/text.h"
#include "demos/varied_book.h"
#include "games/textcraft/recipe_text.h"
#include "games/textcraft/textcraft.h"
#include "games/textcraft/textcraft_prompt.h"
#include "mcts/tree.h"
#include "revision/find/judgement_prompt.h"
#include "tasks/splits.h"
#include "tasks/textcraft/textcraft_conversation.h"
#include "tasks/textcraft/textcraft_family.h"
#include "tasks/textcraft/textcraft_mistakes.h"
#include "tasks/textcraft/textcraft_teacher.h"

namespace agentr {
namespace {

constexpr std::string_view kGoalLine = "\n\nGoal: craft ";

// The goals of the published test tasks, by their names in the built-in book.
std::set<std::string> TestGoals(const std::vector<SourceRecipe>& built_in) {
  const RecipeBook book(built_in);
  std::set<std::string> goals;
  for (const int id : SplitOf("textcraft").test()) {
    goals.insert(book.Name(book.tasks()[static_cast<size_t>(id) % book.tasks().size()]));
  }
  return goals;
}

struct BookOfScenes {
  TextCraft game;
  std::set<std::string> test_goals;  // by their names in this book
};

BookOfScenes MakeBook(const TextCraftDemoOptions& options, RandomStream random) {
  std::vector<SourceRecipe> recipes = BuiltInRecipes();
  std::set<std::string> test_goals = TestGoals(recipes);
  if (!random.Chance(options.built_in)) {
    VariedRecipes varied = VaryRecipes(recipes, DemoWords(), random.Split("varied"));
    recipes = std::move(varied.recipes);
    std::set<std::string> renamed;
    for (const std::string& goal : test_goals) renamed.insert(varied.new_names.at(goal));
    test_goals = std::move(renamed);
  }
  return {TextCraft(RecipeBook(recipes), options.show_inventory), std::move(test_goals)};
}

// Nothing where the mistake turned out to be of use.
std::optional<std::string> VerdictOnMistake(const TextCraftFamily& family,
                                            std::span<const Message> history, const Node& step) {
  if (family.IsRefusal("", step.action, step.observation)) {
    return "The game refused it.\nJudgement: Bad";
  }
  if (step.action == "inventory") return "It only looks at what is held.\nJudgement: Uncertain";
  const std::string_view name = family.MistakeName(history, step.action, step.observation);
  if (name.starts_with("useless") || name == "wrong_amount") {
    return "The goal does not need it in this number.\nJudgement: Bad";
  }
  return std::nullopt;
}

// What the rows of a scene have in common.
struct Scene {
  std::string name;
  std::string commands;         // "Crafting commands:\n…"
  std::vector<uint32_t> goals;  // task numbers; those of other rows than the first in random order
};

class SceneMaker {
 public:
  SceneMaker(const TextCraftDemoOptions& options, uint64_t seed, int book)
      : options_(options),
        random_(RandomStream(seed).Split("textcraft demos").Split(static_cast<uint64_t>(book))),
        book_(MakeBook(options, random_)),
        name_(fmt::format("textcraft-{}", book)) {}

  std::vector<DemoRow> Rows() {
    for (int i = 0; i < options_.scenes; ++i) {
      RandomStream random = random_.Split("scene").Split(static_cast<uint64_t>(i));
      const std::optional<Scene> scene = Draw(random, i);
      if (!scene) continue;
      for (const uint32_t goal : scene->goals) AddEpisode(*scene, goal, random.Split(goal));
      AddQuestion(*scene, random.Split("question"));
    }
    return std::move(rows_);
  }

 private:
  const std::string& NameOf(uint32_t task) const {
    return book_.game.book().Name(book_.game.book().tasks()[task]);
  }
  bool IsTest(uint32_t task) const { return book_.test_goals.contains(NameOf(task)); }

  uint32_t DrawGoal(RandomStream& random) const;
  std::optional<Scene> Draw(RandomStream& random, int number) const;
  std::vector<uint32_t> OtherGoals(const std::string& commands, uint32_t goal,
                                   RandomStream& random) const;
  std::vector<Message> Opening(const Scene& scene, std::string_view last_line) const;
  void AddEpisode(const Scene& scene, uint32_t goal, RandomStream random);
  void AddQuestion(const Scene& scene, RandomStream random);
  void AddJudgement(const Scene& scene, const std::vector<Message>& messages,
                    const std::vector<char>& trained, RandomStream random);

  const TextCraftDemoOptions options_;
  const RandomStream random_;
  const BookOfScenes book_;
  const std::string name_;
  const TextCraftFamily family_;
  const JudgementPrompt judgement_prompt_ = JudgementPrompt::Of("textcraft");
  std::vector<DemoRow> rows_;
};

// Any depth is as likely as another up to 3, and deeper ones half as likely: by number most goals
// would be of depth 2.
uint32_t SceneMaker::DrawGoal(RandomStream& random) const {
  const RecipeBook& book = book_.game.book();
  static constexpr std::array kDepths = {1, 2, 2, 3, 3, 4};
  const int depth = random.Pick(kDepths);
  std::vector<uint32_t> tasks;
  for (uint32_t task = 0; task < book.tasks().size(); ++task) {
    const int has = book.Depth(book.tasks()[task]);
    if ((has == depth || (depth == 4 && has > 4)) && !IsTest(task)) tasks.push_back(task);
  }
  return tasks.empty() ? 0 : random.Pick(tasks);
}

// The commands of a task's prompt, some of those left out that the goal does not need.
std::optional<Scene> SceneMaker::Draw(RandomStream& random, int number) const {
  const uint32_t goal = DrawGoal(random);
  if (IsTest(goal)) return std::nullopt;
  Scene scene{fmt::format("{}-{}", name_, number), "", {goal}};
  const std::string prompt =
      TextCraftPrompt(book_.game.book(), book_.game.book().tasks()[goal], random.Split("commands"));
  scene.commands = prompt.substr(0, prompt.find(kGoalLine));
  const auto commands = std::ranges::count(scene.commands, '\n');
  if (commands > options_.max_commands) return std::nullopt;
  for (const uint32_t other : OtherGoals(scene.commands, goal, random)) {
    scene.goals.push_back(other);
  }
  return scene;
}

// Other items that the commands make.
std::vector<uint32_t> SceneMaker::OtherGoals(const std::string& commands, uint32_t goal,
                                             RandomStream& random) const {
  std::vector<uint32_t> others;
  const RecipeBook& book = book_.game.book();
  for (uint32_t task = 0; task < book.tasks().size(); ++task) {
    if (task == goal || IsTest(task)) continue;
    const std::string name = DisplayName(NameOf(task));
    const size_t at = commands.find(fmt::format(" {} using ", name));
    // "\ncraft 4 oak planks using": a number stands before the whole name.
    if (at == std::string::npos || at == 0 || commands[at - 1] < '0' || commands[at - 1] > '9') {
      continue;
    }
    others.push_back(task);
  }
  return random.Sample(std::move(others), static_cast<size_t>(options_.goals - 1));
}

std::vector<Message> SceneMaker::Opening(const Scene& scene, std::string_view last_line) const {
  std::vector<Message> messages = family_.Instruction();
  messages.push_back({"user", fmt::format("{}\n\n{}", scene.commands, last_line)});
  return messages;
}

// What a teacher does that takes `step`, and perhaps the next ones, for done: a craft for which
// something is missing, with the thought that nothing is. `belief` is a view of its own of the same
// conversation as `truth`. Nothing if the next craft is too far away.
std::optional<TaughtStep> MistakenBelief(const TextCraftView& truth,
                                         std::optional<TextCraftView> belief, TaughtStep step) {
  constexpr int kMostBelieved = 6;  // steps that it takes for done
  for (int i = 0; belief && i < kMostBelieved; ++i) {
    belief->held[static_cast<size_t>(step.action.item)] += step.action.count;
    std::optional<TaughtStep> next = TeachTextCraft(*belief);
    if (!next) return std::nullopt;
    step = *std::move(next);
    const bool lacks = std::ranges::any_of(step.action.uses, [&](const ItemCount& use) {
      return truth.held[static_cast<size_t>(use.item)] < use.count;
    });
    if (step.action.verb == TextCraftVerb::kCraft && lacks) return step;
  }
  return std::nullopt;
}

// A command that is taken to use other ingredients than it does.
struct Misreading {
  size_t command;  // index into TextCraftView::commands
  std::vector<ItemCount> ingredients;
};

// What small models make of the command that the thought recites last: the ingredients of the line
// above or below, one of them beside or in place of its own, one left out, or another number.
// Nothing if what comes out is a command that is shown.
std::optional<Misreading> Misread(const TextCraftView& view, std::string_view thought,
                                  RandomStream& random) {
  const CraftCommand* read = LastRecited(view, thought);
  if (read == nullptr || view.commands.size() < 2) return std::nullopt;
  const auto at = static_cast<size_t>(read - view.commands.data());
  Misreading misreading{at, {read->ingredients.begin(), read->ingredients.end()}};
  std::vector<ItemCount>& parts = misreading.ingredients;
  const bool below = at == 0 || (at + 1 < view.commands.size() && random.Chance(0.5));
  const std::span other = view.commands[below ? at + 1 : at - 1].ingredients;
  if (parts.empty() || other.empty()) return std::nullopt;
  const ItemCount foreign = random.Pick(other);
  ItemCount& own = parts[random.Below(parts.size())];
  switch (random.Below(5)) {
    case 0:
      parts.assign(other.begin(), other.end());
      break;
    case 1:
      own = foreign;
      break;
    case 2:
      parts.insert(parts.begin(), foreign);
      break;
    case 3:
      own.count += own.count > 1 && random.Chance(0.5) ? -1 : 1;
      break;
    default:
      if (parts.size() == 1) return std::nullopt;
      parts.erase(parts.begin() + (&own - parts.data()));
  }
  std::set<int> items;
  for (const ItemCount& part : parts) {
    if (part.item == read->result || !items.insert(part.item).second) return std::nullopt;
  }
  const auto same = [](const ItemCount& a, const ItemCount& b) {
    return a.item == b.item && a.count == b.count;
  };
  const bool shown = std::ranges::any_of(view.commands, [&](const CraftCommand& command) {
    return command.result == read->result &&
           std::ranges::is_permutation(command.ingredients, parts, same);
  });
  return shown ? std::nullopt : std::optional(std::move(misreading));
}

// Left out where the commands show no way, or the game refuses what the teacher says.
void SceneMaker::AddEpisode(const Scene& scene, uint32_t goal, RandomStream random) {
  std::vector<Message> messages =
      Opening(scene, fmt::format("Goal: craft {}.", DisplayName(NameOf(goal))));
  const size_t first_turn = messages.size();
  std::vector<char> trained(messages.size());
  TextCraftState state = book_.game.Start(goal);
  bool failed = false;
  const auto say = [&](std::string_view thought, std::string_view action, bool train) {
    messages.push_back(
        {"assistant", fmt::format("Thought: {}{}{}\nAction: {}", failed ? kTextCraftFailed : "",
                                  failed ? " " : "", thought, action)});
    trained.push_back(train ? 1 : 0);
    book_.game.Step(state, CleanTextCraftAction(action));
    messages.push_back({"user", OneLine(state.observation)});
    trained.push_back(0);
    failed = family_.IsRefusal("", action, state.observation);
  };
  std::optional<Misreading> misreading;
  for (int turn = 0; turn < options_.max_turns && !state.done; ++turn) {
    if (misreading) {  // until the game refuses what comes of it, sometimes more than once
      constexpr double kSaidAgain = 0.3;
      std::optional<TextCraftView> view = ReadTextCraft(messages);
      view->commands[misreading->command].ingredients = misreading->ingredients;
      const std::optional<TaughtStep> step = TeachTextCraft(*view);
      if (!step && !failed) return;
      if (step) say(step->thought, ActionText(*view, step->action), false);
      if (!step || (failed && !random.Chance(kSaidAgain))) misreading.reset();
      continue;
    }
    if (failed && options_.look) {
      say("I look at what I hold.", "inventory", true);
      continue;
    }
    const std::optional<TextCraftView> view = ReadTextCraft(messages);
    const std::optional<TaughtStep> step = view ? TeachTextCraft(*view) : std::nullopt;
    if (!step) return;
    const bool slips = random.Chance(options_.slips);
    // Nothing is drawn without misreadings or beliefs, so that the rows of a seed stay what they
    // were.
    if (slips && options_.misreadings > 0 && random.Chance(options_.misreadings)) {
      misreading = Misread(*view, step->thought, random);
      if (misreading) continue;
    }
    if (slips && options_.beliefs > 0 && random.Chance(options_.beliefs)) {
      if (const std::optional<TaughtStep> believed =
              MistakenBelief(*view, ReadTextCraft(messages), *step)) {
        say(believed->thought, ActionText(*view, believed->action), false);
        continue;
      }
    }
    say(step->thought,
        slips ? TextCraftMistake(*view, step->action, random) : ActionText(*view, step->action),
        !slips);
    if (failed && !slips) return;
  }
  if (!state.done) return;
  messages.pop_back();
  trained.pop_back();
  if (trained.back() == 0) return;
  std::vector<char> learned = trained;
  for (size_t i = first_turn; options_.train_slips && i < learned.size(); i += 2) learned[i] = 1;
  rows_.push_back(MakeDemoRow(scene.name, messages, learned));
  if (random.Chance(options_.judgements)) {
    AddJudgement(scene, messages, trained, random.Split("judgement"));
  }
}

// One of the steps but the last; a mistake, if there is one, as often as not.
void SceneMaker::AddJudgement(const Scene& scene, const std::vector<Message>& messages,
                              const std::vector<char>& trained, RandomStream random) {
  const size_t opening = family_.Instruction().size();  // then the first observation, then turns
  std::vector<size_t> steps, mistakes;
  for (size_t i = opening + 1; i + 1 < messages.size(); i += 2) {
    (trained[i] != 0 ? steps : mistakes).push_back(i);
  }
  if (steps.empty() || (!mistakes.empty() && random.Chance(0.5))) std::swap(steps, mistakes);
  if (steps.empty()) return;
  const size_t step = random.Pick(steps);

  TreeOrigin origin;
  origin.family = family_.name();
  Tree tree(std::move(origin), family_.Instruction(), messages[opening].content);
  int node = 0;
  for (size_t i = opening + 1; i <= step; i += 2) {
    Node turn;
    turn.action = family_.ParseAction(messages[i].content);
    turn.observation = messages[i + 1].content;
    node = tree.Add(node, std::move(turn));
  }
  const std::span history(messages.begin() + static_cast<std::ptrdiff_t>(opening),
                          messages.begin() + static_cast<std::ptrdiff_t>(step));
  const std::optional<std::string> verdict =
      trained[step] != 0 ? "The game took it, and the goal needs it.\nJudgement: Good"
                         : VerdictOnMistake(family_, history, tree.node(node));
  if (!verdict) return;
  std::vector<Message> question = judgement_prompt_.Query(tree, node);
  std::vector<char> learned(question.size());
  question.push_back({"assistant", *verdict});
  learned.push_back(1);
  rows_.push_back(MakeDemoRow(scene.name, question, learned));
}

// "Question: what do oak door and stick take?"
void SceneMaker::AddQuestion(const Scene& scene, RandomStream random) {
  if (options_.questions == 0) return;
  const std::vector<Message> goal =
      Opening(scene, fmt::format("Goal: craft {}.", DisplayName(NameOf(scene.goals[0]))));
  const std::optional<TextCraftView> view = ReadTextCraft(goal);
  if (!view) return;
  std::vector<size_t> asked(view->commands.size());
  for (size_t i = 0; i < asked.size(); ++i) asked[i] = i;
  asked = random.Sample(std::move(asked), static_cast<size_t>(options_.questions));
  std::string question = "Question: what do these take:";
  std::string answer;
  for (size_t i = 0; i < asked.size(); ++i) {
    const CraftCommand& command = view->commands[asked[i]];
    question +=
        fmt::format("{} {}", i == 0 ? "" : ",", view->names[static_cast<size_t>(command.result)]);
    answer += fmt::format("{}{}.", i == 0 ? "" : " ", Recital(*view, command));
  }
  std::vector<Message> messages = Opening(scene, question + "?");
  std::vector<char> trained(messages.size());
  messages.push_back({"assistant", answer});
  trained.push_back(1);
  rows_.push_back(MakeDemoRow(scene.name, messages, trained));
}

}  // namespace

std::vector<SourceRecipe> HeldOutRecipes(uint64_t seed, int number) {
  const RandomStream random =
      RandomStream(seed).Split("held-out book").Split(static_cast<uint64_t>(number));
  return VaryRecipes(BuiltInRecipes(), DemoWords(), random).recipes;
}

std::vector<DemoRow> TextCraftDemos(const TextCraftDemoOptions& options, uint64_t seed, int book) {
  return SceneMaker(options, seed, book).Rows();
}

}  // namespace agentr
