// Named tensors, wherever their bytes are: in safetensors files, or in the memory of a trainer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace agentr {

enum class WeightType { kF32, kF16, kBF16 };

std::string_view Name(WeightType type);    // "F32" | "F16" | "BF16"
constexpr size_t Bytes(WeightType type) {  // of one element
  return type == WeightType::kF32 ? 4 : 2;
}

struct Weight {
  WeightType type = WeightType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;  // row-major, little endian; may start at any address
};

// The views live as long as the source does.
class WeightSource {
 public:
  virtual ~WeightSource() = default;

  virtual const std::map<std::string, Weight>& weights() const = 0;

  // What messages call it: a folder, or who handed the weights over.
  virtual const std::string& name() const = 0;

  // True if the bytes never change while the source lives, so that they need not be copied. False:
  // they may change as soon as the call that was given the source has returned.
  virtual bool immutable() const = 0;
};

// Tensors in memory that belong to somebody else, such as the parameters of a trainer. They have to
// stay where they are, unchanged, while a Load or a constructor that was given this reads them.
class WeightsInMemory : public WeightSource {
 public:
  // Throws FatalError(kFile) for data that is not as large as its type and shape say.
  WeightsInMemory(std::string name, std::map<std::string, Weight> weights);

  const std::map<std::string, Weight>& weights() const override { return weights_; }
  const std::string& name() const override { return name_; }
  bool immutable() const override { return false; }

 private:
  const std::string name_;
  const std::map<std::string, Weight> weights_;
};

// Tells weights apart: the names, types, shapes and first 4 KiB of all of them, as text.
std::string DescribeWeights(const WeightSource& source);

}  // namespace agentr
