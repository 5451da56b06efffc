// Which names a server is reached by: a guard against web pages.
//
// A browser lets a page send requests to any server, this machine's too, and a page whose own name
// was made to lead to 127.0.0.1 may read the replies ("DNS rebinding"). Such requests carry the
// page's name: in Host where it was rebound, in Origin where another server was asked.
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
  // A server that listens on `listen_host`. Names of this machine itself are always its own, and
  // `allowed` are too ("*": any). A server that listens to others is reached by names that it
  // cannot know: it checks nothing unless `allowed` names some.
  HostNames(const std::string& listen_host, std::vector<std::string> allowed);

  // Why a request with this Host ("name:port") and Origin ("http://name:port"; nothing where there
  // is none) is refused; nothing where it is not.
  std::optional<std::string> Refusal(std::string_view host,
                                     std::optional<std::string_view> origin) const;

 private:
  bool IsOwn(std::string_view name) const;

  bool check_ = true;
  std::vector<std::string> own_;
};

}  // namespace agentr
