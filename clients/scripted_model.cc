#include "clients/scripted_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <thread>
#include <utility>

#include "clients/textcraft_conversation.h"
#include "clients/textcraft_planner.h"
#include "clients/textcraft_slips.h"
#include "common/random.h"

namespace agentr {
namespace {

// An opening and a reason make a thought. {0} is the item of the action, {1} the goal.
constexpr std::array<std::string_view, 6> kOpenings = {
    "",
    "Let me see. ",
    "So far so good. ",
    "One step at a time. ",
    "I think I know. ",
    "Next step. ",
};
constexpr std::array<std::string_view, 5> kGetReasons = {
    "I need {0} for the {1}, so I pick it up.",
    "There is no {0} in my hands yet; I get some.",
    "To make {1} I should have {0} first.",
    "I will collect {0} now.",
    "{0} is still missing.",
};
constexpr std::array<std::string_view, 5> kCraftReasons = {
    "I have what {0} takes, so I craft it.", "Now I can make {0}.",
    "Crafting {0} is the thing to do now.",  "I use what I hold to make {0}.",
    "The commands tell me how to make {0}.",
};
constexpr std::array<std::string_view, 5> kOtherReasons = {
    "I check where I stand before I make {1}.",
    "I am not sure what I hold.",
    "I want to know what is left for the {1}.",
    "Maybe this brings me further.",
    "I try this for the {1}.",
};

const std::array<std::string_view, 5>& ReasonsFor(std::string_view action) {
  if (action.starts_with("get ")) return kGetReasons;
  if (action.starts_with("craft ")) return kCraftReasons;
  return kOtherReasons;
}

// The item that an action text is about: "get 2 oak planks", "craft 4 stick using …".
std::string_view ItemIn(std::string_view action) {
  const size_t digit = action.find_first_of("0123456789");
  const size_t begin = action.find(' ', std::min(digit, action.size()));
  if (begin == std::string_view::npos) return action;
  const std::string_view item = action.substr(begin + 1);
  return item.substr(0, item.find(" using "));
}

std::string Respond(const TextCraftView& view, std::string_view action, RandomStream& random) {
  const std::string_view opening = random.Pick(std::span<const std::string_view>(kOpenings));
  const std::string_view reason =
      random.Pick(std::span<const std::string_view>(ReasonsFor(action)));
  const std::string_view goal = view.names[static_cast<size_t>(view.goal)];
  return fmt::format("Thought: {}{}\nAction: {}", opening,
                     fmt::format(fmt::runtime(reason), ItemIn(action), goal), action);
}

// What both models share: reading the prompt once, one random stream per sample, the usage.
class ScriptedModel : public LanguageModel {
 public:
  explicit ScriptedModel(std::chrono::milliseconds delay) : delay_(delay) {}

  Result<CompletionBatch> Complete(std::span<const Message> prompt, int n,
                                   const Sampling& sampling) override {
    if (delay_.count() > 0) std::this_thread::sleep_for(delay_);
    const auto view = ReadTextCraft(prompt);
    if (!view) {
      return Fail(ErrorKind::kRejected,
                  fmt::format("the model \"{}\" plays only TextCraft, and the "
                              "prompt shows no goal of it",
                              name()));
    }
    CompletionBatch batch;
    batch.usage.requests = 1;
    batch.usage.prompt_tokens = CountTokens(prompt);
    const RandomStream stream(sampling.seed);
    for (std::string& text : Texts(*view, n, stream)) {
      batch.usage.completion_tokens += static_cast<int64_t>(text.size() + 3) / 4;
      batch.completions.push_back({std::move(text), "stop", {}, {}});
    }
    return batch;
  }

 protected:
  virtual std::vector<std::string> Texts(const TextCraftView& view, int n,
                                         const RandomStream& stream) const = 0;

 private:
  const std::chrono::milliseconds delay_;
};

class RandomModel : public ScriptedModel {
 public:
  using ScriptedModel::ScriptedModel;
  std::string name() const override { return "random"; }

 protected:
  std::vector<std::string> Texts(const TextCraftView& view, int n,
                                 const RandomStream& stream) const override {
    std::vector<std::string> texts;
    for (int i = 0; i < n; ++i) {
      RandomStream random = stream.Split(static_cast<uint64_t>(i));
      const std::string action = ActionText(view, RandomTextCraftAction(view, random));
      texts.push_back(Respond(view, action, random));
    }
    return texts;
  }
};

class PlannerModel : public ScriptedModel {
 public:
  PlannerModel(std::chrono::milliseconds delay, double error_rate)
      : ScriptedModel(delay), error_rate_(error_rate) {}
  std::string name() const override { return "planner"; }

 protected:
  std::vector<std::string> Texts(const TextCraftView& view, int n,
                                 const RandomStream& stream) const override {
    const std::vector<TextCraftAction> plan = PlanTextCraft(view);
    const TextCraftAction next = plan.empty() ? TextCraftAction() : plan.front();
    const std::string right = ActionText(view, next);
    const double slip = 1 - std::pow(1 - error_rate_, 1 + 2 * view.wasted_turns);
    std::vector<std::string> texts;
    for (int i = 0; i < n; ++i) {
      RandomStream random = stream.Split(static_cast<uint64_t>(i));
      const std::string action = random.Chance(slip) ? SlipTextCraft(view, next, random) : right;
      texts.push_back(Respond(view, action, random));
    }
    return texts;
  }

 private:
  const double error_rate_;
};

}  // namespace

void Declare(OptionSet& set, ScriptedOptions& options) {
  set.Group("Scripted models");
  set.Add("--planner_error_rate", options.error_rate,
          "Share of turns in which the model \"planner\" makes a mistake")
      .Range(0, 1);
  set.Add("--model_delay_ms", options.delay_ms,
          "Milliseconds that a scripted model sleeps per request")
      .Min(0);
}

std::unique_ptr<LanguageModel> MakeScriptedModel(std::string_view name, const TaskFamily& family,
                                                 const ScriptedOptions& options) {
  if (name != "random" && name != "planner") return nullptr;
  if (family.name() != "textcraft") {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("the model \"{}\" plays only textcraft, not {}; name a language "
                                 "model",
                                 name, family.name()));
  }
  const std::chrono::milliseconds delay(options.delay_ms);
  if (name == "random") return std::make_unique<RandomModel>(delay);
  return std::make_unique<PlannerModel>(delay, options.error_rate);
}

}  // namespace agentr
