// One connection as the library sees it: checked heads, bodies and replies.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "servers/http/chunk_check.h"
#include "servers/http/httplib_inner.h"
#include "servers/http/request_head.h"

namespace agentr {

// Limits of waiting for a connection, in seconds.
struct TransportTimeouts {
  int idle_s = 60;        // between two requests
  int head_s = 10;        // from the first to the last byte of a request's head
  int stalled_s = 30;     // without a byte within a body or a reply
  int body_grace_s = 60;  // time for a body, plus one second for each 16 KiB received
};

// Reads in blocks, and buffers a reply so that it is sent in one packet. Buffered bytes are sent
// before every wait, for the client's bytes or for the producer of a streamed reply.
class RequestStream : public LibraryStream {
 public:
  // kEnded: the client has disconnected or was silent for too long.
  enum class Await { kHead, kEnded };

  RequestStream(socket_t socket, TransportTimeouts timeouts, HttpHeadLimits limits);

  // Waits for the head of the next request and stores it; read() then returns it in the form of
  // CanonicalHead. An HttpRefusal must be answered with Refuse.
  tl::expected<Await, HttpRefusal> AwaitHead();

  // The head that AwaitHead read; valid until the next call.
  const RequestHead& head() const { return head_; }

  // Sends the buffered bytes; false if the client has disconnected.
  bool Flush();

  // Sends `reply`, the bytes of an error, instead of the library's reply.
  void Refuse(std::string_view reply);

  bool error_sent() const { return error_sent_; }

  // True if the body was read to its end, so that the next byte begins a request.
  bool body_read() const;

  // Whether the client has closed the connection, or its side of it.
  bool ClientGone() const;

  // Reads and discards further bytes of the client for a moment: closing with unread bytes would
  // reset the connection, and the client might never see the reply.
  void Linger();

  bool is_readable() const override { return HasBytes() || !broken_; }
  ssize_t read(char* to, size_t size) override;
  ssize_t write(const char* data, size_t size) override;

  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  // The library only compares it with the limit of select(), which is not used here.
  socket_t socket() const override { return INVALID_SOCKET; }

 protected:
  bool MayWrite() const override { return const_cast<RequestStream*>(this)->Flush(); }

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
  size_t at_ = 0, end_ = 0;  // the unread bytes of in_
  std::string raw_;          // a head that arrived in pieces
  RequestHead head_;         // has views into in_ or raw_, valid until the body is read
  std::string canonical_;    // the head for the library, which it reads first
  size_t head_at_ = 0;       // the bytes of it that were read
  uint64_t body_left_ = 0;   // unread bytes of a body with a length
  std::optional<ChunkCheck> chunks_;
  Clock::time_point body_until_;
  std::string out_;
  bool error_sent_ = false;
  bool broken_ = false;
};

}  // namespace agentr
