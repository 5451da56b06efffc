#include "servers/http/host_names.h"

#include <arpa/inet.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/text.h"

namespace agentr {
namespace {

// "name" of "name:port", "::1" of "[::1]:port".
std::string_view WithoutPort(std::string_view host) {
  if (host.starts_with('[')) return host.substr(1, std::min(host.find(']'), host.size()) - 1);
  return host.substr(0, host.find(':'));
}

}  // namespace

bool IsLoopbackName(std::string_view name) {
  const std::string text = AsciiLower(name);
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, text.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24 == 127;
  if (inet_pton(AF_INET6, text.c_str(), &v6) == 1) return IN6_IS_ADDR_LOOPBACK(&v6);
  return text == "localhost";
}

HostNames::HostNames(const std::string& listen_host, std::vector<std::string> allowed)
    : check_((IsLoopbackName(listen_host) || !allowed.empty()) &&
             std::ranges::find(allowed, "*") == allowed.end()),
      own_(std::move(allowed)) {
  own_.push_back(listen_host);
  for (std::string& name : own_) name = AsciiLower(name);
}

bool HostNames::IsOwn(std::string_view name) const {
  return IsLoopbackName(name) || std::ranges::find(own_, AsciiLower(name)) != own_.end();
}

std::optional<std::string> HostNames::Refusal(std::string_view host,
                                              std::optional<std::string_view> origin) const {
  if (!check_) return std::nullopt;
  const std::string_view name = WithoutPort(host);
  if (!host.empty() && !IsOwn(name)) {
    return fmt::format(
        "'{0}' (Host) is not a name of this server; if it is, start it with --allow_host {0}.",
        EscapeControls(name.substr(0, 100)));
  }
  if (!origin) return std::nullopt;
  const size_t scheme = origin->find("://");
  const std::string_view page =
      scheme == std::string_view::npos ? *origin : WithoutPort(origin->substr(scheme + 3));
  if (scheme != std::string_view::npos && IsOwn(page)) return std::nullopt;
  return fmt::format(
      "Web pages of '{0}' (Origin) may not use this server; to allow them, start it with "
      "--allow_host {0}.",
      EscapeControls(page.substr(0, 100)));
}

}  // namespace agentr
