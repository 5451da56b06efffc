#include "rl/algorithms/weighted_step.h"

#include <vector>

#include "rl/losses/shared_pass.h"
#include "training/data/batch_builder.h"

namespace agentr {
namespace {

constexpr int64_t kBatchTokens = 16384;  // distinct tokens of a micro-batch

}  // namespace

void WeightedStepSums::Add(const StepReport& report, double count) {
  ++steps;
  tokens += report.tokens;
  loss += report.sums.Total().loss / count;
  gradient_norm += report.gradient_norm;
}

nlohmann::ordered_json WeightedStepSums::ToJson() const {
  const auto n = static_cast<double>(steps);
  return {{"loss", loss / n},
          {"gradient_norm", gradient_norm / n},
          {"steps", steps},
          {"distinct_tokens", tokens}};
}

void WeightedStep(Trainer& trainer, std::span<const TrainingRow> rows, double count,
                  double learning_rate, WeightedStepSums& sums) {
  std::vector<const TrainingRow*> sorted = PointersTo(rows);
  SortForSharing(sorted);
  const RowRange range = OwnRows(trainer.group(), sorted);
  const auto own = std::span(sorted).subspan(range.begin, range.end - range.begin);
  const std::vector<size_t> borders = SplitByTokens(own, kBatchTokens, /*share_prefixes=*/true);
  std::vector<Batch> batches;
  for (size_t i = 0; i + 1 < borders.size(); ++i) {
    batches.push_back(BuildBatch(own.subspan(borders[i], borders[i + 1] - borders[i]), true));
  }
  const StepReport report = trainer.Step(batches, count, learning_rate, /*draw=*/0);
  sums.Add(report, count);
}

}  // namespace agentr
