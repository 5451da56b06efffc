#include "rl/networks/symbolic_network.h"

#include <cmath>
#include <cstring>
#include <tuple>
#include <utility>

#include "training/model/random_matrix.h"

namespace agentr {
namespace {

using at::Tensor;

constexpr int64_t kHeadWidth = 64;

std::vector<float> UniformValues(int64_t count, double most, RandomStream random) {
  std::vector<float> values(static_cast<size_t>(count));
  for (float& value : values) value = static_cast<float>((2 * random.Uniform() - 1) * most);
  return values;
}

int64_t CountOf(at::IntArrayRef shape) {
  int64_t count = 1;
  for (const int64_t size : shape) count *= size;
  return count;
}

template <typename Layer>
Tensor LinearOf(const Layer& layer, const Tensor& x) {
  return at::addmm(layer.bias, x, layer.weight.t());
}

template <typename Layer>
Tensor ConvolutionOf(const Layer& layer, const Tensor& x) {
  return at::conv2d(x, layer.weight, layer.bias, /*stride=*/1, /*padding=*/1);
}

template <typename Layer>
Tensor NormOf(const Layer& norm, const Tensor& x, bool batch_statistics) {
  return at::batch_norm(x, norm.affine.weight, norm.affine.bias, norm.mean, norm.variance,
                        batch_statistics, /*momentum=*/0.1, /*eps=*/1e-5, /*cudnn_enabled=*/false);
}

template <typename Layers>
Tensor HeadOf(const Layers& layers, const Tensor& x) {
  return LinearOf(layers[1], LinearOf(layers[0], x).tanh());
}

}  // namespace

SymbolicNetwork::SymbolicNetwork(int64_t actions, uint64_t seed) : seed_(seed) {
  convolutions_ = {AddConvolution("image.0", 3, 2), AddConvolution("image.1", kWidth, 3)};
  norms_ = {AddNorm("image_norm.0"), AddNorm("image_norm.1")};
  embedding_ = Add("embedding.weight",
                   NormalValues(static_cast<size_t>((kWords + 1) * kWidth), 1,
                                RandomStream(seed).Split("embedding.weight")),
                   {kWords + 1, kWidth}, /*decays=*/false);
  gru_ = AddGates("gru", 3);
  films_ = {AddFilm("film.0"), AddFilm("film.1")};
  lstm_ = AddGates("lstm", 4);
  actor_ = {AddLinear("actor.0", kWidth, kHeadWidth), AddLinear("actor.1", kHeadWidth, actions)};
  critic_ = {AddLinear("critic.0", kWidth, kHeadWidth), AddLinear("critic.1", kHeadWidth, 1)};
}

Tensor SymbolicNetwork::Add(const std::string& name, std::vector<float> values,
                            at::IntArrayRef shape, bool decays) {
  Tensor value = at::empty(shape, at::kFloat);
  std::memcpy(value.data_ptr(), values.data(), values.size() * sizeof(float));
  const Tensor gradient = at::zeros_like(value);
  value.set_requires_grad(true);
  value.mutable_grad() = gradient;
  parameters_.push_back({name, value, gradient, decays});
  return value;
}

Tensor SymbolicNetwork::AddUniform(const std::string& name, at::IntArrayRef shape, int64_t inputs) {
  const double most = 1 / std::sqrt(static_cast<double>(inputs));
  return Add(name, UniformValues(CountOf(shape), most, RandomStream(seed_).Split(name)), shape,
             /*decays=*/shape.size() > 1);
}

SymbolicNetwork::Affine SymbolicNetwork::AddConvolution(const std::string& name, int64_t inputs,
                                                        int64_t size) {
  const int64_t seen = inputs * size * size;
  return {AddUniform(name + ".weight", {kWidth, inputs, size, size}, seen),
          AddUniform(name + ".bias", {kWidth}, seen)};
}

SymbolicNetwork::Affine SymbolicNetwork::AddLinear(const std::string& name, int64_t inputs,
                                                   int64_t outputs) {
  std::vector<float> values = NormalValues(static_cast<size_t>(inputs * outputs), 1,
                                           RandomStream(seed_).Split(name + ".weight"));
  for (auto row = values.begin(); row != values.end(); row += inputs) {
    double squares = 0;
    for (auto value = row; value != row + inputs; ++value) squares += *value * *value;
    for (auto value = row; value != row + inputs; ++value) {
      *value = static_cast<float>(*value / std::sqrt(squares));
    }
  }
  return {Add(name + ".weight", std::move(values), {outputs, inputs}, /*decays=*/true),
          Add(name + ".bias", std::vector<float>(static_cast<size_t>(outputs)), {outputs},
              /*decays=*/false)};
}

SymbolicNetwork::Norm SymbolicNetwork::AddNorm(const std::string& name) {
  const auto average = [&](const char* what, double value) {
    statistics_.push_back({name + what, at::full({kWidth}, value, at::kFloat), {}, false});
    return statistics_.back().value;
  };
  const auto constant = [&](const char* what, float value) {
    return Add(name + what, std::vector<float>(kWidth, value), {kWidth}, /*decays=*/false);
  };
  return {{constant(".weight", 1), constant(".bias", 0)},
          average(".running_mean", 0),
          average(".running_var", 1)};
}

SymbolicNetwork::Film SymbolicNetwork::AddFilm(const std::string& name) {
  return {AddConvolution(name + ".first", kWidth, 3),
          AddConvolution(name + ".second", kWidth, 3),
          AddLinear(name + ".scale", kWidth, kWidth),
          AddLinear(name + ".shift", kWidth, kWidth),
          AddNorm(name + ".first_norm"),
          AddNorm(name + ".second_norm")};
}

std::array<Tensor, 4> SymbolicNetwork::AddGates(const std::string& name, int64_t gates) {
  const int64_t rows = gates * kWidth;
  return {AddUniform(name + ".weight_ih", {rows, kWidth}, kWidth),
          AddUniform(name + ".weight_hh", {rows, kWidth}, kWidth),
          AddUniform(name + ".bias_ih", {rows}, kWidth),
          AddUniform(name + ".bias_hh", {rows}, kWidth)};
}

Tensor SymbolicNetwork::ReadMissions(const Tensor& missions) const {
  const auto [all, where, counts] =
      at::unique_dim(missions, 0, /*sorted=*/true, /*return_inverse=*/true);
  const Tensor lengths = all.ne(0).sum(1);
  const Tensor words = all.narrow(1, 0, lengths.max().item<int64_t>());
  const int64_t rows = words.size(0);
  const Tensor first = at::zeros({1, rows, kWidth}, at::kFloat);
  const Tensor states =  // [rows, words, kWidth]
      std::get<0>(at::gru(at::embedding(embedding_, words), first,
                          at::TensorList(gru_.data(), gru_.size()), /*has_biases=*/true,
                          /*num_layers=*/1, /*dropout=*/0.0, /*train=*/false,
                          /*bidirectional=*/false, /*batch_first=*/true));
  const Tensor last = (lengths - 1).view({rows, 1, 1}).expand({rows, 1, kWidth});
  return states.gather(1, last).squeeze(1).index_select(0, where);
}

SymbolicNetwork::Output SymbolicNetwork::Forward(const Tensor& images, const Tensor& missions,
                                                 const Tensor& memory,
                                                 bool batch_statistics) const {
  Tensor x = images;
  for (size_t i = 0; i < convolutions_.size(); ++i) {
    x = NormOf(norms_[i], ConvolutionOf(convolutions_[i], x), batch_statistics);
    x = at::max_pool2d(at::relu(x), 2);
  }
  for (const Film& film : films_) {
    x = NormOf(film.first_norm, ConvolutionOf(film.first, x), batch_statistics);
    x = ConvolutionOf(film.second, at::relu(x));
    const auto by_channel = [&](const Affine& layer) {
      return LinearOf(layer, missions).unsqueeze(2).unsqueeze(3);
    };
    x = x * by_channel(film.scale) + by_channel(film.shift);
    x = at::relu(NormOf(film.second_norm, x, batch_statistics));
  }
  x = at::relu(at::max_pool2d(x, 2)).flatten(1);
  const auto [hidden, cell] =
      at::lstm_cell(x, {memory.narrow(1, 0, kWidth), memory.narrow(1, kWidth, kWidth)}, lstm_[0],
                    lstm_[1], lstm_[2], lstm_[3]);
  return {HeadOf(actor_, hidden), HeadOf(critic_, hidden).squeeze(1), at::cat({hidden, cell}, 1)};
}

}  // namespace agentr
