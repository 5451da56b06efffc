#include "training/checkpoint/checkpoint.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

#include "common/error.h"
#include "common/file.h"
#include "common/hash.h"
#include "lm/weights/safetensors.h"
#include "training/model/divergence.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

using at::Tensor;

constexpr std::string_view kParametersFile = "weights.safetensors";
constexpr std::string_view kMomentsFile = "optimizer.safetensors";
constexpr std::string_view kStateFile = "state.json";
constexpr std::string_view kPrefix = "step-";

// A tensor of a file by its name, and its values from `begin` on, which are read; for writing, all
// its values.
struct Piece {
  at::IntArrayRef shape;  // of the whole tensor
  int64_t begin = 0;
  Tensor values;
};
using Named = std::map<std::string, Piece>;

Named ParametersOf(const CheckpointTensors& tensors) {
  Named named;
  for (const Parameter& p : tensors.parameters) named[p.name] = {p.value.sizes(), 0, p.value};
  return named;
}

Named MomentsOf(const CheckpointTensors& tensors) {
  Named named;
  for (const auto& [number, begin, mean, square] : tensors.moments) {
    const Parameter& p = tensors.parameters[number];
    named["mean." + p.name] = {p.value.sizes(), begin, mean};
    named["square." + p.name] = {p.value.sizes(), begin, square};
  }
  return named;
}

void RequireAllFinite(const Named& named) {
  for (const auto& [name, piece] : named) {
    RequireFinite(piece.values, fmt::format("{} of the checkpoint", name));
  }
}

void Write(const fs::path& file, const Named& named) {
  std::map<std::string, Weight> weights;
  std::vector<Tensor> copies;  // of what is not in the memory of the CPU
  for (const auto& [name, piece] : named) {
    const Tensor& values = copies.emplace_back(piece.values.cpu());
    weights[name] = {
        WeightType::kF32,
        piece.shape.vec(),
        {static_cast<const std::byte*>(values.data_ptr()), static_cast<size_t>(values.nbytes())}};
  }
  WriteSafetensors(file, weights);
}

// Size and SHA-256 of a file, of which one block at a time is in memory.
nlohmann::ordered_json Stamp(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  Sha256Stream hash;
  size_t size = 0;
  std::string block(size_t{1} << 20, '\0');
  while (in.read(block.data(), std::ssize(block)) || in.gcount() > 0) {
    const auto read = static_cast<size_t>(in.gcount());
    hash.Add(std::string_view(block).substr(0, read));
    size += read;
  }
  if (!in.eof()) {
    throw FatalError(ExitCode::kFile, fmt::format("{}: {}. Cure: {}", file.string(),
                                                  std::strerror(errno), kCheckpointCure));
  }
  return {{"bytes", size}, {"sha256", hash.Digest()}};
}

void Check(const fs::path& file, const nlohmann::json& state) {
  const std::string name = file.filename().string();
  const auto stamps = state.find("files");
  const bool known = stamps != state.end() && stamps->is_object() && stamps->contains(name);
  if (!known || Stamp(file) != (*stamps)[name]) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: this is not the file that was saved: its size or SHA-256 is "
                                 "not the one in {}. Cure: {}",
                                 file.string(), kStateFile, kCheckpointCure));
  }
}

// `count`: the number of tensors that the file must have.
void Read(const fs::path& file, const Named& named, size_t count) {
  const WeightFiles files(file);
  for (const auto& [name, piece] : named) {
    const auto found = files.weights().find(name);
    if (found == files.weights().end() || found->second.shape != piece.shape.vec() ||
        found->second.type != WeightType::kF32 || files.weights().size() != count) {
      throw FatalError(ExitCode::kFile,
                       fmt::format("{}: contains other tensors than the run (at {}). Usual cure: "
                                   "use the options of the checkpoint, or another --output_dir",
                                   file.string(), name));
    }
    const auto data = found->second.data.subspan(static_cast<size_t>(piece.begin) * sizeof(float),
                                                 static_cast<size_t>(piece.values.nbytes()));
    if (CountNotFinite(found->second.type, data) > 0) {
      throw FatalError(ExitCode::kFile,
                       fmt::format("{}: {} has values that are not finite: it was saved after the "
                                   "training had diverged. Cure: {}",
                                   file.string(), name, kCheckpointCure));
    }
    // LibTorch only reads through this pointer. The parameters of a network with autograd may be
    // changed only as detached tensors.
    void* values = const_cast<std::byte*>(data.data());
    piece.values.detach().copy_(at::from_blob(values, piece.values.sizes(), at::kFloat));
  }
}

void SyncFolder(const fs::path& folder) {
  const int fd = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return;
  ::fsync(fd);
  ::close(fd);
}

}  // namespace

fs::path CheckpointFolder::Path(int64_t step) const {
  return root_ / fmt::format("{}{:08}", kPrefix, step);
}

void CheckpointFolder::Save(int64_t step, const CheckpointTensors& tensors,
                            nlohmann::ordered_json state) const try {
  const Named parameters = ParametersOf(tensors), moments = MomentsOf(tensors);
  RequireAllFinite(parameters);
  RequireAllFinite(moments);
  const fs::path path = Path(step), unfinished = TemporaryPath(path);
  fs::remove_all(unfinished);
  fs::create_directories(unfinished);
  Write(unfinished / kParametersFile, parameters);
  Write(unfinished / kMomentsFile, moments);
  for (const std::string_view file : {kParametersFile, kMomentsFile}) {
    state["files"][std::string(file)] = Stamp(unfinished / file);
  }
  WriteFileAtomically(unfinished / kStateFile, state.dump(1) + "\n");
  fs::remove_all(path);
  // All files are complete and synced here: the rename makes the checkpoint visible as a whole.
  fs::rename(unfinished, path);
  SyncFolder(root_);
} catch (const fs::filesystem_error& error) {
  throw FatalError(ExitCode::kFile,
                   fmt::format("cannot write the checkpoint of step {}: {}", step, error.what()));
}

std::vector<int64_t> CheckpointFolder::Steps() const {
  std::vector<int64_t> steps;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(root_, none)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    const std::string digits = name.substr(kPrefix.size());
    if (digits.empty() || digits.find_first_not_of("0123456789") != std::string::npos) continue;
    steps.push_back(std::stoll(digits));
  }
  std::ranges::sort(steps);
  return steps;
}

nlohmann::json CheckpointFolder::State(int64_t step) const {
  const fs::path file = Path(step) / kStateFile;
  auto state = nlohmann::json::parse(ReadFile(file), nullptr, /*allow_exceptions=*/false);
  if (!state.is_object()) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{} is not a JSON object: the checkpoint is damaged. Cure: {}",
                                 file.string(), kCheckpointCure));
  }
  return state;
}

void CheckpointFolder::Load(int64_t step, const CheckpointTensors& tensors) const {
  LoadParameters(step, tensors);
  Check(Path(step) / kMomentsFile, State(step));
  Read(Path(step) / kMomentsFile, MomentsOf(tensors),
       2 * (tensors.parameters.size() - tensors.frozen));
}

void CheckpointFolder::LoadParameters(int64_t step, const CheckpointTensors& tensors) const {
  Check(Path(step) / kParametersFile, State(step));
  Read(Path(step) / kParametersFile, ParametersOf(tensors), tensors.parameters.size());
}

void CheckpointFolder::KeepLast(int count, const std::set<int64_t>& kept) const try {
  std::vector<int64_t> steps = Steps();
  for (size_t i = 0; i + static_cast<size_t>(count) < steps.size(); ++i) {
    if (kept.contains(steps[i])) continue;
    // Renames first, so that a removal that is killed does not leave an incomplete checkpoint.
    fs::remove_all(TemporaryPath(Path(steps[i])));
    fs::rename(Path(steps[i]), TemporaryPath(Path(steps[i])));
  }
  std::vector<fs::path> leftovers;
  for (const fs::directory_entry& entry : fs::directory_iterator(root_)) {
    if (entry.path().filename().string().starts_with("." + std::string(kPrefix))) {
      leftovers.push_back(entry.path());
    }
  }
  for (const fs::path& path : leftovers) fs::remove_all(path);
} catch (const fs::filesystem_error& error) {
  throw FatalError(ExitCode::kFile,
                   fmt::format("cannot remove an old checkpoint: {}", error.what()));
}

}  // namespace agentr
