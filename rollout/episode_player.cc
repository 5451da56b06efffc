#include "rollout/episode_player.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/clock.h"
#include "common/options.h"
#include "common/text.h"
#include "rollout/prompt_truncation.h"
#include "rollout/snapping.h"
#include "tasks/revision_hints.h"

namespace agentr {
namespace {

// Adds the time from its construction to its destruction to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& seconds) : seconds_(seconds) {}
  ~Stopwatch() { seconds_ += SecondsSince(begin_); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  double& seconds_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

// An episode that continues from given turns needs other draws, because the original ones would
// lead to the same failure again.
RandomStream StreamOf(const EpisodeStart& start, uint64_t seed) {
  const RandomStream stream = RandomStream(seed)
                                  .Split(static_cast<uint64_t>(start.task_id))
                                  .Split(static_cast<uint64_t>(start.attempt));
  return start.given.empty() ? stream : stream.Split("continuation");
}

}  // namespace

void Declare(OptionSet& set, PlayOptions& o) {
  set.Group("Episodes");
  set.Add("--max_steps", o.max_steps, "Turns until an episode is ended").Min(1);
  DeclareSampling(set, o,
                  "Sampling temperature; -1 means 0 (greedy) with one attempt and 1 with several",
                  PlayOptions::kChooseTemperature);
  set.AddSwitch("--snap_actions", o.snap_actions,
                "SciWorld: replace each action by the most similar valid one, as Agent-R does");
  set.Add(
      "--revision_action", o.revision_action,
      "The action by which an agent announces a revision; the summary counts it (default: wait; in "
      "SciWorld task)");
  set.Add(
      "--revision_reply", o.revision_reply,
      "The reply to the revision action if it changes nothing in the environment; empty: what the "
      "environment answers");
  Declare(set, o.slips);
}

EpisodePlayer::EpisodePlayer(const PlayOptions& options, EpisodeStart start, Context context)
    : options_(options),
      start_(std::move(start)),
      context_(std::move(context)),
      random_(StreamOf(start_, options.seed)) {
  episode_.task_id = start_.task_id;
  episode_.attempt = start_.attempt;
  episode_.model = context_.model.name();
  episode_.seed = options.seed;
  episode_.instruction = context_.family.Instruction();
}

Result<Episode> EpisodePlayer::Run() {
  Result<void> played;
  {
    const Stopwatch watch(episode_.wall_s);
    played = Play();
  }
  if (!played) {
    if (played.error().kind == ErrorKind::kCancelled) return tl::make_unexpected(played.error());
    episode_.end = at_fault_;
    episode_.error_kind = played.error().kind;
    episode_.error = fmt::format("{}: {}", Name(played.error().kind), played.error().message);
  }
  return std::move(episode_);
}

Result<void> EpisodePlayer::Play() {
  AGENTR_RETURN_IF_ERROR(Begin());
  while (!over_) {
    if (episode_.turns.size() >= static_cast<size_t>(options_.max_steps)) {
      episode_.end = EpisodeEnd::kMaxSteps;
      return {};
    }
    EpisodeTurn turn;
    if (Replaying()) {
      turn.response = start_.given[episode_.turns.size()].response;
      turn.action = start_.given[episode_.turns.size()].action;
      turn.reasoning = start_.given[episode_.turns.size()].reasoning;
      turn.slip = start_.given[episode_.turns.size()].slip;
      if (turn.slip)
        turn.slip->changed_state = false;  // how it went on there is not how it will here
    } else {
      AGENTR_ASSIGN_OR_RETURN(const bool said, SampleTurn(turn));
      if (!said) return {};
      AGENTR_RETURN_IF_ERROR(MaySlip(turn));
    }
    AGENTR_RETURN_IF_ERROR(StepEnvironment(std::move(turn)));
    if (context_.on_turn) context_.on_turn();
  }
  return {};
}

Result<void> EpisodePlayer::Begin() {
  const Stopwatch watch(episode_.environment_s);
  AGENTR_ASSIGN_OR_RETURN(std::string first, context_.executor.Start());
  episode_.first_observation = std::move(first);
  return {};
}

Result<bool> EpisodePlayer::SampleTurn(EpisodeTurn& turn) {
  if (context_.stop) return Fail(ErrorKind::kCancelled, "stopped");
  const size_t turns = episode_.turns.size();
  SamplingParams sampling = ParamsOf(options_);
  sampling.seed = random_.Split(turns).Next();
  // The conversation only grows: turns that did not fit before do not fit now.
  Result<TruncatedCompletion> said =
      Ask(1, sampling, turns > 0 ? episode_.turns.back().dropped_turns : 0);
  // If nothing was played yet, the context is too small for the task: an error, not the end of an
  // episode.
  if (!said && said.error().kind == ErrorKind::kContextLength && turns > 0) {
    episode_.end = EpisodeEnd::kContextOverflow;
    return false;
  }
  AGENTR_RETURN_IF_ERROR(said);
  if (said->batch.completions.empty()) {
    return Fail(ErrorKind::kProtocol, "the model returned no completion");
  }
  Completion& completion = said->batch.completions.front();
  if (IsCutTurn(completion, context_.family)) {
    if (context_.cut_turns != nullptr) context_.cut_turns->Add(completion);
    episode_.end = EpisodeEnd::kCutTurn;
    episode_.cut_response = std::move(completion.text);
    episode_.cut_ids = std::move(completion.token_ids);
    episode_.cut_logprobs = std::move(completion.logprobs);
    episode_.cut_dropped_turns = said->dropped_turns;
    return false;
  }
  StoreThought(options_.thinking, completion);
  turn.Say(std::move(completion));
  turn.action = context_.family.ParseAction(turn.response);
  turn.dropped_turns = said->dropped_turns;
  at_fault_ = EpisodeEnd::kEnvironmentError;
  if (options_.snap_actions) {
    AGENTR_RETURN_IF_ERROR(Snap(turn.action));
  }
  return true;
}

Result<TruncatedCompletion> EpisodePlayer::Ask(int n, const SamplingParams& sampling,
                                               int least_dropped) {
  SamplingParams params = sampling;
  params.task_id = start_.task_id;
  TruncatableConversation conversation;
  conversation.messages = [&](int dropped_turns) { return History(dropped_turns); };
  conversation.sampled = [&](int dropped_turns) { return Sampled(dropped_turns); };
  conversation.first_turn = static_cast<int>(episode_.instruction.size()) + 1;
  conversation.least_dropped = least_dropped;
  conversation.most_dropped = std::max(static_cast<int>(episode_.turns.size()) - 1, 0);
  const Stopwatch watch(episode_.model_s);
  at_fault_ = EpisodeEnd::kModelError;
  Result<TruncatedCompletion> said = CompleteTruncated(
      context_.model, conversation, n, params, {options_.max_context, options_.context_slack});
  if (said) episode_.usage += said->batch.usage;
  return said;
}

Result<void> EpisodePlayer::Snap(std::string& action) {
  const Stopwatch watch(episode_.environment_s);
  std::vector<std::string> taken;
  for (const EpisodeTurn& turn : episode_.turns) taken.push_back(turn.action);
  AGENTR_ASSIGN_OR_RETURN(std::vector<std::string> snapped,
                          SnapActions(context_.executor, state_, taken, {std::move(action)}));
  action = std::move(snapped.front());
  return {};
}

Result<void> EpisodePlayer::MaySlip(EpisodeTurn& turn) {
  if (turn.action == options_.revision_action) return {};
  RandomStream random = RandomStream(options_.seed)
                            .Split("slip")
                            .Split(static_cast<uint64_t>(start_.task_id))
                            .Split(static_cast<uint64_t>(start_.attempt))
                            .Split(episode_.turns.size());
  if (!random.Chance(options_.slips.probability)) return {};
  if (options_.slips.kind == SlipKind::kLost) {
    turn.slip = Slip{.said = turn.action, .lost = true};
    return {};
  }
  if (options_.slips.kind == SlipKind::kPlausible) {
    AGENTR_ASSIGN_OR_RETURN(const bool slipped, SlipToSample(turn, random));
    turn.missed_slip = !slipped;
    return {};
  }
  std::vector<std::string> earlier;
  for (const EpisodeTurn& before : episode_.turns) earlier.push_back(before.action);
  const Stopwatch watch(episode_.environment_s);
  AGENTR_ASSIGN_OR_RETURN(
      std::optional<Substitute> other,
      FindSubstitute(options_.slips.kind, Place(), turn.response, turn.action, earlier, random));
  turn.missed_slip = !other;
  if (!other) return {};
  turn.slip = Slip{.said = std::exchange(turn.action, std::move(other->action))};
  if (options_.slips.shown == SlipShown::kDone) {
    turn.slip->response = std::exchange(turn.response, std::move(other->response));
    turn.token_ids.clear();
    turn.logprobs.clear();
  }
  return {};
}

SlipPlace EpisodePlayer::Place() const {
  return {context_.family, context_.executor, state_, start_.task_id, options_.revision_action};
}

Result<bool> EpisodePlayer::SlipToSample(EpisodeTurn& turn, RandomStream& random) {
  constexpr int kRounds = 4, kSamples = 4;
  SamplingParams sampling = ParamsOf(options_);
  sampling.temperature = 1;
  for (int round = 0; round < kRounds; ++round) {
    if (context_.stop) return Fail(ErrorKind::kCancelled, "stopped");
    sampling.seed = random.Next();
    AGENTR_ASSIGN_OR_RETURN(TruncatedCompletion said, Ask(kSamples, sampling, turn.dropped_turns));
    at_fault_ = EpisodeEnd::kEnvironmentError;
    for (Completion& completion : said.batch.completions) {
      if (IsCutTurn(completion, context_.family)) continue;
      std::string action = context_.family.ParseAction(completion.text);
      if (options_.snap_actions) {
        AGENTR_RETURN_IF_ERROR(Snap(action));
      }
      {
        const Stopwatch watch(episode_.environment_s);
        AGENTR_ASSIGN_OR_RETURN(const bool suitable,
                                MaySlipTo(SlipKind::kPlausible, Place(), action, turn.action));
        if (!suitable) continue;
      }
      turn.slip = Slip{.said = std::exchange(turn.action, std::move(action))};
      if (options_.slips.shown == SlipShown::kDone) {
        turn.slip->response = std::move(turn.response);
        StoreThought(options_.thinking, completion);
        turn.Say(std::move(completion));
      }
      return true;
    }
  }
  return false;
}

std::string EpisodePlayer::KeyOf(int state) const {
  return context_.family.hints().StateKey(context_.executor.History(state));
}

void EpisodePlayer::NoteChange(int state_before, double reward_before) {
  std::string key = KeyOf(state_before);
  const bool changed = key != KeyOf(state_) || episode_.reward < reward_before;
  episode_.turns.back().slip->changed_state = changed;
  if (changed) changed_.push_back({episode_.turns.size() - 1, std::move(key), reward_before});
}

void EpisodePlayer::NoteUndone() {
  if (changed_.empty()) return;
  const std::string key = KeyOf(state_);
  std::erase_if(changed_, [&](const BeforeSlip& before) {
    if (key != before.key || episode_.reward < before.reward) return false;
    episode_.turns[before.turn].slip->undone_after =
        static_cast<int>(episode_.turns.size() - 1 - before.turn);
    return true;
  });
}

Result<void> EpisodePlayer::StepEnvironment(EpisodeTurn turn) {
  const size_t index = episode_.turns.size();
  if (turn.slip && turn.slip->lost) {
    turn.observation = kNothingHappened;
    episode_.replayed_turns += Replaying() ? 1 : 0;
    episode_.turns.push_back(std::move(turn));
    return {};
  }
  const bool last_turn = index + 1 == static_cast<size_t>(options_.max_steps);
  {
    const Stopwatch watch(episode_.environment_s);
    const Result<void> executed = context_.executor.Execute(state_, {turn.action}, last_turn);
    if (!executed) return executed;
  }
  const int state = state_;
  const double reward = episode_.reward;
  const StateTree::Transition& taken = *context_.executor.states().Find(state_, turn.action);
  const bool unchanged = taken.state == state_;
  if (unchanged && turn.action == options_.revision_action) {
    turn.observation = options_.revision_reply.empty() ? OneLine(taken.result.observation)
                                                       : options_.revision_reply;
  } else {
    turn.observation = OneLine(taken.result.observation);
    turn.refused =
        context_.family.IsRefusal(context_.executor.Seen(state_), turn.action, turn.observation);
  }
  if (Replaying()) {
    ++episode_.replayed_turns;
    if (turn.observation != start_.given[index].observation) ++episode_.replay_differences;
  } else if (context_.first_responses != nullptr && !turn.slip) {
    context_.first_responses->Add(turn.response, turn.action, turn.refused);
  }
  episode_.reward = std::max(taken.result.reward, 0.0);
  over_ = taken.result.done || taken.result.reward < 0;
  state_ = taken.state;
  const bool slipped = turn.slip && !Replaying();
  episode_.turns.push_back(std::move(turn));
  NoteUndone();
  if (slipped) NoteChange(state, reward);
  return {};
}

std::vector<Message> EpisodePlayer::Conversation(int dropped_turns) const {
  std::vector<Message> messages = episode_.instruction;
  messages.push_back({"user", episode_.first_observation});
  for (size_t i = static_cast<size_t>(dropped_turns); i < episode_.turns.size(); ++i) {
    messages.push_back({"assistant", episode_.turns[i].response, episode_.turns[i].reasoning});
    messages.push_back({"user", episode_.turns[i].observation});
  }
  return messages;
}

std::vector<Message> EpisodePlayer::History(int dropped_turns) const {
  return ShownHistory(options_.thinking, Conversation(dropped_turns));
}

std::vector<std::span<const int32_t>> EpisodePlayer::Sampled(int dropped_turns) const {
  std::vector<std::span<const int32_t>> ids(episode_.instruction.size() + 1);
  for (size_t i = static_cast<size_t>(dropped_turns); i < episode_.turns.size(); ++i) {
    ids.emplace_back(episode_.turns[i].token_ids);
    ids.emplace_back();  // the observation
  }
  if (options_.thinking != Thinking::kStripHistory) return ids;
  return ShownIds(Conversation(dropped_turns), std::move(ids));
}

}  // namespace agentr
