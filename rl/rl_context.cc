#include "rl/rl_context.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "common/error.h"
#include "rl/worlds/prompt_changes.h"

namespace agentr {
namespace {

// The file of an earlier release does not say with which tokenizer it was recorded; but with the
// same one the ids of an action are its text. Those that are not UTF-8 may differ.
void RequireSameTexts(const TransitionStore& store, const Tokenizer& tokenizer,
                      const std::string& path) {
  const int64_t compared = std::min<int64_t>(store.size(), 1000);
  int64_t other = 0;
  for (int64_t n = 0; n < compared; ++n) {
    const Transition t = store.Read(n);
    other += tokenizer.Decode(t.choice.tokens).starts_with(t.choice.text) ? 0 : 1;
  }
  if (2 * other <= compared) {
    spdlog::info(
        "{} does not say with which tokenizer it was recorded, but its actions read the "
        "same with that of --model_dir",
        path);
    return;
  }
  throw FatalError(
      ExitCode::kUsage,
      fmt::format(
          "{} was recorded with another tokenizer than that of --model_dir: with this one {} "
          "of its first {} actions are other texts. Cure: a --model_dir with the tokenizer "
          "that recorded it, or play again with this one",
          path, other, compared));
}

}  // namespace

RlContext::RlContext(const AgentRlOptions& options, std::filesystem::path folder,
                     int64_t transitions, ProcessGroup* group, Workbench* workbench)
    : options_(options),
      group_(group),
      policy_(options.start.dir.empty() ? nullptr : std::make_unique<PolicyModel>(options)),
      store_(folder / "transitions", policy_ ? policy_->tokens() : TokenSpace(), transitions),
      workbench_(workbench) {}

World& RlContext::world() {
  if (!world_) world_ = MakeWorld(options_.world, options_.seed);
  return *world_;
}

Recorder& RlContext::recorder() {
  if (!recorder_) recorder_ = std::make_unique<Recorder>(world(), policy_.get(), store_);
  return *recorder_;
}

const TransitionStore* RlContext::recorded() {
  const std::string& path = options_.experience.transitions;
  if (recorded_ || path.empty()) return recorded_.get();
  recorded_ = std::make_unique<TransitionStore>(path, policy_->tokens());
  if (!recorded_->tokenizer_known()) RequireSameTexts(*recorded_, policy_->tokenizer(), path);
  return recorded_.get();
}

TaskPlayer& RlContext::task_player() {
  if (!task_player_) {
    task_player_ = std::make_unique<TaskPlayer>(options_, *policy_, *workbench_);
  }
  return *task_player_;
}

RlContext::Played RlContext::played() const {
  Played all = of_tasks_;
  all.steps += store_.size();
  if (recorder_) all.seconds += recorder_->seconds();
  return all;
}

void RlContext::AddPlayed(const Played& more) {
  of_tasks_.seconds += more.seconds;
  of_tasks_.steps += more.steps;
  of_tasks_.tokens += more.tokens;
}

RandomStream RlContext::Random(std::string_view part, int64_t iteration) const {
  return RandomStream(options_.seed).Split(part).Split(static_cast<uint64_t>(iteration));
}

Actor& RlContext::Player(int64_t version, bool greedy) {
  if (!world().actions().empty()) {
    listed_ = std::make_unique<ListedPolicy>(*policy_, nullptr, world().actions(), group_);
    listed_->set_greedy(greedy);
    listed_->set_weights_version(version);
    return *listed_;
  }
  WrittenPolicy& written = Written(version);
  written.set_greedy(greedy);
  return written;
}

WrittenPolicy& RlContext::Written(std::optional<int64_t> version) {
  if (!written_) {
    written_ = std::make_unique<WrittenPolicy>(*policy_, options_.experience.max_new_tokens,
                                               options_.threads, group_);
  }
  written_->set_greedy(false);
  if (version) written_->Load(*version);
  return *written_;
}

nlohmann::ordered_json RlContext::Evaluate(int64_t iteration, int64_t version) {
  return EvaluateActor(iteration, Player(version, options_.eval_greedy));
}

nlohmann::ordered_json RlContext::EvaluateActor(int64_t iteration, Actor& actor) {
  const RandomStream random = RandomStream(options_.seed).Split("evaluation");
  RandomStream worlds = random;
  const std::unique_ptr<World> fresh =
      WithChangedPrompts(MakeWorld(options_.world, worlds.Next() >> 40), options_.eval_prompts);
  return PlayEpisodes(*fresh, policy_.get(), actor, options_.eval_episodes,
                      random.Split(static_cast<uint64_t>(iteration)))
      .ToJson();
}

}  // namespace agentr
