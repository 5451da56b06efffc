#pragma once

#include <string>

#include "revision/revise.h"

namespace agentr {

// The results of a run as a table for people, with the files at the end.
std::string ReportTable(const ReviseReport& report);

}  // namespace agentr
