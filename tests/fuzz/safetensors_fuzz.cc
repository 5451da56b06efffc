// Any bytes are either refused, or give tensors that lie inside them, do not overlap, and have the
// size of their shapes.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "common/error.h"
#include "lm/weights/safetensors_header.h"

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

void Parse(std::span<const std::byte> file) {
  try {
    CheckWeights(agentr::ParseSafetensors(file, "fuzz"), file);
  } catch (const agentr::FatalError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Parse(std::as_bytes(std::span(data, size)));
  // Once more as a header with its right length, and some bytes behind it.
  std::vector<uint8_t> file(8);
  for (size_t i = 0; i < 8; ++i) file[i] = static_cast<uint8_t>(uint64_t{size} >> (8 * i));
  file.insert(file.end(), data, data + size);
  file.resize(file.size() + 40);
  Parse(std::as_bytes(std::span(file)));
  return 0;
}
