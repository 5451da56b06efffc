// Any bytes as an environment server's reply (HTTP, and each family's protocol in its body) are
// refused or read; a result is within the limits.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "clients/env/protocol.h"
#include "clients/http/http_reply.h"
#include "tasks/task_kinds.h"

namespace {

constexpr agentr::HttpReplyLimits kLimits{.head = 2000, .body = 4000};

class BytesSource : public agentr::ByteSource {
 public:
  BytesSource(std::string_view bytes, size_t piece) : bytes_(bytes), piece_(piece) {}
  tl::expected<size_t, agentr::HttpFailure> Read(char* to, size_t size) override {
    const size_t n = std::min({size, piece_, bytes_.size()});
    std::memcpy(to, bytes_.data(), n);
    bytes_.remove_prefix(n);
    return n;
  }

 private:
  std::string_view bytes_;
  const size_t piece_;
};

void Check(bool holds) {
  if (!holds) std::abort();
}

const std::vector<std::unique_ptr<agentr::Protocol>>& Protocols() {
  static const auto protocols = [] {
    std::vector<std::unique_ptr<agentr::Protocol>> all;
    for (const char* family : {"textcraft", "babyai", "webshop", "sciworld"}) {
      all.push_back(agentr::MakeProtocol(family));
    }
    return all;
  }();
  return protocols;
}

void ReadBody(std::string_view body) {
  for (const auto& protocol : Protocols()) {
    (void)protocol->ParseCreate(body);
    (void)protocol->ParseReset(body);
    (void)protocol->ParseStep(body);
    const auto children = protocol->ParseExpand(body, 2);
    Check(!children || children->size() == 2);
    (void)protocol->ParseAnswer("gold", body);
  }
  (void)agentr::ParseVersion(body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  ReadBody(bytes);
  BytesSource whole(bytes, bytes.size());
  BytesSource apart(bytes, 1);
  const auto reply = agentr::ReadReply(whole, kLimits);
  const auto same = agentr::ReadReply(apart, kLimits);
  Check(reply.has_value() == same.has_value());
  if (!reply) {
    Check(reply.error().fault == same.error().fault);
    return 0;
  }
  Check(reply->body.size() <= kLimits.body);
  Check(reply->body == same->body && reply->status == same->status);
  ReadBody(reply->body);
  return 0;
}
