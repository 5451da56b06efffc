// A client that speaks bytes, for requests that no library would send.
#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <string_view>

namespace agentr::testing {

class RawClient {
 public:
  explicit RawClient(int port) : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~RawClient() { close(socket_); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  void Send(std::string_view bytes) {
    EXPECT_EQ(send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  // Reads until `end` has come, or the connection has ended; what came up to there.
  std::string ReadUntil(std::string_view end) {
    while (true) {
      const size_t at = received_.find(end);
      if (at != std::string::npos) {
        const std::string text = received_.substr(0, at + end.size());
        received_.erase(0, text.size());
        return text;
      }
      char buffer[4096];
      const ssize_t n = recv(socket_, buffer, sizeof buffer, 0);
      if (n <= 0) return std::move(received_);
      received_.append(buffer, static_cast<size_t>(n));
    }
  }

  // All that comes until the server ends the connection.
  std::string ReadToEnd() { return ReadUntil("\x01 never sent"); }

 private:
  const int socket_;
  std::string received_;
};

}  // namespace agentr::testing
