// A simulator for tests without Java: each Step plays the next of a script, and it can fail on
// demand. Counts what is live.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "servers/sciworld/simulator.h"

namespace agentr::testing {

// What the actions of an episode do; "look around" at its beginning is no part of it.
struct FakeStep {
  double score = 0;
  bool completed = false;
  int moves = 1;
};

struct FakeScript {
  std::vector<FakeStep> steps;
  int64_t most = 100;  // simulators that there is room for
  int64_t most_forks = 100;
};

class FakeSource : public SimulatorSource {
 public:
  explicit FakeSource(FakeScript script = {}) : script_(std::move(script)) {}

  std::unique_ptr<Simulator> New() override { return std::make_unique<Fake>(script_, live_); }
  int Variations(std::string_view) override { return 1; }
  SimulatorUse Use() override { return {live_, script_.most, script_.most_forks, 0}; }

 private:
  class Fake : public Simulator {
   public:
    Fake(const FakeScript& script, std::atomic<int64_t>& live) : script_(script), live_(live) {
      ++live_;
    }
    Fake(const Fake& of)
        : script_(of.script_),
          live_(of.live_),
          task_(of.task_),
          gold_(of.gold_),
          taken_(of.taken_) {
      ++live_;
    }
    ~Fake() override { --live_; }

    std::unique_ptr<Simulator> Fork() override { return std::make_unique<Fake>(*this); }

    void Load(std::string_view task, int variation, bool gold) override {
      task_ = std::string(task) + " " + std::to_string(variation);
      gold_ = gold;
      taken_ = 0;
    }
    // The action "crash" is the planted failure, and "refuse" changes nothing.
    std::string Step(std::string_view action) override {
      if (action == "crash") throw SimulatorError("java.lang.RuntimeException: planted");
      if (action == "refuse") return "No known action matches that input.";
      if (action != "look around") ++taken_;
      return std::string(action) + " in " + task_ + ": \u00e9\U0001F600";
    }
    double Score() override { return Now().score; }
    bool Completed() override { return Now().completed; }
    int Moves() override { return Now().moves; }
    std::string TaskDescription() override { return "Do " + task_; }
    std::string Goals() override { return "goals of " + task_; }
    std::vector<std::string> PossibleActions() override { return {"open OBJ", "wait"}; }
    std::vector<std::string> PossibleObjects() override { return {"door"}; }
    std::vector<std::string> ValidActions() override { return {"open door"}; }
    std::vector<std::string> GoldActions() override {
      return gold_ ? std::vector<std::string>{"solve " + task_} : std::vector<std::string>{};
    }

   private:
    FakeStep Now() const {
      if (taken_ == 0 || script_.steps.empty()) return {.moves = 0};
      return script_.steps[std::min(taken_, script_.steps.size()) - 1];
    }

    const FakeScript& script_;
    std::atomic<int64_t>& live_;
    std::string task_;
    bool gold_ = false;
    size_t taken_ = 0;
  };

  const FakeScript script_;
  std::atomic<int64_t> live_ = 0;
};

}  // namespace agentr::testing
