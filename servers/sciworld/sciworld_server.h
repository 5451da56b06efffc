// Options of SciWorld's server, and the function that makes it.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "servers/http/session_store.h"

namespace agentr {

class EnvService;
class OptionSet;

struct SciWorldOptions {
  // The simulator; empty: the one installed by scripts/setup.sh --sciworld.
  std::string jar = "";
  std::string heap = "4g";  // largest size of Java's heap; a session takes 11 MB
};

void Declare(OptionSet& set, SciWorldOptions& options);

// ${XDG_CACHE_HOME:-~/.cache}/agentr/scienceworld-1.2.3.jar, where the script stores it.
std::filesystem::path CachedScienceWorldJar();

// Starts Java. Throws FatalError: kFile if the jar or Java is missing or has a wrong version,
// kUsage for an invalid heap size.
std::unique_ptr<EnvService> MakeSciWorldService(const SciWorldOptions& options,
                                                SessionLimits limits, bool extensions);

}  // namespace agentr
