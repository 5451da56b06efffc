#include "games/webshop/word_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace agentr {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(WordList, ReadsWordsInOrder) {
  EXPECT_THAT(ListedWords("# heading\n\n b a\tb \r\nlast# no word\n#"),
              ElementsAre("b", "a", "b", "last"));
}

TEST(WordList, MayBeEmpty) {
  EXPECT_THAT(ListedWords(""), IsEmpty());
  EXPECT_THAT(ListedWords(" \n# only this"), IsEmpty());
}

}  // namespace
}  // namespace agentr
