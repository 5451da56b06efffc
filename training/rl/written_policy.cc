#include "training/rl/written_policy.h"

#include <algorithm>

#include "common/error.h"
#include "lm/decoder/load_decoder.h"

namespace agentr {
namespace {

template <typename T>
T ValueOf(Result<T> result) {
  if (result) return *std::move(result);
  throw FatalError(ExitCode::kInternal, "the engine of the policy: " + result.error().message);
}

}  // namespace

WrittenPolicy::WrittenPolicy(PolicyModel& policy, int max_new_tokens, int threads)
    : policy_(policy), max_new_tokens_(max_new_tokens) {
  DecoderOptions options;
  options.dtype = "float32";
  options.threads = threads;
  options.kv_cache_gib = 0.25;
  decoder_ = MakeDecoder(policy.config(), policy.Snapshot(0), options);
  engine_ = std::make_unique<Engine>(*decoder_, policy.tokenizer(), EngineOptions{});
}

void WrittenPolicy::Load(int64_t version) {
  ValueOf(engine_->Load(policy_.Snapshot(version)).Wait());
  version_ = version;
}

std::vector<std::vector<Choice>> WrittenPolicy::Sample(
    std::span<const std::vector<int32_t>> prompts, int count, const RandomStream& random) {
  std::vector<Pending<Generation>> pending;
  for (size_t i = 0; i < prompts.size(); ++i) {
    GenerationRequest request;
    request.prompt = prompts[i];
    request.n = count;
    request.params.max_tokens = max_new_tokens_;
    request.params.temperature = greedy_ ? 0 : 1;
    request.params.stop = {"\n"};
    request.params.seed = random.Split(i).Next();
    pending.push_back(engine_->Generate(std::move(request)));
  }
  std::vector<std::vector<Choice>> all;
  for (Pending<Generation>& one : pending) {
    std::vector<Choice>& choices = all.emplace_back();
    for (GeneratedSequence& sequence : ValueOf(one.Wait()).sequences) {
      choices.push_back(
          {std::move(sequence.text), std::move(sequence.token_ids), std::move(sequence.logprobs)});
    }
  }
  return all;
}

std::vector<Choice> WrittenPolicy::Act(const World& /*world*/,
                                       std::span<const std::vector<int32_t>> prompts,
                                       const RandomStream& random) {
  std::vector<Choice> choices;
  for (std::vector<Choice>& samples : Sample(prompts, 1, random)) {
    choices.push_back(std::move(samples.front()));
  }
  return choices;
}

}  // namespace agentr
