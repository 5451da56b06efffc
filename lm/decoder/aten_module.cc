#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "common/error.h"
#include "lm/decoder/aten_decoder.h"

namespace agentr {
namespace {

// Opened by its full path beside the program, because address sanitizer's dlopen ignores our run
// path. It is never unloaded, because the decoders use its code.
void* LoadModule() {
  const std::string path =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("libagentr_aten.so");
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
