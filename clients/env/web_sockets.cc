#include "clients/env/web_sockets.h"

#include <fmt/format.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "common/abandonable.h"
#include "common/interrupt.h"
#include "common/version.h"

namespace agentr {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = boost::beast::websocket;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using PlainStream = websocket::stream<beast::tcp_stream>;
using TlsStream = websocket::stream<beast::ssl_stream<beast::tcp_stream>>;

constexpr std::chrono::milliseconds kLookAgain(100);
constexpr size_t kMostUnasked = 64;  // texts of a server that nobody has asked for

std::chrono::milliseconds Milliseconds(double seconds) {
  constexpr double kMost = 1e8;  // seconds; keeps the clock from overflowing
  return std::chrono::milliseconds(static_cast<int64_t>(1000 * std::min(seconds, kMost)));
}

// What the caller's thread and the loop's thread share about one connection.
struct Mailbox {
  std::mutex mutex;
  std::condition_variable changed;
  bool open = false;                 // guarded by mutex, as all below
  std::deque<std::string> received;  // texts that nobody has taken
  std::optional<HttpFailure> ended;

  void End(HttpFailure failure) {
    const std::lock_guard lock(mutex);
    if (!ended) ended = std::move(failure);
    changed.notify_all();
  }
  void Opened() {
    const std::lock_guard lock(mutex);
    open = true;
    changed.notify_all();
  }
  void Receive(std::string text) {
    const std::lock_guard lock(mutex);
    received.push_back(std::move(text));
    changed.notify_all();
  }
  bool full() {
    const std::lock_guard lock(mutex);
    return received.size() >= kMostUnasked;
  }
};

using Addresses = asio::ip::tcp::resolver::results_type;

struct LookedUp {
  error_code error;
  Addresses addresses;
};

// The part of a connection that runs in the loop's thread.
class Peer {
 public:
  virtual ~Peer() = default;
  virtual void Start(const Addresses& addresses) = 0;
  virtual void Send(std::string text) = 0;
  virtual void Drop() = 0;  // ends the connection at once
};

struct Settings {
  HttpOrigin origin;
  std::string target;
  Secret headers;
  const HttpOptions& options;
  TlsContext tls;
};

HttpFailure FailureOf(const error_code& error) {
  if (error == websocket::error::message_too_big || error == websocket::error::buffer_overflow) {
    return {HttpFault::kTooLarge, "it has more than the limit of --env_max_reply bytes"};
  }
  if (error.category() == asio::error::get_ssl_category()) {
    return {HttpFault::kTls, error.message()};
  }
  return {HttpFault::kBroken,
          error == websocket::error::closed ? "closed by the server" : error.message()};
}

// All of it runs in the loop's thread; each waiting operation keeps the object alive.
template <typename Stream>
class SocketPeer : public Peer, public std::enable_shared_from_this<SocketPeer<Stream>> {
 public:
  template <typename... Rest>
  SocketPeer(const Settings& settings, std::shared_ptr<Mailbox> mailbox, asio::io_context& context,
             Rest&... rest)
      : settings_(settings), mailbox_(std::move(mailbox)), stream_(context, rest...) {}

  void Start(const Addresses& addresses) override {
    addresses_ = addresses;
    ConnectTo(addresses_.begin(), Clock::now() + Milliseconds(settings_.options.connect_timeout_s));
  }

  void Send(std::string text) override {
    waiting_.push_back(std::move(text));
    if (waiting_.size() == 1) WriteFirst();
  }

  void Drop() override {
    dropped_ = true;
    Tcp().close();
    End({HttpFault::kBroken, "closed here"});
  }

 private:
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;

  beast::tcp_stream& Tcp() { return beast::get_lowest_layer(stream_); }
  void End(HttpFailure failure) { mailbox_->End(std::move(failure)); }

  // An address that answers nothing leaves time for those behind it.
  void ConnectTo(Addresses::const_iterator address, Clock::time_point until) {
    Tcp().expires_after((until - Clock::now()) / std::distance(address, addresses_.end()));
    Tcp().async_connect(address->endpoint(),
                        [self = this->shared_from_this(), address, until](const error_code& error) {
                          const auto next = std::next(address);
                          if (error && !self->dropped_ && next != self->addresses_.end()) {
                            self->Tcp().close();
                            return self->ConnectTo(next, until);
                          }
                          if (error == beast::error::timeout)
                            return self->End({HttpFault::kConnectSlow});
                          if (error) return self->End({HttpFault::kNoConnection, error.message()});
                          self->Tcp().socket().set_option(asio::ip::tcp::no_delay(true));
                          self->StartTls();
                        });
  }

  void StartTls() {
    if constexpr (kTls) {
      SSL* const ssl = stream_.next_layer().native_handle();
      const std::string& host = settings_.origin.host;
      error_code not_an_address;
      asio::ip::make_address(host, not_an_address);
      if (!not_an_address) {
        X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str());
      } else {
        SSL_set1_host(ssl, host.c_str());
        SSL_set_tlsext_host_name(ssl, host.c_str());
      }
      stream_.next_layer().async_handshake(
          asio::ssl::stream_base::client,
          [self = this->shared_from_this()](const error_code& error) {
            if (error == beast::error::timeout) return self->End({HttpFault::kConnectSlow});
            if (error) return self->End({HttpFault::kTls, error.message()});
            self->Handshake();
          });
    } else {
      Handshake();
    }
  }

  void Handshake() {
    // From here on the stream has limits of its own: one for the handshake, and none for silence,
    // which is for the caller to judge.
    Tcp().expires_never();
    websocket::stream_base::timeout limits{};
    limits.handshake_timeout = Milliseconds(settings_.options.connect_timeout_s);
    limits.idle_timeout = websocket::stream_base::none();
    limits.keep_alive_pings = false;
    stream_.set_option(limits);
    stream_.set_option(websocket::stream_base::decorator([this](websocket::request_type& request) {
      request.set(beast::http::field::user_agent, fmt::format("agentr/{}", kVersion));
      std::string_view lines = settings_.headers.Reveal();
      while (!lines.empty()) {
        const size_t end = std::min(lines.find("\r\n"), lines.size());
        const std::string_view line = lines.substr(0, end);
        if (const size_t colon = line.find(": "); colon != std::string_view::npos) {
          request.set(beast::string_view(line.data(), colon),
                      beast::string_view(line.data() + colon + 2, line.size() - colon - 2));
        }
        lines.remove_prefix(std::min(end + 2, lines.size()));
      }
    }));
    stream_.read_message_max(settings_.options.max_reply);
    stream_.async_handshake(
        answer_, settings_.origin.authority, settings_.target,
        [self = this->shared_from_this()](const error_code& error) {
          if (error == websocket::error::upgrade_declined) {
            return self->End({HttpFault::kMalformed,
                              fmt::format("it answers HTTP {}", self->answer_.result_int())});
          }
          if (error == beast::error::timeout) return self->End({HttpFault::kConnectSlow});
          if (error) return self->End(FailureOf(error));
          self->mailbox_->Opened();
          self->Read();
        });
  }

  // Reads until the end. Beast answers the server's pings in it.
  void Read() {
    stream_.async_read(buffer_, [self = this->shared_from_this()](const error_code& error, size_t) {
      if (error) {
        self->Tcp().close();
        return self->End(FailureOf(error));
      }
      self->mailbox_->Receive(beast::buffers_to_string(self->buffer_.data()));
      self->buffer_.consume(self->buffer_.size());
      if (self->mailbox_->full()) {
        self->Tcp().close();
        return self->End({HttpFault::kBroken, "it sends texts that nobody asked for"});
      }
      self->Read();
    });
  }

  void WriteFirst() {
    stream_.text(true);
    stream_.async_write(asio::buffer(waiting_.front()),
                        [self = this->shared_from_this()](const error_code& error, size_t) {
                          self->waiting_.pop_front();
                          // What the server said before it closed is read first.
                          if (error) return;
                          if (!self->waiting_.empty()) self->WriteFirst();
                        });
  }

  const Settings& settings_;
  const std::shared_ptr<Mailbox> mailbox_;
  Stream stream_;
  Addresses addresses_;
  bool dropped_ = false;
  websocket::response_type answer_;
  beast::flat_buffer buffer_;
  std::deque<std::string> waiting_;
};

}  // namespace

class WebSockets::Loop {
 public:
  Loop(HttpOrigin origin, std::string target, Secret headers, const HttpOptions& options)
      : settings_{std::move(origin), std::move(target), std::move(headers), options, nullptr},
        stop_(*options.stop, options.stop_grace_s),
        tls_(asio::ssl::context::tls_client),
        work_(context_.get_executor()) {
    if (settings_.origin.tls) {
      settings_.tls = MakeTlsContext(options.ca_file);
      SSL_CTX_up_ref(settings_.tls.get());
      tls_ = asio::ssl::context(settings_.tls.get());
    }
    thread_ = std::thread([this] { context_.run(); });
  }

  ~Loop() {
    {
      const std::lock_guard lock(mutex_);
      for (auto& [number, connection] : connections_) Drop(connection);
      connections_.clear();
    }
    work_.reset();
    thread_.join();
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  tl::expected<Number, HttpFailure> Open() {
    const auto until = Clock::now() + Milliseconds(settings_.options.connect_timeout_s);
    const auto found = WaitUnless<LookedUp>(
        [host = settings_.origin.host, port = settings_.origin.port] {
          asio::io_context own;
          LookedUp looked;
          looked.addresses = asio::ip::tcp::resolver(own).resolve(host, port, looked.error);
          return looked;
        },
        [&] { return Late(until, HttpFault::kConnectSlow).has_value(); });
    if (!found) return tl::make_unexpected(*Late(until, HttpFault::kConnectSlow));
    if (found->error) {
      return tl::make_unexpected(HttpFailure{HttpFault::kNoConnection, found->error.message()});
    }
    Connection connection{std::make_shared<Mailbox>(), nullptr};
    if (settings_.origin.tls) {
      connection.peer =
          std::make_shared<SocketPeer<TlsStream>>(settings_, connection.mailbox, context_, tls_);
    } else {
      connection.peer =
          std::make_shared<SocketPeer<PlainStream>>(settings_, connection.mailbox, context_);
    }
    asio::post(context_,
               [peer = connection.peer, addresses = found->addresses] { peer->Start(addresses); });
    // The connection itself, TLS and the handshake have the same limit each.
    const auto open_until = Clock::now() + 3 * Milliseconds(settings_.options.connect_timeout_s);
    Mailbox& mailbox = *connection.mailbox;
    std::unique_lock lock(mailbox.mutex);
    while (!mailbox.open && !mailbox.ended) {
      if (const auto late = Late(open_until, HttpFault::kConnectSlow)) mailbox.ended = late;
      mailbox.changed.wait_for(lock, kLookAgain, [&] { return mailbox.open || mailbox.ended; });
    }
    if (!mailbox.open) {
      Drop(connection);
      return tl::make_unexpected(*mailbox.ended);
    }
    const std::lock_guard all(mutex_);
    connections_[++last_] = connection;
    return last_;
  }

  tl::expected<std::string, HttpFailure> Exchange(Number number, std::string text) {
    const std::optional<Connection> connection = Find(number);
    if (!connection) return tl::make_unexpected(HttpFailure{HttpFault::kBroken, "it is gone"});
    asio::post(context_, [peer = connection->peer, text = std::move(text)]() mutable {
      peer->Send(std::move(text));
    });
    const auto until = Clock::now() + Milliseconds(settings_.options.timeout_s);
    Mailbox& mailbox = *connection->mailbox;
    std::unique_lock lock(mailbox.mutex);
    // A text that came before the end of the connection is still told.
    while (mailbox.received.empty() && !mailbox.ended) {
      if (const auto late = Late(until, HttpFault::kSilent)) mailbox.ended = late;
      mailbox.changed.wait_for(lock, kLookAgain,
                               [&] { return !mailbox.received.empty() || mailbox.ended; });
    }
    if (!mailbox.received.empty()) {
      std::string next = std::move(mailbox.received.front());
      mailbox.received.pop_front();
      return next;
    }
    HttpFailure failure = *mailbox.ended;
    lock.unlock();
    Forget(number);
    return tl::make_unexpected(std::move(failure));
  }

  void Close(Number number, std::string farewell, std::chrono::milliseconds within) {
    const std::optional<Connection> connection = Find(number);
    if (!connection) return;
    const auto until = Clock::now() + within;
    asio::post(context_, [peer = connection->peer, text = std::move(farewell)]() mutable {
      peer->Send(std::move(text));
    });
    {
      Mailbox& mailbox = *connection->mailbox;
      std::unique_lock lock(mailbox.mutex);
      while (!mailbox.ended && !Late(until, HttpFault::kLate)) {
        mailbox.changed.wait_for(lock, kLookAgain, [&] { return mailbox.ended.has_value(); });
      }
    }
    Forget(number);
  }

 private:
  struct Connection {
    std::shared_ptr<Mailbox> mailbox;
    std::shared_ptr<Peer> peer;
  };

  std::optional<HttpFailure> Late(Clock::time_point until, HttpFault fault) {
    if (stop_.Passed()) return HttpFailure{HttpFault::kStopped};
    if (Clock::now() >= until) return HttpFailure{fault};
    return std::nullopt;
  }

  std::optional<Connection> Find(Number number) {
    const std::lock_guard lock(mutex_);
    const auto found = connections_.find(number);
    if (found == connections_.end()) return std::nullopt;
    return found->second;
  }

  void Forget(Number number) {
    const std::lock_guard lock(mutex_);
    const auto found = connections_.find(number);
    if (found == connections_.end()) return;
    Drop(found->second);
    connections_.erase(found);
  }

  void Drop(const Connection& connection) {
    asio::post(context_, [peer = connection.peer] { peer->Drop(); });
  }

  Settings settings_;
  StopTime stop_;
  asio::io_context context_{1};
  asio::ssl::context tls_;
  asio::executor_work_guard<asio::io_context::executor_type> work_;
  std::thread thread_;
  std::mutex mutex_;
  std::map<Number, Connection> connections_;  // guarded by mutex_
  Number last_ = 0;                           // guarded by mutex_
};

WebSockets::WebSockets(HttpOrigin origin, std::string target, Secret headers,
                       const HttpOptions& options)
    : loop_(std::make_unique<Loop>(std::move(origin), std::move(target), std::move(headers),
                                   options)) {}

WebSockets::~WebSockets() = default;

tl::expected<WebSockets::Number, HttpFailure> WebSockets::Open() { return loop_->Open(); }

tl::expected<std::string, HttpFailure> WebSockets::Exchange(Number connection, std::string text) {
  return loop_->Exchange(connection, std::move(text));
}

void WebSockets::Close(Number connection, std::string farewell, std::chrono::milliseconds within) {
  loop_->Close(connection, std::move(farewell), within);
}

}  // namespace agentr
