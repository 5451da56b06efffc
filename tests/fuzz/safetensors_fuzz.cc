// Any bytes are either refused, or give tensors that lie inside them, share none of them, and are
// as large as their shapes say.
#include <cstdint>
#include <cstdlib>
#include <span>

#include "common/error.h"
#include "lm/safetensors_header.h"

namespace {

void Check(bool holds) {
  if (!holds) std::abort();
}

void CheckWeights(const std::map<std::string, agentr::Weight>& weights,
                  std::span<const std::byte> file) {
  size_t total = 0;
  for (const auto& [name, weight] : weights) {
    size_t bytes = agentr::Bytes(weight.type);
    for (const int64_t size : weight.shape) bytes *= static_cast<size_t>(size);
    Check(weight.data.size() == bytes);
    Check(weight.data.data() >= file.data());
    Check(weight.data.data() + bytes <= file.data() + file.size());
    total += bytes;
  }
  Check(total <= file.size());  // no byte is part of two
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto file = std::as_bytes(std::span(data, size));
  try {
    CheckWeights(agentr::ParseSafetensors(file, "fuzz"), file);
  } catch (const agentr::FatalError&) {
  }
  return 0;
}
