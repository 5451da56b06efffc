#include "lm/bundled_model.h"

#include <fmt/format.h>

#include <system_error>

#include "common/error.h"

namespace agentr {
namespace fs = std::filesystem;

fs::path BundledModelFolder(const fs::path& program) {
  for (fs::path folder = program; !folder.empty(); folder = folder.parent_path()) {
    for (const char* place : {"models", "share/agentr/models"}) {
      const fs::path model = folder / place / kBundledModel;
      if (fs::exists(model / "config.json")) return model;
    }
    if (folder == folder.parent_path()) break;
  }
  throw FatalError(ExitCode::kFile,
                   fmt::format("the bundled model is not there: neither {} nor a folder above it "
                               "has models/bundled. Cure: copy the folder models/bundled of the "
                               "sources beside the programs, or give its place with --model_dir",
                               program.string()));
}

fs::path BundledModelFolder() {
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (error) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("the bundled model cannot be looked for beside the program ({}); "
                                 "give the place of models/bundled with --model_dir",
                                 error.message()));
  }
  return BundledModelFolder(program.parent_path());
}

}  // namespace agentr
