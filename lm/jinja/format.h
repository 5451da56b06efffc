// Python's two ways to format values into a string.
#pragma once

#include "lm/jinja/run.h"
#include "lm/jinja/value.h"

namespace agentr::jinja {

// "{} {0} {name}".format(…), without format specifications.
Text FormatBraces(Run& run, const Text& format, const Arguments& arguments);

}  // namespace agentr::jinja
