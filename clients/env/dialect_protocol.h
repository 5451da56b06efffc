// A server whose protocol is data.
#pragma once

#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "clients/env/http_dialect.h"
#include "clients/env/protocol.h"

namespace agentr {

// In a StepResult before RewardSoFar: the step told no reward, so that it stays as it was.
inline constexpr double kNoReward = std::numeric_limits<double>::quiet_NaN();

// Thread-safe. Ids of sessions that are texts have numbers here, the same for the same text.
class DialectProtocol : public Protocol {
 public:
  explicit DialectProtocol(HttpDialect dialect)
      : Protocol(dialect.name), dialect_(std::move(dialect)) {}

  std::string PathOf(std::string_view call) const override;
  std::string Hash() const override { return dialect_.hash; }
  int64_t Tasks() const override { return dialect_.tasks; }
  std::string CreateBody() const override;
  Result<int64_t> ParseCreate(std::string_view reply) const override;
  std::string SessionHeader() const override { return dialect_.session_header; }
  Result<int64_t> ParseSession(std::string_view value) const override;
  std::string RequestHeader(int64_t id) const override;
  std::string ResetBody(int64_t id, int task_id) const override;
  Result<std::string> ParseReset(std::string_view reply) const override;
  bool ObservesAfterReset() const override { return dialect_.observes_after_reset; }
  std::string StepBody(int64_t id, std::string_view action) const override;
  Result<StepResult> ParseStep(std::string_view reply) const override;
  double RewardSoFar(RewardTally& tally, const StepResult& step) const override;
  bool TalliesRewards() const override {
    return dialect_.mode != RewardMode::kLast || dialect_.null_keeps_reward;
  }
  std::string ExpandBody(int64_t id, const std::vector<std::string>& actions) const override;
  Result<std::vector<ForkReply>> ParseExpand(std::string_view reply, size_t count) const override;
  std::string CloseBody(int64_t id) const override;
  int SessionsPerServer() const override { return dialect_.sessions_per_server; }
  std::string AskPath(std::string_view extension, int64_t id) const override;
  Result<std::string> ParseObservation(std::string_view reply,
                                       std::string_view first) const override;
  std::string_view ReplyShape(std::string_view path) const override;
  bool IsLostSession(const Error& error) const override;

 protected:
  using Json = nlohmann::ordered_json;

  const HttpDialect& dialect() const { return dialect_; }
  // The value that a reply has as text.
  static Result<Json> Parsed(std::string_view reply, std::string_view call);
  // What a reply's value holds, in which the pointers point. kEnvironment for an error in it.
  virtual Result<Json> Content(Json value, std::string_view call) const;
  Result<StepResult> StepIn(const Json& reply) const;
  bool IsFault(std::string_view observation) const;

 private:
  struct Values;  // for the placeholders of a body

  Json IdOf(int64_t id) const;
  int64_t NumberOf(const std::string& id) const;
  std::string Body(const HttpDialect::Call& call, const Values& values) const;
  // The content of a reply.
  Result<Json> Read(std::string_view reply, std::string_view call) const;
  Result<int64_t> IdIn(const Json& reply, const std::string& pointer) const;
  Result<std::string> TextIn(const Json& reply, const HttpDialect::Text& text) const;

  const HttpDialect dialect_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, int64_t> numbers_;     // of ids that are texts; guarded by mutex_
  mutable std::vector<std::string> texts_;             // by -1 - number; guarded by mutex_
  mutable std::map<std::string, std::string> shapes_;  // of ReplyShape; guarded by mutex_
};

}  // namespace agentr
