// The used parts of c10d, and all assumptions about its versions (1.13 of Debian 12, 2.6 of Debian
// 13 and later): only calls that all of them have.
#pragma once

#include <chrono>
#include <string>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/Work.hpp>
#include <utility>

#include "common/interrupt.h"
#include "training/distributed/collectives.h"
#include "training/distributed/tcp_store_options.h"

namespace agentr {

// The part `name` of the store that rank 0 has opened.
inline c10::intrusive_ptr<c10d::Store> PartOfStore(const Place& place, int timeout_s,
                                                   const std::string& name) {
  IgnoreBrokenPipes();
  auto at = WithoutLibUv(c10d::TCPStoreOptions{});
  at.port = static_cast<uint16_t>(place.port);
  at.waitWorkers = false;
  at.timeout = std::chrono::seconds(timeout_s);
  return c10::make_intrusive<c10d::PrefixStore>(
      name, c10::make_intrusive<c10d::TCPStore>(place.host, at));
}

class PendingWork : public Collectives::Pending {
 public:
  explicit PendingWork(c10::intrusive_ptr<c10d::Work> work) : work_(std::move(work)) {}
  void Wait() override { work_->wait(); }

 private:
  const c10::intrusive_ptr<c10d::Work> work_;
};

}  // namespace agentr
