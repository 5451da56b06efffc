#include "servers/http/request_head.h"

#include <gmock/gmock.h>

namespace agentr {
namespace {

using ::testing::HasSubstr;

// The status that a request with these first line and field lines is refused with; 0 where not.
int StatusOf(const std::string& text) {
  const auto head = ParseRequestHead(text + "\r\n");
  return head ? 0 : head.error().status;
}

int StatusOfPost(const std::string& fields) {
  return StatusOf("POST /step HTTP/1.1\r\nHost: a\r\n" + fields);
}

TEST(RequestHeadTest, ReadsWhatItNames) {
  const auto head = ParseRequestHead(
      "\r\nPOST /step?x=1 HTTP/1.1\r\nHost: a:80\r\norigin:\thttp://b \r\nContent-Length: "
      "12\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->method, "POST");
  EXPECT_EQ(head->target, "/step?x=1");
  EXPECT_EQ(head->host, "a:80");
  EXPECT_EQ(head->origin, "http://b");
  EXPECT_EQ(head->content_length, 12u);
  EXPECT_FALSE(head->chunked);
}

TEST(RequestHeadTest, LengthsInOneWayOnly) {
  EXPECT_EQ(StatusOfPost("Content-Length: 2\r\n"), 0);
  EXPECT_EQ(StatusOfPost("Transfer-Encoding: Chunked\r\n"), 0);
  for (const char* fields :
       {"Content-Length: 2\r\nContent-Length: 2\r\n", "Content-Length: 2\r\ncontent-length: 5\r\n",
        "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "Content-Length: +2\r\n",
        "Content-Length: 2, 2\r\n", "Content-Length: -1\r\n", "Content-Length: 0x2\r\n",
        "Content-Length:\r\n", "Content-Length: 2 2\r\n",
        "Content-Length: 99999999999999999999\r\n", "Content-Length: 9223372036854775808\r\n",
        "Transfer-Encoding : chunked\r\n", "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: identity\r\n", "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked\v\r\n"}) {
    EXPECT_EQ(StatusOfPost(fields), 400) << fields;
  }
  EXPECT_EQ(StatusOf("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n"), 400);
}

TEST(RequestHeadTest, OnlyAPostHasABody) {
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n"), 0);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"), 400);
}

TEST(RequestHeadTest, MalformedLines) {
  for (const char* fields : {" folded\r\n", "A b: c\r\n", ": c\r\n", "no colon\r\n", "A: b\x01\r\n",
                             "Host: b\r\n", "A\x80: b\r\n"}) {
    EXPECT_EQ(StatusOfPost(fields), 400) << fields;
  }
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\n"), 400);  // no Host
  EXPECT_EQ(StatusOf("GET / HTTP/1.0\r\n"), 0);
  for (const char* line : {"GET /\r\n", "GET\r\n", "GET  HTTP/1.1\r\n", "GET / a HTTP/1.1\r\n",
                           "G(T / HTTP/1.1\r\n", "GET x HTTP/1.1\r\n", "GET / http/1.1\r\n"}) {
    EXPECT_EQ(StatusOf(line), 400) << line;
  }
  EXPECT_EQ(StatusOf("GET / HTTP/2.0\r\n"), 505);
}

TEST(RequestHeadTest, ATargetWithAName) {
  const auto head = ParseRequestHead("GET http://b:1/x?y HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->host, "b:1");
  EXPECT_EQ(head->target, "/x?y");
}

TEST(RequestHeadTest, TheLibrarySeesOneFormAndWhatItKnows) {
  const auto head = ParseRequestHead(
      "POST /step HTTP/1.1\r\nHost: a\r\nrange: bytes=0-,0-,0-\r\nContent-Type: multipart/x\r\n"
      "content-LENGTH:5\r\nauthorization: me\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(CanonicalHead(*head),
            "POST /step HTTP/1.1\r\nContent-Length: 5\r\nAuthorization: me\r\n\r\n");
}

// The size of the head, or the status that it is refused with as a negative number, when its bytes
// come in pieces of `piece`; 0 when more is needed.
int Scan(const std::string& text, size_t piece, HttpHeadLimits limits = {}) {
  HeadScanner scanner(limits);
  for (size_t at = 0; at < text.size(); at += piece) {
    const auto size = scanner.Next(std::string_view(text).substr(at, piece));
    if (!size) return -size.error().status;
    if (*size) return static_cast<int>(at + **size);
  }
  return 0;
}

TEST(HeadScannerTest, FindsTheEndHoweverTheBytesCome) {
  const std::string head = "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n";
  for (const size_t piece : {1, 2, 3, 1000}) {
    EXPECT_EQ(Scan(head + "body\n", piece), static_cast<int>(head.size()));
    EXPECT_EQ(Scan(head.substr(0, head.size() - 1), piece), 0);
    EXPECT_EQ(Scan("GET / HTTP/1.1\nHost: a\n\n", piece), -400);
    EXPECT_EQ(Scan("GET / HTTP/1.1\rHost: a\r\n\r\n", piece), -400);
  }
}

TEST(HeadScannerTest, RefusesWhatIsTooLong) {
  const HttpHeadLimits limits{
      .first_line = 20, .field_line = 10, .field_lines = 3, .field_bytes = 25};
  EXPECT_EQ(Scan(std::string(20, 'x') + "\r\n\r\n", 7, limits), 24);
  EXPECT_EQ(Scan(std::string(21, 'x'), 7, limits), -414);
  EXPECT_EQ(Scan("GET\r\n1234567890\r\n\r\n", 7, limits), 19);
  EXPECT_EQ(Scan("GET\r\n12345678901", 7, limits), -431);
  EXPECT_EQ(Scan("GET\r\na\r\nb\r\nc\r\n\r\n", 7, limits), 16);
  EXPECT_EQ(Scan("GET\r\na\r\nb\r\nc\r\nd", 7, limits), -431);
  EXPECT_EQ(Scan("GET\r\n123456789\r\n123456789\r\n1234567\r\n\r\n", 7, limits), 38);
  EXPECT_EQ(Scan("GET\r\n123456789\r\n123456789\r\n12345678", 7, limits), -431);
  EXPECT_LT(Scan(std::string(100000, '\r'), 7), 0);
}

}  // namespace
}  // namespace agentr
