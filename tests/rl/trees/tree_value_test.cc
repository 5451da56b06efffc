#include "rl/trees/tree_value.h"

#include <gmock/gmock.h>

#include "lm/local_value_model.h"
#include "lm/model_folder.h"
#include "lm/weights/safetensors.h"
#include "tests/lm/tiny_model_folder.h"
#include "tests/mcts/toy_search.h"
#include "training/data/batch_builder.h"
#include "training/data/row_tokenizer.h"
#include "training/loss/batch_loss.h"
#include "training/model/weight_snapshot.h"

namespace agentr {
namespace {

TEST(TwoHot, HasTheValueAsItsMean) {
  for (const double value : {0.0, 0.02, 0.5, 0.333, 0.975, 1.0}) {
    double weight = 0, mean = 0;
    for (const BinWeight& bin : TwoHot(value, 21)) {
      weight += bin.weight;
      mean += bin.weight * bin.bin / 20;
    }
    EXPECT_NEAR(weight, 1, 1e-6);
    EXPECT_NEAR(mean, value, 1e-6);
  }
  EXPECT_EQ(TwoHot(1, 21).back().bin, 20);
  EXPECT_EQ(TwoHot(0.5, 21).size(), 1U);
}

TEST(MeanReward, IsTheMeanOfTheDistribution) {
  const std::vector<TokenLogprob> bins = {
      {0, std::log(0.25F)}, {2, std::log(0.5F)}, {4, std::log(0.25F)}};
  EXPECT_NEAR(MeanReward(bins, 5), 0.5, 1e-6);
}

class ValueModelTest : public ::testing::Test {
 protected:
  ValueModelTest() {
    WriteTinyModel(folder_.path() / "tiny");
    MakeValueFolder(folder_.path() / "tiny", folder_.path() / "value", 5);
  }

  // The prompt of a state with the bin as the token behind it.
  TrainingRow RowOf(const std::vector<Message>& conversation, int32_t bin) const {
    const RowTokenizer text = LoadRowTokenizer(folder_.path() / "value");
    TrainingRow row{text.chat->Apply(conversation, true)->ids, {}};
    const auto end = static_cast<int32_t>(row.ids.size());
    row.ids.push_back(bin);
    row.trained = {{end, end + 1}};
    return row;
  }

  TemporaryFolder folder_;
  const std::vector<std::vector<Message>> states_ = {
      {{"user", "Goal: a."}},
      {{"user", "Goal: a."}, {"assistant", "Action: b"}, {"user", "You see nothing."}}};
};

TEST_F(ValueModelTest, TheFolderIsMadeAnewForAnotherNumberOfBins) {
  MakeValueFolder(folder_.path() / "tiny", folder_.path() / "value", 41);
  const WeightFiles weights(folder_.path() / "value");
  EXPECT_EQ(weights.weights().at("lm_head.weight").shape[0], 41);
}

TEST_F(ValueModelTest, KnowsNothingBeforeTraining) {
  LocalValueModel model(LoadModel(folder_.path() / "value", "", {}));
  const auto values = model.Values(std::vector<ValueRequest>{{states_[0], {}}, {states_[1], {}}});
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_THAT(*values, ::testing::Each(::testing::DoubleNear(0.5, 1e-5)));
}

// The engine gives the trained network's values.
TEST_F(ValueModelTest, SearchAndTrainingAgree) {
  const auto folder = folder_.path() / "value";
  Network network(ReadModelConfig(folder), WeightFiles(folder), {});
  network.TrainAll();
  const TrainingRow first = RowOf(states_[0], 4), second = RowOf(states_[1], 1);
  const std::vector<const TrainingRow*> rows = {&first, &second};
  for (int step = 0; step < 30; ++step) {
    TrainOn(network, BuildBatch(rows, true), 0.5);
    for (const Parameter& p : network.trained()) {
      p.value.sub_(p.gradient, 0.5);
      p.gradient.zero_();
    }
    network.Refresh();
  }
  const std::vector<ValuedState> states = {{first, 1}, {second, 0.25}};
  const ValueFit fit = MeasureValues(network, states, 1000);
  EXPECT_LT(fit.error, 0.1);
  EXPECT_GT(fit.correlation, 0.99);
  EXPECT_NEAR(fit.constant, 0.375, 1e-9);

  LoadedModel loaded = LoadModel(folder, "", {});
  const auto version =
      loaded.engine
          ->Load(std::make_shared<WeightSnapshot>("trained", network.weights(), WeightType::kF32))
          .Wait();
  ASSERT_TRUE(version) << version.error().message;
  LocalValueModel model(std::move(loaded));
  const auto values = model.Values(std::vector<ValueRequest>{{states_[0], {}}, {states_[1], {}}});
  ASSERT_TRUE(values);
  double error = 0;
  for (size_t i = 0; i < 2; ++i) error += std::abs((*values)[i] - states[i].value) / 2;
  EXPECT_NEAR(error, fit.error, 1e-4);
  EXPECT_GT((*values)[0], (*values)[1]);
}

TEST_F(ValueModelTest, RefusesALanguageModel) {
  EXPECT_THROW(LocalValueModel(LoadModel(folder_.path() / "tiny", "", {})), FatalError);
}

}  // namespace
}  // namespace agentr
