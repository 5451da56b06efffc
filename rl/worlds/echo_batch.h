// Echo: the smallest game that needs syntax, copying and credit over turns, for tests of learning.
//
// The state ends with a digit, and the right action is to repeat it behind "g": "g2". A right
// answer is marked "+", and a new digit follows; any other text is marked "-", and the same digit
// stays. Three right answers end the game, or eight turns. The reward is -1 per turn, and 0 for the
// turn that wins: the best return is -2, and legal random play reaches about -7.1 with 4 digits.
// With `listed`, the legal texts are listed actions, and the reward is 1 - 0.9 turns / 8 for a win,
// as BabyAI's, and 0 otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/random.h"
#include "games/batch_environment.h"

namespace agentr {

struct EchoOptions {
  size_t size = 16;
  uint64_t seed = 0;  // slot i draws from RandomStream(seed).Split(i)
  int digits = 4;
  int horizon = 8;
  int wins = 3;
  bool listed = false;
};

class EchoBatch : public BatchEnvironment {
 public:
  explicit EchoBatch(const EchoOptions& options);

  size_t size() const override { return slots_.size(); }
  std::span<const std::string_view> actions() const override {
    return options_.listed ? std::span<const std::string_view>(legal_)
                           : std::span<const std::string_view>();
  }
  std::string_view Goal(size_t /*slot*/) const override { return "repeat the digit"; }
  // The whole history: "2 g1 - 2 g2 + 0".
  std::string_view Observation(size_t slot) const override { return slots_[slot].history; }
  std::span<const BatchStep> Step(std::span<const std::string_view> actions) override;

  const std::vector<std::string_view>& legal() const { return legal_; }
  std::string_view right(size_t slot) const { return legal_[slots_[slot].digit]; }

 private:
  struct Slot {
    RandomStream random;
    size_t digit = 0;
    int turn = 0;
    int right = 0;
    std::string history = {};
    std::string last = {};  // of the game before
  };

  void Begin(Slot& slot) const;
  void Draw(Slot& slot) const;
  BatchStep StepSlot(Slot& slot, std::string_view action) const;

  const EchoOptions options_;
  std::vector<std::string> texts_;
  std::vector<std::string_view> legal_;  // "g0", "g1", …
  std::vector<Slot> slots_;
  std::vector<BatchStep> steps_;
};

}  // namespace agentr
