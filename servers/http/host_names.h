// Checks the names by which a server is reached, as a protection against web pages.
//
// A browser lets a page send requests to any server, including this machine's, and if the page's
// own name was changed to resolve to 127.0.0.1, the page can read the replies ("DNS rebinding").
// Such requests contain the page's name: in Host after rebinding, in Origin for requests to another
// server.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace agentr {

// "localhost", "127.0.0.1" and all of 127.0.0.0/8, "::1"; without port.
bool IsLoopbackName(std::string_view name);

class HostNames {
 public:
  // For a server that listens on `listen_host`. The loopback names are always its own, and so are
  // `allowed` ("*": any). A server that listens on a network is reached by names that it cannot
  // know, so it checks nothing unless `allowed` is given.
  HostNames(const std::string& listen_host, std::vector<std::string> allowed);

  // The reason why a request with this Host ("name:port") and Origin ("http://name:port"; nullopt
  // if there is none) is refused; nullopt if it is not.
  std::optional<std::string> Refusal(std::string_view host,
                                     std::optional<std::string_view> origin) const;

 private:
  bool IsOwn(std::string_view name) const;

  bool check_ = true;
  std::vector<std::string> own_;
};

}  // namespace agentr
