#pragma once

#include <string_view>

namespace agentr {

// From project(VERSION …) of the top CMakeLists.txt.
inline constexpr std::string_view kVersion = AGENTR_VERSION;

}  // namespace agentr
