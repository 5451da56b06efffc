// Loops: an agent that takes the same few actions again and again.
//
// A run of period L is a longest stretch of the actions in which every action equals the one L
// places before it, at least 2 L long, where no shorter period does (Kolpakov, Kucherov 1999:
// maximal repetitions). It holds k = floor(length / L) equal blocks of L actions, one directly
// after the other, and counts k - 1 repetitions of length L. Only the shortest period counts: four
// equal actions are three repetitions of length 1, not also one of length 2. So each number says
// how often the agent went round a loop of exactly that length once more.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace agentr {

// Repetitions by length: [L - 1] holds those of length L, for L = 1 … longest. Time
// O(actions x longest).
std::vector<int64_t> CountRepeats(std::span<const std::string_view> actions, int longest);

}  // namespace agentr
