// Counts loops, in which an agent takes the same few actions again and again.
//
// A run of period L is a maximal stretch of at least 2 L actions in which every action equals the
// one L places before it, and which has no shorter period (Kolpakov, Kucherov 1999: maximal
// repetitions). It contains k = floor(length / L) equal consecutive blocks of L actions and counts
// as k - 1 repetitions of length L. Only the shortest period counts: four equal actions are three
// repetitions of length 1, not also one of length 2. So each number says how often the agent
// repeated a loop of exactly that length.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace agentr {

// The number of repetitions by length: [L - 1] is that of length L, for L = 1 … longest. Takes
// O(actions x longest) time.
std::vector<int64_t> CountRepeats(std::span<const std::string_view> actions, int longest);

}  // namespace agentr
