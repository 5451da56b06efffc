#include "tasks/lmrl/maze_family.h"

#include <array>
#include <map>
#include <optional>

#include "common/pattern.h"
#include "common/text.h"

namespace agentr {
namespace {

constexpr std::array<std::string_view, 4> kMoveReasons = {
    "The goal is at {}, {}, and this way leads there.",
    "To come to {}, {} I go on like this.",
    "This is a step towards {}, {}.",
    "No wall stops me here, and the goal is at {}, {}.",
};

// The first move from every place towards the goal, found from the goal backwards.
const std::map<std::pair<int, int>, std::string_view>& MovesToGoal() {
  static const auto moves = [] {
    std::map<std::pair<int, int>, std::string_view> towards = {
        {{kMazeGoal.row, kMazeGoal.column}, kMazeMoves[0].action}};
    std::vector<MazePlace> reached = {kMazeGoal};
    for (size_t i = 0; i < reached.size(); ++i) {
      for (const MazeMove& move : kMazeMoves) {
        const MazePlace from = {reached[i].row - move.down, reached[i].column - move.right};
        if (IsFree(from) && towards.try_emplace({from.row, from.column}, move.action).second)
          reached.push_back(from);
      }
    }
    return towards;
  }();
  return moves;
}

std::string MoveFrom(MazePlace place) {
  return std::string(MovesToGoal().at({place.row, place.column}));
}

// The place that an observation tells.
std::optional<MazePlace> PlaceIn(std::string_view observation) {
  static const Pattern pattern(R"(Your current position is at position (\d+), (\d+)\.)");
  const auto row = pattern.Last(observation, 1), column = pattern.Last(observation, 2);
  if (!row || !column) return std::nullopt;
  const auto r = ParseNumber<int>(*row), c = ParseNumber<int>(*column);
  if (!r || !c || !IsFree({*r, *c})) return std::nullopt;
  return MazePlace{*r, *c};
}

class MazePolicyState : public PolicyState {
 public:
  MazePolicyState(MazePlace place, int wasted_turns) : place_(place), wasted_turns_(wasted_turns) {}

  int wasted_turns() const override { return wasted_turns_; }
  std::string Plan() override { return MoveFrom(place_); }
  std::string AnyAction(RandomStream& random) const override {
    return std::string(random.Pick(kMazeMoves).action);
  }
  std::string Thought(std::string_view /*action*/, RandomStream& random) const override {
    return AnyThought(kMoveReasons, random, kMazeGoal.row, kMazeGoal.column);
  }

 private:
  const MazePlace place_;
  const int wasted_turns_;
};

}  // namespace

std::string MazeFamily::ParseAction(std::string_view response) const {
  return AsciiLower(TaskFamily::ParseAction(response));
}

bool MazeFamily::IsRefusal(std::string_view before, std::string_view /*action*/,
                           std::string_view after) const {
  return before == after;
}

std::string MazeFamily::StateKey(std::span<const Message> history) const {
  return history.empty() ? "" : history.back().content;
}

HttpDialect MazeDialect() {
  HttpDialect dialect;
  dialect.name = "maze";
  dialect.create = {"/maze/create", nullptr};
  dialect.reset = {"/maze/reset", {{"id", "{id}"}, {"game", "{task}"}}};
  dialect.step.path = "/maze/step";
  dialect.observe = "/maze/observation?id={id}";
  dialect.close.path = "/maze/close";
  dialect.expand = "/maze/expand";
  dialect.task_modulo = Maze::kBeginnings;
  dialect.tasks = Maze().task_count();
  dialect.least = 0;
  return dialect;
}

std::unique_ptr<PolicyState> ReadMazePolicy(std::span<const Message> conversation) {
  std::optional<MazePlace> place;
  int wasted_turns = 0;
  for (const Message& message : conversation) {
    if (message.role != "user") continue;
    const std::optional<MazePlace> now = PlaceIn(message.content);
    if (!now) continue;
    wasted_turns = now == place ? wasted_turns + 1 : 0;
    place = now;
  }
  if (!place) return nullptr;
  return std::make_unique<MazePolicyState>(*place, wasted_turns);
}

std::vector<std::string> Gold(const Maze& game, int64_t task) {
  std::vector<std::string> moves;
  std::optional<MazeState> state = game.Start(task);
  while (state && !state->done()) {
    moves.push_back(MoveFrom(state->place));
    game.Step(*state, moves.back());
  }
  return moves;
}

}  // namespace agentr
