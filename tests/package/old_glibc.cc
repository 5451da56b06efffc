// A program that uses what glibc 2.28 does not have, for scripts/test_old_glibc.sh. Prints "ok".
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>

namespace {

struct Constructed {
  int value = std::rand() | 1;  // not a constant, so that a constructor has to run
} constructed;

bool Waits() {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  const auto begin = std::chrono::steady_clock::now();
  const bool told = condition.wait_for(lock, std::chrono::milliseconds(30), [] { return false; });
  return !told && std::chrono::steady_clock::now() - begin >= std::chrono::milliseconds(30);
}

bool Throws() {
  try {
    (void)std::filesystem::file_size("no such file");
  } catch (const std::filesystem::filesystem_error&) {
    return true;
  }
  return false;
}

int Failed(const char* what) {
  std::printf("failed: %s\n", what);
  return 1;
}

}  // namespace

int main(int count, char** arguments) {
  if (constructed.value == 0) return Failed("constructors");
  if (!Throws()) return Failed("exceptions");
  if (std::filesystem::file_size(arguments[0]) < 1000) return Failed("stat");
  bool waits = false;
  std::thread([&] { waits = Waits(); }).join();
  if (!waits) return Failed("pthread_cond_clockwait");
  std::random_device random("arc4random");
  if (random() == random() && random() == random()) return Failed("arc4random");
  if (std::pow(1.0 + count, 0.5) != std::sqrt(2.0)) return Failed("pow");
  std::printf("ok\n");
}
