// Options of SciWorld's server, and its making.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "servers/http/session_store.h"

namespace agentr {

class EnvService;
class OptionSet;

struct SciWorldOptions {
  // The simulator; empty: the one of scripts/setup.sh --sciworld.
  std::string jar = "";
  std::string heap = "4g";  // most of Java's heap; a session takes 11 MB
};

void Declare(OptionSet& set, SciWorldOptions& options);

// ${XDG_CACHE_HOME:-~/.cache}/agentr/scienceworld-1.2.3.jar, where the script puts it.
std::filesystem::path CachedScienceWorldJar();

// Starts Java. Throws FatalError: kFile where the jar or Java is missing or another, kUsage for a
// heap that is no size.
std::unique_ptr<EnvService> MakeSciWorldService(const SciWorldOptions& options,
                                                SessionLimits limits, bool extensions);

}  // namespace agentr
