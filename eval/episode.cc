#include "eval/episode.h"

namespace agentr {

std::string_view Name(EpisodeEnd end) {
  switch (end) {
    case EpisodeEnd::kDone:
      return "done";
    case EpisodeEnd::kMaxSteps:
      return "max_steps";
    case EpisodeEnd::kContextOverflow:
      return "context_overflow";
    case EpisodeEnd::kEnvironmentError:
      return "environment_error";
    case EpisodeEnd::kModelError:
      return "model_error";
  }
  return "";
}

}  // namespace agentr
