#include "report/packed_items.h"

#include <nlohmann/json.hpp>

#include "common/gzip.h"
#include "common/json_depth.h"

namespace agentr {

std::string Base64(std::string_view bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8U | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (size_t k = 0; k < 4; ++k) {
      out += k <= have ? kDigits[bits >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return out;
}

PackedItems::Place PackedItems::Add(const nlohmann::ordered_json& item) {
  const Place place{static_cast<int>(blocks_.size()), items_++};
  if (!open_.empty()) open_ += ',';
  open_ += DumpJson(item);
  if (open_.size() >= kBlockBytes) EndBlock();
  return place;
}

void PackedItems::EndBlock() {
  if (items_ == 0) return;
  blocks_.push_back(Base64(Gzip("[" + open_ + "]", GzipLevel::kSmallest)));
  open_.clear();
  items_ = 0;
}

const std::vector<std::string>& PackedItems::Blocks() {
  EndBlock();
  return blocks_;
}

}  // namespace agentr
