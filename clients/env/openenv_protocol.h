// What the texts on a connection to an OpenEnv server mean:
//   {"type": "reset" | "step", "data": {…}}                       asks
//   {"type": "observation", "data": {observation, reward, done}}  answers; pointers point into data
//   {"type": "error", "data": {message, code}}                    answers too, with one of the
//                                                                 codes
//     VALIDATION_ERROR   the action was not taken, because its form is wrong: a refusal, which
//                        changes nothing. But if the server does not know the fields themselves
//                        that [step] body names, no action can ever be taken: kMalformed.
//     EXECUTION_ERROR    the environment raised an exception. For a step, most environments do so
//                        for an action that they do not know, so the agent is told, as an
//                        observation; nothing says that the state is as before. For a reset it is
//                        kEnvironment.
//     others             kMalformed for INVALID_JSON and UNKNOWN_TYPE, else kEnvironment
#pragma once

#include <string>
#include <string_view>

#include "clients/env/dialect_protocol.h"

namespace agentr {

class OpenEnvProtocol : public DialectProtocol {
 public:
  // The bodies of the dialect's reset, step and close are whole texts with "type" and "data".
  using DialectProtocol::DialectProtocol;

  // For messages: "/ws reset".
  std::string PathOf(std::string_view call) const override;
  std::string SocketPath() const override { return dialect().socket; }
  Result<int64_t> ParseCreate(std::string_view reply) const override;
  // A call of the tool "list_tools" asks for the tools.
  std::string StepBody(int64_t id, std::string_view action) const override;
  Result<StepResult> ParseStep(std::string_view reply) const override;
  // An environment's own words, such as "invalid id", do not end a session; only the file's
  // patterns.
  bool IsLostSession(const Error& error) const override;

  // What the agent is told of an action that was not taken begins so.
  static constexpr std::string_view kRefusal = "Invalid action: ";

 protected:
  Result<Json> Content(Json value, std::string_view call) const override;
};

}  // namespace agentr
