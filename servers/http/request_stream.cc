#include "servers/http/request_stream.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/error.h"

namespace agentr {
namespace {

constexpr size_t kBufferSize = 16 << 10;

}  // namespace

RequestStream::RequestStream(socket_t socket, TransportTimeouts timeouts, HttpHeadLimits limits)
    : socket_(socket), timeouts_(timeouts), limits_(limits), in_(kBufferSize) {
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const timeval stalled{timeouts_.stalled_s, 0};
  const timeval idle{timeouts_.idle_s, 0};
  setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &stalled, sizeof stalled);
  setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof idle);
}

tl::expected<RequestStream::Await, HttpRefusal> RequestStream::AwaitHead() {
  HeadScanner scanner(limits_);
  raw_.clear();
  Clock::time_point until{};
  while (true) {
    if (at_ == end_) {
      // Most requests arrive complete, so one system call with the socket's own timeout is enough.
      // Only the rest of a request that arrives in pieces is awaited with a clock.
      if (scanner.begun() && !AwaitBytes(until - Clock::now())) {
        if (broken_) return Await::kEnded;
        return tl::make_unexpected(HttpRefusal{408, "The request's head did not come in time."});
      }
      if (!Fill()) return Await::kEnded;
    }
    if (!scanner.begun()) until = Clock::now() + std::chrono::seconds(timeouts_.head_s);
    const std::string_view bytes(in_.data() + at_, end_ - at_);
    AGENTR_ASSIGN_OR_RETURN(const auto size, scanner.Next(bytes));
    at_ += size.value_or(bytes.size());
    const std::string_view taken = bytes.substr(0, size.value_or(bytes.size()));
    if (size && raw_.empty()) return BeginBody(taken);
    raw_ += taken;
    if (size) return BeginBody(raw_);
  }
}

tl::expected<RequestStream::Await, HttpRefusal> RequestStream::BeginBody(std::string_view raw) {
  AGENTR_ASSIGN_OR_RETURN(head_, ParseRequestHead(raw));
  canonical_ = CanonicalHead(head_);
  head_at_ = 0;
  body_left_ = head_.content_length.value_or(0);
  chunks_.reset();
  if (head_.chunked) chunks_.emplace();
  if (chunks_ || body_left_ > 0) {
    body_until_ = Clock::now() + std::chrono::seconds(timeouts_.body_grace_s);
  }
  return Await::kHead;
}

bool RequestStream::body_read() const {
  return head_at_ == canonical_.size() && body_left_ == 0 && (!chunks_ || chunks_->ended());
}

bool RequestStream::Flush() {
  // An error ends the connection, because the unread rest of a body must not be taken for the next
  // request.
  constexpr std::string_view kHttpVersion = "HTTP/1.1 ";
  if (out_.size() > kHttpVersion.size() && out_.starts_with(kHttpVersion)) {
    error_sent_ = error_sent_ || out_[kHttpVersion.size()] >= '4';
  }
  size_t sent = 0;
  while (sent < out_.size() && !broken_) {
    const ssize_t n = send(socket_, out_.data() + sent, out_.size() - sent, MSG_NOSIGNAL);
    if (n >= 0) {
      sent += static_cast<size_t>(n);
    } else if (errno != EINTR) {
      broken_ = true;
    }
  }
  out_.clear();
  return !broken_;
}

void RequestStream::Refuse(std::string_view reply) {
  out_.assign(reply);
  Flush();
}

bool RequestStream::ClientGone() const {
  char byte;
  const ssize_t size = recv(socket_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return size == 0 || (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

void RequestStream::Linger() {
  constexpr size_t kMost = 4 << 20;
  shutdown(socket_, SHUT_WR);
  const auto until = Clock::now() + std::chrono::seconds(2);
  for (size_t total = 0; total < kMost; total += end_) {
    const auto longest = std::min<Clock::duration>(until - Clock::now(), std::chrono::seconds(1));
    if (!AwaitBytes(longest) || !Fill()) return;
  }
}

ssize_t RequestStream::read(char* to, size_t size) {
  if (head_at_ == canonical_.size()) return ReadBody(to, size);
  const size_t n = std::min(size, canonical_.size() - head_at_);
  std::memcpy(to, canonical_.data() + head_at_, n);
  head_at_ += n;
  return static_cast<ssize_t>(n);
}

// Never reads beyond the end of the body, whatever the library requests: the next bytes are another
// request.
ssize_t RequestStream::ReadBody(char* to, size_t size) {
  if (body_read() || (chunks_ && chunks_->broken())) return -1;
  if (at_ == end_) {
    // A client that sends head and body separately without TCP_NODELAY delays the body until the
    // head is acknowledged, and the kernel would delay that by 40 ms.
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
    const auto longest = std::min<Clock::duration>(body_until_ - Clock::now(),
                                                   std::chrono::seconds(timeouts_.stalled_s));
    if (!Flush() || !AwaitBytes(longest) || !Fill()) return -1;
    body_until_ += std::chrono::microseconds(end_ * 1'000'000 / (16 << 10));
  }
  size_t n = std::min(size, end_ - at_);
  if (chunks_) {
    n = chunks_->Take({in_.data() + at_, n});
    if (chunks_->broken()) return -1;
  } else {
    n = static_cast<size_t>(std::min<uint64_t>(n, body_left_));
    body_left_ -= n;
  }
  std::memcpy(to, in_.data() + at_, n);
  at_ += n;
  return static_cast<ssize_t>(n);
}

ssize_t RequestStream::write(const char* data, size_t size) {
  out_.append(data, size);
  if (out_.size() >= kBufferSize && !Flush()) return -1;
  return static_cast<ssize_t>(size);
}

bool RequestStream::AwaitBytes(Clock::duration longest) const {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(longest).count();
  if (ms <= 0) return false;
  pollfd wanted{socket_, POLLIN, 0};
  int ready;
  do {
    ready = poll(&wanted, 1, static_cast<int>(ms));
  } while (ready < 0 && errno == EINTR);
  return ready > 0;
}

bool RequestStream::Fill() {
  ssize_t n;
  do {
    n = recv(socket_, in_.data(), in_.size(), 0);
  } while (n < 0 && errno == EINTR);
  if (n <= 0) broken_ = true;
  at_ = 0;
  end_ = n > 0 ? static_cast<size_t>(n) : 0;
  return n > 0;
}

}  // namespace agentr
