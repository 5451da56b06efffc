#include "clients/http/http_reply.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "clients/http/http_client.h"
#include "common/error.h"
#include "common/text.h"

namespace agentr {
namespace {

using Step = tl::expected<void, HttpFailure>;

tl::unexpected<HttpFailure> Failed(HttpFault fault, std::string detail) {
  return tl::make_unexpected(HttpFailure{fault, std::move(detail)});
}

tl::unexpected<HttpFailure> Malformed(std::string detail) {
  return Failed(HttpFault::kMalformed, std::move(detail));
}

// A number of `base` that is all of `text`, without sign.
std::optional<uint64_t> Number(std::string_view text, int base) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || at != end) return std::nullopt;
  return value;
}

class ReplyReader {
 public:
  ReplyReader(ByteSource& source, HttpReplyLimits limits, const std::string& session_header)
      : source_(source), limits_(limits), session_header_(session_header) {}

  tl::expected<HttpRawReply, HttpFailure> Read() {
    do {
      AGENTR_RETURN_IF_ERROR(ReadHead());
    } while (reply_.status >= 100 && reply_.status < 200);
    AGENTR_RETURN_IF_ERROR(ReadBody());
    // Bytes after the reply belong to no request, so the connection cannot be used again.
    reply_.keep = reply_.keep && at_ == buffered_.size();
    return std::move(reply_);
  }

 private:
  // Appends more bytes to the buffer; false at the end of the connection.
  tl::expected<bool, HttpFailure> Fill() {
    constexpr size_t kBlock = 16 << 10;
    buffered_.erase(0, at_);
    at_ = 0;
    const size_t before = buffered_.size();
    buffered_.resize(before + kBlock);
    const auto n = source_.Read(buffered_.data() + before, kBlock);
    buffered_.resize(before + n.value_or(0));
    if (!n) return tl::make_unexpected(n.error());
    return *n > 0;
  }

  // The next line without its line end. All lines of one head, or of one body's chunks, share
  // `budget`.
  tl::expected<std::string, HttpFailure> ReadLine(size_t& budget) {
    size_t looked = 0;
    while (true) {
      const size_t end = buffered_.find('\n', at_ + looked);
      const size_t length = std::min(end, buffered_.size()) - at_;
      if (length + 1 > budget) {
        return Failed(HttpFault::kTooLarge,
                      fmt::format("its headers are over the limit of {} bytes", limits_.head));
      }
      if (end != std::string::npos) {
        budget -= length + 1;
        std::string line = buffered_.substr(at_, length);
        if (line.ends_with('\r')) line.pop_back();
        at_ = end + 1;
        return line;
      }
      looked = length;
      AGENTR_ASSIGN_OR_RETURN(const bool more, Fill());
      if (!more) return Failed(HttpFault::kBroken, "");
    }
  }

  Step ReadHead() {
    size_t budget = limits_.head;
    reply_ = {};
    length_.reset();
    chunked_ = false;
    AGENTR_ASSIGN_OR_RETURN(const std::string status_line, ReadLine(budget));
    AGENTR_RETURN_IF_ERROR(ReadStatus(status_line));
    while (true) {
      AGENTR_ASSIGN_OR_RETURN(const std::string line, ReadLine(budget));
      if (line.empty()) return {};
      AGENTR_RETURN_IF_ERROR(ReadField(line));
    }
  }

  Step ReadStatus(std::string_view line) {
    constexpr size_t kVersion = 9;  // "HTTP/1.1 "
    const auto status = Number(line.substr(std::min(kVersion, line.size()), 3), 10);
    const bool one = line.starts_with("HTTP/1.1 ") || line.starts_with("HTTP/1.0 ");
    if (!one || line.size() < kVersion + 3 || !status || *status < 100) {
      return Malformed(fmt::format("it begins with '{}'", EscapeControls(line.substr(0, 60))));
    }
    reply_.status = static_cast<int>(*status);
    reply_.keep = line.starts_with("HTTP/1.1");
    return {};
  }

  Step ReadField(std::string_view line) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return Malformed(fmt::format("the header '{}'", EscapeControls(line.substr(0, 60))));
    }
    const std::string_view name = line.substr(0, colon);
    const std::string_view value = Trim(line.substr(colon + 1), " \t");
    if (EqualIgnoringCase(name, "Content-Length")) {
      const auto length = Number(value, 10);
      if (!length || (length_ && *length_ != *length)) return Malformed("its Content-Length");
      length_ = length;
    } else if (EqualIgnoringCase(name, "Transfer-Encoding")) {
      if (!EqualIgnoringCase(value, "chunked")) return Malformed("its Transfer-Encoding");
      chunked_ = true;
    } else if (EqualIgnoringCase(name, "Content-Encoding") &&
               !EqualIgnoringCase(value, "identity")) {
      return Malformed("it is compressed, which was not asked for");
    } else if (EqualIgnoringCase(name, "Connection")) {
      reply_.keep =
          reply_.keep ? !EqualIgnoringCase(value, "close") : EqualIgnoringCase(value, "keep-alive");
    } else if (EqualIgnoringCase(name, "Retry-After")) {
      reply_.retry_after = value;
    } else if (EqualIgnoringCase(name, "Location")) {
      reply_.location = value;
    } else if (EqualIgnoringCase(name, kInstanceHeader)) {
      reply_.instance = value;
    } else if (EqualIgnoringCase(name, session_header_)) {
      AddSession(name, value);
    }
    return {};
  }

  void AddSession(std::string_view name, std::string_view value) {
    const bool cookie = EqualIgnoringCase(name, "Set-Cookie");
    if (cookie) value = Trim(value.substr(0, value.find(';')));  // without its attributes
    if (cookie && !reply_.session.empty()) {
      reply_.session += fmt::format("; {}", value);
    } else {
      reply_.session = value;
    }
  }

  Step ReadBody() {
    if (reply_.status == 204 || reply_.status == 304) return {};
    if (chunked_) return ReadChunks();
    if (length_) return ReadBytes(*length_);
    reply_.keep = false;
    while (true) {
      AGENTR_RETURN_IF_ERROR(TakeBuffered(buffered_.size() - at_));
      AGENTR_ASSIGN_OR_RETURN(const bool more, Fill());
      if (!more) return {};
    }
  }

  // Moves buffered bytes to the body.
  Step TakeBuffered(size_t n) {
    if (n > limits_.body - reply_.body.size()) return OverBodyLimit();
    reply_.body.append(buffered_, at_, n);
    at_ += n;
    return {};
  }

  tl::unexpected<HttpFailure> OverBodyLimit() const {
    return Failed(HttpFault::kTooLarge, fmt::format("it is over {} bytes", limits_.body));
  }

  Step ReadBytes(uint64_t left) {
    if (left > limits_.body - reply_.body.size()) return OverBodyLimit();
    while (true) {
      const auto n = static_cast<size_t>(std::min<uint64_t>(left, buffered_.size() - at_));
      AGENTR_RETURN_IF_ERROR(TakeBuffered(n));
      left -= n;
      if (left == 0) return {};
      AGENTR_ASSIGN_OR_RETURN(const bool more, Fill());
      if (!more) return Failed(HttpFault::kBroken, "");
    }
  }

  Step ReadChunks() {
    while (true) {
      size_t budget = limits_.head;
      AGENTR_ASSIGN_OR_RETURN(const std::string head, ReadLine(budget));
      const std::string_view digits = std::string_view(head).substr(0, head.find(';'));
      const auto length = Number(Trim(digits, " \t"), 16);
      if (!length) return Malformed("the length of a chunk");
      if (*length == 0) return SkipTrailers();
      AGENTR_RETURN_IF_ERROR(ReadBytes(*length));
      budget = 2;
      const auto line = ReadLine(budget);
      // More than an empty line is over the budget.
      const bool too_long = !line && line.error().fault == HttpFault::kTooLarge;
      if (too_long || (line && !line->empty())) return Malformed("the end of a chunk");
      if (!line) return tl::make_unexpected(line.error());
    }
  }

  Step SkipTrailers() {
    size_t budget = limits_.head;
    while (true) {
      AGENTR_ASSIGN_OR_RETURN(const std::string line, ReadLine(budget));
      if (line.empty()) return {};
    }
  }

  ByteSource& source_;
  const HttpReplyLimits limits_;
  const std::string& session_header_;
  std::string buffered_;
  size_t at_ = 0;  // the read position in buffered_
  HttpRawReply reply_;
  std::optional<uint64_t> length_;
  bool chunked_ = false;
};

}  // namespace

tl::expected<HttpRawReply, HttpFailure> ReadReply(ByteSource& source, HttpReplyLimits limits,
                                                  const std::string& session_header) {
  return ReplyReader(source, limits, session_header).Read();
}

}  // namespace agentr
