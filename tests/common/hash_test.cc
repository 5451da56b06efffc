#include "common/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace agentr {
namespace {

// FIPS 180-4 examples.
TEST(Sha256, KnownAnswers) {
  EXPECT_EQ(Sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(Sha256(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, OfPartsIsThatOfTheWhole) {
  const std::string whole(100000, 'x');
  Sha256Stream stream;
  for (size_t at = 0; at < whole.size(); at += 777) stream.Add(whole.substr(at, 777));
  EXPECT_EQ(stream.Digest(), Sha256(whole));
  EXPECT_EQ(Sha256Stream().Digest(), Sha256(""));
}

}  // namespace
}  // namespace agentr
