// The protocol of AgentGym's BabyAI server, in which our servers of other text games speak too
// (docs of the protocol: AgentGym, agentenv-babyai).
#pragma once

#include <string>
#include <string_view>

#include "clients/env/protocol.h"

namespace agentr {

// The calls are those of Protocol, except that GET /observation is answered with an object, in
// which the goal precedes the observation. Only a /reset shows the goal too, so for the observation
// of a step the goal is taken away. Where the text is that of the last /reset, a step may have led
// back to it; then the reply does not tell what was carried out, which is an error (kEnvironment).
class TextGameProtocol : public Protocol {
 public:
  using Protocol::Protocol;

  Result<std::string> ParseObservation(std::string_view reply,
                                       std::string_view first) const override;
};

}  // namespace agentr
