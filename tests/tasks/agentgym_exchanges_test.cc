// The task files of AgentGym's servers against what its own clients sent and were told: each
// exchange of tests/golden/agentgym_exchanges is replayed through the file's protocol and family.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "clients/env/protocol.h"
#include "common/file.h"
#include "tasks/task_file.h"

namespace agentr {
namespace {

using nlohmann::json;

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry :
       std::filesystem::directory_iterator(AGENTR_SOURCE_DIR "/configs/tasks")) {
    std::string name = entry.path().stem().string();
    if (!name.starts_with("openenv_")) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

// Their body has all that ours has; theirs may hold more, which the servers ignore.
void ExpectBody(const json& call, const std::string& ours) {
  if (ours.empty() || ours == "{}") return;
  const json body = json::parse(ours);
  for (const auto& [name, value] : body.items())
    EXPECT_EQ(call.at("body").value(name, json()), value) << call.at("path") << " " << name;
}

class AgentGymExchanges : public ::testing::TestWithParam<std::string> {
 protected:
  const json golden_ = json::parse(ReadFile(
      fmt::format("{}/tests/golden/agentgym_exchanges/{}.json", AGENTR_SOURCE_DIR, GetParam())));
  const std::string file_ = fmt::format("{}/configs/tasks/{}.toml", AGENTR_SOURCE_DIR, GetParam());
  const TaskKind kind_ = ReadTaskFile(ReadFile(file_), file_);
  const std::unique_ptr<Protocol> protocol_ = kind_.protocol();
  const std::unique_ptr<TaskFamily> family_ = kind_.family();
};

INSTANTIATE_TEST_SUITE_P(Servers, AgentGymExchanges, ::testing::ValuesIn(Names()),
                         [](const auto& test) { return test.param; });

TEST_P(AgentGymExchanges, TheFileSendsAndReadsWhatAgentGymsClientDoes) {
  const json& create = golden_.at("create");
  EXPECT_EQ(create.at("path"), protocol_->PathOf("/create"));
  ExpectBody(create, protocol_->CreateBody());
  const int64_t id = protocol_->ParseCreate(create.at("reply").dump()).value();

  const json& reset = golden_.at("reset");
  EXPECT_EQ(reset.at("path"), protocol_->PathOf("/reset"));
  ExpectBody(reset, protocol_->ResetBody(id, golden_.at("task")));
  std::string shown = protocol_->ParseReset(reset.at("reply").dump()).value();
  if (protocol_->ObservesAfterReset()) {
    const json& observed = golden_.at("observed");
    EXPECT_EQ(observed.at("path"), protocol_->AskPath("observation", id));
    shown = protocol_->ParseObservation(observed.at("reply").dump(), "").value();
  }
  if (golden_.at("first").is_string()) {
    EXPECT_EQ(shown, golden_.at("first"));
  }

  RewardTally tally;
  for (const json& step : golden_.at("steps")) {
    const json& call = step.at("call");
    EXPECT_EQ(call.at("path"), protocol_->PathOf("/step"));
    const std::string action = family_->ParseAction(step.at("response").get<std::string>());
    EXPECT_EQ(call.at("body"), json::parse(protocol_->StepBody(id, action)));
    const auto reply = protocol_->ParseStep(call.at("reply").dump());
    ASSERT_TRUE(reply) << reply.error().message;
    const json& told = step.at("told");
    EXPECT_EQ(reply->done, told.at("done"));
    EXPECT_EQ(reply->observation, told.at("state").get<std::string>());
    // AgentGym counts SciWorld's points up to 100, and less than nothing for some failures.
    const double most = GetParam() == "agentgym_sciworld" ? 100 : 1;
    EXPECT_NEAR(protocol_->RewardSoFar(tally, *reply),
                std::max(told.at("reward").get<double>(), 0.0) / most, 1e-12);
  }
  const json& close = golden_.at("close");
  // Not all servers know the call.
  if (!close.is_null() && !protocol_->PathOf("/close").empty()) {
    EXPECT_EQ(close.at("path"), protocol_->PathOf("/close"));
    ExpectBody(close, protocol_->CloseBody(id));
  }
}

}  // namespace
}  // namespace agentr
