// Named tensors, whose bytes are in safetensors files or in the memory of a trainer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/named_values.h"

namespace agentr {

// Types of numbers, and the quantised types of GGUF files: blocks of whole numbers with common
// factors (quantised.h).
enum class WeightType { kF32, kF16, kBF16, kQ8_0, kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ4_K, kQ5_K, kQ6_K };

inline constexpr std::array<NamedValue<WeightType>, 11> kWeightTypes = {
    {{"F32", WeightType::kF32},
     {"F16", WeightType::kF16},
     {"BF16", WeightType::kBF16},
     {"Q8_0", WeightType::kQ8_0},
     {"Q4_0", WeightType::kQ4_0},
     {"Q4_1", WeightType::kQ4_1},
     {"Q5_0", WeightType::kQ5_0},
     {"Q5_1", WeightType::kQ5_1},
     {"Q4_K", WeightType::kQ4_K},
     {"Q5_K", WeightType::kQ5_K},
     {"Q6_K", WeightType::kQ6_K}}};
constexpr std::string_view Name(WeightType type) { return NameOf(kWeightTypes, type); }

// A tensor's rows are whole blocks: `values` numbers in `bytes` bytes.
struct BlockSize {
  int64_t values = 1;
  int64_t bytes = 0;
};
constexpr BlockSize BlockOf(WeightType type) {
  constexpr BlockSize kSizes[] = {{1, 4},   {1, 2},   {1, 2},     {32, 34},   {32, 18},  {32, 20},
                                  {32, 22}, {32, 24}, {256, 144}, {256, 176}, {256, 210}};
  return kSizes[static_cast<size_t>(type)];
}

constexpr bool IsQuantised(WeightType type) { return BlockOf(type).values > 1; }

// Of a number of a type that is not quantised.
constexpr size_t Bytes(WeightType type) { return static_cast<size_t>(BlockOf(type).bytes); }

// Of `count` numbers, a multiple of a block's.
constexpr int64_t BytesOf(WeightType type, int64_t count) {
  return count / BlockOf(type).values * BlockOf(type).bytes;
}

struct Weight {
  WeightType type = WeightType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;  // row-major, little endian; may start at any address
  bool mapped = false;              // of a mapped file, so that ForgetPages may take them
};

// The views live as long as the source does.
class WeightSource {
 public:
  virtual ~WeightSource() = default;

  virtual const std::map<std::string, Weight>& weights() const = 0;

  // Its name in messages: a folder, or the origin of the weights.
  virtual const std::string& name() const = 0;

  // True if the bytes do not change while the source lives, so they need not be copied. If false,
  // they may change as soon as the call that received the source has returned.
  virtual bool immutable() const = 0;

  // What keeps the bytes of the embedding, where that is less than the source; null: the source.
  virtual std::shared_ptr<const void> embedding_keeper() const { return nullptr; }
};

// Tensors in memory with another owner, such as the parameters of a trainer. They must neither move
// nor change while a Load or a constructor that received this object reads them.
class WeightsInMemory : public WeightSource {
 public:
  // Throws FatalError(kFile) for data whose size does not match its type and shape.
  WeightsInMemory(std::string name, std::map<std::string, Weight> weights);

  const std::map<std::string, Weight>& weights() const override { return weights_; }
  const std::string& name() const override { return name_; }
  bool immutable() const override { return false; }

 private:
  const std::string name_;
  const std::map<std::string, Weight> weights_;
};

// How many of the numbers in `data`, which may start at any address, are infinite or no numbers.
int64_t CountNotFinite(WeightType type, std::span<const std::byte> data);

// Throws FatalError(kFile) naming the first tensor with such numbers, how many there are, and the
// cure: for training, which would make all weights like them.
void RequireFinite(const WeightSource& source);

// A text that distinguishes weights: the names, types, shapes and first 4 KiB of all of them.
std::string DescribeWeights(const WeightSource& source);

}  // namespace agentr
