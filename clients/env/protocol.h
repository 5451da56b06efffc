// The differences between the HTTP protocols of environment servers: request bodies and replies, as
// pure functions. A new kind of server needs only one more class here; HttpEnvironment handles
// sessions, retries and connections.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
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

// The rewards of a session since its Reset, for servers that tell something else than the reward of
// the episode so far.
struct RewardTally {
  double sum = 0;
  std::optional<double> most;
  double last = 0;
};

// The protocol of AgentGym's TextCraft server: {"id", …} requests, {"observation",
// "reward", "done"} replies. Others override what they do differently.
//
// Parsing is strict: a field that is missing or has the wrong type is kProtocol and is named;
// {"error": …} (with HTTP status 200) is kEnvironment with the server's message, unless it is null.
// "done" may be 0 or 1, and "reward" null before the end.
class Protocol {
 public:
  explicit Protocol(std::string family) : family_(std::move(family)) {}
  virtual ~Protocol() = default;

  // "textcraft".
  const std::string& family() const { return family_; }

  // The path of a call on the server: "/maze/step" for "/step"; empty: the server has no such call.
  // The bodies, and what is read from the replies, may differ too.
  virtual std::string PathOf(std::string_view call) const { return std::string(call); }

  // Distinguishes what the kind of task itself decides about observations and rewards, where a file
  // of the user says it; empty: the server's data alone decides.
  virtual std::string Hash() const { return ""; }

  // How many tasks there are, for servers that do not tell; 0: unknown.
  virtual int64_t Tasks() const { return 0; }

  virtual std::string CreateBody() const;
  virtual Result<int64_t> ParseCreate(std::string_view reply) const;

  // The header of the reply to /create in which the server names the session; empty: its body does.
  virtual std::string SessionHeader() const { return ""; }
  // The session that it names.
  virtual Result<int64_t> ParseSession(std::string_view value) const;
  // The header of the session's requests that names it, "Cookie: a=1"; empty: there is none.
  virtual std::string RequestHeader(int64_t /*id*/) const { return ""; }

  virtual std::string ResetBody(int64_t id, int task_id) const;
  virtual Result<std::string> ParseReset(std::string_view reply) const;

  // True if a reset shows nothing, so that GET /observation tells the first observation.
  virtual bool ObservesAfterReset() const { return false; }

  virtual std::string StepBody(int64_t id, std::string_view action) const;
  virtual Result<StepResult> ParseStep(std::string_view reply) const;
  // The reward of the episode so far, from that of a step and those before it, which `tally` keeps.
  virtual double RewardSoFar(RewardTally& /*tally*/, const StepResult& step) const {
    return step.reward;
  }
  // True if it depends on earlier steps, so that the reply to none of them may be missing.
  virtual bool TalliesRewards() const { return false; }

  virtual std::string ExpandBody(int64_t id, const std::vector<std::string>& actions) const;
  // Expects `count` children, one per action.
  virtual Result<std::vector<ForkReply>> ParseExpand(std::string_view reply, size_t count) const;

  virtual std::string CloseBody(int64_t id) const;

  // Where sessions are connections of WebSocket (OpenEnv): their path on the server, "/ws". The
  // bodies are then texts on them. Empty: the calls are those of HTTP.
  virtual std::string SocketPath() const { return ""; }

  // The number of sessions for which the public server of this kind has memory; 0 if sessions cost
  // it little.
  virtual int SessionsPerServer() const { return 0; }

  // The path to GET an extension that lists something about a session: "/gold?id=7" is answered
  // with {"gold": [strings]}.
  virtual std::string AskPath(std::string_view extension, int64_t id) const;
  Result<std::vector<std::string>> ParseAnswer(std::string_view extension,
                                               std::string_view reply) const;

  // The reply of GET /observation: a JSON string. `first` is what the last /reset showed, or "".
  virtual Result<std::string> ParseObservation(std::string_view reply,
                                               std::string_view first) const;

  // The reply to the call at `path` ("/step"), as a message shows it: {"observation": text, …}.
  // Empty for the calls of our extensions.
  virtual std::string_view ReplyShape(std::string_view path) const;

  // True if `error` says that the server does not know the session ("is not valid", "has been
  // deleted", "session 3 not found"): it was restarted, or has closed the session, for example
  // after a long idle time.
  virtual bool IsLostSession(const Error& error) const;

 protected:
  // The name of the session's id in requests and replies.
  virtual std::string IdField() const { return "id"; }
  // The name of the observation in the reply of /step.
  virtual std::string ObservationField() const { return "observation"; }
  // The name of the reward there.
  virtual std::string RewardField() const { return "reward"; }
  // The fields of a /step reply in `object`.
  virtual Result<StepResult> StepOf(const nlohmann::json& object) const;

 private:
  std::string family_;
};

// The JSON object in a reply. An environment's error in it becomes kEnvironment. `what` names the
// reply in messages.
Result<nlohmann::json> ReplyObject(std::string_view reply, const std::string& what);

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
