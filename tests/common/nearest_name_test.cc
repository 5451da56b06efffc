#include "common/nearest_name.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace agentr {
namespace {

TEST(NearestName, IsTheOneWithTheFewestChanges) {
  const std::vector<std::string> names = {"--max_steps", "--max_context", "--min", "--max",
                                          "--task"};
  EXPECT_EQ(NearestName("--max_stepz", names), "--max_steps");
  EXPECT_EQ(NearestName("--max-steps", names), "--max_steps");
  EXPECT_EQ(NearestName("--maxsteps", names), "--max_steps");
  EXPECT_EQ(NearestName("--taks", names), "--task");
  EXPECT_EQ(NearestName("--MIN", names), "--min");
  EXPECT_EQ(NearestName("--temperature", names), "");
  EXPECT_EQ(NearestName(std::string(200, 'x'), names), "");
  EXPECT_EQ(NearestName("--min", {}), "");
  const std::vector<std::string> model = {"--model_threads", "--model_dir", "--model_name"};
  EXPECT_EQ(NearestName("--model", model), "--model_dir") << "the shortest that begins so";
  EXPECT_EQ(NearestName("--mod", model), "");
}

TEST(NearestName, AsksWhetherItIsMeant) {
  const std::vector<std::string> names = {"webshop", "textcraft"};
  EXPECT_EQ(DidYouMean("webshp", names), "; did you mean webshop?");
  EXPECT_EQ(DidYouMean("chess", names), "");
}

}  // namespace
}  // namespace agentr
