#include "servers/http/request_head.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text.h"

namespace agentr {
namespace {

using HeadResult = tl::expected<RequestHead, HttpRefusal>;

tl::unexpected<HttpRefusal> RefuseHead(int status, std::string message) {
  return tl::make_unexpected(HttpRefusal{status, std::move(message)});
}

// A token of RFC 9110, 5.6.2: the names of methods and fields.
bool IsToken(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return IsAsciiDigit(c) || IsAsciiLetter(c) || kOthers.find(c) != std::string_view::npos;
  });
}

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

// The next line without its end; removes it from `rest`.
std::string_view TakeLine(std::string_view& rest) {
  const size_t end = rest.find("\r\n");
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 2);
  return line;
}

// "http://name:port/path" is also a target (RFC 9112, 3.2.2), which clients send to proxies.
void SplitTarget(RequestHead& head) {
  constexpr std::string_view kScheme = "http://";
  if (!EqualIgnoringCase(head.target.substr(0, kScheme.size()), kScheme)) return;
  const std::string_view rest = head.target.substr(kScheme.size());
  const size_t path = std::min(rest.find_first_of("/?"), rest.size());
  head.host = rest.substr(0, path);
  head.target = path < rest.size() && rest[path] == '/' ? rest.substr(path) : "/";
}

std::optional<HttpRefusal> ParseFirstLine(std::string_view line, RequestHead& head) {
  const size_t first = line.find(' ');
  const size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) {
    return HttpRefusal{400,
                       "The request is malformed: it does not begin with a method, a path "
                       "and a version."};
  }
  head.method = line.substr(0, first);
  head.target = line.substr(first + 1, last - first - 1);
  head.version = line.substr(last + 1);
  const bool printable =
      std::ranges::none_of(head.target, [](char c) { return IsControl(c) || c == ' '; });
  if (!IsToken(head.method) || head.target.empty() || !printable) {
    return HttpRefusal{400, "The request is malformed: its method or its path."};
  }
  if (head.version != "HTTP/1.1" && head.version != "HTTP/1.0") {
    const bool other = head.version.starts_with("HTTP/");
    return HttpRefusal{other ? 505 : 400, "The request is malformed: its version is not HTTP/1.1."};
  }
  SplitTarget(head);
  if (head.target.front() != '/' && head.target != "*") {
    return HttpRefusal{400, "The request is malformed: its path does not begin with a slash."};
  }
  return std::nullopt;
}

std::optional<HttpRefusal> ParseField(std::string_view line, RequestHead& head) {
  const size_t colon = line.find(':');
  const std::string_view name = line.substr(0, colon);
  if (colon == std::string_view::npos || !IsToken(name)) {
    return HttpRefusal{400, fmt::format("The request is malformed: the header line '{}'.",
                                        EscapeControls(line.substr(0, 60)))};
  }
  const std::string_view value = Trim(line.substr(colon + 1), " \t");
  if (std::ranges::any_of(value, [](char c) { return IsControl(c) && c != '\t'; })) {
    return HttpRefusal{400, fmt::format("The header '{}' contains control characters.", name)};
  }
  head.fields.push_back({name, value});
  return std::nullopt;
}

// The value of a field that may occur only once; nullopt if it does not occur.
std::optional<HttpRefusal> TakeOnly(const RequestHead& head, std::string_view name,
                                    std::optional<std::string_view>& value) {
  for (const RequestHead::Field& field : head.fields) {
    if (!EqualIgnoringCase(field.name, name)) continue;
    if (value) return HttpRefusal{400, fmt::format("The header '{}' occurs twice.", name)};
    value = field.value;
  }
  return std::nullopt;
}

std::optional<HttpRefusal> ReadHost(RequestHead& head) {
  std::optional<std::string_view> host;
  if (auto refusal = TakeOnly(head, "Host", host)) return refusal;
  if (!host && head.version == "HTTP/1.1") return HttpRefusal{400, "The header 'Host' is missing."};
  if (head.host.empty()) head.host = host.value_or("");
  return TakeOnly(head, "Origin", head.origin);
}

// Determines how the end of the body is found (RFC 9112, 6.3).
std::optional<HttpRefusal> ReadFraming(RequestHead& head) {
  std::optional<std::string_view> length;
  std::optional<std::string_view> coding;
  if (auto refusal = TakeOnly(head, "Content-Length", length)) return refusal;
  if (auto refusal = TakeOnly(head, "Transfer-Encoding", coding)) return refusal;
  if (length && coding) {
    return HttpRefusal{400,
                       "The headers 'Content-Length' and 'Transfer-Encoding' exclude each "
                       "other."};
  }
  if (length) {
    const auto value = ParseNumber<uint64_t>(*length);
    if (!value || *value > INT64_MAX) {
      return HttpRefusal{400, "The header 'Content-Length' is not a number."};
    }
    head.content_length = value;
  }
  if (coding && (!EqualIgnoringCase(*coding, "chunked") || head.version == "HTTP/1.0")) {
    return HttpRefusal{400, "The only supported transfer coding is 'chunked', in HTTP/1.1."};
  }
  head.chunked = coding.has_value();
  if (head.method != "POST" && (head.chunked || head.content_length.value_or(0) > 0)) {
    return HttpRefusal{400, fmt::format("A {} request must not have a body.", head.method)};
  }
  return std::nullopt;
}

}  // namespace

tl::expected<std::optional<size_t>, HttpRefusal> HeadScanner::Next(std::string_view bytes) {
  for (size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    ++total_;
    if (carriage_return_ != (c == '\n')) {
      return RefuseHead(400, "The request is malformed: a line does not end in CR LF.");
    }
    if (c == '\r') {
      carriage_return_ = true;
    } else if (c != '\n') {
      ++line_;
      if (auto refusal = OverLimit()) return tl::make_unexpected(*std::move(refusal));
    } else {
      carriage_return_ = false;
      const bool empty = line_ == 0;
      if (lines_ > 0) fields_ += line_;
      line_ = 0;
      // Empty lines before the first line are skipped (RFC 9112, 2.2), up to a limit.
      if (empty && lines_ > 0) return std::optional(at + 1);
      if (empty && total_ > limits_.first_line) return RefuseHead(400, "There is no request.");
      if (!empty) ++lines_;
    }
  }
  return std::optional<size_t>();
}

std::optional<HttpRefusal> HeadScanner::OverLimit() const {
  if (lines_ == 0) {
    if (line_ <= limits_.first_line) return std::nullopt;
    return HttpRefusal{
        414, fmt::format("The first line is over the limit of {} bytes.", limits_.first_line)};
  }
  if (line_ > limits_.field_line) {
    return HttpRefusal{
        431, fmt::format("A header line is over the limit of {} bytes.", limits_.field_line)};
  }
  if (lines_ > limits_.field_lines) {
    return HttpRefusal{431,
                       fmt::format("There are more than {} header lines.", limits_.field_lines)};
  }
  if (fields_ + line_ > limits_.field_bytes) {
    return HttpRefusal{
        431, fmt::format("The header lines are over the limit of {} bytes.", limits_.field_bytes)};
  }
  return std::nullopt;
}

HeadResult ParseRequestHead(std::string_view text) {
  while (text.starts_with("\r\n")) text.remove_prefix(2);
  RequestHead head;
  if (auto refusal = ParseFirstLine(TakeLine(text), head)) {
    return tl::make_unexpected(*std::move(refusal));
  }
  while (!text.empty() && text != "\r\n") {
    if (auto refusal = ParseField(TakeLine(text), head)) {
      return tl::make_unexpected(*std::move(refusal));
    }
  }
  if (auto refusal = ReadHost(head)) return tl::make_unexpected(*std::move(refusal));
  if (auto refusal = ReadFraming(head)) return tl::make_unexpected(*std::move(refusal));
  return head;
}

std::string CanonicalHead(const RequestHead& head) {
  constexpr std::array<std::string_view, 8> kKnown = {
      "Accept",           "Authorization", "Agentr-Instance", "Content-Length",
      "Content-Encoding", "Connection",    "Expect",          "Transfer-Encoding"};
  std::string text;
  text.reserve(256);
  for (const std::string_view part :
       {head.method, std::string_view(" "), head.target, std::string_view(" "), head.version}) {
    text += part;
  }
  text += "\r\n";
  for (const RequestHead::Field& field : head.fields) {
    const auto known = std::ranges::find_if(
        kKnown, [&](std::string_view name) { return EqualIgnoringCase(name, field.name); });
    if (known == kKnown.end()) continue;
    text.append(*known).append(": ").append(field.value).append("\r\n");
  }
  return text += "\r\n";
}

}  // namespace agentr
