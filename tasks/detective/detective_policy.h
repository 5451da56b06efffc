// The scripted policy of Detective: the explorer of detective_map.h.
#pragma once

#include "tasks/scripted_policy.h"

namespace agentr {

// Null if the conversation shows no task of this kind.
std::unique_ptr<PolicyState> ReadDetectivePolicy(std::span<const Message> conversation);

}  // namespace agentr
