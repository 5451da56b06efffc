#include "training/model/network.h"

#include <gmock/gmock.h>
#include <torch/library.h>
#include <torch/version.h>

#include <nlohmann/json.hpp>

#include "common/file.h"
#include "tests/common/fatal_error.h"
#include "tests/common/scratch_folder.h"
#include "tests/lm/decoder/load_decoder.h"
#include "tests/lm/decoder/paged_text.h"
#include "tests/training/batches.h"
#include "tests/training/finite_difference.h"
#include "tests/training/tiny_network.h"
#include "training/device.h"
#include "training/model/weight_snapshot.h"
#include "training/optim/adamw.h"
#include "training/own_loops.h"

namespace agentr {
namespace {

using at::Tensor;
using ::testing::HasSubstr;

const nlohmann::json& Golden() {
  static const auto kGolden =
      nlohmann::json::parse(ReadFile(AGENTR_SOURCE_DIR "/tests/golden/training.json"));
  return kGolden;
}

std::vector<TokenRow> GoldenRows() {
  std::vector<TokenRow> rows;
  for (const auto& row : Golden()["rows"]) {
    rows.push_back(
        {row["tokens"].get<std::vector<int32_t>>(), row["trained"].get<std::vector<bool>>()});
  }
  return rows;
}

// The first loss, every gradient and the losses of ten steps are transformers'.
void ExpectGolden(Network& network, const nlohmann::json& golden) {
  const std::vector<Batch> batches = {MakeBatch(GoldenRows(), /*share=*/true)};
  const TrainedStep first = RunStep(network, batches);
  EXPECT_NEAR(first.loss, golden["losses"][0], 1e-5 * first.loss);
  size_t compared = 0;
  // Those of a fused matrix are ours of its parts below each other.
  const auto ours = [&](const std::string& name) {
    std::vector<Tensor> parts;
    for (const auto& [fused, layers] : {std::pair<std::string, std::vector<std::string>>(
                                            "qkv_proj", {"q_proj", "k_proj", "v_proj"}),
                                        {"gate_up_proj", {"gate_proj", "up_proj"}}}) {
      if (const size_t begin = name.find(fused); begin != std::string::npos) {
        for (const std::string& layer : layers) {
          parts.push_back(
              first.gradients.at(std::string(name).replace(begin, fused.size(), layer)));
        }
      }
    }
    if (parts.empty()) parts = {first.gradients.at(name)};
    compared += parts.size();
    return at::cat(parts);
  };
  for (const auto& [name, expected] : golden["gradients"].items()) {
    const Tensor flat = ours(name).view({-1});
    const double norm = expected["norm"], n = static_cast<double>(flat.numel());
    EXPECT_NEAR(flat.to(at::kDouble).norm().item<double>(), norm, 1e-4 * norm) << name;
    const int64_t places[] = {0, flat.numel() / 2, flat.numel() - 1};
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(flat[places[i]].item<double>(), expected["values"][i].get<double>(),
                  1e-4 * norm / std::sqrt(n))
          << name << " " << places[i];
    }
  }
  EXPECT_EQ(compared, first.gradients.size());
  const auto& adamw = Golden()["adamw"];
  AdamW optimizer(network.trained(), {adamw["betas"][0], adamw["betas"][1], adamw["eps"],
                                      adamw["weight_decay"], Golden()["clip"]});
  for (size_t step = 0; step < golden["losses"].size(); ++step) {
    const Batch& batch = batches[0];
    const double weight = batch.weight();
    const double loss = TrainOn(network, batch, 1 / weight).Total().loss / weight;
    EXPECT_NEAR(loss, golden["losses"][step], 1e-4 * loss) << "step " << step;
    const double norm = optimizer.GradientNorm();
    EXPECT_NEAR(norm, golden["norms"][step], 1e-3 * norm) << "step " << step;
    optimizer.Step(adamw["lr"], norm);
    network.Refresh();
  }
}

class Families : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(All, Families, ::testing::ValuesIn(TinyFamilies()),
                         [](const auto& test) { return test.param; });

void ExpectTransformers(const std::string& model) {
  Network network = TrainedNetwork(model);
  ExpectGolden(network, Golden()["models"][model]["full"]);
}

TEST_P(Families, TrainLikeTransformers) { ExpectTransformers(GetParam()); }

void FillWithWave(const Tensor& t, double amount, double pace) {
  for (int64_t i = 0; i < t.numel(); ++i) {
    t.data_ptr<float>()[i] = static_cast<float>(amount * std::sin(pace * i + 1));
  }
}

LoraOptions GoldenLora(const std::string& model) {
  return {.rank = Golden()["lora"]["rank"],
          .alpha = Golden()["lora"]["alpha"],
          .rank_stabilized = model == "qwen3"};
}

void FillAdapters(Network& network) {
  for (const Parameter& p : network.adapters()) {
    const bool a = p.name.find("lora_A") != std::string::npos;
    FillWithWave(p.value, a ? 0.3 : 0.2, a ? 0.7 : 1.3);
  }
  network.Refresh();
}

void ExpectPeft(const std::string& model) {
  Network network = TinyNetwork(model);
  network.TrainAdapters(GoldenLora(model), 1);
  FillAdapters(network);
  ExpectGolden(network, Golden()["models"][model]["lora"]);
}

bool HasAdapters(const std::string& model) { return Golden()["models"][model].contains("lora"); }

TEST_P(Families, TrainAdaptersLikePeft) {
  if (!HasAdapters(GetParam())) GTEST_SKIP() << "its layers are fused";
  ExpectPeft(GetParam());
}

// The loss, the attention of the tree, every gradient and AdamW as on a GPU.
TEST_P(Families, TrainLikeTransformersWithLibTorchsOperators) {
  const WithOperators operators;
  ExpectTransformers(GetParam());
  if (HasAdapters(GetParam())) ExpectPeft(GetParam());
}

TEST_P(Families, MergedAdaptersAreTheSameNetwork) {
  Network network = TinyNetwork(GetParam());
  network.TrainAdapters(GoldenLora(GetParam()), 1);
  const Batch batch = MakeBatch(GoldenRows(), true);
  const double before = Evaluate(network, batch).Total().loss;
  FillAdapters(network);
  const double beside = Evaluate(network, batch).Total().loss;
  EXPECT_GT(std::abs(beside - before), 1e-2);
  const WeightSnapshot weights("merged", network.merged(), WeightType::kF32);
  Network merged(network.config(), weights, {});
  EXPECT_NEAR(Evaluate(merged, batch).Total().loss, beside, 1e-4);
  EXPECT_EQ(Evaluate(network, batch).Total().loss, beside);
}

// Positions with several next tokens among them, and segments longer than a block of attention.
TEST_P(Families, EveryWayOfBatchingIsTheSame) {
  const std::vector<TokenRow> rows = RandomRows(2, 8, 250, 64, 3);
  const Batch shared = MakeBatch(rows, true), packed = MakeBatch(rows, false);
  ASSERT_LT(shared.tokens.size() * 3, packed.tokens.size() * 2);
  size_t branching = 0;
  for (size_t i = 1; i < shared.targets.size(); ++i) {
    branching += shared.targets[i].index == shared.targets[i - 1].index;
  }
  ASSERT_GE(branching, 2u);

  std::vector<Batch> apart;
  for (const TokenRow& row : rows) apart.push_back(MakeBatch({row}, true));
  Network network = TrainedNetwork(GetParam());
  const TrainedStep expected = RunStep(network, apart);
  ExpectSame(RunStep(network, {packed}), expected);
  ExpectSame(RunStep(network, {shared}), expected);
  ExpectSame(RunStep(network, {shared}, {.chunk_logits = 64 * 7, .least_rows = 1}), expected);
  const std::vector<TokenRow> some(rows.begin(), rows.begin() + 3),
      rest(rows.begin() + 3, rows.end());
  ExpectSame(RunStep(network, {MakeBatch(some, true), MakeBatch(rest, true)}), expected);

  Network other = TrainedNetwork(GetParam(), {.checkpoint_activations = true});
  ExpectSame(RunStep(other, {shared}), expected);
}

TEST_P(Families, LogitsAreTheEngines) {
  DecoderOptions options;
  options.threads = 1;
  const auto decoder = LoadDecoder(TinyModel(GetParam()), options);
  Network network = TinyNetwork(GetParam());
  const std::vector<TokenRow> rows = RandomRows(1, 1, 200, 64, 5);
  const Batch batch = MakeBatch(rows, true);
  std::vector<int32_t> all(batch.tokens.size());
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
  const Tensor logits =
      at::mm(network.Forward(batch, all, false), network.head_weight().t()).contiguous();
  BlockSource source(*decoder);
  PagedText text{rows[0].tokens, {}};
  const std::vector<SequenceChunk> chunk = {
      text.Next(source, static_cast<int32_t>(rows[0].tokens.size()))};
  const auto expected = decoder->Forward(chunk);
  ASSERT_EQ(static_cast<int64_t>(expected.size()), logits.numel());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(logits.data_ptr<float>()[i], expected[i], 2e-4) << i;
  }
}

// Other rotary scalings and windows of some layers; the frequencies are those of the whole context.
TEST(ModelVariants, LossAndGradientsAreTransformers) {
  const auto variants = nlohmann::json::parse(
      ReadFile(AGENTR_SOURCE_DIR "/tests/golden/model_variants.json"))["variants"];
  int compared = 0;
  for (const auto& [name, variant] : variants.items()) {
    const int64_t context = variant["context"];
    if (context > 0 && context != variant["config"]["max_position_embeddings"]) continue;
    SCOPED_TRACE(name);
    const ScratchFolder folder;
    WriteFileAtomically(folder / "config.json", variant["config"].dump());
    Network network(ReadModelConfig(folder.path()), WeightFiles(TinyModel(variant["model"])), {});
    network.TrainAll();
    TokenRow row{variant["tokens"].get<std::vector<int32_t>>(), {}};
    row.trained.assign(row.tokens.size(), true);
    row.trained[0] = false;
    const TrainedStep step = RunStep(network, {MakeBatch({row}, true)});
    EXPECT_NEAR(step.loss, variant["loss"], 1e-4 * step.loss);
    for (const auto& [weight, norm] : variant["gradients"].items()) {
      const auto found = step.gradients.find(weight);
      if (found == step.gradients.end()) continue;  // a fused matrix
      ++compared;
      EXPECT_NEAR(found->second.to(at::kDouble).norm().item<double>(), norm,
                  1e-3 * norm.get<double>())
          << weight;
    }
  }
  EXPECT_GT(compared, 150);
}

TEST(Network, AnAdapterOfNoLayerIsRefused) {
  const LoraOptions lora = {.rank = 2, .targets = {"q_proj", "W_pack"}};
  Network network = TinyNetwork("llama", {});
  EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [&] { network.TrainAdapters(lora, 1); }),
              HasSubstr("--lora_target W_pack matches no layer"));
}

TEST(Network, DropoutIsTheSameForwardBackwardAndInCheckpoints) {
  const std::vector<Batch> batches = {MakeBatch(RandomRows(1, 3, 30, 64, 3), true)};
  const LoraOptions lora = {.rank = 3, .dropout = 0.3, .targets = {"down_proj", "q_proj"}};
  const auto make = [&](bool checkpoint) {
    Network network = TinyNetwork("llama", {.checkpoint_activations = checkpoint});
    network.TrainAdapters(lora, 1);
    FillAdapters(network);
    return network;
  };
  Network network = make(false), again = make(true);
  const TrainedStep first = RunStep(network, batches, {}, 1);
  ExpectSame(RunStep(again, batches, {}, 1), first);
  EXPECT_NE(RunStep(network, batches, {}, 2).loss, first.loss);
  EXPECT_NE(RunStep(network, batches, {}, 0).loss, first.loss);
  const Parameter a = network.adapters()[0];
  ExpectGradient(
      a.value, first.gradients.at(a.name),
      [&] {
        network.Refresh();
        return RunStep(network, batches, {}, 1).loss;
      },
      3e-3, 5e-3);
}

#if TORCH_VERSION_MAJOR >= 2
// PyTorch has it only in Python.
Tensor SelectWithoutMemory(const Tensor& from, int64_t dim, const Tensor& index) {
  EXPECT_EQ(index.device(), from.device());
  std::vector<int64_t> shape = from.sizes().vec();
  shape[static_cast<size_t>(dim)] = index.numel();
  return at::empty(shape, from.options());
}
TORCH_LIBRARY_IMPL(aten, Meta, library) { library.impl("index_select", SelectWithoutMemory); }
#endif

// Nothing of forward and backward may be in the memory of the CPU or read a number: a device
// without memory would refuse it.
TEST(Network, AStepStaysOnItsDevice) {
  if (TORCH_VERSION_MAJOR < 2) GTEST_SKIP() << "the device meta of LibTorch 1.13 lacks operators";
  const Batch batch = MakeBatch(RandomRows(2, 4, 60, 64, 3), true);
  const std::vector<int32_t> rows = TargetRows(batch);
  for (const bool adapters : {false, true}) {
    const at::ScalarType type = adapters ? at::kBFloat16 : at::kFloat;
    Network network = TinyNetwork("qwen3", {.device = at::kMeta, .type = type});
    adapters ? network.TrainAdapters({.rank = 3, .dropout = 0.3}, 1) : network.TrainAll();
    const Tensor hidden = network.Forward(batch, rows, /*keep=*/true, /*draw=*/1);
    EXPECT_EQ(hidden.device(), at::Device(at::kMeta));
    network.Backward(at::empty_like(hidden));
    AdamW(network.trained(), {}).Step(1e-3, 1);
    network.Refresh();
    for (const Parameter& p : network.trained()) {
      EXPECT_EQ(p.gradient.device(), at::Device(at::kMeta)) << p.name;
    }
  }
}

TEST(Network, Bfloat16OfLibTorchsOperatorsIsNearOurs) {
  const std::vector<Batch> batches = {MakeBatch(RandomRows(2, 4, 60, 64, 3), true)};
  Network network = TrainedNetwork("qwen3", {.type = at::kBFloat16});
  const TrainedStep ours = RunStep(network, batches);
  const WithOperators operators;
  ExpectSame(RunStep(network, batches), ours, 2e-3, 0.05);
}

TEST(Network, WeightsThatAreNotFiniteAreNamedAtTheStart) {
  const auto folder = TinyModel("llama");
  const WeightFiles files(folder);
  std::map<std::string, Weight> weights = files.weights();
  Weight& norm = weights.at("model.norm.weight");
  std::vector<std::byte> bytes(norm.data.begin(), norm.data.end());
  std::fill_n(bytes.begin() + 4, 4, std::byte{0xFF});
  norm.data = bytes;
  const auto open = [&] {
    Network(ReadModelConfig(folder), WeightsInMemory("the model", weights), {});
  };
  EXPECT_THAT(FatalErrorOf(ExitCode::kFile, open),
              HasSubstr("values of model.norm.weight are not finite"));
}

TEST(Network, ExpertsAreNotTrained) {
  for (const std::string name : {"qwen3_moe", "mixtral"}) {
    EXPECT_THAT(FatalErrorOf(ExitCode::kUsage, [&] { TinyNetwork(name); }),
                HasSubstr("with experts (" + name + ") run, but are not"));
  }
}

TEST(Network, DevicesThatAreNotThereAreRefused) {
  EXPECT_EQ(TrainingDevice("cpu", 3), at::Device(at::kCPU));
  for (const char* name : {"gpu", "cuda:x", "meta", "cuda:99"}) {
    EXPECT_THROW(TrainingDevice(name, 0), FatalError) << name;
  }
}

TEST(Network, Bfloat16IsNearFloat32) {
  const std::vector<Batch> batches = {MakeBatch(RandomRows(2, 4, 60, 64, 3), true)};
  Network wide = TrainedNetwork("qwen2");
  Network narrow = TrainedNetwork("qwen2", {.type = at::kBFloat16});
  const TrainedStep expected = RunStep(wide, batches), got = RunStep(narrow, batches);
  EXPECT_NEAR(got.loss, expected.loss, 0.02 * expected.loss);
  EXPECT_NE(got.loss, expected.loss);
  for (const auto& [name, gradient] : expected.gradients) {
    const double apart = (got.gradients.at(name) - gradient).norm().item<double>();
    EXPECT_LT(apart, 0.1 * gradient.norm().item<double>()) << name;
  }
}

}  // namespace
}  // namespace agentr
