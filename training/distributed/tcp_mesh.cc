#include "training/distributed/tcp_mesh.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/core.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace agentr {
namespace {

[[noreturn]] void Throw(const std::string& what) {
  throw std::runtime_error(fmt::format("{}: {}", what, std::strerror(errno)));
}

class Socket {
 public:
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket() {
    if (fd_ >= 0) ::close(fd_);
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Connects to HOST:PORT of any address family.
int Connect(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
    throw std::runtime_error(fmt::format("{}:{}: {}", host, port, ::gai_strerror(error)));
  }
  int fd = -1;
  for (const addrinfo* at = found; at != nullptr && fd < 0; at = at->ai_next) {
    fd = ::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && ::connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
      ::close(fd);
      fd = -1;
    }
  }
  ::freeaddrinfo(found);
  if (fd < 0) Throw(fmt::format("cannot connect to {}:{}", host, port));
  return fd;
}

std::pair<std::string, std::string> NameOf(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> port{};
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (::getsockname(fd, any, &size) != 0 ||
      ::getnameinfo(any, size, host.data(), host.size(), port.data(), port.size(),
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    Throw("cannot determine the address of a connection");
  }
  return {host.data(), port.data()};
}

// Listens on a free port of all addresses, including IPv4.
int Listen(int backlog) {
  Socket socket(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int off = 0;
  sockaddr_in6 any{};
  any.sin6_family = AF_INET6;
  const bool six = socket.get() >= 0 &&
                   ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) == 0 &&
                   ::bind(socket.get(), reinterpret_cast<sockaddr*>(&any), sizeof any) == 0;
  Socket plain(six ? -1 : ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  if (!six && ::bind(plain.get(), reinterpret_cast<sockaddr*>(&any4), sizeof any4) != 0) {
    Throw("cannot bind a port");
  }
  const int fd = six ? socket.Release() : plain.Release();
  if (::listen(fd, backlog) != 0) Throw("cannot listen");
  return fd;
}

void Prepare(int fd) {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

std::string WaitFor(KeyValueStore& store, const std::string& key, int timeout_ms) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_ms);
  while (std::chrono::steady_clock::now() < end) {
    if (const auto value = store.Get(key)) return *value;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  throw std::runtime_error("no value of " + key);
}

std::string AddressKey(int rank) { return fmt::format("address/{}", rank); }

bool WouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

TcpMesh::TcpMesh(const Place& place, KeyValueStore& store, int timeout_s)
    : timeout_ms_(timeout_s * 1000), sockets_(static_cast<size_t>(place.size), -1) {
  const Socket listener(Listen(place.size));
  // The other ranks reach this machine at the address from which it reaches rank 0; rank 0 is
  // reached at the meeting place.
  const Socket route(Connect(place.host, std::to_string(place.port)));
  const std::string host = place.rank == 0 ? place.host : NameOf(route.get()).first;
  store.Set(AddressKey(place.rank), host + " " + NameOf(listener.get()).second);
  for (int rank = 0; rank < place.rank; ++rank) {
    const std::string address = WaitFor(store, AddressKey(rank), timeout_ms_);
    const size_t space = address.find(' ');
    const int fd = Connect(address.substr(0, space), address.substr(space + 1));
    sockets_[static_cast<size_t>(rank)] = fd;
    const auto number = static_cast<int32_t>(place.rank);
    if (::send(fd, &number, sizeof number, MSG_NOSIGNAL) != sizeof number) Throw("cannot send");
    Prepare(fd);
  }
  for (int rank = place.rank + 1; rank < place.size; ++rank) {
    pollfd ready = {listener.get(), POLLIN, 0};
    if (::poll(&ready, 1, timeout_ms_) <= 0) throw std::runtime_error("not all ranks connected");
    Socket socket(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
    int32_t number = -1;
    if (::recv(socket.get(), &number, sizeof number, MSG_WAITALL) != sizeof number ||
        number <= place.rank || number >= place.size) {
      throw std::runtime_error("something else connected to the port of a rank");
    }
    Prepare(socket.get());
    sockets_[static_cast<size_t>(number)] = socket.Release();
  }
}

TcpMesh::~TcpMesh() {
  for (const int fd : sockets_) {
    if (fd >= 0) ::close(fd);
  }
}

void TcpMesh::Exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in) {
  const int to_fd = sockets_[static_cast<size_t>(to)];
  const int from_fd = sockets_[static_cast<size_t>(from)];
  while (!out.empty() || !in.empty()) {
    std::array<pollfd, 2> ready = {pollfd{out.empty() ? -1 : to_fd, POLLOUT, 0},
                                   pollfd{in.empty() ? -1 : from_fd, POLLIN, 0}};
    const int count = ::poll(ready.data(), ready.size(), timeout_ms_);
    if (count == 0) {
      throw std::runtime_error(
          fmt::format("rank {} or {} has not answered for {} s", to, from, timeout_ms_ / 1000));
    }
    if (ready[0].revents != 0) {
      const ssize_t sent = ::send(to_fd, out.data(), out.size(), MSG_NOSIGNAL);
      if (sent < 0 && !WouldBlock()) Throw(fmt::format("cannot send to rank {}", to));
      if (sent > 0) out = out.subspan(static_cast<size_t>(sent));
    }
    if (ready[1].revents != 0) {
      const ssize_t got = ::recv(from_fd, in.data(), in.size(), 0);
      if (got == 0)
        throw std::runtime_error(fmt::format("rank {} has closed its connection", from));
      if (got < 0 && !WouldBlock()) Throw(fmt::format("cannot receive from rank {}", from));
      if (got > 0) in = in.subspan(static_cast<size_t>(got));
    }
  }
}

}  // namespace agentr
