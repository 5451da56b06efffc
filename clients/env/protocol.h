// What differs between the HTTP protocols of the environment servers: bodies and replies, as pure
// functions. A new kind of server is one more class here; sessions, retries and connections are
// HttpEnvironment's.
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "clients/environment.h"
#include "common/error.h"

namespace agentr {

// One child in the reply of /expand.
struct ForkReply {
  int64_t id = 0;
  StepResult step;
};

// The protocol of AgentGym's TextCraft and BabyAI servers: {"id", …} requests, {"observation",
// "reward", "done"} replies. Others override what they do differently.
//
// Parsing is strict: a field that is missing or has the wrong type is kProtocol and is named;
// {"error": …} (with HTTP status 200) is kEnvironment with the server's words.
class Protocol {
 public:
  explicit Protocol(std::string family) : family_(std::move(family)) {}
  virtual ~Protocol() = default;

  // "textcraft".
  const std::string& family() const { return family_; }

  virtual std::string CreateBody() const;
  virtual Result<int64_t> ParseCreate(std::string_view reply) const;

  virtual std::string ResetBody(int64_t id, int task_id) const;
  virtual Result<std::string> ParseReset(std::string_view reply) const;

  virtual std::string StepBody(int64_t id, std::string_view action) const;
  virtual Result<StepResult> ParseStep(std::string_view reply) const;

  virtual std::string ExpandBody(int64_t id, const std::vector<std::string>& actions) const;
  // `count` children are expected, one per action.
  virtual Result<std::vector<ForkReply>> ParseExpand(std::string_view reply, size_t count) const;

  virtual std::string CloseBody(int64_t id) const;

  // GET of an extension that lists something about a session: "/gold?id=7", answered with
  // {"gold": [strings]}.
  std::string AskPath(std::string_view extension, int64_t id) const;
  Result<std::vector<std::string>> ParseAnswer(std::string_view extension,
                                               std::string_view reply) const;

  // True if `error` says that the server does not know the session: it was restarted, or it has
  // closed it ("is not valid", "has been deleted"), for one because it was idle too long.
  virtual bool IsLostSession(const Error& error) const;

 protected:
  // The name of the session's id in requests and replies.
  virtual std::string IdField() const { return "id"; }
  // The name of the observation in the reply of /step.
  virtual std::string ObservationField() const { return "observation"; }
  // The fields of a /step reply in `object`.
  virtual Result<StepResult> StepOf(const nlohmann::json& object) const;

 private:
  std::string family_;
};

// The object in a reply that may be an environment's error; `what` names the reply in messages.
Result<nlohmann::json> ReplyObject(std::string_view reply, const std::string& what);

// The protocol of this family's servers. Throws FatalError(kUsage) listing the names there are.
std::unique_ptr<Protocol> MakeProtocol(std::string_view family);

// Reply of GET /version of our own servers.
struct ServerVersion {
  std::string server;
  std::string version;
  std::string task;  // the kind of task; empty when the server does not tell
  std::string data_hash;
  std::vector<std::string> extensions;
  int64_t tasks = 0;  // how many there are; 0 when the server does not tell
};

Result<ServerVersion> ParseVersion(std::string_view reply);

}  // namespace agentr
