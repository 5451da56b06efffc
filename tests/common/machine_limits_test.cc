#include "common/machine_limits.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

#include "common/file.h"
#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;

class MachineLimitsTest : public ::testing::Test {
 protected:
  // The quota of a process in the group "/pod/job".
  int Quota() const { return QuotaCores(folder_ / "cgroup", folder_ / "mount"); }
  int64_t Memory() const { return QuotaMemory(folder_ / "cgroup", folder_ / "mount"); }
  void Write(const fs::path& name, const std::string& text) const {
    fs::create_directories((folder_ / name).parent_path());
    WriteFileAtomically(folder_ / name, text);
  }

  const ScratchFolder folder_;
};

TEST_F(MachineLimitsTest, TheSmallestQuotaOfTheGroupAndThoseAboveItCounts) {
  Write("cgroup", "1:cpu:/old\n0::/pod/job\n");
  EXPECT_EQ(Quota(), 0) << "no such group is mounted";
  Write("mount/pod/job/cpu.max", "max 100000\n");
  EXPECT_EQ(Quota(), 0);
  Write("mount/pod/cpu.max", "250000 100000\n");
  EXPECT_EQ(Quota(), 3) << "two and a half cores";
  Write("mount/cpu.max", "400000 100000\n");
  EXPECT_EQ(Quota(), 3);
  Write("mount/pod/job/cpu.max", "50000 100000\n");
  EXPECT_EQ(Quota(), 1) << "half a core";
}

TEST_F(MachineLimitsTest, TheSmallestLimitOfMemoryCounts) {
  Write("cgroup", "0::/pod/job\n");
  EXPECT_EQ(Memory(), 0) << "no such group is mounted";
  Write("mount/pod/job/memory.max", "max\n");
  EXPECT_EQ(Memory(), 0);
  Write("mount/pod/memory.max", "8589934592\n");
  EXPECT_EQ(Memory(), int64_t{8} << 30);
  Write("mount/memory.max", "17179869184\n");
  EXPECT_EQ(Memory(), int64_t{8} << 30);
  Write("mount/pod/job/memory.max", "4294967296\n");
  EXPECT_EQ(Memory(), int64_t{4} << 30);
}

TEST_F(MachineLimitsTest, TheRootGroupIsThatOfAContainer) {
  Write("cgroup", "0::/\n");
  Write("mount/cpu.max", "200000 100000\n");
  EXPECT_EQ(Quota(), 2);
}

TEST_F(MachineLimitsTest, WithoutControlGroupsThereIsNoQuota) { EXPECT_EQ(Quota(), 0); }

TEST_F(MachineLimitsTest, TheAffinityMaskCounts) {
  int cores = 0;
  std::thread pinned([&] {
    cpu_set_t mask;
    ASSERT_EQ(::sched_getaffinity(0, sizeof(mask), &mask), 0);
    int first = 0;
    while (!CPU_ISSET(first, &mask)) ++first;
    CPU_ZERO(&mask);
    CPU_SET(first, &mask);
    ASSERT_EQ(::sched_setaffinity(0, sizeof(mask), &mask), 0);
    cores = UsableCores();
  });
  pinned.join();
  EXPECT_EQ(cores, 1);
}

}  // namespace
}  // namespace agentr
