// What servers/http/http_transport overrides and calls of cpp-httplib's server, which is no part of
// the library's documented interface. Configuration compiles it, to know whether the version fits.
#include <httplib.h>

class Stream : public httplib::Stream {};

class Server : public httplib::Server {
 public:
  bool process_and_close_socket(socket_t socket) override {
    return svr_sock_ == socket && is_running();
  }
  bool Serve(Stream& stream, bool& closed) { return Process(*this, stream, closed); }

 private:
  // The function got parameters for the addresses of both ends between versions 0.11 and 0.18.
  template <typename Self>
  static bool Process(Self& self, Stream& stream, bool& closed) {
    if constexpr (requires { self.process_request(stream, false, closed, nullptr); }) {
      return self.process_request(stream, false, closed, nullptr);
    } else {
      return self.process_request(stream, "", 0, "", 0, false, closed, nullptr);
    }
  }
};

class Queue : public httplib::TaskQueue {
 public:
  using Enqueued = decltype(std::declval<httplib::TaskQueue&>().enqueue(nullptr));
  Enqueued enqueue(std::function<void()>) override { return static_cast<Enqueued>(true); }
  void shutdown() override {}
};

bool Probe(Server& server, Stream& stream) {
  bool closed = false;
  server.new_task_queue = [] { return new Queue(); };
  return server.Serve(stream, closed);
}
