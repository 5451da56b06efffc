#include "tests/clients/env/small_openenv_server.h"

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

namespace agentr {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using asio::ip::tcp;
using boost::system::error_code;
using Json = nlohmann::json;

Json ErrorFrame(const std::string& code, const std::string& message) {
  return {{"type", "error"}, {"data", {{"message", message}, {"code", code}}}};
}

Json InvalidField(const std::string& type, const std::string& field, const std::string& message) {
  Json frame = ErrorFrame("VALIDATION_ERROR", "Invalid message");
  frame["data"]["errors"] = {{{"type", type}, {"loc", {field}}, {"msg", message}}};
  return frame;
}

Json Observed(const std::string& text, const Json& reward, bool done) {
  return {{"type", "observation"},
          {"data", {{"observation", {{"message", text}}}, {"reward", reward}, {"done", done}}}};
}

}  // namespace

// Everything but the public functions runs in one thread.
class SmallOpenEnvServer::Impl {
 public:
  explicit Impl(int slots)
      : slots_(slots), acceptor_(context_, {asio::ip::make_address("127.0.0.1"), 0}) {
    port_ = acceptor_.local_endpoint().port();
    Accept();
    thread_ = std::thread([this] { context_.run(); });
  }
  ~Impl() {
    context_.stop();
    thread_.join();
  }

  // Runs fn in the server's thread and waits for it.
  template <typename Fn>
  auto In(Fn fn) {
    std::packaged_task<decltype(fn())()> task(std::move(fn));
    auto done = task.get_future();
    asio::post(context_, [&] { task(); });
    return done.get();
  }

  struct Faults {
    int break_every = 0;
    std::string say, refuse, field = "message";
    bool silent = false;
  } faults;
  int opened = 0, closed_well = 0, active = 0, steps = 0;
  int port() const { return port_; }

  struct Connection : std::enable_shared_from_this<Connection> {
    Connection(Impl& owner, tcp::socket socket) : server(owner), stream(std::move(socket)) {}

    void Start() {
      http::async_read(stream.next_layer(), buffer, request,
                       [self = shared_from_this()](const error_code& error, size_t) {
                         if (!error) self->Begin();
                       });
    }

    void Begin() {
      if (!websocket::is_upgrade(request)) return Page();
      stream.control_callback([this](websocket::frame_type kind, beast::string_view) {
        if (kind == websocket::frame_type::pong) server.Pong();
      });
      stream.async_accept(request, [self = shared_from_this()](const error_code& error) {
        if (error) return;
        Impl& s = self->server;
        if (!s.faults.refuse.empty()) {
          self->leaving = true;
          return self->Send(ErrorFrame(s.faults.refuse, "no environment today"));
        }
        if (s.active >= s.slots_) {
          self->leaving = true;
          return self->Send(ErrorFrame("CAPACITY_REACHED", "Server at capacity: 1/1 sessions"));
        }
        ++s.active;
        ++s.opened;
        self->owns = true;
        s.connections_.insert(self);
        self->Read();
      });
    }

    void Page() {
      const std::string path(request.target());
      Json body;
      if (path == "/health") body = {{"status", "healthy"}};
      if (path == "/metadata") {
        body = {{"name", "SmallGameEnvironment"}, {"description", "A small game of words."}};
      }
      if (path == "/schema") {
        const Json text = {{"type", "string"}, {"description", "What you say"}};
        body = {{"action",
                 {{"properties", {{"metadata", {{"type", "object"}}}, {"message", text}}},
                  {"required", {"message"}}}},
                {"observation",
                 {{"properties", {{"message", text}, {"done", {{"type", "boolean"}}}}},
                  {"required", {"message"}}}}};
      }
      response.result(body.is_null() ? http::status::not_found : http::status::ok);
      response.set(http::field::content_type, "application/json");
      response.body() = body.is_null() ? R"({"detail":"Not Found"})" : body.dump();
      response.keep_alive(false);
      response.prepare_payload();
      http::async_write(stream.next_layer(), response,
                        [self = shared_from_this()](const error_code&, size_t) {
                          error_code ignored;
                          self->stream.next_layer().shutdown(tcp::socket::shutdown_send, ignored);
                        });
    }

    void Read() {
      stream.async_read(buffer, [self = shared_from_this()](const error_code& error, size_t) {
        if (error) return self->Leave();
        const std::string text = beast::buffers_to_string(self->buffer.data());
        self->buffer.consume(self->buffer.size());
        self->Answer(Json::parse(text));
        if (self->owns && !self->leaving) self->Read();
      });
    }

    void Answer(const Json& frame) {
      const std::string type = frame.at("type");
      if (type == "state") return Send({{"type", "state"}, {"data", Json::object()}});
      if (type == "close") {
        // As OpenEnv's server: the environment is free before the connection is closed.
        leaving = true;
        ++server.closed_well;
        Leave();
        return stream.async_close(websocket::close_code::normal,
                                  [self = shared_from_this()](const error_code&) {});
      }
      const Json data = frame.value("data", Json::object());
      if (type == "reset") {
        if (data.value("seed", 0) == 13) {
          return Send(ErrorFrame("EXECUTION_ERROR", "there is no task 13"));
        }
        shown = "task " + std::to_string(data.value("seed", 0));
        return Send(Observed(shown, nullptr, false));
      }
      if (type != "step") return Send(ErrorFrame("UNKNOWN_TYPE", "Unknown message type: " + type));
      Step(data);
    }

    void Step(const Json& data) {
      const Faults& faults = server.faults;
      ++server.steps;
      if (!data.contains(faults.field)) {
        return Send(InvalidField("missing", faults.field, "Field required"));
      }
      const std::string said = data.at(faults.field);
      if (said == "bad") return Send(InvalidField("literal_error", faults.field, "Input is bad"));
      if (said == "raise") return Send(ErrorFrame("EXECUTION_ERROR", "no such move"));
      shown += ", " + said;
      if (faults.silent) return;
      if (faults.break_every > 0 && server.steps % faults.break_every == 0) {
        leaving = true;
        error_code ignored;
        stream.next_layer().close(ignored);
        return Leave();
      }
      if (!faults.say.empty()) return SendText(faults.say);
      Send(Observed(shown, said == "win" ? Json(1) : Json(nullptr), said == "win"));
    }

    void Send(const Json& frame) { SendText(frame.dump()); }
    void SendText(std::string text) {
      waiting.push_back(std::move(text));
      if (waiting.size() == 1) WriteFirst();
    }
    void WriteFirst() {
      stream.text(true);
      stream.async_write(asio::buffer(waiting.front()), [self = shared_from_this()](
                                                            const error_code& error, size_t) {
        self->waiting.pop_front();
        if (error) return;
        if (!self->waiting.empty()) return self->WriteFirst();
        if (!self->leaving) return;
        self->stream.async_close(websocket::close_code::normal, [self](const error_code&) {});
      });
    }

    void Leave() {
      if (owns) --server.active;
      owns = false;
      server.connections_.erase(shared_from_this());
    }

    Impl& server;
    websocket::stream<tcp::socket> stream;
    beast::flat_buffer buffer;
    http::request<http::string_body> request;
    http::response<http::string_body> response;
    std::deque<std::string> waiting;
    std::string shown;
    bool owns = false;     // an environment
    bool leaving = false;  // what is sent now is the last
  };

  bool AllAnswerPings() {
    const int asked = In([this] {
      pongs_ = 0;
      for (const auto& connection : connections_) {
        connection->stream.async_ping({}, [connection](const error_code&) {});
      }
      return static_cast<int>(connections_.size());
    });
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(5), [&] { return pongs_ >= asked; }) &&
           asked > 0;
  }

 private:
  void Accept() {
    acceptor_.async_accept([this](const error_code& error, tcp::socket socket) {
      if (error) return;
      std::make_shared<Connection>(*this, std::move(socket))->Start();
      Accept();
    });
  }
  void Pong() {
    const std::lock_guard lock(mutex_);
    ++pongs_;
    changed_.notify_all();
  }

  const int slots_;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  int port_ = 0;
  std::set<std::shared_ptr<Connection>> connections_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<int> pongs_ = 0;
  std::thread thread_;
};

SmallOpenEnvServer::SmallOpenEnvServer(int slots) : impl_(std::make_unique<Impl>(slots)) {}
SmallOpenEnvServer::~SmallOpenEnvServer() = default;

std::string SmallOpenEnvServer::url() const {
  return "http://127.0.0.1:" + std::to_string(impl_->port());
}

void SmallOpenEnvServer::BreakEveryStep(int nth) {
  impl_->In([&] { impl_->faults.break_every = nth; });
}
void SmallOpenEnvServer::SayAlways(const std::string& text) {
  impl_->In([&] { impl_->faults.say = text; });
}
void SmallOpenEnvServer::RefuseAllAs(const std::string& code) {
  impl_->In([&] { impl_->faults.refuse = code; });
}
void SmallOpenEnvServer::KeepSilent() {
  impl_->In([&] { impl_->faults.silent = true; });
}
void SmallOpenEnvServer::RenameField(const std::string& name) {
  impl_->In([&] { impl_->faults.field = name; });
}
bool SmallOpenEnvServer::AllAnswerPings() { return impl_->AllAnswerPings(); }
int SmallOpenEnvServer::active() const {
  return impl_->In([&] { return impl_->active; });
}
int SmallOpenEnvServer::opened() const {
  return impl_->In([&] { return impl_->opened; });
}
int SmallOpenEnvServer::closed_well() const {
  return impl_->In([&] { return impl_->closed_well; });
}
int SmallOpenEnvServer::steps() const {
  return impl_->In([&] { return impl_->steps; });
}

}  // namespace agentr
