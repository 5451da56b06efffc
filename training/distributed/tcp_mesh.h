// TCP connections to all other processes of a job, with an exchange of bytes over two of them at
// once.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "training/distributed/key_value_store.h"
#include "training/distributed/rendezvous.h"

namespace agentr {

// Used by one thread at a time. Calls throw std::runtime_error naming the rank that is gone or
// silent.
class TcpMesh {
 public:
  // Every rank listens, writes its address into `store`, and connects to the lower ranks.
  TcpMesh(const Place& place, KeyValueStore& store, int timeout_s);
  ~TcpMesh();
  TcpMesh(const TcpMesh&) = delete;
  TcpMesh& operator=(const TcpMesh&) = delete;

  // Sends all of `out` to rank `to` and at the same time fills `in` with the bytes from rank
  // `from`. All ranks must make their exchanges in the same order.
  void Exchange(int to, std::span<const std::byte> out, int from, std::span<std::byte> in);

 private:
  const int timeout_ms_;
  std::vector<int> sockets_;  // by rank; -1: this one
};

}  // namespace agentr
