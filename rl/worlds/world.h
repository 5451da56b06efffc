// The environments of a run (games/batch_environment.h) with what learning needs around them: the
// prompt of each state, and scripted players.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/named_values.h"
#include "common/random.h"
#include "games/batch_environment.h"

namespace agentr {

class OptionSet;

enum class WorldKind { kBabyAi, kTwentyQuestions, kGuessMyCity, kWebShop, kEcho, kEchoListed };
inline constexpr std::array<NamedValue<WorldKind>, 6> kWorldNames = {
    {{"babyai", WorldKind::kBabyAi},
     {"twenty_questions", WorldKind::kTwentyQuestions},
     {"guess_my_city", WorldKind::kGuessMyCity},
     {"webshop", WorldKind::kWebShop},
     {"echo", WorldKind::kEcho},
     {"echo_listed", WorldKind::kEchoListed}}};

struct WorldOptions {
  WorldKind task = WorldKind::kBabyAi;
  int environments = 32;
  std::string level = "GoToLocal";  // of BabyAI-Text
  std::string mission = "";  // its kind of mission: goto, pickup, …; empty: they take turns
  bool subset = false;       // only the ten objects of ArCHer's subset of Twenty Questions
  int distractors = 0;       // objects in a room of BabyAI-Text; 0: as the level has them
  double reward_scale = 1;   // factor of rewards
  bool reference = false;    // texts and rules as the originals have them
};

// Declares --environments, --level, --mission, --distractors, --subset,
// --reward_scale and --reference.
void Declare(OptionSet& set, WorldOptions& options);

class World {
 public:
  virtual ~World() = default;

  size_t size() const { return environment().size(); }
  // The texts that are actions in every state; empty if actions are written freely, up to the end
  // of the line.
  std::span<const std::string_view> actions() const { return environment().actions(); }

  // The text behind which the policy writes its action.
  virtual std::string Prompt(size_t slot) const = 0;

  // Takes actions[i] in slot i (BatchEnvironment::Step). Valid until the next call.
  virtual std::span<const BatchStep> Step(std::span<const std::string_view> actions) = 0;

  // Whether the step that ended an episode won it: before the limit of steps, unless the world
  // knows better.
  virtual bool Won(const BatchStep& end) const { return !end.truncated; }

  // What a scripted expert, which sees what the policy sees, does now.
  virtual std::string Expert(size_t slot) const = 0;
  // Any legal action.
  virtual std::string AnyAction(size_t slot, RandomStream& random) const = 0;

  virtual const BatchEnvironment& environment() const = 0;
};

// Throws FatalError(kUsage) for an unknown level or mission, or an impossible number of
// distractors.
std::unique_ptr<World> MakeWorld(const WorldOptions& options, uint64_t seed);

}  // namespace agentr
