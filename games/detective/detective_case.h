// The cases of the game Detective: a house of 8 to 12 rooms, drawn by the number of the task from
// the lists of configs/detective/mansion.txt.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace agentr {

struct MansionRoom {
  std::string_view name;
  std::string_view text;
};

// The lists of configs/detective/mansion.txt.
struct Mansion {
  std::vector<MansionRoom> rooms;  // the first one is where each case begins
  std::vector<std::string_view> clues;
  std::vector<std::string_view> people;

  static const Mansion& BuiltIn();
};

struct CaseRoom {
  MansionRoom room;
  // By direction (kDirections): the index of the room behind the door, kNoDoor or kDanger.
  std::array<int, 4> doors;
  std::vector<int> things;  // that lie here at the beginning: indices of DetectiveCase::things
};

constexpr int kNoDoor = -1;
constexpr int kDanger = -2;  // who goes there is shot

struct DetectiveCase {
  std::vector<CaseRoom> rooms;           // the case begins in the first one
  std::vector<std::string_view> things;  // the key, then the clues
  std::string_view culprit;
  int hiding_place = 0;  // the culprit's room: it has one door, which needs the key

  int clue_count() const { return static_cast<int>(things.size()) - 1; }
};

// Every clue and the key can be reached without going through a dangerous door. Equal for equal
// `task_id`.
DetectiveCase MakeCase(const Mansion& mansion, int64_t task_id);

}  // namespace agentr
