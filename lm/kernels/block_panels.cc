#include "lm/kernels/block_panels.h"

#include <cstring>

#include "lm/weights/quantised.h"

namespace agentr {
namespace {

// Bytes for each output of the panel.
struct Layout {
  int head = 2;    // of each 32 or 256 inputs
  int scales = 0;  // of each 32 inputs, as the others
  int upper = 0;
  int values = 16;
  int block() const { return scales + upper + values; }
};

Layout LayoutOf(WeightType type) {
  switch (type) {
    case WeightType::kQ8_0:
      return {.values = 32};
    case WeightType::kQ4_1:
      return {.head = 4};
    case WeightType::kQ5_0:
      return {.upper = 4};
    case WeightType::kQ5_1:
      return {.head = 4, .upper = 4};
    case WeightType::kQ4_K:
      return {.head = 4, .scales = 2};
    case WeightType::kQ5_K:
      return {.head = 4, .scales = 2, .upper = 4};
    case WeightType::kQ6_K:
      return {.scales = 2, .upper = 8};
    default:
      return {};
  }
}

// Writes one part as column `c` of its place in a panel.
class PartWriter {
 public:
  PartWriter(WeightType type, int width) : type_(type), width_(width), layout_(LayoutOf(type)) {}

  void Head(const QuantisedPart& part, int c, std::byte* head) const {
    std::memcpy(head + c * 2, &part.d, 2);
    if (layout_.head == 4) std::memcpy(head + (width_ + c) * 2, &part.m, 2);
  }

  void Block(const QuantisedPart& part, int c, std::byte* block) const {
    if (layout_.scales > 0) {
      block[c] = std::byte{part.s[0]};
      block[width_ + c] = std::byte{type_ == WeightType::kQ6_K ? part.s[1] : part.n};
    }
    std::byte* upper = block + layout_.scales * width_;
    std::byte* values = upper + layout_.upper * width_;
    for (int i = 0; i < 4; ++i) {
      if (layout_.upper == 4) upper[c * 4 + i] = FifthBits(part, i);
      if (layout_.upper == 8) {
        upper[c * 4 + i] = UpperPairs(part, i);
        upper[(width_ + c) * 4 + i] = UpperPairs(part, 16 + i);
      }
    }
    if (layout_.values == 32) {
      for (int g = 0; g < 8; ++g) std::memcpy(values + (g * width_ + c) * 4, &part.q[g * 4], 4);
      return;
    }
    for (int g = 0; g < 4; ++g) {
      for (int i = 0; i < 4; ++i) {
        const int low = part.q[g * 4 + i] & 15, high = part.q[16 + g * 4 + i] & 15;
        values[(g * width_ + c) * 4 + i] = static_cast<std::byte>(low | high << 4);
      }
    }
  }

 private:
  static std::byte FifthBits(const QuantisedPart& part, int i) {
    int bits = 0;
    for (int g = 0; g < 8; ++g) bits |= (part.q[g * 4 + i] >> 4 & 1) << g;
    return static_cast<std::byte>(bits);
  }

  static std::byte UpperPairs(const QuantisedPart& part, int i) {
    int bits = 0;
    for (int g = 0; g < 4; ++g) bits |= (part.q[g * 4 + i] >> 4) << (2 * g);
    return static_cast<std::byte>(bits);
  }

  const WeightType type_;
  const int width_;
  const Layout layout_;
};

}  // namespace

int64_t BlockPanelBytes(WeightType type, int width, int64_t inputs) {
  const Layout layout = LayoutOf(type);
  return width * (inputs / BlockOf(type).values * layout.head + inputs / 32 * layout.block());
}

void MakeBlockPanel(WeightType type, int width, const std::vector<const std::byte*>& outputs,
                    int64_t inputs, std::byte* panel) {
  std::memset(panel, 0, BlockPanelBytes(type, width, inputs));
  const Layout layout = LayoutOf(type);
  const PartWriter writer(type, width);
  const int64_t parts = BlockOf(type).values / 32;  // that share a head
  for (size_t c = 0; c < outputs.size(); ++c) {
    std::byte* at = panel;
    std::byte* head = nullptr;
    for (int64_t i = 0; i < inputs / 32; ++i) {
      const QuantisedPart part = PartOf(type, outputs[c], i);
      if (i % parts == 0) {
        head = at;
        at += layout.head * width;
        writer.Head(part, static_cast<int>(c), head);
      }
      writer.Block(part, static_cast<int>(c), at);
      at += layout.block() * width;
    }
  }
}

}  // namespace agentr
