// One connection of a client to a server, plain or TLS.
#pragma once

#include <netdb.h>
#include <openssl/ssl.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "clients/http/http_client.h"
#include "clients/http/http_reply.h"
#include "clients/http/proxy.h"

namespace agentr {

// The server that a base URL names.
struct HttpOrigin {
  bool tls = false;
  std::string host;  // without brackets
  std::string port;
  std::string authority;  // as in the URL; sent as the Host field
  std::optional<HttpProxy> proxy;
};

using TlsContext = std::shared_ptr<SSL_CTX>;

// Checks certificates against `ca_file`, or against the system's if it is empty. Throws
// FatalError(kFile) if the file cannot be read.
TlsContext MakeTlsContext(const std::string& ca_file);

// Used by one thread at a time. No wait exceeds the options' limits, and each ends soon after the
// run is being stopped.
class HttpConnection : private ByteSource {
 public:
  // `origin`, `options` and `stop` outlive it. `tls`: for https.
  HttpConnection(const HttpOrigin& origin, const HttpOptions& options, StopTime& stop,
                 TlsContext tls)
      : origin_(origin), options_(options), stop_(stop), tls_(std::move(tls)) {}
  ~HttpConnection() override { Close(); }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // True if a connection is kept and nothing shows that the server has closed it.
  bool IsOpen();

  // Sends the bytes of a request on the kept connection, or a new one, and reads the reply.
  tl::expected<HttpRawReply, HttpFailure> Exchange(std::string_view request, CallLimit until);

 private:
  using Clock = std::chrono::steady_clock;
  using Step = tl::expected<void, HttpFailure>;

  void Close();
  // Fails if the time of the call is over or the run has been stopped.
  Step CheckTime() const;
  Step Connect();
  Step ConnectTo(const addrinfo& address, Clock::time_point until);
  // Has the proxy connect to the server.
  Step OpenTunnel();
  Step StartTls(Clock::time_point until);
  // False if the server has stopped reading; its reply may say why.
  tl::expected<bool, HttpFailure> Write(std::string_view bytes);
  tl::expected<size_t, HttpFailure> Read(char* to, size_t size) override;
  // Waits until the socket can be read or written (POLLIN, POLLOUT). `late`: the fault when `until`
  // has passed.
  Step Await(short events, Clock::time_point until, HttpFault late);
  // The event that OpenSSL wants to wait for after a call that returned `result`; 0 for an error.
  short TlsWants(int result) const;

  const HttpOrigin& origin_;
  const HttpOptions& options_;
  StopTime& stop_;
  const TlsContext tls_;
  int socket_ = -1;
  SSL* ssl_ = nullptr;
  CallLimit call_until_;  // of the present call
};

}  // namespace agentr
