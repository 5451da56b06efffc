#pragma once

#include <string>

#include "revision/make/splice.h"

namespace agentr {

// A trajectory for people: one line per action with its thought, and one with the reply. Parts have
// the marks " " shared prefix, "-" bad, "~" revision turn, "^" recovery, "+" good and, with
// `color`, different colours. Lines are cut at `width` columns.
std::string ShowTrajectory(const Trajectory& trajectory, const std::string& title, bool color,
                           int width);

}  // namespace agentr
