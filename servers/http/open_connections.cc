#include "servers/http/open_connections.h"

#include <iterator>
#include <tuple>

namespace agentr {

OpenConnections::Connection* OpenConnections::Add(int socket) {
  const std::lock_guard lock(mutex_);
  if (closed_) return nullptr;
  Connection& connection = open_.emplace_back(socket);
  connection.place_ = std::prev(open_.end());
  return &connection;
}

void OpenConnections::Remove(Connection* connection) {
  const std::lock_guard lock(mutex_);
  open_.erase(connection->place_);
}

bool OpenConnections::BeginRequest(Connection& connection) {
  auto expected = Connection::State::kWaiting;
  return connection.state_.compare_exchange_strong(expected, Connection::State::kBusy);
}

void OpenConnections::EndRequest(Connection& connection) {
  connection.served_ = true;
  connection.since_ = Clock::now();
  connection.state_ = Connection::State::kWaiting;
}

bool OpenConnections::GiveUpOne(Clock::duration age) {
  const std::lock_guard lock(mutex_);
  const auto latest = Clock::now() - age;
  Connection* best = nullptr;
  const auto rank = [](const Connection& c) {
    return std::tuple(c.served_.load(), c.since_.load());
  };
  for (Connection& connection : open_) {
    if (connection.state_ != Connection::State::kWaiting || connection.since_.load() > latest) {
      continue;
    }
    if (!best || rank(connection) < rank(*best)) best = &connection;
  }
  // It may have begun a request since it was selected, so try to change its state atomically.
  auto expected = Connection::State::kWaiting;
  if (!best || !best->state_.compare_exchange_strong(expected, Connection::State::kGivenUp)) {
    return false;
  }
  shutdown(best->socket_, SHUT_RDWR);
  return true;
}

void OpenConnections::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const Connection& connection : open_) shutdown(connection.socket_, SHUT_RD);
}

bool OpenConnections::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace agentr
