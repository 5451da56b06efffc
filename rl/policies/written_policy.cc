#include "rl/policies/written_policy.h"

#include <ATen/Parallel.h>
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "lm/decoder/load_decoder.h"
#include "lm/engine/sampler.h"
#include "training/model/divergence.h"

namespace agentr {
namespace {

// `version`: of the weights that answer.
template <typename T>
T ValueOf(Result<T> result, int64_t version) {
  if (result) return *std::move(result);
  if (result.error().message.find(kLogitsNotFinite) != std::string::npos) {
    EndDiverged(
        fmt::format("after optimiser step {} the logits of the policy are not finite", version));
  }
  throw FatalError(ExitCode::kInternal, "the engine of the policy: " + result.error().message);
}

// Choices as bytes, for other processes. MessagePack keeps texts that are not UTF-8.
std::string TextOf(const std::vector<std::vector<Choice>>& all) {
  auto json = nlohmann::json::array();
  for (const std::vector<Choice>& choices : all) {
    auto& list = json.emplace_back(nlohmann::json::array());
    for (const Choice& choice : choices)
      list.push_back({choice.text, choice.tokens, choice.logprobs, choice.unfinished});
  }
  std::string bytes;
  nlohmann::json::to_msgpack(json, bytes);
  return bytes;
}

void ReadChoices(const std::string& bytes, std::vector<std::vector<Choice>>& all) {
  for (const auto& list : nlohmann::json::from_msgpack(bytes)) {
    std::vector<Choice>& choices = all.emplace_back();
    for (const auto& choice : list) {
      Choice& read = choices.emplace_back();
      choice[0].get_to(read.text);
      choice[1].get_to(read.tokens);
      choice[2].get_to(read.logprobs);
      choice[3].get_to(read.unfinished);
    }
  }
}

}  // namespace

WrittenPolicy::WrittenPolicy(PolicyModel& policy, int max_new_tokens, int threads,
                             ProcessGroup* group)
    : policy_(policy), max_new_tokens_(max_new_tokens), group_(group) {
  DecoderOptions options;
  options.dtype = "float32";
  options.threads = threads > 0 ? threads : at::get_num_threads();  // this process's share
  options.kv_cache_gib = 0.25;
  decoder_ = MakeDecoder(policy.config(), policy.Snapshot(0), options);
  engine_ = std::make_unique<Engine>(*decoder_, policy.tokenizer(), EngineOptions{});
}

void WrittenPolicy::Load(int64_t version) {
  ValueOf(engine_->Load(policy_.Snapshot(version)).Wait(), version);
  version_ = version;
}

std::vector<std::vector<Choice>> WrittenPolicy::Sample(
    std::span<const std::vector<int32_t>> prompts, int count, const RandomStream& random) {
  if (group_ == nullptr) return SampleOwn(prompts, 0, prompts.size(), count, random);
  const auto rank = static_cast<size_t>(group_->rank()), size = static_cast<size_t>(group_->size());
  const size_t begin = prompts.size() * rank / size, end = prompts.size() * (rank + 1) / size;
  std::vector<std::vector<Choice>> all;
  for (const std::string& part :
       GatherTexts(*group_, TextOf(SampleOwn(prompts, begin, end, count, random)))) {
    ReadChoices(part, all);
  }
  return all;
}

std::vector<std::vector<Choice>> WrittenPolicy::SampleOwn(
    std::span<const std::vector<int32_t>> prompts, size_t begin, size_t end, int count,
    const RandomStream& random) {
  std::vector<Pending<Generation>> pending;
  for (size_t i = begin; i < end; ++i) {
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
    for (GeneratedSequence& sequence : ValueOf(one.Wait(), version_).sequences) {
      choices.push_back(
          {std::move(sequence.text), std::move(sequence.token_ids), std::move(sequence.logprobs)});
      choices.back().unfinished = sequence.finish_reason == "length";
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
