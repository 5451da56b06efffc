#include "tasks/sciworld/sciworld_snap.h"

#include <algorithm>
#include <array>
#include <set>
#include <tuple>

#include "common/text.h"
#include "tasks/sciworld/sciworld_family.h"

namespace agentr {
namespace {

constexpr std::string_view kFocus = "focus on ";

// The greenhouse has two names.
constexpr std::array<std::string_view, 11> kRooms = {
    "art studio", "bathroom", "bedroom", "foundry",     "green house", "greenhouse",
    "hallway",    "kitchen",  "outside", "living room", "workshop",
};

bool IsFocusAllowed(std::string_view thing, std::string_view look, std::string_view inventory) {
  if (thing == "agent" || thing == "air" || std::ranges::count(kRooms, thing) > 0) return false;
  return look.find(thing) != std::string_view::npos ||
         inventory.find(thing) != std::string_view::npos;
}

// The words of a SciWorldKey, into which they point.
std::set<std::string_view> WordsOf(std::string_view key) {
  const std::vector<std::string_view> words = SplitWords(key);
  return {words.begin(), words.end()};
}

size_t Shared(const std::set<std::string_view>& a, const std::set<std::string_view>& b) {
  return static_cast<size_t>(
      std::ranges::count_if(a, [&](std::string_view word) { return b.contains(word); }));
}

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::vector<std::string> SnapCandidates(std::span<const std::string> valid, std::string_view look,
                                        std::string_view inventory,
                                        std::span<const std::string> last_three) {
  std::vector<std::string> all(valid.begin(), valid.end());
  for (const std::string_view room : kRooms) all.push_back("open door to " + std::string(room));
  const std::string seen = SciWorldKey(look);
  const std::string held = SciWorldKey(inventory);
  std::set<std::string> recent;
  for (const std::string& action : last_three) recent.insert(SciWorldKey(action));
  std::erase_if(all, [&](const std::string& action) {
    const std::string key = SciWorldKey(action);
    if (recent.contains(key)) return true;
    if (key.starts_with(kFocus)) return !IsFocusAllowed(key.substr(kFocus.size()), seen, held);
    return key.find("door") != std::string::npos && !key.starts_with("open ");
  });
  return all;
}

std::string SnapAction(std::string_view said, std::span<const std::string> valid,
                       std::string_view look, std::string_view inventory,
                       std::span<const std::string> last_three) {
  const std::string key = SciWorldKey(said);
  if (IsNumber(key)) return std::string(said);
  const std::vector<std::string> candidates = SnapCandidates(valid, look, inventory, last_three);
  const std::set<std::string_view> words = WordsOf(key);
  using Rank = std::tuple<size_t, size_t>;  // missing words, length: smaller is better
  const std::string* best = nullptr;
  Rank best_rank;
  for (const std::string& candidate : candidates) {
    const std::string other = SciWorldKey(candidate);
    if (other == key) return std::string(said);
    const Rank rank{words.size() - Shared(words, WordsOf(other)), candidate.size()};
    if (best == nullptr || rank < best_rank)
      std::tie(best, best_rank) = std::tuple(&candidate, rank);
  }
  return best == nullptr ? std::string(said) : *best;
}

}  // namespace agentr
