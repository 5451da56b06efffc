// What the tests of scripted models have in common: conversations and episodes in the small worlds,
// and many samples.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "clients/environment.h"
#include "clients/language_model.h"
#include "common/random.h"
#include "tasks/task_family.h"

namespace agentr {

// The beginning of a conversation about `world`, and what was done since.
template <typename World>
std::vector<Message> Conversation(const TaskFamily& family, World world, const std::string& first,
                                  const std::vector<std::string>& actions) {
  std::vector<Message> messages = family.Instruction();
  messages.push_back({"user", first});
  for (const std::string& action : actions) {
    messages.push_back({"assistant", "Thought: so be it.\nAction: " + action});
    messages.push_back({"user", world.Step(action).observation});
  }
  return messages;
}

// One episode of a model.
struct PlayedEpisode {
  std::vector<std::string> actions;
  double reward = 0;
};

struct PlayedOptions {
  size_t max_steps = 20;
  uint64_t seed = 1;
  size_t keep_turns = 1000;  // turn pairs after the first observation that the model still sees
  int task_id = -1;
};

template <typename World>
PlayedEpisode PlayEpisode(LanguageModel& model, const TaskFamily& family, World& world,
                          const std::string& first, const PlayedOptions& options) {
  std::vector<Message> shown = family.Instruction();
  shown.push_back({"user", first});
  const size_t most = shown.size() + 2 * options.keep_turns;
  const auto begin = static_cast<ptrdiff_t>(shown.size());
  PlayedEpisode episode;
  while (episode.actions.size() < options.max_steps) {
    if (shown.size() > most) shown.erase(shown.begin() + begin, shown.begin() + begin + 2);
    SamplingParams sampling;
    sampling.task_id = options.task_id;
    sampling.seed = options.seed * 1000 + episode.actions.size();
    const std::string text = model.Complete(shown, 1, sampling).value().completions[0].text;
    episode.actions.push_back(family.ParseAction(text));
    const StepResult step = world.Step(episode.actions.back());
    shown.push_back({"assistant", text});
    shown.push_back({"user", step.observation});
    episode.reward = step.reward;
    if (step.done) break;
  }
  return episode;
}

inline std::vector<std::string> SampledTexts(LanguageModel& model,
                                             const std::vector<Message>& prompt, int n,
                                             uint64_t seed, int task_id = -1) {
  SamplingParams sampling;
  sampling.seed = seed;
  sampling.task_id = task_id;
  const auto batch = model.Complete(prompt, n, sampling);
  std::vector<std::string> texts;
  for (const Completion& completion : batch.value().completions) texts.push_back(completion.text);
  return texts;
}

inline std::vector<std::string> ActionsIn(const TaskFamily& family,
                                          const std::vector<std::string>& texts) {
  std::vector<std::string> actions;
  for (const std::string& text : texts) actions.push_back(family.ParseAction(text));
  return actions;
}

// The share of `actions` that are not `right`.
inline double ShareWrong(const std::vector<std::string>& actions, const std::string& right) {
  const auto wrong = std::ranges::count_if(actions, [&](const auto& one) { return one != right; });
  return static_cast<double>(wrong) / static_cast<double>(actions.size());
}

// What `draw` makes of many random streams.
template <typename Draw>
std::set<std::string> Drawn(const Draw& draw) {
  std::set<std::string> all;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    RandomStream random(seed);
    all.insert(draw(random));
  }
  return all;
}

// `model` and `same` are made in the same way.
inline void ExpectSamplesOfSeedAndIndex(LanguageModel& model, LanguageModel& same,
                                        const std::vector<Message>& prompt, int task_id = -1) {
  const auto texts = SampledTexts(model, prompt, 8, 42, task_id);
  EXPECT_EQ(SampledTexts(same, prompt, 8, 42, task_id), texts);
  EXPECT_NE(SampledTexts(model, prompt, 8, 43, task_id), texts);
  const auto fewer = SampledTexts(model, prompt, 3, 42, task_id);
  EXPECT_TRUE(std::equal(fewer.begin(), fewer.end(), texts.begin()));
}

}  // namespace agentr
