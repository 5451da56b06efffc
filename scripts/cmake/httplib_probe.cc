// What servers/http needs of cpp-httplib beside its documented interface; see httplib_inner.h.
#include "servers/http/httplib_inner.h"

class Stream : public agentr::LibraryStream {
 public:
  bool is_readable() const override { return true; }
  ssize_t read(char*, size_t) override { return 0; }
  ssize_t write(const char*, size_t) override { return 0; }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  socket_t socket() const override { return INVALID_SOCKET; }

 protected:
  bool MayWrite() const override { return true; }
};

class Server : public agentr::LibraryServer {
 public:
  bool process_and_close_socket(socket_t socket) override {
    Stream stream;
    bool closed = false;
    return svr_sock_ == socket && is_running() && ProcessRequest(stream, closed);
  }
};

class Queue : public httplib::TaskQueue {
 public:
  agentr::LibraryEnqueued enqueue(std::function<void()>) override {
    return static_cast<agentr::LibraryEnqueued>(true);
  }
  void shutdown() override {}
};

void Probe(Server& server) {
  server.new_task_queue = [] { return new Queue(); };
}
