#include "tests/clients/http/fault_proxy.h"

#include <chrono>
#include <thread>
#include <utility>

#include "clients/http/http_client.h"
#include "common/random.h"
#include "tests/clients/http/local_server.h"

namespace agentr {
namespace {

HttpOptions ManyConnections() {
  HttpOptions options;
  options.max_connections = 80;
  return options;
}

// Half of the replies are cut, the other half is no JSON from the first byte on. A number is not
// cut: half of a session's number is the number of another session.
std::string Garbled(const std::string& body, uint64_t call) {
  const bool is_number = body.find_first_not_of("0123456789") == std::string::npos;
  if (call % 2 == 0 && !is_number) return body.substr(0, body.size() / 2);
  return "\x01" + body;
}

}  // namespace

FaultProxy::FaultProxy(const std::string& target, const FaultRates& rates, uint64_t seed)
    : rates_(rates),
      seed_(seed),
      client_(
          std::make_unique<HttpClient>(target, ManyConnections(), std::make_shared<CallStats>())),
      server_(std::make_unique<LocalServer>()) {
  const auto serve = [this](const httplib::Request& request, httplib::Response& response) {
    Serve(request, response);
  };
  (*server_)->Get(".*", serve);
  (*server_)->Post(".*", serve);
  server_->Start();
}

FaultProxy::~FaultProxy() { HoldAfter(~uint64_t{0} / 2); }

std::string FaultProxy::url() const { return server_->url(); }

void FaultProxy::HoldAfter(uint64_t calls) {
  hold_from_ = calls_ + calls;
  hold_from_.notify_all();
}

bool FaultProxy::AwaitHeld(const std::function<bool()>& running) const {
  while (calls_ <= hold_from_ && running()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return calls_ > hold_from_;
}

Fault FaultProxy::Draw(uint64_t call) const {
  double left = RandomStream(seed_).Split(call).Uniform();
  for (auto [fault, rate] :
       {std::pair{Fault::kDropBefore, rates_.drop_before},
        std::pair{Fault::kDropAfter, rates_.drop_after}, std::pair{Fault::kDelay, rates_.delay},
        std::pair{Fault::kStatus500, rates_.status_500},
        std::pair{Fault::kGarble, rates_.garble}}) {
    if (left < rate) return fault;
    left -= rate;
  }
  return Fault::kNone;
}

void FaultProxy::Serve(const httplib::Request& request, httplib::Response& response) {
  const uint64_t call = calls_++;
  for (uint64_t from = hold_from_; call >= from; from = hold_from_) hold_from_.wait(from);
  const Fault fault = Draw(call);
  ++counts_[static_cast<size_t>(fault)];
  switch (fault) {
    case Fault::kDropBefore:
      return CutReply(response);
    case Fault::kDropAfter:
      Forward(request, response);
      return CutReply(response);
    case Fault::kStatus500:
      response.status = 500;
      return response.set_content("fault", "text/plain");
    case Fault::kDelay:
      std::this_thread::sleep_for(std::chrono::duration<double>(rates_.delay_s));
      return Forward(request, response);
    case Fault::kGarble:
      Forward(request, response);
      return response.set_content(Garbled(response.body, call), "application/json");
    case Fault::kNone:
      return Forward(request, response);
  }
}

void FaultProxy::Forward(const httplib::Request& request, httplib::Response& response) {
  const HttpResult reply = request.method == "GET"
                               ? client_->Get(request.target)
                               : client_->Post(request.target, request.body, false);
  if (reply) return response.set_content(reply->body, "application/json");
  response.status = reply.error().status != 0 ? reply.error().status : 502;
  response.set_content(reply.error().body, "application/json");
}

}  // namespace agentr
