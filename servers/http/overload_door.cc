#include "servers/http/overload_door.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

namespace agentr {
namespace {

constexpr std::chrono::seconds kStay(1);

}  // namespace

OverloadDoor::OverloadDoor(size_t most, HttpHeadLimits limits,
                           std::function<std::string(const RequestHead&)> answer)
    : most_(most),
      limits_(limits),
      answer_(std::move(answer)),
      wake_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)),
      thread_([this] { Loop(); }) {}

OverloadDoor::~OverloadDoor() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  eventfd_write(wake_, 1);
  thread_.join();
  for (const Visitor& visitor : visitors_) close(visitor.socket);
  for (const int socket : arrivals_) close(socket);
  close(wake_);
}

void OverloadDoor::Admit(int socket) {
  {
    const std::lock_guard lock(mutex_);
    arrivals_.push_back(socket);
  }
  eventfd_write(wake_, 1);
}

bool OverloadDoor::TakeArrivals() {
  const std::lock_guard lock(mutex_);
  for (const int socket : arrivals_) {
    if (visitors_.size() >= most_) {
      close(visitors_.front().socket);
      visitors_.pop_front();
    }
    visitors_.push_back({socket, HeadScanner(limits_), Clock::now() + kStay});
  }
  arrivals_.clear();
  return !stop_;
}

void OverloadDoor::Loop() {
  std::vector<pollfd> wanted;
  while (TakeArrivals()) {
    wanted.assign(1, {wake_, POLLIN, 0});
    for (const Visitor& visitor : visitors_) wanted.push_back({visitor.socket, POLLIN, 0});
    // With visitors it wakes up regularly to close those whose time is over.
    poll(wanted.data(), wanted.size(), visitors_.empty() ? -1 : 100);
    eventfd_t count;
    eventfd_read(wake_, &count);
    const auto now = Clock::now();
    size_t at = 0;
    std::erase_if(visitors_, [&](Visitor& visitor) {
      const bool heard = wanted[++at].revents != 0;
      if (now < visitor.until && (!heard || Hear(visitor))) return false;
      close(visitor.socket);
      return true;
    });
  }
}

bool OverloadDoor::Hear(Visitor& visitor) {
  std::array<char, 4096> buffer;
  const ssize_t n = recv(visitor.socket, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (n <= 0) return false;
  if (visitor.answered) return true;
  const std::string_view bytes(buffer.data(), static_cast<size_t>(n));
  const auto size = visitor.scanner.Next(bytes);
  if (!size) return false;
  visitor.head += bytes.substr(0, size->value_or(bytes.size()));
  return *size ? Answer(visitor) : true;
}

bool OverloadDoor::Answer(Visitor& visitor) {
  const auto head = ParseRequestHead(visitor.head);
  if (!head) return false;
  const std::string reply = answer_(*head);
  const ssize_t n = send(visitor.socket, reply.data(), reply.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  // Only the sending side is closed: with unread bytes of the client, close would reset the
  // connection before the client has read the reply.
  shutdown(visitor.socket, SHUT_WR);
  visitor.answered = true;
  visitor.until = Clock::now() + kStay;
  return n == static_cast<ssize_t>(reply.size());
}

}  // namespace agentr
