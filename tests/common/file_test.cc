#include "common/file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <thread>

#include "common/error.h"
#include "common/interrupt.h"
#include "tests/common/fatal_error.h"
#include "tests/common/file_faults.h"
#include "tests/common/scratch_folder.h"

// Takes the place of the system's function in this program.
static bool flock_fails = false;
extern "C" int flock(int fd, int operation) noexcept {
  if (flock_fails) return errno = ENOLCK, -1;
  return static_cast<int>(::syscall(SYS_flock, fd, operation));
}

namespace agentr {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(WriteFileAtomically, WritesAllBytes) {
  const ScratchFolder folder;
  const std::string bytes("a\0b\r\n\xff", 6);
  WriteFileAtomically(folder / "x", bytes);
  EXPECT_EQ(ReadFile(folder / "x"), bytes);
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(WriteFileAtomically, ReplacesAndMakesFolders) {
  const ScratchFolder folder;
  const auto path = folder / "new" / "deep" / "x";
  WriteFileAtomically(path, "something long");
  WriteFileAtomically(path, "short");
  EXPECT_EQ(ReadFile(path), "short");
}

TEST(WriteFileAtomically, TakesOverALeftOver) {
  const ScratchFolder folder;
  folder.Write(TemporaryPath("x").string(), "half of an older attempt");
  WriteFileAtomically(folder / "x", "new");
  EXPECT_EQ(ReadFile(folder / "x"), "new");
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(WriteFileAtomically, AFolderInTheWayIsAnError) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder / "x" / "inside");
  EXPECT_THAT(FileErrorOf([&] { WriteFileAtomically(folder / "x", "new"); }),
              HasSubstr((folder / "x").string()));
  EXPECT_EQ(folder.entries(), 1u) << "a temporary file is left";
}

TEST(WriteFileAtomically, AFileAsFolderIsAnError) {
  const ScratchFolder folder;
  folder.Write("file", "");
  EXPECT_THAT(FileErrorOf([&] { WriteFileAtomically(folder / "file" / "x", "new"); }),
              HasSubstr((folder / "file").string()));
}

// Root may write everywhere: be somebody else for a while.
class WithoutRoot {
 public:
  WithoutRoot() : was_(::geteuid()) {
    if (was_ == 0 && ::seteuid(65534) != 0) throw std::runtime_error("cannot leave root");
  }
  ~WithoutRoot() {
    if (::seteuid(was_) != 0) std::abort();
  }

 private:
  const uid_t was_;
};

TEST(WriteFileAtomically, AnUnwritableFolderNamesTheCure) {
  const ScratchFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  const std::string message = [&] {
    const WithoutRoot nobody;
    return FileErrorOf([&] { WriteFileAtomically(folder / "x", "new"); });
  }();
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  EXPECT_THAT(message, HasSubstr((folder / "x").string()));
  EXPECT_THAT(message, HasSubstr("permissions"));
}

TEST(WriteFileAtomically, KeepsTheOldFileWhenTheNewOneDoesNotFit) {
  const ScratchFolder folder;
  WriteFileAtomically(folder / "x", "old");
  const std::string message = [&] {
    const FileSizeLimit limit(1000);
    return FileErrorOf([&] { WriteFileAtomically(folder / "x", std::string(5000, 'a')); });
  }();
  EXPECT_THAT(message, HasSubstr((folder / "x").string()));
  EXPECT_EQ(ReadFile(folder / "x"), "old");
  EXPECT_EQ(folder.entries(), 1u) << "a temporary file is left";
}

TEST(FileLock, ExcludesOthersUntilItIsDestroyed) {
  const ScratchFolder folder;
  std::optional<FileLock> lock(std::in_place, folder / "x");
  EXPECT_THROW(FileLock(folder / "x", FileLock::IfLocked::kRefuse), FatalError);
  std::atomic<bool> released = false;
  std::jthread owner([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // so that the other one waits
    released = true;
    lock.reset();
  });
  const FileLock waited(folder / "x");
  EXPECT_TRUE(released);
  EXPECT_THROW(FileLock(folder / "x", FileLock::IfLocked::kRefuse), FatalError);
}

// The test would hang.
TEST(FileLock, AStoppedRunDoesNotWaitForItForEver) {
  const ScratchFolder folder;
  const FileLock lock(folder / "x");
  StopOnSignal() = true;
  EXPECT_NO_THROW(FileLock(folder / "y")) << "what is free can still be written";
  EXPECT_NE(FatalErrorOf(ExitCode::kInterrupted, [&] { FileLock(folder / "x"); }), "");
  StopOnSignal() = false;
}

// As of some network file systems.
class NoLocks {
 public:
  NoLocks() { flock_fails = true; }
  ~NoLocks() { flock_fails = false; }
};

TEST(FileLock, ExcludesOthersWithoutLocksOfTheFileSystem) {
  const NoLocks none;
  const ScratchFolder folder;
  std::optional<FileLock> lock(std::in_place, folder / "x");
  const std::string refused =
      FileErrorOf([&] { FileLock(folder / "x", FileLock::IfLocked::kRefuse); });
  EXPECT_THAT(refused, HasSubstr("process " + std::to_string(::getpid()) + " on "));
  EXPECT_THAT(refused, HasSubstr("remove " + (folder / "x.held").string()));
  lock.reset();
  EXPECT_FALSE(std::filesystem::exists(folder / "x.held"));
  EXPECT_NO_THROW(FileLock(folder / "x", FileLock::IfLocked::kRefuse));
}

TEST(FileLock, OfAnEndedProcessIsTakenOverWithoutLocksOfTheFileSystem) {
  const NoLocks none;
  const ScratchFolder folder;
  const pid_t child = ::fork();
  if (child == 0) {
    new FileLock(folder / "x", FileLock::IfLocked::kRefuse);  // is killed with the lock
    ::raise(SIGKILL);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  ASSERT_TRUE(std::filesystem::exists(folder / "x.held"));
  EXPECT_NO_THROW(FileLock(folder / "x", FileLock::IfLocked::kRefuse));
  WriteFileAtomically(folder / "x.held", "another-machine 1 5\n");
  EXPECT_THROW(FileLock(folder / "x", FileLock::IfLocked::kRefuse), FatalError);
}

TEST(ReadFile, ErrorsNameThePath) {
  const ScratchFolder folder;
  EXPECT_THAT(FileErrorOf([&] { ReadFile(folder / "none"); }), HasSubstr("none: No such file"));
  EXPECT_THAT(FileErrorOf([&] { ReadFile(folder.path()); }),
              HasSubstr(folder.path().string() + ": Is a directory"));
}

TEST(ReadFile, AFaultInTheMiddleIsAnError) {
  // The first page of a process is mapped nowhere.
  EXPECT_THAT(FileErrorOf([] { ReadFile("/proc/self/mem"); }),
              HasSubstr("cannot read /proc/self/mem: Input/output error"));
}

TEST(ReadFile, TakesFilesOfUnknownSize) {
  EXPECT_THAT(ReadFile("/proc/self/status"), HasSubstr("Name:"));
}

TEST(ReadFileTest, PipesAndDevicesAreRefusedNotWaitedOn) {
  const ScratchFolder folder;
  const std::filesystem::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const auto& path : {pipe, std::filesystem::path("/dev/zero")}) {
    EXPECT_THAT(FileErrorOf([&] { ReadFile(path); }), HasSubstr(path.string()));
  }
}

}  // namespace
}  // namespace agentr
