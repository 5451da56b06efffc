// One connection as the library sees it: heads that have been checked, bodies, replies.
#pragma once

#include <httplib.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "servers/http/chunk_check.h"
#include "servers/http/request_head.h"

namespace agentr {

// How long a connection may wait, seconds.
struct TransportTimeouts {
  int idle_s = 60;        // between two requests
  int head_s = 10;        // from the first byte of a request's head to its last one
  int stalled_s = 30;     // without a byte, within a body or a reply
  int body_grace_s = 60;  // a body has this long, and one second more for each 16 KiB that came
};

// Reads in blocks, and gathers a reply so that it leaves in one packet. What has been gathered is
// sent before any wait: for the client's bytes, or for the producer of a streamed reply.
class RequestStream : public httplib::Stream {
 public:
  enum class Await { kHead, kEnded };  // kEnded: the client is gone, or was silent for too long

  RequestStream(socket_t socket, TransportTimeouts timeouts, HttpHeadLimits limits);

  // Waits for the head of the next request, and keeps it back: read() gives it in its canonical
  // form, with CanonicalHead. Errors: HttpRefusal, to be answered with Refuse.
  tl::expected<Await, HttpRefusal> AwaitHead();

  // Of the head that AwaitHead read, until the next call.
  const RequestHead& head() const { return head_; }

  // Sends what has been gathered; false when the client is gone.
  bool Flush();

  // Sends `reply`, the bytes of an error, in place of what the library would.
  void Refuse(std::string_view reply);

  bool error_sent() const { return error_sent_; }

  // True where the body was read to its end, so that the next byte begins a request.
  bool body_read() const;

  // Reads and forgets what the client still sends, for a moment: closing with bytes unread would
  // reset the connection, and the client might never see the reply.
  void Linger();

  bool is_readable() const override { return HasBytes() || !broken_; }
  // Asked before the producer of a streamed reply is called.
  bool is_writable() const override { return const_cast<RequestStream*>(this)->Flush(); }
  ssize_t read(char* to, size_t size) override;
  ssize_t write(const char* data, size_t size) override;

  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  // The library only compares it with what select() can hold, which is not used here.
  socket_t socket() const override { return INVALID_SOCKET; }

 private:
  using Clock = std::chrono::steady_clock;

  bool HasBytes() const { return head_at_ < canonical_.size() || at_ < end_; }
  bool AwaitBytes(Clock::duration longest) const;
  bool Fill();
  ssize_t ReadBody(char* to, size_t size);
  tl::expected<Await, HttpRefusal> BeginBody(std::string_view raw);

  const socket_t socket_;
  const TransportTimeouts timeouts_;
  const HttpHeadLimits limits_;
  std::vector<char> in_;
  size_t at_ = 0, end_ = 0;  // the bytes of in_ not read yet
  std::string raw_;          // a head that came in pieces
  RequestHead head_;         // views into in_ or raw_: valid until the body is read
  std::string canonical_;    // what the library reads first
  size_t head_at_ = 0;       // its bytes read so far
  uint64_t body_left_ = 0;   // of a body with a length
  std::optional<ChunkCheck> chunks_;
  Clock::time_point body_until_;
  std::string out_;
  bool error_sent_ = false;
  bool broken_ = false;
};

}  // namespace agentr
