#include "tasks/task_family.h"

#include <fmt/core.h>

#include "common/error.h"
#include "common/options.h"
#include "common/text.h"
#include "tasks/action_text.h"
#include "tasks/babyai/babyai_family.h"
#include "tasks/detective/detective_family.h"
#include "tasks/prompt_file.h"
#include "tasks/questions/questions_family.h"
#include "tasks/sciworld/sciworld_family.h"
#include "tasks/textcraft/textcraft_family.h"
#include "tasks/webshop/archer_family.h"
#include "tasks/webshop/webshop_family.h"

namespace agentr {
std::vector<Message> TaskFamily::Instruction() const { return InstructionOf(name()); }

std::string TaskFamily::ParseAction(std::string_view response) const {
  const std::string text = TextOfAction(response);
  return std::string(Trim(std::string_view(text).substr(0, text.find('\n'))));
}

std::string_view TaskFamily::MistakeName(std::span<const Message> history, std::string_view action,
                                         std::string_view after) const {
  const std::string_view before = history.empty() ? "" : std::string_view(history.back().content);
  return IsRefusal(before, action, after) ? "refused" : "dead_end";
}

void DeclareStyle(OptionSet& set, std::string& style, std::string& task) {
  set.Add("--style", style,
          "archer: WebShop as ArCHer shows it, with logs as observations and ten actions; its name "
          "in files is webshop_archer");
  set.AfterParsing([&] {
    if (style.empty()) return;
    if (task.empty()) task = "webshop";
    task += "_" + style;
  });
}

std::unique_ptr<TaskFamily> MakeTaskFamily(std::string_view name) {
  if (name == "textcraft") return std::make_unique<TextCraftFamily>();
  if (name == "webshop") return std::make_unique<WebShopFamily>();
  if (name == "webshop_archer") return std::make_unique<ArcherFamily>();
  if (name == "sciworld") return std::make_unique<SciWorldFamily>();
  if (name == "babyai") return std::make_unique<BabyAiFamily>();
  if (name == "twenty_questions") return std::make_unique<TwentyQuestionsFamily>();
  if (name == "guess_my_city") return std::make_unique<GuessMyCityFamily>();
  if (name == "detective") return std::make_unique<DetectiveFamily>();
  throw FatalError(
      ExitCode::kUsage,
      fmt::format("unknown task \"{}\"; the known tasks are: textcraft, webshop, sciworld, babyai, "
                  "twenty_questions, guess_my_city, detective, webshop_archer",
                  name));
}

}  // namespace agentr
