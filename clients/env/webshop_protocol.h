// The protocol of AgentGym's WebShop server (docs of the protocol: AgentGym, agentenv-webshop).
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "clients/env/protocol.h"

namespace agentr {

// It has Protocol's calls but other replies: /create returns the bare id, /reset returns the pair
// [observation, null], and a /step reply calls its observation "state". A session's id is called
// "env_idx", and a task's id "session_id".
//
// The public server has no /close (HTTP 404, which EnvServerGroup tolerates) and answers a step in
// an unknown session with a plain HTTP 500, so a lost session can be recognised only on our own
// server.
class WebShopProtocol : public Protocol {
 public:
  // `family`: "webshop", or "webshop_archer", which our server shows in another style.
  explicit WebShopProtocol(std::string family) : Protocol(std::move(family)) {}

  std::string CreateBody() const override;
  Result<int64_t> ParseCreate(std::string_view reply) const override;
  std::string ResetBody(int64_t id, int task_id) const override;
  Result<std::string> ParseReset(std::string_view reply) const override;
  std::string_view ReplyShape(std::string_view path) const override;

 protected:
  std::string IdField() const override { return "env_idx"; }
  std::string ObservationField() const override { return "state"; }
};

}  // namespace agentr
