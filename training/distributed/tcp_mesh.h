// A TCP connection to every other process of a job, and the exchange of bytes over two of them at
// once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "training/distributed/key_value_store.h"
#include "training/distributed/rendezvous.h"

namespace agentr {

// One thread at a time. Calls throw std::runtime_error naming the rank that is gone or silent.
class TcpMesh {
 public:
  // Every rank listens, says where in `store`, and connects to those of lower ranks.
  TcpMesh(const Place& place, KeyValueStore& store, int timeout_s);
  ~TcpMesh();
  TcpMesh(const TcpMesh&) = delete;
  TcpMesh& operator=(const TcpMesh&) = delete;

  // Sends all of `out` to rank `to` and fills `in` with what rank `from` sends to this one,
  // both at the same time. All ranks make exchanges in the same order.
  void Exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in);

 private:
  const int timeout_ms_;
  std::vector<int> sockets_;  // by rank; -1: this one
};

}  // namespace agentr
