// Checkpoints from which a killed run continues and gives the same bytes: parameters, the
// optimiser's moments, and a JSON object with everything else.
//
//   ROOT/step-00000200/weights.safetensors    the trained parameters, float32
//                      optimizer.safetensors  mean and square of each
//                      state.json             what the caller says, and size and SHA-256 of the two
//
// A checkpoint is written under a hidden name and renamed when it is completely on the disk.
#pragma once

#include <ATen/ATen.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "training/parameter.h"

namespace agentr {

// What helps against a checkpoint that cannot be read; the end of a message.
inline constexpr const char* kCheckpointCure =
    "remove the checkpoint's folder; the same command then continues from the one before it";

// The tensors of a checkpoint by file and name: views of the data to save, or to overwrite.
struct CheckpointTensors {
  // The optimiser's moments of the values begin, begin + 1, … of a parameter.
  struct Moments {
    size_t parameter = 0;  // the parameter's number
    int64_t begin = 0;
    at::Tensor mean, square;
  };
  std::vector<Parameter> parameters;
  std::vector<Moments> moments;  // Save: complete for each parameter. Load: the parts that this
                                 // process needs
  size_t frozen = 0;             // parameters without moments, such as those of a target network
};

class CheckpointFolder {
 public:
  explicit CheckpointFolder(std::filesystem::path root) : root_(std::move(root)) {}

  // Throws FatalError(kFile), and kIncomplete without having written anything if a value is not
  // finite (EndDiverged).
  void Save(int64_t step, const CheckpointTensors& tensors, nlohmann::ordered_json state) const;

  // The steps of all complete checkpoints, in increasing order.
  std::vector<int64_t> Steps() const;

  // state.json of a step. Throws FatalError(kFile) naming the file.
  nlohmann::json State(int64_t step) const;
  // Overwrites the tensors with those of the step. Throws FatalError(kFile) naming the file and the
  // cure if a file has changed since it was written, or has other tensors or values that are not
  // finite.
  void Load(int64_t step, const CheckpointTensors& tensors) const;
  void LoadParameters(int64_t step, const CheckpointTensors& tensors) const;

  // Removes all checkpoints except the last `count` and those in `kept`, and left-overs of killed
  // runs.
  void KeepLast(int count, const std::set<int64_t>& kept) const;

  std::filesystem::path Path(int64_t step) const;

 private:
  const std::filesystem::path root_;
};

}  // namespace agentr
