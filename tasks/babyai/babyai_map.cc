#include "tasks/babyai/babyai_map.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "tasks/babyai/babyai_family.h"

namespace agentr {
namespace {

constexpr std::string_view kYourGoal = "Your goal: ";
constexpr std::string_view kOffered = "Available actions: [";
constexpr std::string_view kSentence = "You ";
constexpr int kRoomCells = 8;  // with both walls
constexpr int kSightAhead = 6;
constexpr int kSightAside = 3;

constexpr std::array<BabyAiSpot, 4> kAhead = {{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};

// The next word of `text`, which loses it; stops at blanks and commas.
std::string_view NextWord(std::string_view& text) {
  const size_t begin = std::min(text.find_first_not_of(" ,\n."), text.size());
  text.remove_prefix(begin);
  const size_t end = std::min(text.find_first_of(" ,\n."), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

// Numbers of steps from the agent.
struct Offset {
  int ahead = 0;
  int right = 0;
};

// "2 steps left and 5 steps forward".
Offset ReadOffset(std::string_view text) {
  Offset offset;
  for (std::string_view word = NextWord(text); !word.empty(); word = NextWord(text)) {
    int count = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), count).ec != std::errc()) continue;
    NextWord(text);  // "steps"
    const std::string_view side = NextWord(text);
    (side == "forward" ? offset.ahead : offset.right) = side == "left" ? -count : count;
  }
  return offset;
}

// "the red ball", "a door".
BabyAiWanted ReadWanted(std::string_view text) {
  NextWord(text);
  const std::string_view word = NextWord(text);
  const std::string_view next = NextWord(text);
  return next.empty() ? BabyAiWanted{"", word} : BabyAiWanted{word, next};
}

void ReadErrand(std::string_view text, std::vector<BabyAiErrand>& errands) {
  using enum BabyAiErrand::Kind;
  static constexpr std::array<std::pair<std::string_view, BabyAiErrand::Kind>, 4> kBegins = {
      {{"go to ", kGoTo}, {"pick up ", kPickUp}, {"open ", kOpen}, {"put ", kPutNext}}};
  for (const auto& [begin, kind] : kBegins) {
    if (!text.starts_with(begin)) continue;
    const std::string_view rest = text.substr(begin.size());
    constexpr std::string_view kNext = " next to ";
    const size_t next = kind == kPutNext ? rest.find(kNext) : std::string_view::npos;
    BabyAiErrand errand{kind, ReadWanted(rest.substr(0, next))};
    if (next != std::string_view::npos)
      errand.beside = ReadWanted(rest.substr(next + kNext.size()));
    errands.push_back(errand);
    return;
  }
}

// Calls `use` with each sentence "You see …" of an observation, without "You ".
template <typename Use>
void ForEachSentence(std::string_view text, const Use& use) {
  text = text.substr(0, text.find(kOffered));
  size_t at = text.find(kSentence);
  while (at != std::string_view::npos) {
    const size_t begin = at + kSentence.size();
    at = text.find(kSentence, begin);
    use(text.substr(begin, at == std::string_view::npos ? at : at - begin));
  }
}

// "a red ball", "an open red door": reads it off the front of `text`.
BabyAiThing ReadThing(std::string_view& text) {
  BabyAiThing thing;
  thing.color = NextWord(text);
  if (thing.color == "open" || thing.color == "closed" || thing.color == "locked") {
    thing.state = thing.color;
    thing.color = NextWord(text);
  }
  thing.type = NextWord(text);
  return thing;
}

}  // namespace

std::vector<BabyAiErrand> ReadBabyAiMission(std::string_view mission) {
  std::vector<BabyAiErrand> errands;
  constexpr std::string_view kAfter = " after you ";
  constexpr std::string_view kThen = ", then ";
  if (const size_t at = mission.find(kAfter); at != std::string_view::npos) {
    ReadErrand(mission.substr(at + kAfter.size()), errands);
    ReadErrand(mission.substr(0, at), errands);
  } else if (const size_t then = mission.find(kThen); then != std::string_view::npos) {
    ReadErrand(mission.substr(0, then), errands);
    ReadErrand(mission.substr(then + kThen.size()), errands);
  } else {
    ReadErrand(mission, errands);
  }
  return errands;
}

BabyAiSpot BabyAiPose::Front() const { return Relative(1, 0); }

BabyAiSpot BabyAiPose::Relative(int ahead, int right) const {
  const BabyAiSpot forward = kAhead[static_cast<size_t>(facing)];
  return {spot.x + forward.x * ahead - forward.y * right,
          spot.y + forward.y * ahead + forward.x * right};
}

void BabyAiMap::Range::Narrow(int at_least, int at_most) {
  least = std::max(least, at_least);
  most = std::min(most, at_most);
}

BabyAiMap::BabyAiMap(std::string_view first_observation)
    : cells_(static_cast<size_t>(kSide * kSide)) {
  Observe(first_observation);
}

size_t BabyAiMap::IndexOf(BabyAiSpot spot) {
  return static_cast<size_t>((spot.y + kReach) * kSide + spot.x + kReach);
}

bool BabyAiMap::MayBeRoom(BabyAiSpot spot) const {
  return spot.x >= x_.least && spot.x <= x_.most && spot.y >= y_.least && spot.y <= y_.most;
}

// Not on a known wall. A wall is certain only where the whole range is known.
bool BabyAiMap::IsInside(BabyAiSpot spot) const {
  const auto inside = [](const Range& range, int at) {
    if (range.most - range.least < kRoomCells) return at > range.least && at < range.most;
    return at >= range.least && at <= range.most;
  };
  return inside(x_, spot.x) && inside(y_, spot.y);
}

const BabyAiThing* BabyAiMap::ThingAt(BabyAiSpot spot) const {
  if (!MayBeRoom(spot)) return nullptr;
  const std::optional<BabyAiThing>& thing = cells_[IndexOf(spot)].thing;
  return thing ? &*thing : nullptr;
}

bool BabyAiMap::IsSeen(BabyAiSpot spot) const {
  return MayBeRoom(spot) && cells_[IndexOf(spot)].seen;
}

bool BabyAiMap::IsFree(BabyAiSpot spot) const {
  const BabyAiThing* const thing = ThingAt(spot);
  return thing == nullptr ? IsInside(spot) : thing->IsOpenDoor();
}

bool BabyAiMap::HasPickedUp(const BabyAiWanted& wanted) const {
  return std::ranges::any_of(picked_up_, [&](const BabyAiThing& t) { return wanted.Matches(t); });
}

// The wall and the one opposite are seven cells apart.
void BabyAiMap::SeeWall(BabyAiSpot spot, int facing) {
  constexpr int kAcross = kRoomCells - 1;
  const bool high = facing == 0 || facing == 1;
  Range& range = facing % 2 == 0 ? x_ : y_;
  const int at = facing % 2 == 0 ? spot.x : spot.y;
  range.Narrow(high ? at - kAcross : at, high ? at : at + kAcross);
}

void BabyAiMap::Observe(std::string_view text) {
  // The agent is inside, so the walls are at most seven cells away.
  x_.Narrow(pose_.spot.x - kRoomCells + 2, pose_.spot.x + kRoomCells - 2);
  y_.Narrow(pose_.spot.y - kRoomCells + 2, pose_.spot.y + kRoomCells - 2);
  for (int ahead = 0; ahead <= kSightAhead; ++ahead) {
    for (int right = -kSightAside; right <= kSightAside; ++right) {
      const BabyAiSpot spot = pose_.Relative(ahead, right);
      if (MayBeRoom(spot)) cells_[IndexOf(spot)] = {true, std::nullopt};
    }
  }
  carried_.reset();
  ForEachSentence(text, [&](std::string_view sentence) {
    const bool carries = NextWord(sentence) == "carry";
    NextWord(sentence);  // "a"
    std::string_view after_wall = sentence;
    if (NextWord(after_wall) == "wall") {
      const Offset offset = ReadOffset(after_wall);
      const int turn = offset.right == 0 ? 0 : offset.right < 0 ? 3 : 1;
      return SeeWall(pose_.Relative(offset.ahead, offset.right), (pose_.facing + turn) % 4);
    }
    const BabyAiThing thing = ReadThing(sentence);
    if (carries) {
      carried_ = thing;
      return;
    }
    const Offset offset = ReadOffset(sentence);
    const BabyAiSpot spot = pose_.Relative(offset.ahead, offset.right);
    if (MayBeRoom(spot)) cells_[IndexOf(spot)].thing = thing;
  });
}

void BabyAiMap::Apply(std::string_view action, std::string_view reply) {
  const bool empty_handed = !carried_;
  if (action == "turn left") {
    pose_.facing = (pose_.facing + 3) % 4;
  } else if (action == "turn right") {
    pose_.facing = (pose_.facing + 1) % 4;
  } else if (action == "go forward") {
    if (IsFree(pose_.Front())) pose_.spot = pose_.Front();
  }
  Observe(reply);
  if (action == "pick up" && empty_handed && carried_) picked_up_.push_back(*carried_);
}

std::optional<BabyAiScene> ReadBabyAi(std::span<const Message> conversation) {
  size_t goal_at = std::string_view::npos;
  const auto first = std::ranges::find_if(conversation, [&](const Message& message) {
    goal_at = message.content.find(kYourGoal);
    const std::vector<std::string_view> offered = BabyAiActions(message.content);
    return goal_at != std::string::npos && message.role == "user" &&
           std::ranges::find(offered, "go forward") != offered.end();
  });
  if (first == conversation.end()) return std::nullopt;
  const std::string_view shown = std::string_view(first->content).substr(goal_at);
  const std::string_view goal = shown.substr(kYourGoal.size());
  // Stored observations have blanks for line breaks.
  const std::string_view mission = goal.substr(0, std::min(goal.find('\n'), goal.find(kSentence)));
  BabyAiScene scene{BabyAiMap(goal.substr(mission.size())), ReadBabyAiMission(mission)};
  const BabyAiFamily family;
  std::string action;
  for (auto turn = first + 1; turn != conversation.end(); ++turn) {
    if (turn->role == "assistant") {
      action = family.ParseAction(turn->content);
      continue;
    }
    if (family.IsRefusal("", action, turn->content)) {
      ++scene.wasted_turns;
      continue;
    }
    scene.wasted_turns = 0;
    scene.map.Apply(action, turn->content);
  }
  return scene;
}

}  // namespace agentr
