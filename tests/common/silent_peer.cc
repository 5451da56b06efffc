#include "tests/common/silent_peer.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace agentr {
namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

template <typename Address>
bool ConnectTo(int fd, const Address& address) {
  return ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// A connection to a port or a Unix socket; -1 if there is none.
int Dial(const std::string& target) {
  const bool is_path = target.starts_with('/');
  const int fd = ::socket(is_path ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  bool connected = false;
  if (is_path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, target.c_str(), sizeof address.sun_path - 1);
    connected = ConnectTo(fd, address);
  } else {
    connected = ConnectTo(fd, Loopback(std::stoi(target)));
  }
  if (connected) return fd;
  ::close(fd);
  return -1;
}

// True if a socket of this machine tries to connect to the port: state 02 of the system's tables.
bool IsTried(int port) {
  const std::string trying = fmt::format(":{:04X} 02 ", port);
  for (const char* name : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::ifstream table(name);
    for (std::string line; std::getline(table, line);) {
      if (line.find(trying) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace

SilentPeer::SilentPeer(Silence silence, Options options)
    : silence_(silence), options_(std::move(options)), silent_(options_.target.empty()) {
  Listen();
  if (silent_) BecomeSilent();
  thread_ = std::jthread([this](const std::stop_token& stop) { Loop(stop); });
}

SilentPeer::~SilentPeer() {
  thread_.request_stop();
  thread_.join();
  for (const Link& link : links_) Close(link);
  for (const int filler : fillers_) ::close(filler);
  ::close(listener_);
}

void SilentPeer::Listen() {
  listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  if (::bind(listener_, any, size) != 0 || ::listen(listener_, 64) != 0 ||
      ::getsockname(listener_, any, &size) != 0) {
    throw std::runtime_error("no port for a silent peer");
  }
  port_ = ntohs(address.sin_port);
}

bool SilentPeer::IsAwaited() const {
  if (!fallen_) return false;
  return silence_ == Silence::kNeverAccepts ? IsTried(port_) : open_ > 0;
}

// The system makes connections for a port until the queue of those that wait for an accept is full.
void SilentPeer::FillQueue() {
  ::listen(listener_, 0);
  while (true) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    ConnectTo(fd, Loopback(port_));
    pollfd made{fd, POLLOUT, 0};
    if (::poll(&made, 1, 200) == 1) {
      fillers_.push_back(fd);
    } else {
      ::close(fd);
      return;
    }
  }
}

void SilentPeer::BecomeSilent() {
  for (Link& link : links_) {
    if (link.target >= 0) ::close(std::exchange(link.target, -1));
  }
  if (silence_ == Silence::kNeverAccepts) {
    FillQueue();
    for (const Link& link : links_) Close(link);
    links_.clear();
  }
  fallen_ = true;
}

void SilentPeer::Accept() {
  const int client = ::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (client < 0) return;
  links_.push_back({client, fallen_ ? -1 : Dial(options_.target)});
}

bool SilentPeer::HandOn(Link& link, short client_events, short target_events) {
  std::array<char, 65536> bytes;
  if (client_events != 0) {
    const ssize_t size = ::recv(link.client, bytes.data(), bytes.size(), 0);
    if (size <= 0) return false;
    heard_ += static_cast<size_t>(size);
    if (heard_ >= options_.until_heard) silent_ = true;
    if (link.target >= 0) {
      ::send(link.target, bytes.data(), static_cast<size_t>(size), MSG_NOSIGNAL);
    }
  }
  if (target_events != 0) {
    const ssize_t size = ::recv(link.target, bytes.data(), bytes.size(), 0);
    if (size <= 0) return false;
    ::send(link.client, bytes.data(), static_cast<size_t>(size), MSG_NOSIGNAL);
  }
  return true;
}

void SilentPeer::Drip() {
  for (Link& link : links_) {
    const size_t at = std::min(link.dripped++, options_.drops.size() - 1);
    ::send(link.client, &options_.drops[at], 1, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
}

void SilentPeer::Close(const Link& link) {
  ::close(link.client);
  if (link.target >= 0) ::close(link.target);
}

void SilentPeer::Loop(const std::stop_token& stop) {
  Clock::time_point dripped = Clock::now();
  std::vector<pollfd> wanted;
  while (!stop.stop_requested()) {
    if (silent_ && !fallen_) BecomeSilent();
    const bool hears = !deaf_;
    const bool accepts = hears && (!fallen_ || silence_ != Silence::kNeverAccepts);
    wanted.assign(1, {accepts ? listener_ : -1, POLLIN, 0});
    for (const Link& link : links_) {
      wanted.push_back({hears ? link.client : -1, POLLIN, 0});
      wanted.push_back({hears ? link.target : -1, POLLIN, 0});
    }
    ::poll(wanted.data(), wanted.size(), 10);
    size_t at = 1;
    links_.remove_if([&](Link& link) {
      const bool goes_on = HandOn(link, wanted[at].revents, wanted[at + 1].revents);
      at += 2;
      if (!goes_on) Close(link);
      return !goes_on;
    });
    if (wanted[0].revents != 0) Accept();
    open_ = links_.size();
    const bool drips = fallen_ && silence_ == Silence::kDrips;
    if (drips && Clock::now() - dripped >= std::chrono::seconds(1)) {
      Drip();
      dripped = Clock::now();
    }
  }
}

}  // namespace agentr
