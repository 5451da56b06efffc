#include "training/distributed/c10d_store.h"

#include <fmt/core.h>

#include <chrono>
#include <string_view>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <vector>

#include "common/error.h"
#include "common/interrupt.h"
#include "training/distributed/tcp_store_options.h"

namespace agentr {
namespace {

// Without the stack that LibTorch adds, and without a full stop.
std::string_view FirstLine(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  return text.substr(0, text.find_last_not_of('.') + 1);
}

class TcpStoreKeys : public KeyValueStore {
 public:
  explicit TcpStoreKeys(c10::intrusive_ptr<c10d::TCPStore> store) : store_(std::move(store)) {}

  void Set(const std::string& key, const std::string& value) override {
    store_->set(Own(key), std::vector<uint8_t>(value.begin(), value.end()));
  }
  std::optional<std::string> Get(const std::string& key) override {
    if (!store_->check({Own(key)})) return std::nullopt;  // get would block
    const std::vector<uint8_t> bytes = store_->get(Own(key));
    return std::string(bytes.begin(), bytes.end());
  }

 private:
  static std::string Own(const std::string& key) { return "agentr/" + key; }
  const c10::intrusive_ptr<c10d::TCPStore> store_;
};

}  // namespace

std::unique_ptr<KeyValueStore> ConnectStore(const Place& place, bool serves, int timeout_s) try {
  IgnoreBrokenPipes();
  auto options = WithoutLibUv(c10d::TCPStoreOptions{});
  options.port = static_cast<uint16_t>(place.port);
  options.isServer = serves;
  options.waitWorkers = false;  // because our own message names the missing ranks
  options.timeout = std::chrono::seconds(timeout_s);
  return std::make_unique<TcpStoreKeys>(c10::make_intrusive<c10d::TCPStore>(place.host, options));
} catch (const std::exception& error) {
  throw FatalError(
      ExitCode::kUnavailable,
      fmt::format("rank {} cannot {} {}:{}, where the job's processes meet: {}. Usual cure: check "
                  "that MASTER_ADDR is the machine of rank 0, that rank 0 runs, and that nothing "
                  "else uses MASTER_PORT there",
                  place.rank, serves ? "listen at" : "reach rank 0 at", place.host, place.port,
                  FirstLine(error.what())));
}

}  // namespace agentr
