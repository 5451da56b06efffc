// The decoder of a model folder.
#pragma once

#include <filesystem>
#include <memory>

#include "lm/decoder/load_decoder.h"

namespace agentr {

inline std::unique_ptr<Decoder> LoadDecoder(const std::filesystem::path& folder,
                                            const DecoderOptions& options) {
  return MakeDecoder(ReadModelConfig(folder), OpenWeights(folder), options);
}

}  // namespace agentr
