#include "servers/http/http_transport.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include "common/error.h"
#include "servers/http/connection_threads.h"

namespace agentr {
namespace {

constexpr int kBacklog = 1024;  // connections that may arrive at once; the library's value is 5
constexpr size_t kMostAtDoor = 1024;
constexpr int kFirstEphemeral = 32768;  // Linux gives outgoing connections ports from this one on

// A connection that was just opened or served is not closed for a new one, because its next request
// may be on the way.
constexpr std::chrono::seconds kPatience(1);

// Raises the limit of descriptors and returns it. Each connection needs one, and the usual limit of
// 1024 is soon reached if the clients are in the same process.
size_t RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

// The connection of the request that this thread answers, and all those of its transport. The
// library does not show them to handlers.
thread_local const RequestStream* answered = nullptr;
thread_local const OpenConnections* answered_among = nullptr;

}  // namespace

// Adapts our threads to the library's queue of connections.
class HttpTransport::Queue : public httplib::TaskQueue {
 public:
  explicit Queue(HttpTransport& transport)
      : transport_(transport), threads_(transport.max_threads_) {}

  LibraryEnqueued enqueue(std::function<void()> serve) override {
    if (threads_.HasRoom() || transport_.connections_.GiveUpOne(kPatience)) {
      threads_.Enqueue(std::move(serve));
    } else {
      serve();  // runs on the accepting thread, which hands it to the OverloadDoor
    }
    return static_cast<LibraryEnqueued>(true);
  }
  void shutdown() override { threads_.Join(); }

 private:
  HttpTransport& transport_;
  ConnectionThreads threads_;
};

HttpTransport::HttpTransport(TransportOptions options)
    : options_(std::move(options)), max_threads_(options_.max_threads) {
  new_task_queue = [this] { return new Queue(*this); };
  // The value of the Keep-Alive header of replies.
  set_keep_alive_timeout(options_.timeouts.idle_s);
  set_keep_alive_max_count(1'000'000'000);
  // The library's default, SO_REUSEPORT, would let two servers silently share a port.
  set_socket_options([](socket_t socket) {
    const int on = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  });
}

int HttpTransport::Bind(const std::string& host, int port) {
  // The number of threads must be below the limit of descriptors: otherwise no connection could be
  // accepted, not even to refuse it.
  max_threads_ = std::max<size_t>(1, std::min(max_threads_, RaiseDescriptorLimit() / 2));
  errno = 0;
  const int bound = port == 0 ? bind_to_any_port(host) : bind_to_port(host, port) ? port : -1;
  if (bound > 0 && ::listen(svr_sock_, kBacklog) == 0) return bound;
  const int error = errno;
  throw FatalError(
      ExitCode::kUsage,
      error == EADDRINUSE
          ? fmt::format(
                "port {} of {} is in use by another program; end that program, or choose another "
                "--port (0 chooses a free one){}",
                port, host,
                port >= kFirstEphemeral
                    ? ". From 32768 on, an outgoing connection may also have got the port by chance"
                    : "")
          : fmt::format("cannot listen on {}:{}: {}; choose another --host or --port", host, port,
                        error == 0 ? "no such address" : std::strerror(error)));
}

void HttpTransport::Run() {
  accepting_ = std::this_thread::get_id();
  door_ = std::make_unique<OverloadDoor>(std::min(kMostAtDoor, max_threads_ / 4 + 1),
                                         options_.limits, options_.overload);
  listen_after_bind();
  door_.reset();
  ended_ = true;
  if (!connections_.closed()) {
    spdlog::critical("no new connection can be accepted; restart the server");
  }
}

bool HttpTransport::ClientGone() {
  // Shutdown ends reading on every connection, which looks as if the client had closed it.
  return answered != nullptr && answered->ClientGone() && !answered_among->closed();
}

void HttpTransport::Shutdown() {
  // stop() has no effect before the accepting loop has begun, so it is repeated.
  while (!is_running() && !ended_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  connections_.Close();
  stop();
}

bool HttpTransport::process_and_close_socket(socket_t socket) {
  if (std::this_thread::get_id() == accepting_) {
    door_->Admit(socket);
    return true;
  }
  if (OpenConnections::Connection* const connection = connections_.Add(socket)) {
    Serve(socket, *connection);
    connections_.Remove(connection);
  }
  shutdown(socket, SHUT_RDWR);
  close(socket);
  return true;
}

void HttpTransport::Serve(socket_t socket, OpenConnections::Connection& connection) {
  RequestStream stream(socket, options_.timeouts, options_.limits);
  for (bool more = true; more;) {
    const auto awaited = stream.AwaitHead();
    if (awaited && *awaited == RequestStream::Await::kEnded) return;
    if (!OpenConnections::BeginRequest(connection)) return;
    if (!awaited) {
      stream.Refuse(options_.refusal(awaited.error()));
      break;
    }
    more = ServeRequest(stream);
    OpenConnections::EndRequest(connection);
  }
  if (stream.error_sent()) stream.Linger();
}

bool HttpTransport::ServeRequest(RequestStream& stream) {
  if (const auto refusal = options_.check(stream.head())) {
    stream.Refuse(options_.refusal(*refusal));
    return false;
  }
  bool closed = false;
  answered = &stream;
  answered_among = &connections_;
  const bool more = ProcessRequest(stream, closed);
  answered = nullptr;
  return stream.Flush() && more && !closed && !stream.error_sent() && stream.body_read();
}

}  // namespace agentr
