#include "clients/http/http_reply.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace agentr {
namespace {

// Gives the bytes of a text in pieces, then the end of the connection.
class TextSource : public ByteSource {
 public:
  TextSource(std::string text, size_t piece) : text_(std::move(text)), piece_(piece) {}
  tl::expected<size_t, HttpFailure> Read(char* to, size_t size) override {
    const size_t n = std::min({size, piece_, text_.size() - at_});
    std::memcpy(to, text_.data() + at_, n);
    at_ += n;
    return n;
  }

 private:
  const std::string text_;
  const size_t piece_;
  size_t at_ = 0;
};

tl::expected<HttpRawReply, HttpFailure> Read(const std::string& text, size_t piece = 1000) {
  TextSource source(text, piece);
  return ReadReply(source, {.head = 200, .body = 20});
}

TEST(HttpReplyTest, BodiesOfAllKinds) {
  for (const size_t piece : {1, 2, 1000}) {
    auto reply =
        Read("HTTP/1.1 200 OK\r\nAgentr-Instance: me\r\ncontent-length:  5\r\n\r\nhello", piece);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(reply->instance, "me");
    EXPECT_EQ(reply->body, "hello");
    EXPECT_TRUE(reply->keep);
    reply = Read(
        "HTTP/1.1 503 No\r\nTransfer-Encoding: chunked\r\nRetry-After: 7\r\n\r\n"
        "3;x=y\r\nabc\r\nA\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n",
        piece);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body, "abc0123456789");
    EXPECT_EQ(reply->retry_after, "7");
    EXPECT_TRUE(reply->keep);
    reply = Read("HTTP/1.0 200 OK\r\n\r\nto the end", piece);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->body, "to the end");
    EXPECT_FALSE(reply->keep);
    reply = Read(
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n", piece);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->status, 204);
    EXPECT_FALSE(reply->keep);
  }
}

TEST(HttpReplyTest, WhatComesBehindAReplyEndsTheConnection) {
  const auto reply = Read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n\r\n");
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->body, "ok");
  EXPECT_FALSE(reply->keep);
}

TEST(HttpReplyTest, Faults) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const auto fault = [](const std::string& text) {
    const auto reply = Read(text);
    return reply ? -1 : static_cast<int>(reply.error().fault);
  };
  for (const std::string& text :
       {std::string("<html>\r\n\r\n"), std::string("HTTP/2 200\r\n\r\n"),
        std::string("HTTP/1.1 2x0 OK\r\n\r\n"), ok + "Content-Length: -1\r\n\r\n",
        ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        ok + "Transfer-Encoding: gzip\r\n\r\n", ok + "Content-Encoding: gzip\r\n\r\n",
        ok + "nonsense\r\n\r\n", ok + "Transfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n0\r\n\r\n",
        ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n"}) {
    EXPECT_EQ(fault(text), static_cast<int>(HttpFault::kMalformed)) << text;
  }
  for (const std::string& text : {std::string(), ok, ok + "Content-Length: 5\r\n\r\nhell",
                                  ok + "Transfer-Encoding: chunked\r\n\r\n3\r\na",
                                  ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc",
                                  ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r"}) {
    EXPECT_EQ(fault(text), static_cast<int>(HttpFault::kBroken)) << text;
  }
  for (const std::string& text :
       {ok + "Content-Length: 21\r\n\r\n", ok + "\r\n" + std::string(21, 'x'),
        ok + "A: " + std::string(200, 'x'), ok + "Content-Length: 99999999999999999\r\n\r\n",
        ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n",
        ok +
            "Transfer-Encoding: chunked\r\n\r\nb\r\n01234567890\r\na\r\n0123456789\r\n0\r\n\r\n"}) {
    EXPECT_EQ(fault(text), static_cast<int>(HttpFault::kTooLarge)) << text;
  }
}

}  // namespace
}  // namespace agentr
