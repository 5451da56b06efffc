#include "rl/collapse.h"

#include <fmt/format.h>

#include <numeric>
#include <optional>
#include <utility>

#include "common/json_fields.h"

namespace agentr {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLeastEntropy = 0.01;  // nats: one choice has 99.9 % of the probability
constexpr double kMostDivergence = 1;   // nats: PPO's usual limits are 0.01 to 0.05
constexpr double kMostUnreadable = 0.5;
constexpr double kWide = 0.3;          // nats: less is no sign, however little it was before
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
  const auto cut = Number(metrics, "play", "cut");
  if (cut && *cut > kMostUnreadable) {
    signs.push_back({"cut", fmt::format("{:.0f} % of the policy's responses have no end within "
                                        "--max_new_tokens. {}, --grpo_overlong punish, or a larger "
                                        "--max_new_tokens if they are good so far",
                                        100 * *cut, kSlower)});
  }
  const auto kept = Number(metrics, "play", "kept");
  if (kept && *kept == 0) {
    signs.push_back(
        {"no_signal",
         fmt::format("all episodes of each group have the same reward ({:.0f} % succeed), "
                     "so that nothing is learned. Usual cure: tasks that the model "
                     "solves sometimes (--split FILE), more --attempts, or a start "
                     "model from supervised training",
                     100 * success)});
  }
  return signs;
}

std::vector<CollapseSign> CollapseWatch::Look(const Json& metrics) {
  std::vector<CollapseSign> signs = SignsOfCollapse(metrics);
  const auto success = Number(metrics, "play", "success");
  const auto entropy = Number(metrics, "play", "entropy");
  if (!Number(metrics, "play", "kept") || !success || !entropy) return signs;
  for (const auto& [values, now] : {std::pair(&successes_, *success), {&entropies_, *entropy}}) {
    values->push_back(now);
    // The first ones stay, and of the others the last.
    if (values->size() > 2 * kIterations) values->erase(values->begin() + kIterations);
  }
  if (successes_.size() < 2 * kIterations) return signs;
  const auto mean = [](const std::vector<double>& values, size_t begin) {
    const auto first = values.begin() + static_cast<std::ptrdiff_t>(begin);
    return std::accumulate(first, first + kIterations, 0.0) / kIterations;
  };
  const double before = mean(successes_, 0), after = mean(successes_, kIterations);
  if (after < before / 2) {
    signs.push_back(
        {"worse", fmt::format("{:.0f} % of the episodes of the last {} iterations succeed, after "
                              "{:.0f} % in the first {}. {}, fewer --updates, or --grpo_kl above 0",
                              100 * after, kIterations, 100 * before, kIterations, kSlower)});
  }
  const double narrow = mean(entropies_, 0), wide = mean(entropies_, kIterations);
  if (wide > 2 * narrow && wide > kWide) {
    signs.push_back(
        {"scattered", fmt::format("the entropy of the policy's tokens has grown from {:.2g} to "
                                  "{:.2g} nats. {}, or --grpo_kl above 0",
                                  narrow, wide, kSlower)});
  }
  return signs;
}

Json CollapseWatch::State() const {
  if (successes_.empty()) return Json::object();
  return {{"successes", successes_}, {"entropies", entropies_}};
}

void CollapseWatch::Restore(const nlohmann::json& state) {
  successes_ = JsonField<std::vector<double>>(state, "successes");
  entropies_ = JsonField<std::vector<double>>(state, "entropies");
}

}  // namespace agentr
