#pragma once

#include <string>

#include "revision/revise.h"

namespace agentr {

// What a run did, as a table for people, with the files at its end.
std::string ReportTable(const ReviseReport& report);

}  // namespace agentr
