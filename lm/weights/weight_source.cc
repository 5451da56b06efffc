#include "lm/weights/weight_source.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "common/error.h"
#include "common/hash.h"
#include "lm/weights/quantised.h"

namespace agentr {
namespace {

constexpr uint16_t kF16Exponent = 0x7C00;

// Numbers whose exponent has all its bits set are infinite or no numbers.
template <typename Bits>
int64_t CountWithExponent(std::span<const std::byte> data, Bits exponent) {
  // Inner loops have this fixed length, so that the compiler vectorises them.
  std::array<Bits, 1024> block;
  int64_t count = 0;
  while (!data.empty()) {
    const size_t bytes = std::min(data.size(), sizeof block);
    if (bytes < sizeof block) block.fill(0);
    std::memcpy(block.data(), data.data(), bytes);
    uint32_t found = 0;
    for (const Bits bits : block) found += (bits & exponent) == exponent ? 1 : 0;
    count += found;
    data = data.subspan(bytes);
  }
  return count;
}

// The values of a block with a factor that is not finite: its bytes themselves are whole numbers.
int64_t CountInBlocks(WeightType type, std::span<const std::byte> data) {
  const auto [values, bytes] = BlockOf(type);
  int64_t count = 0;
  for (; std::ssize(data) >= bytes; data = data.subspan(bytes)) {
    // Parts of a block share its factors.
    const QuantisedPart part = PartOf(type, data.data(), 0);
    if ((part.d & kF16Exponent) == kF16Exponent || (part.m & kF16Exponent) == kF16Exponent) {
      count += values;
    }
  }
  return count;
}

}  // namespace

WeightsInMemory::WeightsInMemory(std::string name, std::map<std::string, Weight> weights)
    : name_(std::move(name)), weights_(std::move(weights)) {
  for (const auto& [tensor, weight] : weights_) {
    int64_t values = 1;
    for (const int64_t n : weight.shape) values *= n;
    const int64_t bytes = BytesOf(weight.type, values);
    if (std::ssize(weight.data) == bytes) continue;
    throw FatalError(
        ExitCode::kFile,
        fmt::format("{}: tensor {} of type {} and shape [{}] needs {} bytes, but has {}", name_,
                    tensor, Name(weight.type), fmt::join(weight.shape, ", "), bytes,
                    weight.data.size()));
  }
}

int64_t CountNotFinite(WeightType type, std::span<const std::byte> data) {
  switch (type) {
    case WeightType::kF32:
      return CountWithExponent<uint32_t>(data, 0x7F800000);
    case WeightType::kBF16:
      return CountWithExponent<uint16_t>(data, 0x7F80);
    case WeightType::kF16:
      return CountWithExponent<uint16_t>(data, kF16Exponent);
    default:
      return CountInBlocks(type, data);
  }
}

void RequireFinite(const WeightSource& source) {
  for (const auto& [name, weight] : source.weights()) {
    const int64_t bad = CountNotFinite(weight.type, weight.data);
    if (bad == 0) continue;
    throw FatalError(
        ExitCode::kFile,
        fmt::format(
            "{}: {} of the {} values of {} are not finite: the file is damaged, or the "
            "training that made it had diverged. Cure: another model, or get this one again",
            source.name(), bad,
            std::ssize(weight.data) / BlockOf(weight.type).bytes * BlockOf(weight.type).values,
            name));
  }
}

std::string DescribeWeights(const WeightSource& source) {
  constexpr size_t kBeginning = 4096;
  std::string text;
  for (const auto& [name, weight] : source.weights()) {
    const auto* data = reinterpret_cast<const char*>(weight.data.data());
    const std::string_view beginning(data, std::min(weight.data.size(), kBeginning));
    text += fmt::format("{} {} {} {}\n", name, Name(weight.type), fmt::join(weight.shape, ","),
                        Sha256(beginning));
  }
  return text;
}

}  // namespace agentr
