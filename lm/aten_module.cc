#include <dlfcn.h>
#include <fmt/format.h>

#include "common/error.h"
#include "lm/aten_decoder.h"

namespace agentr {
namespace {

// Found beside the program, by its run path. Stays loaded: decoders are made of its code.
void* LoadModule() {
  constexpr const char* kModule = "libagentr_aten.so";
  void* module = ::dlopen(kModule, RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) {
    throw FatalError(
        ExitCode::kFile,
        fmt::format("cannot load {}, which stands beside the programs: {}. Cure: build "
                    "everything again with the LibTorch that is installed",
                    kModule, ::dlerror()));
  }
  return module;
}

}  // namespace

std::unique_ptr<Decoder> MakeAtenDecoder(const DecoderPlan& plan, const ModelWeights& weights,
                                         const std::string& device, bool reference) {
  static void* const module = LoadModule();
  static const auto make = reinterpret_cast<decltype(&agentr_make_aten_decoder)>(
      ::dlsym(module, "agentr_make_aten_decoder"));
  if (make == nullptr) throw FatalError(ExitCode::kFile, ::dlerror());
  return std::unique_ptr<Decoder>(make(plan, weights, device, reference));
}

}  // namespace agentr
