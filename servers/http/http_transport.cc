#include "servers/http/http_transport.h"

#include <fmt/format.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "common/error.h"
#include "servers/http/connection_threads.h"

namespace agentr {
namespace {

constexpr int kBacklog = 1024;  // connections that arrive at once; the library's is 5
constexpr size_t kBufferSize = 16 << 10;

void SetTimeout(socket_t socket, int which, int seconds) {
  const timeval value{seconds, 0};
  setsockopt(socket, SOL_SOCKET, which, &value, sizeof value);
}

// A connection is a descriptor, and the usual limit of 1024 is soon reached where the clients live
// in the same process.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// Reads in blocks, and gathers a reply so that it leaves in one packet. What has been gathered is
// sent before any wait: for the client's bytes, or for the producer of a streamed reply.
class BufferedStream : public httplib::Stream {
 public:
  BufferedStream(socket_t socket, TransportTimeouts timeouts)
      : socket_(socket), timeouts_(timeouts), in_(kBufferSize) {
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    SetTimeout(socket_, SO_SNDTIMEO, timeouts_.stalled_s);
    SetTimeout(socket_, SO_RCVTIMEO, timeouts_.idle_s);
  }

  // Waits for the next request; false when the connection ended, or nothing came for too long.
  bool AwaitRequest() { return at_ < end_ || Fill(); }

  // Sends what has been gathered; false when the client is gone.
  bool Flush() {
    // An error ends the connection: the rest of a body that was not read must not be taken for the
    // next request.
    constexpr std::string_view kVersion = "HTTP/1.1 ";
    if (out_.size() > kVersion.size() && out_.starts_with(kVersion)) {
      error_sent_ = error_sent_ || out_[kVersion.size()] >= '4';
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

  bool error_sent() const { return error_sent_; }

  // Reads and forgets what the client still sends, for a moment: closing with bytes unread would
  // reset the connection, and the client might never see the reply.
  void Linger() {
    constexpr size_t kMost = 4 << 20;
    shutdown(socket_, SHUT_WR);
    for (size_t total = 0; total < kMost && AwaitBytes(1) && Fill();) total += end_;
  }

  bool is_readable() const override { return at_ < end_ || !broken_; }
  // Asked before the producer of a streamed reply is called.
  bool is_writable() const override { return const_cast<BufferedStream*>(this)->Flush(); }

  ssize_t read(char* to, size_t size) override {
    if (at_ == end_) {
      // A client that sends head and body apart without TCP_NODELAY holds the body back until the
      // head is acknowledged, and the kernel would wait 40 ms with that.
      const int on = 1;
      setsockopt(socket_, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
      if (!Flush() || !AwaitBytes(timeouts_.stalled_s) || !Fill()) return -1;
    }
    const size_t n = std::min(size, end_ - at_);
    std::memcpy(to, in_.data() + at_, n);
    at_ += n;
    return static_cast<ssize_t>(n);
  }

  ssize_t write(const char* data, size_t size) override {
    out_.append(data, size);
    if (out_.size() >= kBufferSize && !Flush()) return -1;
    return static_cast<ssize_t>(size);
  }

  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  // The library only compares it with what select() can hold, which is not used here.
  socket_t socket() const override { return INVALID_SOCKET; }

 private:
  bool AwaitBytes(int seconds) const {
    pollfd wanted{socket_, POLLIN, 0};
    int ready;
    do {
      ready = poll(&wanted, 1, seconds * 1000);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
  }

  bool Fill() {
    ssize_t n;
    do {
      n = recv(socket_, in_.data(), in_.size(), 0);
    } while (n < 0 && errno == EINTR);
    if (n <= 0) broken_ = true;
    at_ = 0;
    end_ = n > 0 ? static_cast<size_t>(n) : 0;
    return n > 0;
  }

  const socket_t socket_;
  const TransportTimeouts timeouts_;
  std::vector<char> in_;
  size_t at_ = 0, end_ = 0;  // the bytes of in_ not read yet
  std::string out_;
  bool error_sent_ = false;
  bool broken_ = false;
};

// The library's queue of connections over our threads. Its Enqueue returned nothing at first.
class Queue : public httplib::TaskQueue {
 public:
  explicit Queue(size_t limit) : threads_(limit) {}

  using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));
  Enqueued enqueue(std::function<void()> serve) override {
    threads_.Enqueue(std::move(serve));
    return static_cast<Enqueued>(true);
  }
  void shutdown() override { threads_.Join(); }

 private:
  ConnectionThreads threads_;
};

}  // namespace

HttpTransport::HttpTransport(TransportTimeouts timeouts, size_t max_threads) : timeouts_(timeouts) {
  new_task_queue = [max_threads] { return new Queue(max_threads); };
  // What the Keep-Alive header of a reply promises.
  set_keep_alive_timeout(timeouts.idle_s);
  set_keep_alive_max_count(1'000'000'000);
  // The library's default, SO_REUSEPORT, would let two servers share a port unnoticed.
  set_socket_options([](socket_t socket) {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  });
}

int HttpTransport::Bind(const std::string& host, int port) {
  RaiseDescriptorLimit();
  errno = 0;
  const int bound = port == 0 ? bind_to_any_port(host) : bind_to_port(host, port) ? port : -1;
  if (bound > 0 && ::listen(svr_sock_, kBacklog) == 0) return bound;
  const int error = errno;
  throw FatalError(
      ExitCode::kUsage,
      error == EADDRINUSE
          ? fmt::format("port {} of {} is in use by another program; end that one, or choose "
                        "another --port (0 takes a free one)",
                        port, host)
          : fmt::format("cannot listen on {}:{}: {}; choose another --host or --port", host, port,
                        error == 0 ? "no such address" : std::strerror(error)));
}

void HttpTransport::Run() {
  listen_after_bind();
  ended_ = true;
  const std::lock_guard lock(mutex_);
  if (!stopping_) spdlog::critical("no new connection can be accepted; restart the server");
}

void HttpTransport::Shutdown() {
  // stop() does nothing before the accepting loop has begun.
  while (!is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    // Reading ends, so that a thread waiting for a request goes on; a reply can still be written.
    for (const socket_t socket : open_) shutdown(socket, SHUT_RD);
  }
  stop();
}

bool HttpTransport::Register(socket_t socket) {
  const std::lock_guard lock(mutex_);
  if (!stopping_) open_.insert(socket);
  return !stopping_;
}

void HttpTransport::Unregister(socket_t socket) {
  const std::lock_guard lock(mutex_);
  open_.erase(socket);
}

bool HttpTransport::process_and_close_socket(socket_t socket) {
  if (Register(socket)) {
    BufferedStream stream(socket, timeouts_);
    // Replies are short: compressing them costs more than it saves.
    const std::function<void(httplib::Request&)> setup = [](httplib::Request& request) {
      request.headers.erase("Accept-Encoding");
    };
    // Between its versions 0.11 and 0.18 the library's function came to take the addresses of both
    // ends, which nothing here asks for.
    const auto process = [&](auto& self) {
      bool closed = false;
      if constexpr (requires { self.process_request(stream, false, closed, setup); }) {
        return self.process_request(stream, false, closed, setup) && !closed;
      } else {
        return self.process_request(stream, "", 0, "", 0, false, closed, setup) && !closed;
      }
    };
    bool more = true;
    while (more && stream.AwaitRequest()) {
      more = process(*this);
      more = stream.Flush() && more && !stream.error_sent();
    }
    if (stream.error_sent()) stream.Linger();
    Unregister(socket);
  }
  shutdown(socket, SHUT_RDWR);
  close(socket);
  return true;
}

}  // namespace agentr
