// Reads the reply to an HTTP/1.1 request (RFC 9112) from a server that may be broken or hostile: it
// never stores more than the limits allow.
#pragma once

#include <cstddef>
#include <string>
#include <tl/expected.hpp>

namespace agentr {

struct HttpReplyLimits {
  size_t head = 64 << 10;  // bytes of status line and header fields
  size_t body = 64 << 20;  // bytes of the body
};

// Why a call got no complete reply.
enum class HttpFault {
  kNoConnection,  // refused, or no such host
  kConnectSlow,   // no connection in time
  kTls,           // no TLS connection, or a certificate that is not trusted
  kBroken,        // the connection ended too early
  kSilent,        // nothing came in time
  kLate,          // the time of the call is over
  kMalformed,     // not HTTP
  kTooLarge,      // over a limit
  kStopped,       // the run is being stopped
};

struct HttpFailure {
  HttpFault fault = HttpFault::kBroken;
  std::string detail = {};     // may be empty
  bool through_proxy = false;  // and the detail says so
};

struct HttpRawReply {
  int status = 0;
  std::string retry_after, instance, location;  // header fields; empty if not sent
  std::string session;                          // that of `session_header`
  std::string body;
  bool keep = false;  // another request may follow on the connection
};

// The bytes of a connection, in order.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  // Waits for at least one byte and reads at most `size`; returns 0 at the end of the connection.
  virtual tl::expected<size_t, HttpFailure> Read(char* to, size_t size) = 0;
};

// Reads the next reply; interim replies (1xx) are skipped. `session_header` is the header by which
// the server names a session; the values of all "Set-Cookie" are joined as a header Cookie takes
// them, "a=1; b=2".
tl::expected<HttpRawReply, HttpFailure> ReadReply(ByteSource& source, HttpReplyLimits limits,
                                                  const std::string& session_header = "");

}  // namespace agentr
