// A server on a free local port for tests; its handlers may misbehave.
#pragma once

#include <httplib.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace agentr {

// One request alone, once per process: it makes what cpp-httplib keeps in static variables. The
// thread sanitizer does not see their guards in a library that is not built for it, and would take
// two first requests at once for a race.
inline void MakeStaticVariablesOfHttplib() {
  static const bool made = [] {
    httplib::Server server;
    const int port = server.bind_to_any_port("127.0.0.1");
    std::jthread thread([&] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();
    httplib::Client("127.0.0.1", port).Get("/");
    server.stop();
    return true;
  }();
  (void)made;
}

class LocalServer {
 public:
  // `server` may be an httplib::SSLServer.
  explicit LocalServer(
      std::unique_ptr<httplib::Server> server = std::make_unique<httplib::Server>())
      : server_(std::move(server)) {
    MakeStaticVariablesOfHttplib();
    // A kept connection holds a thread; the default is too few for tests with many threads.
    server_->new_task_queue = [] { return new httplib::ThreadPool(80); };
    server_->set_keep_alive_max_count(1'000'000);
    server_->set_keep_alive_timeout(1);  // Stop waits for kept connections
    server_->set_tcp_nodelay(true);
    server_->set_logger([this](const httplib::Request& request, const httplib::Response&) {
      std::lock_guard lock(mutex_);
      connections_.insert(request.remote_port);
    });
  }
  ~LocalServer() { Stop(); }

  httplib::Server* operator->() { return server_.get(); }

  // After the handlers have been set. With `port` 0: on a free one.
  void Start(int port = 0) {
    if (port == 0) {
      port_ = server_->bind_to_any_port("127.0.0.1");
    } else {
      server_->bind_to_port("127.0.0.1", port);
      port_ = port;
    }
    thread_ = std::thread([this] { server_->listen_after_bind(); });
    // A stop before the loop runs would be lost.
    while (!server_->is_running()) std::this_thread::yield();
  }

  void Stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
  }

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }

  // How many connections have carried a request.
  size_t connections() const {
    std::lock_guard lock(mutex_);
    return connections_.size();
  }

 private:
  std::unique_ptr<httplib::Server> server_;
  std::thread thread_;
  int port_ = 0;
  mutable std::mutex mutex_;
  std::set<int> connections_;  // remote ports; guarded by mutex_
};

// Begins a reply and breaks the connection before its end.
inline void CutReply(httplib::Response& response) {
  response.body.clear();
  response.headers.clear();
  response.set_content_provider(100, "application/json",
                                [](size_t, size_t, httplib::DataSink&) { return false; });
}

}  // namespace agentr
