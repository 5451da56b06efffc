#include "rl/collapse.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLeastEntropy = 0.01;  // nats: one choice has 99.9 % of the probability
constexpr double kMostDivergence = 1;   // nats: PPO's usual limits are 0.01 to 0.05
constexpr double kMostUnreadable = 0.5;
constexpr double kFewSuccesses = 0.5;  // a policy that solves its task may well be sure of itself

constexpr std::string_view kSlower = "Usual cure: a lower --lr, with another --name";

std::optional<double> Number(const Json& metrics, const char* part, const char* name) {
  if (!metrics.contains(part) || !metrics.at(part).contains(name)) return std::nullopt;
  const Json& value = metrics.at(part).at(name);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

// How many nats per token the chosen responses have lost.
std::optional<double> LossOfChosen(const Json& metrics) {
  const auto ratio = Number(metrics, "train", "chosen_log_ratio");
  const auto items = Number(metrics, "train", "items");
  const auto tokens = Number(metrics, "train", "trained_tokens");
  if (!ratio || !items || !tokens || *tokens == 0) return std::nullopt;
  return -*ratio * 2 * *items / *tokens;  // an item has two responses
}

}  // namespace

std::vector<CollapseSign> SignsOfCollapse(const Json& metrics) {
  std::vector<CollapseSign> signs;
  const double success = Number(metrics, "play", "success").value_or(0);
  const auto entropy = Number(metrics, "play", "entropy");
  if (entropy && *entropy < kLeastEntropy && success < kFewSuccesses) {
    signs.push_back(
        {"entropy", fmt::format("the policy always does the same: the entropy of its choices is "
                                "{:.2g} nats, and {:.0f} % of its episodes succeed. {}; for ppo "
                                "also a larger --entropy_coefficient",
                                *entropy, 100 * success, kSlower)});
  }
  const auto diverges = [&](std::optional<double> nats, std::string_view from) {
    if (!nats || *nats <= kMostDivergence) return;
    signs.push_back({"divergence", fmt::format("the policy is {:.2g} nats away from {}. {}", *nats,
                                               from, kSlower)});
  };
  diverges(Number(metrics, "train", "kl"), "the one that played");
  diverges(Number(metrics, "train", "divergence"), "the model before training, per token");
  diverges(LossOfChosen(metrics), "the model before training, per token of the chosen responses");
  const auto unreadable = Number(metrics, "play", "unreadable");
  if (unreadable && *unreadable > kMostUnreadable) {
    signs.push_back({"unreadable",
                     fmt::format("{:.0f} % of the policy's actions cannot be read: they are blank "
                                 "or do not end within --max_new_tokens. {}",
                                 100 * *unreadable, kSlower)});
  }
  return signs;
}

}  // namespace agentr
