#include "rl/recorder.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "common/clock.h"
#include "common/error.h"
#include "common/text.h"

namespace agentr {
namespace {

std::vector<std::string_view> TextsOf(std::span<const Choice> choices) {
  std::vector<std::string_view> texts;
  for (const Choice& choice : choices) texts.push_back(choice.text);
  return texts;
}

void ReadPrompts(const World& world, const PolicyModel* policy,
                 std::vector<std::vector<int32_t>>& prompts) {
  if (policy == nullptr) return;
  for (size_t i = 0; i < prompts.size(); ++i) prompts[i] = policy->PromptIds(world.Prompt(i));
}

}  // namespace

void PlayResult::Count(const Choice& choice) {
  choices += static_cast<int64_t>(choice.logprobs.size());
  logprob = std::accumulate(choice.logprobs.begin(), choice.logprobs.end(), logprob);
  if (choice.listed >= 0 || choice.logprobs.empty()) return;
  ++written;
  unreadable += choice.unfinished || Trim(choice.text).empty() ? 1 : 0;
}

nlohmann::ordered_json PlayResult::ToJson() const {
  nlohmann::ordered_json json = {{"steps", steps}, {"episodes", episodes}};
  if (choices > 0) json["entropy"] = (0 - logprob) / static_cast<double>(choices);
  if (written > 0) {
    json["unreadable"] = static_cast<double>(unreadable) / static_cast<double>(written);
  }
  if (episodes == 0) return json;
  const auto n = static_cast<double>(episodes);
  json["return"] = total / n;
  json["success"] = static_cast<double>(wins) / n;
  json["length"] = length / n;
  return json;
}

Recorder::Recorder(World& world, const PolicyModel* policy, TransitionStore& store)
    : world_(world),
      policy_(policy),
      store_(store),
      prompts_(world.size()),
      episode_(world.size()),
      step_(world.size()),
      total_(world.size()) {
  for (int64_t& episode : episode_) episode = episodes_++;
  Replay();
  ReadPrompts(world_, policy_, prompts_);
}

void Recorder::Replay() {
  for (int64_t first = 0; first + static_cast<int64_t>(world_.size()) <= store_.size();
       first += static_cast<int64_t>(world_.size())) {
    std::vector<Transition> recorded;
    for (size_t i = 0; i < world_.size(); ++i) {
      recorded.push_back(store_.Read(first + static_cast<int64_t>(i)));
    }
    std::vector<std::string_view> actions;
    for (const Transition& t : recorded) actions.push_back(t.choice.text);
    const std::span<const BatchStep> steps = world_.Step(actions);
    for (size_t i = 0; i < world_.size(); ++i) {
      if (steps[i].done != recorded[i].done ||
          static_cast<float>(steps[i].reward) != recorded[i].reward) {
        throw FatalError(ExitCode::kFile,
                         fmt::format("transition {} does not happen again when its actions are "
                                     "repeated: the environments or their options have changed. "
                                     "Cure: another --name, which begins a new run",
                                     first + static_cast<int64_t>(i)));
      }
      total_[i] += steps[i].reward;
      ++step_[i];
      if (!steps[i].done) continue;
      total_[i] = 0;
      step_[i] = 0;
      episode_[i] = episodes_++;
    }
  }
}

PlayResult Recorder::Play(Actor& actor, int steps, const RandomStream& random) {
  const auto begin = std::chrono::steady_clock::now();
  PlayResult result;
  for (int t = 0; t < steps; ++t) {
    const std::vector<Choice> choices =
        actor.Act(world_, prompts_, random.Split(static_cast<uint64_t>(t)));
    Take(choices, actor.weights_version(), &result);
  }
  seconds_ += SecondsSince(begin);
  return result;
}

void Recorder::Take(std::span<const Choice> choices, int64_t version, PlayResult* result) {
  const std::span<const BatchStep> steps = world_.Step(TextsOf(choices));
  for (size_t i = 0; i < steps.size(); ++i) {
    const Choice& choice = choices[i];
    Transition t{episode_[i], static_cast<int32_t>(i), step_[i]++, std::move(prompts_[i]), choice};
    if (t.choice.tokens.empty() && policy_ != nullptr) {
      t.choice.tokens = policy_->ActionIds(choice.text, choice.listed >= 0);
    }
    t.weights_version = version;
    t.reward = static_cast<float>(steps[i].reward);
    t.done = steps[i].done;
    t.truncated = steps[i].truncated;
    store_.Append(t);
    result->Count(choice);
    total_[i] += steps[i].reward;
    ++result->steps;
    if (!t.done) continue;
    ++result->episodes;
    result->wins += world_.Won(steps[i]) ? 1 : 0;
    result->total += total_[i];
    result->length += step_[i];
    total_[i] = 0;
    step_[i] = 0;
    episode_[i] = episodes_++;
  }
  ReadPrompts(world_, policy_, prompts_);
}

PlayResult PlayEpisodes(World& world, const PolicyModel* policy, Actor& actor, int episodes,
                        const RandomStream& random) {
  const size_t slots = world.size();
  const auto quota = (static_cast<size_t>(episodes) + slots - 1) / slots;
  std::vector<size_t> finished(slots), length(slots);
  std::vector<double> total(slots);
  std::vector<std::vector<int32_t>> prompts(slots);
  PlayResult result;
  for (uint64_t t = 0; std::ranges::min(finished) < quota; ++t) {
    ReadPrompts(world, policy, prompts);
    const std::vector<Choice> choices = actor.Act(world, prompts, random.Split(t));
    const std::span<const BatchStep> steps = world.Step(TextsOf(choices));
    for (size_t i = 0; i < slots; ++i) {
      if (finished[i] == quota) continue;
      total[i] += steps[i].reward;
      ++length[i];
      ++result.steps;
      if (!steps[i].done) continue;
      ++result.episodes;
      result.wins += world.Won(steps[i]) ? 1 : 0;
      result.total += total[i];
      result.length += static_cast<double>(length[i]);
      ++finished[i];
      total[i] = 0;
      length[i] = 0;
    }
  }
  return result;
}

}  // namespace agentr
