// The head of an HTTP/1.1 request: its first line and its header fields, read strictly (RFC 9112).
//
// Everything that two programs could read differently is refused, because if a proxy and this
// server divide the bytes differently, a second request can be smuggled past the proxy: a length
// that is given twice, or with a transfer coding, or not in plain digits; space before a colon;
// folded lines; a line feed without a carriage return; a body with a method that has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace agentr {

// The error with which the transport answers a request; the connection ends after it.
struct HttpRefusal {
  int status = 400;
  std::string message;
};

struct HttpHeadLimits {
  size_t first_line = 8 << 10;    // bytes; a longer one is answered with 414
  size_t field_line = 8 << 10;    // bytes; a longer one is answered with 431
  size_t field_lines = 100;       // more are answered with 431
  size_t field_bytes = 32 << 10;  // bytes of all field lines; more are answered with 431
};

struct RequestHead {
  std::string_view method;  // views point into the text that was parsed
  std::string_view target;  // from the path to the end: "/step?id=1"
  std::string_view version;
  std::string_view host;  // from the target if it contains one, else from the Host field
  std::optional<std::string_view> origin;
  std::optional<uint64_t> content_length;
  bool chunked = false;
  struct Field {
    std::string_view name, value;
  };
  std::vector<Field> fields;  // in the order of the request
};

// Finds the end of a head in bytes that arrive in pieces, and refuses a head that is too long
// before more of it is stored.
class HeadScanner {
 public:
  explicit HeadScanner(HttpHeadLimits limits) : limits_(limits) {}

  // Examines the next bytes of the connection. If the head ends among them, returns how many belong
  // to it, including the empty line at its end; else nullopt, because all do.
  tl::expected<std::optional<size_t>, HttpRefusal> Next(std::string_view bytes);

  bool begun() const { return total_ > 0; }

 private:
  // Refuses a line, or a number of lines, over a limit; `line_` is the present length.
  std::optional<HttpRefusal> OverLimit() const;

  const HttpHeadLimits limits_;
  size_t total_ = 0;   // bytes
  size_t line_ = 0;    // bytes of the present line, without its end
  size_t lines_ = 0;   // complete lines, including the first one
  size_t fields_ = 0;  // bytes of complete field lines
  bool carriage_return_ = false;
};

// `text`: a complete head, found by HeadScanner.
tl::expected<RequestHead, HttpRefusal> ParseRequestHead(std::string_view text);

// The head in the form that the library sees: everything is written in one way, and it contains
// only the fields that these servers use.
std::string CanonicalHead(const RequestHead& head);

}  // namespace agentr
