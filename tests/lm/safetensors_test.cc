#include "lm/safetensors.h"

#include <gmock/gmock.h>

#include "tests/common/scratch_folder.h"

namespace agentr {
namespace {

TEST(Safetensors, RoundTrip) {
  const ScratchFolder folder;
  const std::string bytes(24, 'x');
  const auto data = std::as_bytes(std::span(bytes));
  WriteWeights(folder.path(), {{"a", {WeightType::kF32, {2, 3}, data}}});
  const WeightFiles files(folder.path());
  EXPECT_EQ(files.weights().at("a").shape, (std::vector<int64_t>{2, 3}));
}

}  // namespace
}  // namespace agentr
