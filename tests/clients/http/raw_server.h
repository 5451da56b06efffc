// A server below HTTP for tests: sends the same bytes to whatever comes, and closes.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace agentr {

class RawServer {
 public:
  enum Manner {
    kCloseAtOnce,    // after the first request
    kHold,           // keeps the connection open without a word
    kCloseAtSecond,  // answers the first request, closes when the second has come
  };

  explicit RawServer(std::string reply, Manner manner = kCloseAtOnce)
      : reply_(std::move(reply)), manner_(manner), socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(socket_, 16);
    socklen_t size = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::jthread([this](std::stop_token stop) { Loop(stop); });
  }
  ~RawServer() { Stop(); }

  // Closes the port.
  void Stop() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    thread_.join();
    for (const int connection : held_) ::close(connection);
    ::close(socket_);
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int requests() const { return requests_; }
  // All bytes so far.
  std::string received() const {
    const std::lock_guard lock(mutex_);
    return received_;
  }

 private:
  void Loop(const std::stop_token& stop) {
    pollfd wait{socket_, POLLIN, 0};
    while (!stop.stop_requested()) {
      if (::poll(&wait, 1, 5) == 1) Serve(::accept(socket_, nullptr, nullptr));
    }
  }

  void Serve(int connection) {
    Receive(connection);
    if (manner_ == kHold) return held_.push_back(connection);
    ::send(connection, reply_.data(), reply_.size(), MSG_NOSIGNAL);
    if (manner_ == kCloseAtSecond) Receive(connection);
    ::close(connection);
  }

  // A small request: its head, and a body if it has one, as "{}".
  void Receive(int connection) {
    std::string text;
    char bytes[4096];
    while (
        !text.ends_with("\r\n\r\n{}") &&
        !((text.starts_with("GET") || text.starts_with("CONNECT")) && text.ends_with("\r\n\r\n"))) {
      const ssize_t size = ::recv(connection, bytes, sizeof bytes, 0);
      if (size <= 0) return;
      text.append(bytes, static_cast<size_t>(size));
      const std::lock_guard lock(mutex_);
      received_.append(bytes, static_cast<size_t>(size));
    }
    ++requests_;
  }

  const std::string reply_;
  const Manner manner_;
  const int socket_;
  int port_ = 0;
  std::atomic<int> requests_ = 0;
  mutable std::mutex mutex_;
  std::string received_;  // guarded by mutex_
  std::vector<int> held_;
  std::jthread thread_;
};

}  // namespace agentr
