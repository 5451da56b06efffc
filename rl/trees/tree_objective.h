// One optimiser step of the algorithms that learn from search trees: the gradient of the loss over
// some items of TreeData.
//
//   dpo         mean over preferences of DpoLoss (rl/losses/preference.h)
//   awr         -mean over responses of AwrWeight(advantage) * ln p(response), ln p a sum over
//               tokens
//   tree_grpo   mean over responses of the mean over tokens of GrpoLoss, or what --grpo_loss says;
//               a response counts as often as its row's weight says
#pragma once

#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "rl/losses/group_relative.h"
#include "rl/losses/preference.h"
#include "rl/trees/tree_data.h"
#include "training/distributed/process_group.h"
#include "training/model/network.h"

namespace agentr {

class Progress;

struct TreeObjectiveOptions {
  DpoOptions dpo;
  AwrOptions awr;
  GrpoOptions grpo;
  int batch_tokens = 8192;  // distinct tokens of a micro-batch; a larger item is one by itself
};

// Of a step.
struct TreeStepReport {
  double loss = 0;
  int64_t items = 0;
  int64_t row_tokens = 0;       // of all rows, without sharing
  int64_t distinct_tokens = 0;  // computed
  int64_t trained_tokens = 0;
  double correct = 0;     // dpo: share of preferences with a margin above 0
  double margin = 0;      // dpo: mean margin
  double chosen = 0;      // dpo: mean of ln p - ln p_ref of the chosen responses
  double rejected = 0;    // and of the rejected ones
  double weight = 0;      // awr: mean weight
  double clipped = 0;     // awr: share of responses, tree_grpo: share of tokens that are clipped
  double divergence = 0;  // tree_grpo: mean of GrpoLoss's estimate over tokens
  double moved = 0;       // tree_grpo: the same of TokenLoss::moved; not in ToJson
};

nlohmann::ordered_json ToJson(const TreeStepReport& report, TreeAlgorithmKind kind);

class TreeObjective {
 public:
  // All outlive it. `group`: of the job's processes, which divide the rows; null: there is one.
  TreeObjective(const TreeObjectiveOptions& options, TreeAlgorithmKind kind, const TreeData& data,
                Network& network, ProcessGroup* group = nullptr);

  // True if the loss needs the probabilities under the model before training.
  bool NeedsReference() const;

  // Computes the log-probabilities of all responses under the present weights, which must be those
  // before training, and stores them in `file`; or, if the file exists, reads them. `model`: a hash
  // of these weights. Throws FatalError(kFile) for a file of other data or another model.
  void UseReference(const std::filesystem::path& file, const std::string& model);

  // The same without a file: the reference is `network`, which has the shape of the trained one.
  void UseReference(Network& network) { ComputeReference(network); }

  // Adds the gradient of the loss over `items` to the network's; in a group, what this process's
  // rows contribute to it.
  TreeStepReport AddGradients(std::span<const size_t> items);

 private:
  // Items whose rows are computed together.
  std::vector<std::vector<size_t>> MicroBatches(std::span<const size_t> items) const;
  std::vector<const TrainingRow*> RowsOf(const std::vector<size_t>& items) const;
  GrpoStep StepOf(std::span<const size_t> items) const;
  void ComputeReference(Network& network, Progress* progress = nullptr);

  const TreeObjectiveOptions& options_;
  const TreeAlgorithmKind kind_;
  const TreeData& data_;
  Network& network_;
  ProcessGroup* const group_;
  std::vector<std::vector<double>> reference_;  // by response and token; empty: not needed
};

}  // namespace agentr
