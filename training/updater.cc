#include "training/updater.h"

#include <fmt/core.h>

#include <cmath>
#include <utility>

#include "training/model/divergence.h"

namespace agentr {
namespace {

// For messages: the sign of what is no number says nothing.
double WithoutSign(double value) { return std::isnan(value) ? std::abs(value) : value; }

}  // namespace

Updater::Updater(std::vector<Parameter> parameters, const AdamWOptions& options, std::string rate)
    : Updater(parameters, parameters, options, std::move(rate)) {}

Updater::Updater(std::vector<Parameter> parameters, std::vector<Parameter> updated,
                 const AdamWOptions& options, std::string rate)
    : parameters_(std::move(parameters)),
      rate_(std::move(rate)),
      optimizer_(std::move(updated), options) {}

void Updater::Update(StepReport& report, double learning_rate) {
  ShareGradients();
  report.gradient_norm = GradientNorm();
  const int64_t step = optimizer_.steps() + 1;
  const LossSums::Part total = report.sums.Total();
  const double loss = total.weight > 0 ? total.loss / total.weight : total.loss;
  if (!std::isfinite(loss) || !std::isfinite(report.gradient_norm)) {
    EndAt(step, learning_rate,
          fmt::format("the loss is {} and the norm of its gradient {}", WithoutSign(loss),
                      WithoutSign(report.gradient_norm)));
  }
  optimizer_.Step(learning_rate, report.gradient_norm);
  ShareValues();
  if (const std::string bad = DescribeNotFinite(parameters_); !bad.empty()) {
    EndAt(step, learning_rate, "after it " + bad);
  }
  Refresh();
}

StepReport Updater::UpdateFor(double loss, double learning_rate) {
  StepReport report;
  report.sums.kinds[0] = {loss, 1, 0};
  Update(report, learning_rate);
  return report;
}

void Updater::EndAt(int64_t step, double learning_rate, const std::string& what) const {
  EndDiverged(
      fmt::format("optimiser step {}, with {} at {:g}: {}", step, rate_, learning_rate, what),
      rate_);
}

CheckpointTensors Updater::Own() const {
  CheckpointTensors tensors{parameters_, {}};
  const std::vector<AdamW::Moments>& moments = optimizer_.moments();
  for (size_t k = 0; k < moments.size(); ++k) {
    tensors.moments.push_back({k, 0, moments[k].mean, moments[k].square});
  }
  return tensors;
}

void Updater::Continue(int64_t optimizer_steps) {
  optimizer_.set_steps(optimizer_steps);
  Refresh();
}

}  // namespace agentr
