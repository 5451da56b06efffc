#include "clients/http/http_connection.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/abandonable.h"
#include "common/text.h"

namespace agentr {
namespace {

constexpr std::chrono::milliseconds kLookAgain(100);

std::chrono::steady_clock::duration Lasting(double seconds) {
  constexpr double kMost = 1e8;  // seconds; keeps the clock from overflowing
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
      std::chrono::duration<double>(std::min(seconds, kMost)));
}

tl::unexpected<HttpFailure> Faulty(HttpFault fault, std::string detail = "") {
  return tl::make_unexpected(HttpFailure{fault, std::move(detail)});
}

bool IsAddress(const std::string& host) {
  in6_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1 ||
         inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

// The addresses of a host, or the error of getaddrinfo.
struct Addresses {
  int error = 0;
  std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> list = {nullptr, freeaddrinfo};
};

const std::string& DialledHost(const HttpOrigin& origin) {
  return origin.proxy ? origin.proxy->host : origin.host;
}

Addresses LookUp(const HttpOrigin& origin) {
  const std::string& port = origin.proxy ? origin.proxy->port : origin.port;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  Addresses addresses;
  addresses.error = getaddrinfo(DialledHost(origin).c_str(), port.c_str(), &hints, &found);
  addresses.list.reset(found);
  return addresses;
}

// Why TLS failed: a reason about the certificate, or the last error of OpenSSL.
std::string TlsReason(const SSL* ssl) {
  const long verified = SSL_get_verify_result(ssl);
  if (verified != X509_V_OK) return X509_verify_cert_error_string(verified);
  const char* const reason = ERR_reason_error_string(ERR_peek_last_error());
  return reason ? reason : "the connection broke";
}

}  // namespace

TlsContext MakeTlsContext(const std::string& ca_file) {
  TlsContext context(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  const bool loaded =
      ca_file.empty() ? SSL_CTX_set_default_verify_paths(context.get()) == 1
                      : SSL_CTX_load_verify_locations(context.get(), ca_file.c_str(), nullptr) == 1;
  if (!loaded) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("cannot read certificates from '{}'; give a PEM file", ca_file));
  }
  return context;
}

void HttpConnection::Close() {
  SSL_free(ssl_);
  ssl_ = nullptr;
  if (socket_ >= 0) close(socket_);
  socket_ = -1;
}

bool HttpConnection::IsOpen() {
  // Between two requests the server can only send the end of the connection or a TLS alert that
  // announces it.
  pollfd looked{socket_, POLLIN, 0};
  if (socket_ >= 0 && poll(&looked, 1, 0) != 0) Close();
  return socket_ >= 0;
}

HttpConnection::Step HttpConnection::CheckTime() const {
  if (stop_.Passed()) return Faulty(HttpFault::kStopped);
  if (call_until_ && Clock::now() >= *call_until_) return Faulty(HttpFault::kLate);
  return {};
}

tl::expected<HttpRawReply, HttpFailure> HttpConnection::Exchange(std::string_view request,
                                                                 CallLimit until) {
  call_until_ = until;
  if (Step step = CheckTime(); !step) return tl::make_unexpected(std::move(step.error()));
  if (socket_ < 0) {
    if (Step step = Connect(); !step) {
      Close();
      return tl::make_unexpected(std::move(step.error()));
    }
  }
  const auto written = Write(request);
  if (!written) {
    Close();
    return tl::make_unexpected(written.error());
  }
  auto reply =
      ReadReply(*this, {options_.max_reply_head, options_.max_reply}, options_.session_header);
  if (!reply || !reply->keep || !*written) Close();
  return reply;
}

HttpConnection::Step HttpConnection::Connect() {
  const auto until = Clock::now() + Lasting(options_.connect_timeout_s);
  Step time;
  std::optional<Addresses> found;
  if (IsAddress(DialledHost(origin_))) {
    found = LookUp(origin_);  // asks nobody
  } else {
    found = WaitUnless<Addresses>([origin = origin_] { return LookUp(origin); },
                                  [&] {
                                    time = CheckTime();
                                    return !time || Clock::now() >= until;
                                  });
  }
  if (!found) return time ? Faulty(HttpFault::kConnectSlow) : time;
  if (found->error != 0) return Faulty(HttpFault::kNoConnection, gai_strerror(found->error));
  Step step = Faulty(HttpFault::kNoConnection);
  int left = 0;
  for (const addrinfo* at = found->list.get(); at; at = at->ai_next) ++left;
  // An address that answers nothing leaves time for those behind it.
  for (const addrinfo* at = found->list.get(); at && !step; at = at->ai_next) {
    const auto now = Clock::now();
    step = ConnectTo(*at, now + (until - now) / left--);
  }
  if (step && origin_.tls && origin_.proxy) step = OpenTunnel();
  if (!step && origin_.proxy) {
    step.error().through_proxy = true;
    step.error().detail = fmt::format("through the proxy {}:{}: {}", origin_.proxy->host,
                                      origin_.proxy->port, step.error().detail);
  }
  return step && origin_.tls ? StartTls(until) : step;
}

// The reply has no body, whatever its headers say (RFC 9110, 9.3.6).
HttpConnection::Step HttpConnection::OpenTunnel() {
  const std::string target = origin_.host.find(':') == std::string::npos
                                 ? fmt::format("{}:{}", origin_.host, origin_.port)
                                 : fmt::format("[{}]:{}", origin_.host, origin_.port);
  const auto written = Write(fmt::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\n{}\r\n", target,
                                         target, origin_.proxy->authorization.Reveal()));
  if (!written) return tl::make_unexpected(written.error());
  std::string head;
  while (!head.ends_with("\r\n\r\n")) {
    char c = 0;
    const auto read = Read(&c, 1);
    if (!read) return tl::make_unexpected(read.error());
    if (*read == 0 || head.size() >= options_.max_reply_head) {
      return Faulty(HttpFault::kNoConnection, "it closed the connection");
    }
    head += c;
  }
  const size_t status = std::min(head.find(' '), head.size());
  if (head.starts_with("HTTP/1.") && head.substr(status).starts_with(" 2")) return {};
  return Faulty(HttpFault::kNoConnection,
                "it answers " + EscapeControls(head.substr(0, head.find('\r'))));
}

HttpConnection::Step HttpConnection::ConnectTo(const addrinfo& address, Clock::time_point until) {
  Close();
  socket_ = ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (socket_ < 0) return Faulty(HttpFault::kNoConnection, std::strerror(errno));
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket_, address.ai_addr, address.ai_addrlen) == 0) return {};
  if (errno != EINPROGRESS) return Faulty(HttpFault::kNoConnection, std::strerror(errno));
  if (Step step = Await(POLLOUT, until, HttpFault::kConnectSlow); !step) return step;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return Faulty(HttpFault::kNoConnection, std::strerror(error));
  return {};
}

HttpConnection::Step HttpConnection::StartTls(Clock::time_point until) {
  ERR_clear_error();
  ssl_ = SSL_new(tls_.get());
  SSL_set_fd(ssl_, socket_);
  if (IsAddress(origin_.host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), origin_.host.c_str());
  } else {
    SSL_set1_host(ssl_, origin_.host.c_str());
    SSL_set_tlsext_host_name(ssl_, origin_.host.c_str());
  }
  while (true) {
    const int result = SSL_connect(ssl_);
    if (result == 1) return {};
    const short wanted = TlsWants(result);
    if (wanted == 0) return Faulty(HttpFault::kTls, TlsReason(ssl_));
    if (Step step = Await(wanted, until, HttpFault::kConnectSlow); !step) return step;
  }
}

short HttpConnection::TlsWants(int result) const {
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return POLLIN;
    case SSL_ERROR_WANT_WRITE:
      return POLLOUT;
    default:
      return 0;
  }
}

tl::expected<bool, HttpFailure> HttpConnection::Write(std::string_view bytes) {
  auto until = Clock::now() + Lasting(options_.timeout_s);
  while (!bytes.empty()) {
    short wanted = POLLOUT;
    ssize_t n;
    if (ssl_) {
      ERR_clear_error();
      n = SSL_write(ssl_, bytes.data(), static_cast<int>(std::min<size_t>(bytes.size(), 1 << 30)));
      if (n <= 0) wanted = TlsWants(static_cast<int>(n));
    } else {
      n = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n < 0 && errno != EAGAIN && errno != EINTR) wanted = 0;
    }
    if (n > 0) {
      bytes.remove_prefix(static_cast<size_t>(n));
      until = Clock::now() + Lasting(options_.timeout_s);
      continue;
    }
    if (wanted == 0) return false;
    if (Step step = Await(wanted, until, HttpFault::kSilent); !step) {
      return tl::make_unexpected(std::move(step.error()));
    }
  }
  return true;
}

tl::expected<size_t, HttpFailure> HttpConnection::Read(char* to, size_t size) {
  const auto until = Clock::now() + Lasting(options_.timeout_s);
  while (true) {
    // While a reply arrives faster than it is read, Await is never reached, so the time is checked
    // here too.
    if (Step step = CheckTime(); !step) return tl::make_unexpected(std::move(step.error()));
    short wanted = POLLIN;
    ssize_t n;
    if (ssl_) {
      ERR_clear_error();
      n = SSL_read(ssl_, to, static_cast<int>(std::min<size_t>(size, 1 << 30)));
      if (n <= 0) wanted = TlsWants(static_cast<int>(n));
    } else {
      n = recv(socket_, to, size, 0);
      if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) wanted = 0;
    }
    if (n > 0) return static_cast<size_t>(n);
    if (wanted == 0) return 0;
    if (Step step = Await(wanted, until, HttpFault::kSilent); !step) {
      return tl::make_unexpected(std::move(step.error()));
    }
  }
}

HttpConnection::Step HttpConnection::Await(short events, Clock::time_point until, HttpFault late) {
  while (true) {
    if (Step step = CheckTime(); !step) return step;
    const auto now = Clock::now();
    if (now >= until) return Faulty(late);
    const auto longest = std::min<Clock::duration>(until - now, kLookAgain);
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(longest).count() + 1;
    pollfd wanted{socket_, events, 0};
    if (poll(&wanted, 1, static_cast<int>(ms)) > 0) return {};
  }
}

}  // namespace agentr
