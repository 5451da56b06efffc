#include "common/hash.h"

#include <gtest/gtest.h>

#include <string>

namespace agentr {
namespace {

// FIPS 180-2, appendix B.1, and its second example.
TEST(Sha256, IsTheStandards) {
  EXPECT_EQ(Sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
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
