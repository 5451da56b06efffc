#include "tasks/babyai/babyai_bot.h"

#include <array>
#include <vector>

namespace agentr {
namespace {

constexpr std::string_view kLeft = "turn left";
constexpr std::string_view kRight = "turn right";
constexpr std::string_view kForward = "go forward";

// The first action of a shortest way, and whether there is a way.
struct Way {
  bool found = false;
  std::string_view first;  // empty if the agent is there
};

// All poses that the agent can reach, nearest first.
class PoseSearch {
 public:
  explicit PoseSearch(const BabyAiMap& map) : map_(map) {
    Reach(map.pose(), {});
    for (size_t i = 0; i < queue_.size(); ++i) {
      const Reached from = queue_[i];
      const auto reach = [&](BabyAiPose pose, std::string_view action) {
        Reach(pose, from.first.empty() ? action : from.first);
      };
      if (map.IsFree(from.pose.Front())) reach({from.pose.Front(), from.pose.facing}, kForward);
      reach({from.pose.spot, (from.pose.facing + 3) % 4}, kLeft);
      reach({from.pose.spot, (from.pose.facing + 1) % 4}, kRight);
    }
  }

  // To the nearest pose for which `wanted` holds.
  template <typename Wanted>
  Way To(const Wanted& wanted) const {
    for (const Reached& reached : queue_) {
      if (wanted(reached.pose)) return {true, reached.first};
    }
    return {};
  }

 private:
  struct Reached {
    BabyAiPose pose;
    std::string_view first;
  };

  void Reach(BabyAiPose pose, std::string_view first) {
    if (!map_.MayBeRoom(pose.spot)) return;
    constexpr int kReach = BabyAiMap::kReach;
    const int spot = (pose.spot.y + kReach) * BabyAiMap::kSide + pose.spot.x + kReach;
    char& seen = seen_[static_cast<size_t>(spot * 4 + pose.facing)];
    if (seen != 0) return;
    seen = 1;
    queue_.push_back({pose, first});
  }

  const BabyAiMap& map_;
  std::vector<Reached> queue_;
  std::array<char, static_cast<size_t>(BabyAiMap::kSide* BabyAiMap::kSide * 4)> seen_ = {};
};

class Planner {
 public:
  explicit Planner(const BabyAiMap& map) : map_(map), search_(map) {}

  BabyAiStep Plan(const BabyAiErrand& errand) const {
    switch (errand.kind) {
      case BabyAiErrand::kGoTo:
        return {GoTo(errand.what), errand.what};
      case BabyAiErrand::kPickUp:
        return {PickUp(errand.what), errand.what};
      case BabyAiErrand::kOpen:
        return Open(errand.what);
      case BabyAiErrand::kPutNext:
        return PutNext(errand);
    }
    return {kRight, {}};
  }

 private:
  static std::string_view Else(const Way& way, std::string_view there) {
    return way.first.empty() ? there : way.first;
  }

  auto Facing(const BabyAiWanted& wanted) const {
    return [this, wanted](const BabyAiPose& pose) {
      const BabyAiThing* const thing = map_.ThingAt(pose.Front());
      return thing != nullptr && wanted.Matches(*thing);
    };
  }

  // To a pose from which something new of the room is seen.
  std::string_view Explore() const {
    constexpr int kAhead = 6;
    constexpr int kAside = 3;
    const Way way = search_.To([&](const BabyAiPose& pose) {
      for (int ahead = 0; ahead <= kAhead; ++ahead) {
        for (int right = -kAside; right <= kAside; ++right) {
          const BabyAiSpot spot = pose.Relative(ahead, right);
          if (map_.MayBeRoom(spot) && !map_.IsSeen(spot)) return true;
        }
      }
      return false;
    });
    return Else(way, kRight);
  }

  std::string_view GoTo(const BabyAiWanted& wanted) const {
    const Way way = search_.To(Facing(wanted));
    // Whether it is reached is only looked at after an action; this one changes nothing.
    return way.found ? Else(way, kForward) : Explore();
  }

  std::string_view Drop() const {
    const Way way = search_.To([&](const BabyAiPose& pose) {
      return map_.IsFree(pose.Front()) && map_.ThingAt(pose.Front()) == nullptr;
    });
    return Else(way, "drop");
  }

  std::string_view PickUp(const BabyAiWanted& wanted) const {
    if (map_.carried()) return Drop();
    const Way way = search_.To(Facing(wanted));
    return way.found ? Else(way, "pick up") : Explore();
  }

  BabyAiStep Open(const BabyAiWanted& wanted) const {
    const BabyAiThing* door = nullptr;
    // The door may be known although no way leads to it yet, so all spots are looked through.
    for (int y = -BabyAiMap::kReach; y <= BabyAiMap::kReach && door == nullptr; ++y) {
      for (int x = -BabyAiMap::kReach; x <= BabyAiMap::kReach && door == nullptr; ++x) {
        const BabyAiThing* const thing = map_.ThingAt({x, y});
        if (thing != nullptr && wanted.Matches(*thing)) door = thing;
      }
    }
    if (door == nullptr) return {Explore(), wanted};
    const BabyAiWanted key = {door->color, "key"};
    const bool has_key = map_.carried() && key.Matches(*map_.carried());
    if (door->state == "locked" && !has_key) return {PickUp(key), key};
    const Way way = search_.To(Facing(wanted));
    return {way.found ? Else(way, "toggle") : Explore(), wanted};
  }

  BabyAiStep PutNext(const BabyAiErrand& errand) const {
    if (!map_.carried() || !errand.what.Matches(*map_.carried())) {
      return {PickUp(errand.what), errand.what};
    }
    const Way way = search_.To([&](const BabyAiPose& pose) {
      const BabyAiSpot place = pose.Front();
      if (!map_.IsFree(place) || map_.ThingAt(place) != nullptr) return false;
      for (int facing = 0; facing < 4; ++facing) {
        const BabyAiThing* const next = map_.ThingAt(BabyAiPose{place, facing}.Front());
        if (next != nullptr && errand.beside.Matches(*next)) return true;
      }
      return false;
    });
    return {way.found ? Else(way, "drop") : Explore(), errand.beside};
  }

  const BabyAiMap& map_;
  const PoseSearch search_;
};

}  // namespace

BabyAiStep PlanBabyAi(const BabyAiScene& scene) {
  const Planner planner(scene.map);
  for (const BabyAiErrand& errand : scene.errands) {
    const bool done = scene.errands.size() > 1 && errand.kind == BabyAiErrand::kPickUp &&
                      scene.map.HasPickedUp(errand.what);
    if (!done) return planner.Plan(errand);
  }
  return {kRight, {}};
}

}  // namespace agentr
