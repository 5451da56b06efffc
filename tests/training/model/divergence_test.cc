// The one rule for numbers that are not finite.
#include "training/model/divergence.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/common/fatal_error.h"
#include "tests/training/finite_difference.h"
#include "training/model/weight_snapshot.h"
#include "training/own_loops.h"

namespace agentr {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string EndOf(const std::function<void()>& work) {
  return FatalErrorOf<DivergedError>(ExitCode::kIncomplete, work);
}

// In pieces, in one piece, and where LibTorch's operators count.
TEST(Divergence, IsCountedInEveryTypeAndLayout) {
  for (const int64_t size : {0, 3, 70'000}) {
    const at::Tensor values = RandomTensor({size}, 1);
    EXPECT_EQ(CountNotFinite(values), 0) << size;
    if (size == 0) continue;
    values[0] = NAN;
    values[size - 1] = INFINITY;
    EXPECT_EQ(CountNotFinite(values), 2) << size;
    EXPECT_EQ(CountNotFinite(values.to(at::kBFloat16)), 2) << size;
    EXPECT_EQ(CountNotFinite(values.to(at::kDouble)), 2) << size;
    EXPECT_EQ(CountNotFinite(at::stack({values, values}, 1).select(1, 1)), 2) << "with gaps";
    const WithOperators operators;
    EXPECT_EQ(CountNotFinite(values), 2) << size;
  }
}

TEST(Divergence, TheFirstTensorIsNamed) {
  std::vector<Parameter> parameters;
  for (const char* name : {"a", "b", "c"}) parameters.push_back({name, RandomTensor({8}, 1), {}});
  EXPECT_EQ(DescribeNotFinite(parameters), "");
  parameters[1].value[5] = NAN;
  EXPECT_EQ(DescribeNotFinite(parameters), "1 of the 8 values of b are not finite");
  parameters[2].value[5] = -INFINITY;
  EXPECT_EQ(DescribeNotFinite(parameters),
            "1 of the 8 values of b are not finite, like some of others");
}

TEST(Divergence, EndsTheRunWithTheCure) {
  const at::Tensor values = RandomTensor({8}, 1);
  EXPECT_EQ(EndOf([&] { RequireFinite(values, "the critic"); }), "");
  values[5] = NAN;
  EXPECT_THAT(EndOf([&] { RequireFinite(values, "the critic", "--critic_lr"); }),
              AllOf(HasSubstr("diverged: 1 of the 8 values of the critic are not finite"),
                    HasSubstr("a lower --critic_lr")));
}

// A finite weight of float32 may be infinite in the type of the export.
TEST(Divergence, NothingThatIsNotFiniteIsExported) {
  const Parameter largest = {"w", at::full({4}, 3.4e38f), {}};
  EXPECT_EQ(EndOf([&] { WeightSnapshot("", {largest}, WeightType::kF32); }), "");
  EXPECT_THAT(EndOf([&] { WeightSnapshot("", {largest}, WeightType::kBF16); }),
              HasSubstr("4 of the 4 values of w, as BF16, are not finite"));
}

}  // namespace
}  // namespace agentr
