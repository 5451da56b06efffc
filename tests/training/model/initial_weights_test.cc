#include "training/model/initial_weights.h"

#include <cmath>

#include "common/error.h"
#include "common/random.h"
#include "tests/training/batches.h"
#include "tests/training/tiny_network.h"
#include "training/model/random_matrix.h"

namespace agentr {
namespace {

ModelConfig SmallShape() {
  ModelConfig config;
  config.family = "qwen2";
  config.vocab_size = 300;
  config.hidden_size = 128;
  config.intermediate_size = 96;
  config.num_layers = 2;
  config.num_heads = config.num_kv_heads = 4;
  config.head_dim = 32;
  config.max_context = 256;
  config.rope_theta = 1e6;
  config.qkv_bias = true;
  config.tied_embeddings = true;
  return config;
}

// Random words, said twice; the second time is to be predicted.
TokenRow SaidTwice(int words, uint64_t seed) {
  TokenRow row;
  RandomStream random(seed);
  for (int i = 0; i < words; ++i) {
    row.tokens.push_back(static_cast<int32_t>(random.Below(300)));
    row.trained.push_back(false);
  }
  for (int i = 0; i < words; ++i) {
    row.tokens.push_back(row.tokens[static_cast<size_t>(i)]);
    row.trained.push_back(i > 1);
  }
  return row;
}

// How often the word that followed is the likeliest of all but the current one: before any training
// a tied embedding makes each word likely after itself.
double AccuracyOnCopies(InitialAttention attention) {
  const ModelConfig config = SmallShape();
  Network network(config, InitialWeights(config, 1, attention), {});
  std::vector<TokenRow> rows;
  for (uint64_t seed = 0; seed < 10; ++seed) rows.push_back(SaidTwice(30, seed));
  const Batch batch = MakeBatch(rows, /*share=*/false);
  const at::Tensor hidden = network.Forward(batch, TargetRows(batch), /*keep=*/false);
  const at::Tensor logits = hidden.matmul(network.head_weight().t());
  int right = 0;
  for (size_t i = 0; i < batch.targets.size(); ++i) {
    const at::Tensor row = logits[static_cast<int64_t>(i)];
    row[batch.tokens[static_cast<size_t>(batch.targets[i].index)]] = -1e9;
    right += row.argmax().item<int64_t>() == batch.targets[i].token ? 1 : 0;
  }
  return right / static_cast<double>(batch.targets.size());
}

TEST(InitialWeightsTest, InductionHeadsFindWhatFollowedBeforeAnyTraining) {
  // Chance is 1 in 300; 0.30 measured in this small shape.
  EXPECT_GT(AccuracyOnCopies(InitialAttention::kInduction), 0.2);
  EXPECT_LT(AccuracyOnCopies(InitialAttention::kRandom), 0.1);
}

TEST(InitialWeightsTest, HaveTheirDeviations) {
  const InitialWeights weights(SmallShape(), 1);
  const auto deviation = [&](const std::string& name) {
    const Weight& weight = weights.weights().at(name);
    const auto* values = reinterpret_cast<const float*>(weight.data.data());
    const size_t count = weight.data.size() / sizeof(float);
    double squares = 0;
    for (size_t i = 0; i < count; ++i) squares += double{values[i]} * values[i];
    return std::sqrt(squares / static_cast<double>(count));
  };
  const double inner = std::sqrt(2.0 / (5 * 128));
  EXPECT_NEAR(deviation("model.embed_tokens.weight"), 1 / std::sqrt(128.0), 0.002);
  EXPECT_NEAR(deviation("model.layers.0.self_attn.q_proj.weight"), inner, 0.002);
  EXPECT_NEAR(deviation("model.layers.1.mlp.down_proj.weight"), inner / 4, 0.001);
  EXPECT_EQ(deviation("model.norm.weight"), 1);
  EXPECT_EQ(deviation("model.layers.0.self_attn.q_proj.bias"), 0);
}

TEST(InitialWeightsTest, FitEveryFamily) {
  for (const std::string& name : TinyFamilies()) {
    const ModelConfig config = ReadModelConfig(TinyModel(name));
    EXPECT_NO_THROW(Network(config, InitialWeights(config, 1), {})) << name;
  }
}

TEST(InitialWeightsTest, AShapeWithoutRoomForInductionHeadsIsRefused) {
  ModelConfig config = SmallShape();
  config.num_kv_heads = 2;
  EXPECT_THROW(InitialWeights(config, 1, InitialAttention::kInduction), FatalError);
}

TEST(InitialWeightsTest, TheSeedDecides) {
  const auto first = [](uint64_t seed) {
    const InitialWeights weights(SmallShape(), seed);
    const auto data = weights.weights().at("model.embed_tokens.weight").data;
    return std::vector<std::byte>(data.begin(), data.begin() + 64);
  };
  EXPECT_EQ(first(1), first(1));
  EXPECT_NE(first(1), first(2));
}

TEST(RandomMatrixTest, ARotationHasOrthonormalRows) {
  const SquareMatrix m = RandomRotation(40, RandomStream(3));
  for (size_t i = 0; i < m.n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double product = 0;
      for (size_t k = 0; k < m.n; ++k) product += double{m.Row(i)[k]} * m.Row(j)[k];
      EXPECT_NEAR(product, i == j ? 1 : 0, 1e-5) << i << " " << j;
    }
  }
}

}  // namespace
}  // namespace agentr
