// Claims per second from a PostgreSQL server of its own, and the speed-up of two workers on one
// run.
//
//   store_bench --claims 100000 --tasks 200 --task_ms 100
#include <fmt/core.h>

#include <chrono>
#include <numeric>
#include <thread>
#include <vector>

#include "apps/program.h"
#include "common/work_queue.h"
#include "store/task_queue.h"
#include "tests/store/postgres_server.h"

namespace agentr {
namespace {

struct BenchOptions {
  int claims = 100000;
  int tasks = 200;
  int task_ms = 100;
  bool fsync = true;
};

void Declare(OptionSet& set, BenchOptions& o) {
  set.Add("--claims", o.claims, "Tasks that are claimed and not done").Min(1);
  set.Add("--tasks", o.tasks, "Tasks that are done").Min(1);
  set.Add("--task_ms", o.task_ms, "Time that a task takes, waiting as for a model").Min(0);
  set.Add("--fsync", o.fsync, "Whether the server waits for its disk");
}

std::vector<int64_t> Keys(int count) {
  std::vector<int64_t> keys(static_cast<size_t>(count));
  std::iota(keys.begin(), keys.end(), 0);
  return keys;
}

double Seconds(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double SecondsToClaim(const StoreOptions& store, int count) {
  TaskQueue queue(store, {"bench", "claims"}, "{}");
  queue.Join(Keys(count));
  const auto begin = std::chrono::steady_clock::now();
  for (const int64_t key : Keys(count)) {
    if (queue.TryClaim(key) != Claim::kMine) throw std::runtime_error("a task was not free");
  }
  return Seconds(begin);
}

// The time of `workers` workers, each of which does four tasks at once.
double SecondsToDo(const StoreOptions& store, const BenchOptions& options, int workers) {
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::thread> threads;
  for (int i = 0; i < workers; ++i) {
    threads.emplace_back([&] {
      TaskQueue queue(store, {"bench", fmt::format("{} workers", workers)}, "{}");
      queue.Join(Keys(options.tasks));
      std::atomic<bool> stop = false;
      WorkQueue work(static_cast<size_t>(options.tasks), /*in_flight=*/4, 1, stop);
      work.Run([&](size_t item) {
        const auto key = static_cast<int64_t>(item);
        const Claim claim = queue.TryClaim(key);
        if (claim == Claim::kLater) return work.PutBack(item);
        if (claim != Claim::kMine) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(options.task_ms));
        queue.Commit(key, std::string(5000, 'x'));
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  return Seconds(begin);
}

ExitCode Run(const BenchOptions& options) {
  if (const std::string why = WhyNoPostgres(); !why.empty()) {
    fmt::print("skipped: {}\n", why);
    return ExitCode::kOk;
  }
  const PostgresServer server({options.fsync ? "fsync=on" : "fsync=off"});
  StoreOptions store;
  store.url = server.url();
  const double claiming = SecondsToClaim(store, options.claims);
  fmt::print("{} claims in {:.2f} s: {:.0f}/s\n", options.claims, claiming,
             options.claims / claiming);
  const double one = SecondsToDo(store, options, 1);
  const double two = SecondsToDo(store, options, 2);
  fmt::print("{} tasks of {} ms: one worker {:.2f} s, two {:.2f} s, speed-up {:.2f}\n",
             options.tasks, options.task_ms, one, two, one / two);
  return ExitCode::kOk;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  agentr::BenchOptions options;
  return agentr::RunWithOptions(
      argc, argv, {"store_bench", "Measures the store on a PostgreSQL server of its own.", ""},
      [&](const agentr::OptionSet&) { return agentr::Run(options); }, options);
}
