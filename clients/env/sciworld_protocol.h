// The protocol of AgentGym's SciWorld server (docs of the protocol: AgentGym, agentenv-sciworld).
#pragma once

#include <string>
#include <string_view>

#include "clients/env/protocol.h"

namespace agentr {

// The calls are those of Protocol. The first observation is the task description, a line break and
// what the agent sees. The reward of a step is its "score" / 100, counted from the beginning of the
// episode; the reply's own "reward" is only the change of this step. A negative score means that
// the task can no longer be solved, and stays negative.
//
// A session that has ended answers with an error until it is reset.
class SciWorldProtocol : public Protocol {
 public:
  SciWorldProtocol() : Protocol("sciworld") {}

  std::string CreateBody() const override;
  Result<std::string> ParseReset(std::string_view reply) const override;
  // AgentGym's server starts a Java machine of about 350 MB for each session and never ends it.
  int SessionsPerServer() const override { return 16; }
  std::string_view ReplyShape(std::string_view path) const override;

 protected:
  std::string RewardField() const override { return "score"; }
  Result<StepResult> StepOf(const nlohmann::json& object) const override;
};

}  // namespace agentr
