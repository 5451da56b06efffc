// "did you mean": the name that a mistyped one is nearest to.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace agentr {

// The one of `names` with the fewest changes (a letter added, left out or exchanged, or two
// neighbours swapped) from `typed`, the first of equal ones; "" if none is near: with at most one
// change for three letters. Case, "-" and "_" make no difference.
std::string NearestName(std::string_view typed, std::span<const std::string> names);

// "; did you mean NAME?", or "" if none is near.
std::string DidYouMean(std::string_view typed, std::span<const std::string> names);

}  // namespace agentr
