// The interface to value models: how good is the state at the end of a conversation?
#pragma once

#include <span>
#include <string>
#include <vector>

#include "clients/language_model.h"
#include "common/error.h"

namespace agentr {

// A state: the conversation up to the environment's last observation, with the token ids that the
// policy sampled for its messages (SampledIds) where they are known.
struct ValueRequest {
  std::vector<Message> conversation;
  std::vector<std::span<const int32_t>> sampled;
};

// Thread-safe.
class ValueModel {
 public:
  virtual ~ValueModel() = default;

  // Distinguishes the model from others, as LanguageModel::identity.
  virtual std::string identity() const = 0;

  // For each state the expected reward at the end of its episode, in [0, 1].
  virtual Result<std::vector<double>> Values(std::span<const ValueRequest> states) = 0;
};

}  // namespace agentr
