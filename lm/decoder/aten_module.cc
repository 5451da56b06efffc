#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "common/error.h"
#include "lm/decoder/aten_decoder.h"

namespace agentr {
namespace {

// By its whole path, beside the program: address sanitizer's dlopen knows no run path of ours.
// Stays loaded: decoders are made of its code.
void* LoadModule() {
  const std::string path =
      std::filesystem::read_symlink("/proc/self/exe").replace_filename("libagentr_aten.so");
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    throw FatalError(
        ExitCode::kFile,
        fmt::format("cannot load LibTorch's decoder, which stands beside the programs: {}. Cure: "
                    "build everything again with the LibTorch that is installed",
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
