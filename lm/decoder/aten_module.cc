#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "common/error.h"
#include "lm/decoder/aten_decoder.h"

namespace agentr {
namespace {

// The module beside the program, as in a build folder, or in lib/agentr of an installation. A full
// path, because address sanitizer's dlopen ignores our run path.
std::string ModulePath() {
  namespace fs = std::filesystem;
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path beside = folder / "libagentr_aten.so";
  const fs::path installed = folder.parent_path() / "lib/agentr/libagentr_aten.so";
  return !fs::exists(beside) && fs::exists(installed) ? installed : beside;
}

// It is never unloaded, because the decoders use its code.
void* LoadModule() {
  const std::string path = ModulePath();
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("cannot load the LibTorch module beside the programs: {}. Cure: "
                                 "build everything again with the installed LibTorch",
                                 ::dlerror()));
  }
  return module;
}

}  // namespace

std::unique_ptr<Decoder> MakeAtenDecoder(const DecoderPlan& plan, const WeightSource& weights,
                                         const std::string& device, bool reference) {
  static void* const module = LoadModule();
  static const auto make = reinterpret_cast<decltype(&agentr_make_aten_decoder)>(
      ::dlsym(module, "agentr_make_aten_decoder"));
  if (make == nullptr) throw FatalError(ExitCode::kFile, ::dlerror());
  return std::unique_ptr<Decoder>(make(plan, weights, device, reference));
}

}  // namespace agentr
