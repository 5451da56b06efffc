#include "rl/worlds/symbolic_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"

namespace agentr {

using at::Tensor;

Tensor SymbolicImage(const BabyAiView& view) {
  constexpr int kSize = BabyAiView::kSize;
  Tensor image = at::empty({3, kSize, kSize}, at::kFloat);
  auto codes = image.accessor<float, 3>();
  for (int column = 0; column < kSize; ++column) {
    for (int row = 0; row < kSize; ++row) {
      const GridCell cell = view.At(column, row);
      codes[0][column][row] = static_cast<float>(cell.type());
      codes[1][column][row] = static_cast<float>(cell.color());
      codes[2][column][row] = static_cast<float>(cell.state());
    }
  }
  return image;
}

std::vector<int64_t> MissionWords::Ids(std::string_view mission) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
  std::vector<int64_t> ids;
  for (size_t end, begin = mission.find_first_of(kLetters); begin != std::string_view::npos;
       begin = mission.find_first_of(kLetters, end)) {
    end = std::min(mission.find_first_not_of(kLetters, begin), mission.size());
    const std::string_view word = mission.substr(begin, end - begin);
    const auto found = std::ranges::find(seen_, word);
    ids.push_back(found - seen_.begin() + 1);
    if (found != seen_.end()) continue;
    seen_.emplace_back(word);
    if (static_cast<int64_t>(seen_.size()) > most_) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("the missions have more than {} different words", most_));
    }
  }
  return ids;
}

SymbolicStates ReadStates(const BabyAiBatch& batch, MissionWords& words) {
  const auto slots = static_cast<int64_t>(batch.size());
  SymbolicStates states{{},
                        at::zeros({slots, SymbolicStates::kMissionWords}, at::kLong),
                        at::ones({slots, 1}, at::kFloat)};
  std::vector<Tensor> images;
  for (int64_t i = 0; i < slots; ++i) {
    const BabyAiEpisodes& game = batch.game(static_cast<size_t>(i));
    images.push_back(SymbolicImage(game.View()));
    if (game.steps() == 0) states.goes_on[i] = 0;
    const std::vector<int64_t> ids = words.Ids(batch.Goal(static_cast<size_t>(i)));
    TORCH_CHECK(static_cast<int64_t>(ids.size()) <= SymbolicStates::kMissionWords);
    std::ranges::copy(ids, states.missions.data_ptr<int64_t>() + i * SymbolicStates::kMissionWords);
  }
  states.images = at::stack(images);
  return states;
}

}  // namespace agentr
