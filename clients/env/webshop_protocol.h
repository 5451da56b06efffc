// The protocol of AgentGym's WebShop server (docs of the protocol: AgentGym, agentenv-webshop).
#pragma once

#include <string>
#include <vector>

#include "clients/env/protocol.h"

namespace agentr {

// Differs from Protocol in its replies, not in its calls: /create answers the bare id, /reset the
// pair [observation, null], and an observation in a /step reply is called "state". Sessions are
// named by "env_idx", and a task is a "session_id".
//
// The public server has no /close (HTTP 404, which EnvServerGroup tolerates), and answers a step in
// a session that it does not know with a plain 500: only our own server's words tell a lost
// session.
class WebShopProtocol : public Protocol {
 public:
  WebShopProtocol() : Protocol("webshop") {}

  std::string CreateBody() const override;
  Result<int64_t> ParseCreate(std::string_view reply) const override;
  std::string ResetBody(int64_t id, int task_id) const override;
  Result<std::string> ParseReset(std::string_view reply) const override;

 protected:
  std::string IdField() const override { return "env_idx"; }
  std::string ObservationField() const override { return "state"; }
};

}  // namespace agentr
