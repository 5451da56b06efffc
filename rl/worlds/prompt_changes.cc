#include "rl/worlds/prompt_changes.h"

#include <utility>

#include "common/text.h"

namespace agentr {
namespace {

using Pairs = std::vector<std::pair<std::string_view, std::string_view>>;

const Pairs kMadeUpNouns = {{"key", "dax"}, {"ball", "xolo"}, {"box", "afze"}};
const Pairs kMadeUpColors = {{"red", "faze"},     {"green", "jatu"},   {"blue", "croh"},
                             {"purple", "vurst"}, {"yellow", "gakul"}, {"grey", "sil"}};

Pairs Joined(Pairs a, const Pairs& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

const std::vector<std::pair<std::string, Pairs>>& Changes() {
  static const std::vector<std::pair<std::string, Pairs>> kChanges = {
      {"none", {}},
      {"other_names", {{"key", "chair"}, {"ball", "table"}, {"box", "car"}}},
      {"synonyms",
       {{"red", "vermilion"},
        {"green", "jade"},
        {"blue", "cyan"},
        {"purple", "violet"},
        {"yellow", "golden"},
        {"grey", "silver"}}},
      {"made_up_nouns", kMadeUpNouns},
      {"made_up_colors", kMadeUpColors},
      {"made_up_words", Joined(kMadeUpNouns, kMadeUpColors)},
      {"first_person_speaker", {{"Goal of the agent", "I would like the agent to"}}},
      {"first_person_agent", {{"Goal of the agent", "You have to"}}}};
  return kChanges;
}

class ChangedWorld : public World {
 public:
  ChangedWorld(std::unique_ptr<World> world, std::string change)
      : world_(std::move(world)), change_(std::move(change)) {}

  std::string Prompt(size_t slot) const override {
    return ChangedPrompt(world_->Prompt(slot), change_);
  }
  std::span<const BatchStep> Step(std::span<const std::string_view> actions) override {
    return world_->Step(actions);
  }
  bool Won(const BatchStep& end) const override { return world_->Won(end); }
  std::string Expert(size_t slot) const override { return world_->Expert(slot); }
  std::string AnyAction(size_t slot, RandomStream& random) const override {
    return world_->AnyAction(slot, random);
  }
  const BatchEnvironment& environment() const override { return world_->environment(); }

 private:
  const std::unique_ptr<World> world_;
  const std::string change_;
};

}  // namespace

std::vector<std::string> PromptChangeNames() {
  std::vector<std::string> names;
  for (const auto& [name, pairs] : Changes()) names.push_back(name);
  return names;
}

std::string ChangedPrompt(std::string prompt, std::string_view change) {
  for (const auto& [name, pairs] : Changes()) {
    if (name != change) continue;
    for (const auto& [from, to] : pairs) ReplaceAll(prompt, from, to);
  }
  return prompt;
}

std::unique_ptr<World> WithChangedPrompts(std::unique_ptr<World> world, const std::string& change) {
  if (change == "none") return world;
  return std::make_unique<ChangedWorld>(std::move(world), change);
}

}  // namespace agentr
