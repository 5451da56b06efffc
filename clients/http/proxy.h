// The proxy that the environment asks for, as curl and Python's requests read it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "common/secret.h"

namespace agentr {

struct HttpProxy {
  std::string host;  // without brackets
  std::string port;
  Secret authorization;  // "Proxy-Authorization: …\r\n"; empty without a user
};

// A variable of the environment, "" if it is not set.
using Variable = std::function<std::string(const char* name)>;
Variable EnvironmentVariables();

// For calls to a server: from http_proxy, or for TLS from https_proxy or HTTPS_PROXY, else from
// all_proxy or ALL_PROXY; nullopt for none, for this machine's own servers, and for hosts in
// no_proxy or NO_PROXY (names with the domains below them, "host:port", networks such as
// "10.0.0.0/8", or "*"). Throws
// FatalError(kUsage) for a proxy of another kind than http://[USER:PASSWORD@]HOST[:PORT].
std::optional<HttpProxy> ProxyFor(bool tls, std::string_view host, std::string_view port,
                                  const Variable& variable);

// "Basic …" for USER:PASSWORD as a URL has them (RFC 7617).
Secret BasicAuthentication(std::string_view user_info);

}  // namespace agentr
