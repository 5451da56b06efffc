// mcts_bench: the cost of a tree node (requests, bytes) and the nodes per second of the search, on
// the embedded TextCraft server with the planner model, compared with a baseline in the same run.
//
// Baseline "replay per sample": for each sample, Agent-R's code resets the environment and takes
// all actions of the path again. This is done for the same nodes, one after the other, on one
// session of the same server.
#include <fmt/core.h>

#include <atomic>
#include <chrono>
#include <filesystem>

#include "clients/env/http_environment.h"
#include "common/clock.h"
#include "common/file.h"
#include "common/logging.h"
#include "common/options.h"
#include "mcts/collector.h"
#include "tasks/scripted_model.h"
#include "tasks/task_kinds.h"
#include "tests/clients/env/embedded_server.h"
#include "tests/common/scratch_folder.h"
#include "tests/mcts/call_bound.h"

namespace agentr {
namespace {

namespace fs = std::filesystem;

struct BenchOptions {
  int min = 31;
  int max = 41;  // exclusive
  std::vector<int> in_flight = {1, 8, 64, 256};
  std::vector<int> delays_ms = {0, 50};
  int rounds = 2;      // trees per place in flight, in the part on speed
  int sessions = 512;  // in the part without extensions
};

void Declare(OptionSet& set, BenchOptions& o) {
  set.Group("Benchmark");
  set.Add("--min", o.min, "First task id");
  set.Add("--max", o.max, "One past the last task id");
  set.Add("--in_flight", o.in_flight, "Trees in flight to measure (repeatable)");
  set.Add("--delay_ms", o.delays_ms, "Delays of the model to measure (repeatable)");
  set.Add("--rounds", o.rounds, "Trees per place in flight").Min(1);
  set.Add("--sessions", o.sessions, "Sessions without /expand").Min(1);
}

// Keeps every tree, also several of one task, in files like those of a real run.
class BenchStore : public TreeStore {
 public:
  explicit BenchStore(fs::path folder) : folder_(std::move(folder)) {}
  Claim TryClaim(int /*task*/) override { return Claim::kMine; }
  void Release(int /*task*/, std::string_view /*error*/) override {}
  Tree Load(int task_id) const override {
    const fs::path path = folder_ / fmt::format("{}.json", task_id);
    return ReadTree(ReadFile(path), path.string());
  }
  bool Commit(const Tree& tree) override {
    const std::string text = WriteTree(tree, TreeFormat::kCompact);
    bytes += static_cast<int64_t>(text.size());
    agent_r_bytes +=
        static_cast<int64_t>(measure_agent_r ? WriteTree(tree, TreeFormat::kAgentR).size() : 0);
    WriteFileAtomically(folder_ / fmt::format("{}.json", next_++), text);
    return true;
  }
  int64_t CountDone(const std::vector<int>& /*tasks*/) const override { return next_; }
  std::string place() const override { return folder_.string(); }

  bool measure_agent_r = false;
  std::atomic<int64_t> bytes = 0;
  std::atomic<int64_t> agent_r_bytes = 0;

 private:
  const fs::path folder_;
  std::atomic<int> next_ = 0;
};

struct Measured {
  CollectReport report;
  int64_t calls = 0;
  int64_t bytes = 0;
  int64_t agent_r_bytes = 0;
};

class Bench {
 public:
  explicit Bench(const BenchOptions& options)
      : options_(options), family_(MakeTaskFamily("textcraft")) {}

  void Run() {
    const std::unique_ptr<EnvServer> extended = StartServer("textcraft", true);
    const std::unique_ptr<EnvServer> plain = StartServer("textcraft", false);
    PrintCosts(*extended, *plain);
    PrintSpeeds(*extended);
  }

 private:
  Measured Collect(const EnvServer& server, const fs::path& folder, int in_flight, int delay_ms,
                   int trees, bool measure_agent_r) {
    HttpEnvironment environment(MakeProtocol("textcraft"), {server.base_url()}, HttpOptions{});
    ScriptedOptions scripted;
    scripted.delay_ms = delay_ms;
    const auto model = MakeScriptedModel("planner", *family_, scripted);
    ParallelismOptions collector;
    collector.in_flight = in_flight;
    collector.sessions = options_.sessions;
    std::vector<int> tasks;
    for (int i = 0; i < trees; ++i) {
      tasks.push_back(options_.min + i % (options_.max - options_.min));
    }
    BenchStore store(folder);
    store.measure_agent_r = measure_agent_r;
    TreeOrigin origin{"textcraft", 0, "planner", "", ""};
    std::atomic<bool> stop = false;
    Measured measured;
    measured.report = Collector(*family_, environment, *model, store, SearchOptions{}, collector,
                                std::move(origin))
                          .Run(tasks, stop);
    measured.calls = environment.stats().calls();
    measured.bytes = store.bytes;
    measured.agent_r_bytes = store.agent_r_bytes;
    return measured;
  }

  void PrintCosts(const EnvServer& extended, const EnvServer& plain) {
    const int trees = options_.max - options_.min;
    const ScratchFolder folder;
    const Measured forks = Collect(extended, folder.path(), 1, 0, trees, /*measure_agent_r=*/true);
    const double seconds_of_baseline = ReplayPerSample(extended, folder.path(), trees);
    const ScratchFolder other;
    const Measured replays = Collect(plain, other.path(), 1, 0, trees, false);
    const auto nodes = static_cast<double>(forks.report.nodes);
    const auto per_node = [&](int64_t count) { return static_cast<double>(count) / nodes; };
    const ExecutionStats& e = replays.report.execution;

    fmt::print("tasks {} to {}, planner, iterations 8, n_gen 4, max_depth 20: {} nodes\n\n",
               options_.min, options_.max - 1, forks.report.nodes);
    fmt::print("per tree node                                            count  of baseline\n");
    const double baseline = per_node(baseline_calls_);
    Row("environment requests, replay per sample (baseline)", baseline, baseline);
    Row("environment requests, with /expand", per_node(forks.calls), baseline);
    Row("environment requests, plain server", per_node(replays.calls), baseline);
    const auto bound = [&](const char* what, int64_t calls) {
      Row(what, per_node(calls), baseline);
      fmt::print("{:>52} {:>9.3f}\n", "plain server / this bound",
                 static_cast<double>(replays.calls) / static_cast<double>(calls));
    };
    bound("  lower bound: walks to the leaves of the states", e.min_replay_calls);
    bound("  lower bound: and each unchanged action once", e.min_replay_calls + e.unchanged_bound);
    bound("  lower bound: expansion by expansion", FewestCallsOf(folder.path(), trees));
    Row("model requests", per_node(forks.report.usage.requests), 1.0);
    const double agent_r_bytes = per_node(forks.agent_r_bytes);
    Row("bytes of tree file, agent-r (baseline)", agent_r_bytes, agent_r_bytes);
    Row("bytes of tree file, compact", per_node(forks.bytes), agent_r_bytes);
    baseline_speed_ = nodes / seconds_of_baseline;
    fmt::print("\nbaseline speed: {:.1f} nodes/s (environment only, no model)\n", baseline_speed_);
  }

  // Of the trees in `folder` (call_bound.h): the search does not know its later expansions.
  int64_t FewestCallsOf(const fs::path& folder, int trees) const {
    const BenchStore store(folder);
    int64_t calls = 0;
    for (int i = 0; i < trees; ++i) calls += FewestCalls(store.Load(i), *family_);
    return calls;
  }

  static void Row(const char* what, double count, double baseline) {
    fmt::print("{:<52} {:>9.3f} {:>12.4f}\n", what, count, count / baseline);
  }

  // Takes the path of every node of the trees in `folder` again; returns the seconds.
  double ReplayPerSample(const EnvServer& server, const fs::path& folder, int trees) {
    HttpEnvironment environment(MakeProtocol("textcraft"), {server.base_url()}, HttpOptions{});
    const BenchStore store(folder);
    const auto begin = std::chrono::steady_clock::now();
    auto session = environment.Open();
    for (int i = 0; i < trees && session; ++i) {
      const Tree tree = store.Load(i);
      for (int node = 1; node < tree.size(); ++node) {
        if (!(*session)->Reset(tree.origin().task_id)) return 0;
        for (const int step : tree.Path(node)) {
          if (step != 0 && !(*session)->Step(tree.node(step).action)) return 0;
        }
      }
    }
    baseline_calls_ = environment.stats().calls();
    return SecondsSince(begin);
  }

  void PrintSpeeds(const EnvServer& server) {
    fmt::print(
        "\nnodes per second, with /expand, trees written to files\n"
        "{:>10} {:>10} {:>8} {:>10} {:>14} {:>16}\n",
        "delay ms", "in flight", "trees", "nodes/s", "of baseline", "of 1 in flight");
    for (const int delay : options_.delays_ms) {
      double first = 0;
      for (const int in_flight : options_.in_flight) {
        const ScratchFolder folder;
        // Enough work for a measurement without delays.
        const int trees =
            delay == 0 ? std::max(200, options_.rounds * in_flight) : options_.rounds * in_flight;
        const Measured m = Collect(server, folder.path(), in_flight, delay, trees, false);
        const double speed = static_cast<double>(m.report.nodes) / m.report.wall_s;
        if (first == 0) first = speed;
        fmt::print("{:>10} {:>10} {:>8} {:>10.0f} {:>14.1f} {:>16.2f}\n", delay, in_flight, trees,
                   speed, speed / baseline_speed_, speed / first);
      }
    }
  }

  const BenchOptions options_;
  const std::unique_ptr<TaskFamily> family_;
  int64_t baseline_calls_ = 0;
  double baseline_speed_ = 1;
};

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] {
    agentr::BenchOptions options;
    agentr::LogOptions log;
    log.level = "warn";
    agentr::OptionSet set("mcts_bench", "What tree nodes cost, and how fast they are made.");
    Declare(set, options);
    Declare(set, log);
    if (const auto exit = set.Parse(argc, argv)) return *exit;
    InitLogging(log);
    agentr::Bench(options).Run();
    return agentr::ExitCode::kOk;
  });
}
