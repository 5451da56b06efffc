#include "tests/report/page_data.h"

#include <fmt/core.h>

#include <stdexcept>

#include "common/gzip.h"

namespace agentr {
namespace {

constexpr size_t kMostBytes = 1'000'000'000;

}  // namespace

std::string FromBase64(const std::string& text) {
  static const std::string kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0, have = 0;
  for (const char c : text) {
    if (c == '=') break;
    const size_t digit = kDigits.find(c);
    if (digit == std::string::npos) throw std::invalid_argument("not base64");
    bits = bits << 6U | static_cast<unsigned>(digit);
    have += 6;
    if (have >= 8) {
      have -= 8;
      out += static_cast<char>(bits >> have & 255U);
    }
  }
  return out;
}

std::string ElementText(const std::string& page, const std::string& id) {
  const size_t name = page.find(fmt::format(" id=\"{}\">", id));
  if (name == std::string::npos) throw std::invalid_argument("no element " + id);
  const size_t begin = page.find('>', name) + 1;
  return page.substr(begin, page.find("</script>", begin) - begin);
}

nlohmann::json IndexOf(const std::string& page) {
  return nlohmann::json::parse(ElementText(page, "index"));
}

nlohmann::json ItemOf(const std::string& page, int block, int at) {
  const std::string packed = ElementText(page, fmt::format("block-{}", block));
  return nlohmann::json::parse(Gunzip(FromBase64(packed), kMostBytes).value())
      .at(static_cast<size_t>(at));
}

}  // namespace agentr
