#include "rollout/episode.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace agentr {
namespace {

constexpr std::array<std::pair<EpisodeEnd, std::string_view>, 5> kNames = {
    {{EpisodeEnd::kDone, "done"},
     {EpisodeEnd::kMaxSteps, "max_steps"},
     {EpisodeEnd::kContextOverflow, "context_overflow"},
     {EpisodeEnd::kEnvironmentError, "environment_error"},
     {EpisodeEnd::kModelError, "model_error"}}};

}  // namespace

std::string_view Name(EpisodeEnd end) {
  return std::ranges::find(kNames, end, &decltype(kNames)::value_type::first)->second;
}

EpisodeEnd ParseEpisodeEnd(std::string_view name) {
  const auto found = std::ranges::find(kNames, name, &decltype(kNames)::value_type::second);
  if (found == kNames.end()) {
    throw std::invalid_argument("unknown end of an episode: " + std::string(name));
  }
  return found->first;
}

}  // namespace agentr
