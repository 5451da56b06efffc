// The head of an HTTP/1.1 request: its first line and its header fields, read strictly (RFC 9112).
//
// Whatever two programs could read in two ways is refused, since a request that a proxy and this
// server divide differently smuggles a second one past the proxy: a length given twice, or with a
// transfer coding, or not in plain digits; space before a colon; folded lines; a line feed alone; a
// body with a method that has none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace agentr {

// A request that is answered with an error by the transport; the connection ends after it.
struct HttpRefusal {
  int status = 400;
  std::string message;
};

struct HttpHeadLimits {
  size_t first_line = 8 << 10;    // bytes; more: 414
  size_t field_line = 8 << 10;    // bytes; more: 431
  size_t field_lines = 100;       // more: 431
  size_t field_bytes = 32 << 10;  // of all field lines; more: 431
};

struct RequestHead {
  std::string_view method;  // views point into the text that was parsed
  std::string_view target;  // from the path on: "/step?id=1"
  std::string_view version;
  std::string_view host;  // of the target where it names one, else of the Host field
  std::optional<std::string_view> origin;
  std::optional<uint64_t> content_length;
  bool chunked = false;
  struct Field {
    std::string_view name, value;
  };
  std::vector<Field> fields;  // in their order
};

// Finds where a head ends in bytes that arrive one piece after the other, and refuses one that is
// too long before more of it is stored.
class HeadScanner {
 public:
  explicit HeadScanner(HttpHeadLimits limits) : limits_(limits) {}

  // Looks at the next bytes of the connection; the number of them that belong to the head, the
  // empty line at its end included, once it is whole, else nothing: all do.
  tl::expected<std::optional<size_t>, HttpRefusal> Next(std::string_view bytes);

  bool begun() const { return total_ > 0; }

 private:
  // Refuses a line, or a number of lines, over a limit; `line_` is the length so far.
  std::optional<HttpRefusal> OverLimit() const;

  const HttpHeadLimits limits_;
  size_t total_ = 0;   // bytes
  size_t line_ = 0;    // bytes of the line under way, without its end
  size_t lines_ = 0;   // whole ones, the first line included
  size_t fields_ = 0;  // bytes of whole field lines
  bool carriage_return_ = false;
};

// `text`: a whole head, as far as HeadScanner says.
tl::expected<RequestHead, HttpRefusal> ParseRequestHead(std::string_view text);

// The head as the library is to see it: one way to write everything, and of the fields only those
// that the servers here know.
std::string CanonicalHead(const RequestHead& head);

}  // namespace agentr
