#include "revision/make/thoughts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "common/error.h"

namespace agentr {
namespace {

using ::testing::ElementsAre;

TEST(ThoughtsTest, OnePerLineUnderHeadingsWithoutCommentsAndBlanks) {
  const Thoughts thoughts =
      Thoughts::Parse("# about\n\n  I erred. \r\nMy fault.\n \n#x\n[missing_item]\nToo few.\n");
  EXPECT_THAT(thoughts.Of("any"), ElementsAre("I erred.", "My fault."));
  EXPECT_THAT(thoughts.Of("missing_item"), ElementsAre("Too few."));
  EXPECT_TRUE(thoughts.Of("other").empty());
}

TEST(ThoughtsTest, AFileWithoutOneForAnyMistakeIsRefused) {
  EXPECT_THROW(Thoughts::Parse("# none\n"), FatalError);
  EXPECT_THROW(Thoughts::Parse("[refused]\nNo.\n"), FatalError);
}

TEST(ThoughtsTest, TheFirstKindThatHasAnyDecides) {
  const Thoughts thoughts = Thoughts::Parse("Any.\n[refused]\nRefused.\n[dead_end]\nDead.");
  RandomStream random(1);
  EXPECT_EQ(thoughts.Pick({"no_recipe", "refused"}, {}, random), "Refused.");
  EXPECT_EQ(thoughts.Pick({"dead_end", "refused"}, {}, random), "Dead.");
  EXPECT_EQ(thoughts.Pick({"unheard_of"}, {}, random), "Any.");
}

TEST(ThoughtsTest, WordsStandInTheirPlacesAndATextWithoutThemIsPassedOver) {
  const Thoughts thoughts = Thoughts::Parse("Any.\n[a]\n{action} gave {reply}, {action}!");
  RandomStream random(1);
  EXPECT_EQ(thoughts.Pick({"a"}, {"get {reply}", "No.", ""}, random),
            "get {reply} gave No., get {reply}!")
      << "what was filled in is no template";
  EXPECT_EQ(thoughts.Pick({"a"}, {"get 1", "", ""}, random), "Any.");
  const std::string long_reply(500, 'x');
  EXPECT_EQ(thoughts.Pick({"a"}, {"get 1", long_reply, ""}, random), "Any.");
  const Thoughts of_slips = Thoughts::Parse("Any.\n[slip]\n{action}, not {said}.");
  EXPECT_EQ(of_slips.Pick({"slip"}, {"click[red]", "", "", "click[navy]"}, random),
            "click[red], not click[navy].");
  const Thoughts of_objects = Thoughts::Parse("Any.\n[slip]\n{object}, not {said_object}.");
  EXPECT_EQ(of_objects.Pick({"slip"}, {"click[red]", "", "", "click[navy]"}, random),
            "red, not navy.");
  EXPECT_EQ(of_objects.Pick({"slip"}, {"get 2 logs", "", "", "craft 1 stick"}, random),
            "2 logs, not 1 stick.");
  EXPECT_EQ(of_objects.Pick({"slip"}, {"inventory", "", "", "get 2 logs"}, random), "Any.")
      << "an action without an object";
}

TEST(ThoughtsTest, TheBuiltInOnesAreManyAndDifferent) {
  const Thoughts& thoughts = Thoughts::BuiltIn();
  EXPECT_GE(thoughts.Of("any").size(), 15U);
  for (const char* kind :
       {"refused", "dead_end", "slip", "malformed", "not_on_page", "not_offered", "wrong_search",
        "wrong_product", "wrong_option", "not_found", "missing_item", "no_recipe", "not_understood",
        "recover", "recover click"}) {
    const auto& of_kind = thoughts.Of(kind);
    EXPECT_GE(of_kind.size(), 3U) << kind;
    EXPECT_EQ(std::set<std::string>(of_kind.begin(), of_kind.end()).size(), of_kind.size());
  }
}

}  // namespace
}  // namespace agentr
