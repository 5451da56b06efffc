#include "training/distributed/rendezvous.h"

#include <gmock/gmock.h>

#include <map>

#include "tests/common/fatal_error.h"

namespace agentr {
namespace {

using ::testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

std::optional<Place> PlaceOf(const Variables& variables) {
  return PlaceFromEnvironment([&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

std::string UsageErrorOf(const Variables& variables) {
  return FatalErrorOf(ExitCode::kUsage, [&] { PlaceOf(variables); });
}

const Variables kTorchrun = {{"RANK", "5"},
                             {"WORLD_SIZE", "8"},
                             {"LOCAL_RANK", "1"},
                             {"LOCAL_WORLD_SIZE", "4"},
                             {"MASTER_ADDR", "node7"},
                             {"MASTER_PORT", "29500"}};
const Variables kSlurm = {{"SLURM_PROCID", "9"},
                          {"SLURM_NTASKS", "16"},
                          {"SLURM_LOCALID", "1"},
                          {"SLURM_JOB_ID", "1234567"},
                          {"SLURM_JOB_NODELIST", "gpu[007-010,020]"}};

Variables With(Variables variables, const std::string& name, const std::string& value) {
  variables[name] = value;
  return variables;
}

TEST(Rendezvous, TorchrunsVariables) {
  EXPECT_EQ(PlaceOf(kTorchrun), (Place{5, 8, 4, "node7", 29500, false, 1}));
  // The port itself is torchrun's own.
  EXPECT_EQ(PlaceOf(With(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "True"))->port, 29501);
  EXPECT_EQ(PlaceOf(With(kTorchrun, "TORCHELASTIC_USE_AGENT_STORE", "False"))->port, 29500);
  EXPECT_TRUE(PlaceOf(With(kTorchrun, "AGENTR_WATCHED", "1"))->watched);
}

TEST(Rendezvous, SlurmsVariables) {
  EXPECT_EQ(PlaceOf(kSlurm), (Place{9, 16, 1, "gpu007", 24567, false, 1}));
  EXPECT_EQ(PlaceOf(With(kSlurm, "SLURM_NTASKS_PER_NODE", "4"))->local_size, 4);
  EXPECT_EQ(PlaceOf(With(kSlurm, "SLURM_NTASKS_PER_NODE", "8(x2)"))->local_size, 8);
  const auto other = PlaceOf(With(With(kSlurm, "MASTER_ADDR", "a"), "MASTER_PORT", "77"));
  EXPECT_EQ(other->host, "a");
  EXPECT_EQ(other->port, 77);
  EXPECT_EQ(PlaceOf({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}, {"SLURM_JOB_NODELIST", "a"}}),
            std::nullopt);
  Variables both = kSlurm;  // torchrun inside a job of Slurm
  both.insert(kTorchrun.begin(), kTorchrun.end());
  EXPECT_EQ(PlaceOf(both)->rank, 5);
}

TEST(Rendezvous, WithoutThemThereIsOneProcess) { EXPECT_EQ(PlaceOf({}), std::nullopt); }

TEST(Rendezvous, FaultsAreNamed) {
  for (const char* name : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) {
    Variables some = kTorchrun;
    some.erase(name);
    EXPECT_THAT(UsageErrorOf(some), HasSubstr(name));
  }
  EXPECT_THAT(UsageErrorOf(With(kTorchrun, "RANK", "8")), HasSubstr("a number from 0 to 7"));
  EXPECT_THAT(UsageErrorOf(With(kTorchrun, "MASTER_PORT", "80x")), HasSubstr("\"80x\""));
  EXPECT_THAT(UsageErrorOf(With(kTorchrun, "WORLD_SIZE", "0")), HasSubstr("WORLD_SIZE"));
  Variables some = kSlurm;
  some.erase("SLURM_JOB_NODELIST");
  EXPECT_THAT(UsageErrorOf(some), HasSubstr("SLURM_JOB_NODELIST"));
}

TEST(Rendezvous, FirstHosts) {
  EXPECT_EQ(FirstHost("a"), "a");
  EXPECT_EQ(FirstHost("a,b"), "a");
  EXPECT_EQ(FirstHost("n[3-5]"), "n3");
  EXPECT_EQ(FirstHost("n[003-010,12],m1"), "n003");
  EXPECT_EQ(FirstHost("n[12,3]-ib"), "n12-ib");
  EXPECT_EQ(FirstHost("r[1-2]n[08-09],x"), "r1n08");
  EXPECT_EQ(FirstHost("login,n[1-2]"), "login");
  EXPECT_EQ(FirstHost(""), "");
  EXPECT_EQ(FirstHost("n[3-5"), "n3");
}

}  // namespace
}  // namespace agentr
