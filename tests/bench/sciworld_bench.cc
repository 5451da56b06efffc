// Measures SciWorld's server: start-up, steps per second over HTTP, heap per session. Or prints the
// fingerprints of episodes, to compare two runs. Needs Java and the jar.
//
//   sciworld_bench --golden tests/golden/sciworld_episodes.json
//   sciworld_bench --episodes 200 --threads 16 > a   # twice, then: diff a b | grep -c '^<'
//   sciworld_bench --episodes 200 --plain_hash > c   # without -XX:hashCode=2
//   sciworld_bench --forks 10000 --kept 100          # forks a second, and Java's heap
//   sciworld_bench --steps 5 --task melt             # milliseconds per step
//   sciworld_bench --steps 5 --threads 4             # and how the rate grows with the threads
//   tests/bench/sciworld_wrapper.py                  # the Python package, for comparison
#include <fmt/core.h>
#include <httplib.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/file.h"
#include "common/hash.h"
#include "common/options.h"
#include "servers/env_server.h"
#include "servers/sciworld/java_simulator.h"
#include "servers/sciworld/sciworld.h"
#include "tests/servers/sciworld/random_episode.h"

namespace agentr {
namespace {

using nlohmann::json;

double Seconds() { return MonotonicSeconds(); }

json Post(httplib::Client& http, const std::string& path, const json& body) {
  const auto reply = http.Post(path, body.dump(), "application/json");
  if (!reply) throw FatalError(ExitCode::kUnavailable, path + " failed");
  return json::parse(reply->body);
}

int PlaceOf(const json& episode) {
  int place = 0;
  for (const SimulatorTaskType& type : SimulatorTaskTypes()) {
    if (type.id == episode.at("task").get<std::string>()) break;
    place += type.variations;
  }
  return place + episode.at("variation").get<int>();
}

struct Count {
  uint64_t steps = 0;
  uint64_t resets = 0;
};

// Plays the golden episodes for `seconds`, one after the other.
Count PlayFor(int port, double seconds, const json& episodes, size_t first) {
  httplib::Client http("127.0.0.1", port);
  http.set_keep_alive(true);
  http.set_tcp_nodelay(true);
  const int64_t id = Post(http, "/create", json::object()).at("id");
  Count count;
  const double end = Seconds() + seconds;
  for (size_t e = first; Seconds() < end; ++e) {
    const json& episode = episodes.at(e % episodes.size());
    Post(http, "/reset", {{"id", id}, {"data_idx", PlaceOf(episode)}});
    ++count.resets;
    for (size_t i = 1; i < episode.at("steps").size() && Seconds() < end; ++i) {
      Post(http, "/step", {{"id", id}, {"action", episode.at("steps").at(i).at("action")}});
      ++count.steps;
    }
  }
  Post(http, "/close", {{"id", id}});
  return count;
}

void Rate(int port, int sessions, double seconds, const json& episodes) {
  std::atomic<uint64_t> steps = 0;
  std::atomic<uint64_t> resets = 0;
  {
    std::vector<std::jthread> threads;
    for (int s = 0; s < sessions; ++s) {
      threads.emplace_back([&, s] {
        const Count count = PlayFor(port, seconds, episodes, static_cast<size_t>(s));
        steps += count.steps;
        resets += count.resets;
      });
    }
  }
  fmt::print("{:3} sessions: {:6.0f} steps/s, {:.1f} resets/s between them\n", sessions,
             static_cast<double>(steps) / seconds, static_cast<double>(resets) / seconds);
}

void Rates(const std::string& golden, const std::string& jar, double seconds) {
  const json episodes = json::parse(ReadFile(golden)).at("episodes");
  const double begin = Seconds();
  const auto server = StartEnvServer({.task = "sciworld", .sciworld = {.jar = jar}, .port = 0});
  fmt::print("start-up: {:.2f} s\n", Seconds() - begin);
  Rate(server->port(), 1, seconds, episodes);  // warm-up: Java compiles frequently used code
  fmt::print("warm:\n");
  for (const int sessions : {1, 4, 16}) Rate(server->port(), sessions, seconds, episodes);
}

std::string Fingerprint(SimulatorSource& source, size_t number) {
  return Sha256(PlayRandomEpisode(source, number));
}

void Fingerprints(const JvmOptions& options, size_t episodes, int threads) {
  const auto source = StartScienceWorld(options);
  std::vector<std::string> prints(episodes);
  std::atomic<size_t> next = 0;
  {
    std::vector<std::jthread> pool;
    for (int t = 0; t < threads; ++t) {
      pool.emplace_back([&] {
        for (size_t i = next++; i < episodes; i = next++) prints[i] = Fingerprint(*source, i);
      });
    }
  }
  for (size_t i = 0; i < episodes; ++i) fmt::print("{} {}\n", i, prints[i]);
}

// Plays a task for some steps and copies it `forks` times, one copy after the other; `kept` of them
// stay alive.
void Forks(SimulatorSource& source, const std::string& type, size_t forks, size_t kept) {
  SciWorldEpisode episode(source, {type, 0});
  for (const char* const action : {"open door to kitchen", "go to kitchen", "wait1", "inventory"}) {
    episode.Step(action);
  }
  std::vector<SciWorldEpisode> alive;
  for (int round = 0; round < 5; ++round) {
    const double begin = Seconds();
    for (size_t i = 0; i < forks / 5; ++i) {
      alive.push_back(episode.Fork());
      if (alive.size() > kept) alive.erase(alive.begin());
    }
    const double per_fork = (Seconds() - begin) / static_cast<double>(forks / 5);
    fmt::print("{}: {:.3f} ms per fork, {:.0f} forks/s, heap {:.0f} MB\n", type, 1000 * per_fork,
               1 / per_fork, static_cast<double>(source.Use().heap_bytes) / 1e6);
  }
}

// The cost of stepping: the solution of a task, again and again.
void Steps(SimulatorSource& source, const std::string& type, int rounds) {
  const std::vector<std::string> gold = SciWorldGold(source, {type, 0});
  for (int round = 0; round < rounds; ++round) {
    const double begin = Seconds();
    SciWorldEpisode episode(source, {type, 0});
    const double loaded = Seconds();
    size_t steps = 0;
    for (const std::string& action : gold) {
      if (episode.last().done) break;
      episode.Step(action);
      ++steps;
    }
    fmt::print("{}: load {:.1f} ms, {} steps of {:.2f} ms\n", type, 1000 * (loaded - begin), steps,
               1000 * (Seconds() - loaded) / static_cast<double>(steps));
  }
}

// The same in several threads, each with an episode of its own: a lock that all of them need would
// show as a rate that does not grow with the threads.
void ParallelSteps(SimulatorSource& source, const std::string& type, int rounds) {
  const SimulatorTask task = {type, 0};
  const std::vector<std::string> gold = SciWorldGold(source, task);
  double one = 0;
  for (const int threads : {1, 1, 2, 4}) {  // the first one warms up
    std::atomic<uint64_t> steps = 0;
    std::atomic<uint64_t> nanoseconds = 0;
    {
      std::vector<std::jthread> pool;
      for (int t = 0; t < threads; ++t) {
        pool.emplace_back([&] {
          for (int round = 0; round < rounds; ++round) {
            SciWorldEpisode episode(source, task);
            const double begin = Seconds();
            for (const std::string& action : gold) {
              if (episode.last().done) break;
              episode.Step(action);
              ++steps;
            }
            nanoseconds += static_cast<uint64_t>(1e9 * (Seconds() - begin));
          }
        });
      }
    }
    const double rate =
        threads * 1e9 * static_cast<double>(steps) / static_cast<double>(nanoseconds);
    if (threads == 1) one = rate;
    fmt::print("{}: {} thread{}: {:.0f} steps/s, {:.2f} times one\n", type, threads,
               threads == 1 ? "" : "s", rate, rate / one);
  }
}

ExitCode Run(int argc, char** argv) {
  std::string golden = "tests/golden/sciworld_episodes.json";
  std::string jar = CachedScienceWorldJar().string();
  double seconds = 10;
  size_t episodes = 0;
  size_t forks = 0;
  size_t kept = 0;
  int steps = 0;
  std::string type = "boil";
  int threads = 1;
  bool plain_hash = false;
  OptionSet set("sciworld_bench", "Measures SciWorld's server.");
  set.Add("--golden", golden, "Episodes to play");
  set.Add("--jar", jar, "The simulator", "SCIENCEWORLD_JAR");
  set.Add("--seconds", seconds, "Of each measurement");
  set.Add("--episodes", episodes, "Print the fingerprints of this many episodes instead");
  set.Add("--forks", forks, "Measure this many forks instead");
  set.Add("--kept", kept, "Forks that stay alive");
  set.Add("--steps", steps, "Measure the steps of a solution instead, this many times");
  set.Add("--task", type, "The task to fork or to solve");
  set.Add("--threads", threads, "Episodes at once").Min(1);
  set.AddSwitch("--plain_hash", plain_hash, "Without the constant identity hash");
  if (const auto exit = set.Parse(argc, argv)) return *exit;
  if (forks > 0 || steps > 0) {
    const auto source = StartScienceWorld({.class_path = jar});
    if (forks > 0) Forks(*source, type, forks, kept);
    if (steps > 0) Steps(*source, type, steps);
    if (steps > 0 && threads > 1) ParallelSteps(*source, type, steps);
  } else if (episodes > 0) {
    Fingerprints({.class_path = jar, .constant_hash = !plain_hash}, episodes, threads);
  } else {
    Rates(golden, jar, seconds);
  }
  return ExitCode::kOk;
}

}  // namespace
}  // namespace agentr

int main(int argc, char** argv) {
  return agentr::RunMain([&] { return agentr::Run(argc, argv); });
}
