#include "clients/http/proxy.h"

#include <arpa/inet.h>
#include <fmt/core.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstdlib>

#include "common/error.h"
#include "common/text.h"

namespace agentr {
namespace {

std::string Base64(std::string_view text) {
  std::string out(4 * ((text.size() + 2) / 3) + 1, '\0');  // with the zero byte of EVP_EncodeBlock
  out.resize(static_cast<size_t>(EVP_EncodeBlock(
      reinterpret_cast<unsigned char*>(out.data()),
      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()))));
  return out;
}

bool IsThisMachine(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost") || host == "::1" ||
         host.starts_with("127.") || host == "0.0.0.0" || host == "::";
}

// The 4 or 16 bytes of an address, which may stand in brackets; "" for a name.
std::string AddressBytes(std::string_view host) {
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  char bytes[sizeof(in6_addr)];
  const std::string text(host);
  if (::inet_pton(AF_INET, text.c_str(), bytes) == 1) return {bytes, sizeof(in_addr)};
  if (::inet_pton(AF_INET6, text.c_str(), bytes) == 1) return {bytes, sizeof bytes};
  return "";
}

// Whether an address is in a network such as "10.0.0.0/8".
bool IsInNetwork(std::string_view host, std::string_view network) {
  const size_t slash = network.find('/');
  const auto bits = ParseNumber<size_t>(network.substr(std::min(slash + 1, network.size())));
  const std::string address = AddressBytes(host), base = AddressBytes(network.substr(0, slash));
  if (!bits || base.empty() || address.size() != base.size() || *bits > 8 * base.size()) {
    return false;
  }
  for (size_t bit = 0; bit < *bits; ++bit) {
    if (((address[bit / 8] ^ base[bit / 8]) >> (7 - bit % 8)) & 1) return false;
  }
  return true;
}

// Whether a list such as "localhost, .example.org, 10.0.0.1:8080, 10.1.0.0/16" has the server.
bool IsExcluded(std::string_view list, std::string_view host, std::string_view port) {
  for (std::string_view entry : SplitWords(list, ", \t")) {
    if (entry == "*") return true;
    if (entry.find('/') != std::string_view::npos) {
      if (IsInNetwork(host, entry)) return true;
      continue;
    }
    // An address of IPv6 has a port only behind brackets.
    const size_t colon = entry.rfind(':');
    const bool has_port = colon != std::string_view::npos &&
                          (entry.find(':') == colon || entry.substr(0, colon).ends_with(']'));
    if (has_port && entry.substr(colon + 1) != port) continue;
    if (has_port) entry = entry.substr(0, colon);
    if (const std::string address = AddressBytes(entry); !address.empty()) {
      if (address == AddressBytes(host)) return true;
      continue;
    }
    if (entry.starts_with("*.")) entry.remove_prefix(1);
    if (entry.starts_with('.')) entry.remove_prefix(1);
    if (entry.empty() || !AsciiLower(host).ends_with(AsciiLower(entry))) continue;
    if (host.size() == entry.size() || host[host.size() - entry.size() - 1] == '.') return true;
  }
  return false;
}

}  // namespace

Variable EnvironmentVariables() {
  return [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
}

Secret BasicAuthentication(std::string_view user_info) {
  const size_t colon = std::min(user_info.find(':'), user_info.size());
  const std::string user = PercentDecoded(user_info.substr(0, colon));
  const std::string password =
      PercentDecoded(user_info.substr(std::min(colon + 1, user_info.size())));
  return Secret::Key("Basic " + Base64(user + ":" + password));
}

std::optional<HttpProxy> ProxyFor(bool tls, std::string_view host, std::string_view port,
                                  const Variable& variable) {
  if (IsThisMachine(host)) return std::nullopt;
  const auto first_of = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (std::string value = variable(name); !value.empty()) return std::pair(name, value);
    }
    return std::pair("", std::string());
  };
  // A server of CGI scripts makes HTTP_PROXY of a client's header, so nobody reads that one.
  const auto [name, url] = tls ? first_of({"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"})
                               : first_of({"http_proxy", "all_proxy", "ALL_PROXY"});
  if (url.empty() || IsExcluded(first_of({"no_proxy", "NO_PROXY"}).second, host, port)) {
    return std::nullopt;
  }
  std::string_view authority = url;
  const size_t scheme = authority.find("://");
  const bool http =
      scheme == std::string_view::npos || EqualIgnoringCase(authority.substr(0, scheme), "http");
  if (scheme != std::string_view::npos) authority.remove_prefix(scheme + 3);
  authority = authority.substr(0, authority.find('/'));
  HttpProxy proxy;
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) {
    proxy.authorization = Secret::Key(fmt::format(
        "Proxy-Authorization: {}\r\n", BasicAuthentication(authority.substr(0, at)).Reveal()));
    authority.remove_prefix(at + 1);
  }
  const size_t host_end =
      authority.starts_with('[') ? authority.find(']') + 1 : authority.find(':');
  proxy.host = authority.substr(0, host_end);
  if (proxy.host.starts_with('[')) proxy.host = proxy.host.substr(1, proxy.host.size() - 2);
  proxy.port = host_end < authority.size() ? authority.substr(host_end + 1) : "80";
  if (!http || proxy.host.empty() || !ParseNumber<uint16_t>(proxy.port)) {
    throw FatalError(ExitCode::kUsage,
                     fmt::format("the variable {} is not a proxy that is supported: \"{}\"; it "
                                 "takes http://HOST:PORT, and no_proxy={} does without one",
                                 name, RedactSecrets(url), host));
  }
  return proxy;
}

}  // namespace agentr
