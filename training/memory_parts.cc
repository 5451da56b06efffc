#include "training/memory_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "training/data/step_loader.h"
#include "training/loss/linear_cross_entropy.h"

namespace agentr {
namespace {

constexpr double kMib = 1 << 20, kGib = 1 << 30;

int64_t Count(const std::vector<Parameter>& parameters) {
  int64_t count = 0;
  for (const Parameter& p : parameters) count += p.value.numel();
  return count;
}

// The names of the parts in run.json and for people.
std::array<std::pair<std::pair<const char*, const char*>, int64_t>, 7> Named(const MemoryParts& m) {
  return {{{{"program", "the program itself"}, m.program},
           {{"weights", "weights"}, m.weights},
           {{"gradients", "gradients"}, m.gradients},
           {{"optimizer", "optimiser state"}, m.optimizer},
           {{"exchange", "exchange of gradients, at most"}, m.exchange},
           {{"activations", "activations, at most"}, m.activations},
           {{"data", "rows, at most"}, m.data}}};
}

}  // namespace

int64_t MemoryParts::Sum() const {
  return program + weights + gradients + optimizer + exchange + activations + data;
}

std::vector<std::string> MemoryParts::Lines() const {
  std::vector<std::string> lines;
  const auto add = [&](const char* what, int64_t bytes) {
    lines.push_back(
        fmt::format("memory: {:9.1f} MiB  {}", static_cast<double>(bytes) / kMib, what));
  };
  for (const auto& [names, bytes] : Named(*this)) {
    if (bytes > 0) add(names.second, bytes);
  }
  add("together, of each process", Sum());
  return lines;
}

nlohmann::ordered_json MemoryParts::ToJson() const {
  nlohmann::ordered_json json;
  for (const auto& [names, bytes] : Named(*this)) {
    json[names.first] = static_cast<double>(bytes) / kGib;
  }
  json["sum"] = static_cast<double>(Sum()) / kGib;
  return json;
}

int64_t ActivationBytes(const ModelConfig& c, const NetworkOptions& options, int64_t tokens) {
  const auto bytes = static_cast<int64_t>(c10::elementSize(options.type));
  const int64_t width = c.hidden_size, heads = c.num_heads * c.head_dim;
  const int64_t keys = c.num_kv_heads * c.head_dim;
  // As Network::Kept.
  int64_t layer = 2 * width + 2 * heads + 2 * keys + 2 * c.intermediate_size;
  if (c.qk_norm) layer += heads + keys;
  if (c.norms != NormPlaces::kBefore) layer += 2 * width;
  const int64_t kept = options.checkpoint_activations ? width : layer;
  // A layer in progress has its values, their gradients and the products of the MLP.
  const int64_t in_progress = 2 * layer + 2 * c.intermediate_size;
  const LossOptions loss;
  const int64_t rows = std::max(loss.least_rows, loss.chunk_logits / c.vocab_size);
  const int64_t logits = 2 * std::min(rows, tokens) * c.vocab_size * int64_t{sizeof(float)};
  return tokens * bytes * (c.num_layers * kept + in_progress) + logits;
}

MemoryParts MemoryOf(double program_gib, const Network& network, const TrainingMemory& training,
                     const DataOptions& data) {
  const NetworkOptions& options = network.options();
  const bool copies = options.type != at::kFloat;
  const int64_t of_value =
      int64_t{sizeof(float)} + (copies ? static_cast<int64_t>(c10::elementSize(options.type)) : 0);
  // An id, and in a micro-batch id, position and target.
  constexpr int64_t kOfToken = sizeof(int32_t) + 2 * sizeof(int32_t) + sizeof(Target);
  const int64_t steps = LoaderOptions().ahead + 1;
  return {.program = static_cast<int64_t>(program_gib * kGib),
          .weights = (Count(network.weights()) + Count(network.adapters())) * of_value,
          .gradients = training.gradients,
          .optimizer = training.optimizer,
          .exchange = training.exchange,
          .activations = ActivationBytes(network.config(), options, data.batch_tokens),
          .data = steps * data.batch_rows * data.max_length * kOfToken};
}

}  // namespace agentr
