#pragma once

#include <string>

#include "revision/splice.h"

namespace agentr {

// A trajectory for people: a line per action, with its thought and what was answered. Parts are
// told apart by marks (" " shared prefix, "-" bad, "~" revision turn, "^" recovery,
// "+" good) and, with `color`,
// by colours too. Lines are cut at `width` columns.
std::string ShowTrajectory(const Trajectory& trajectory, const std::string& title, bool color,
                           int width);

}  // namespace agentr
