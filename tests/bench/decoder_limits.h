// What the machine allows a decoder at most: the operations of a prompt at the speed of matrix
// products (the faster of the trainer's and LibTorch's), and the bytes that a new token reads at
// the speed of memory.
#pragma once

#include <filesystem>
#include <string>

#include "lm/weights/model_config.h"

namespace agentr {

class DecoderLimits {
 public:
  // Measures the speed of memory with `threads` threads (256 MiB each), and later that of matrix
  // products when a prompt is asked for.
  DecoderLimits(const std::filesystem::path& model, int threads);

  // Tokens per second of a prompt at the speed of matrix products of 1,024 rows with the shape of
  // the model's MLP, in float32, or in bfloat16 at the level that has it; 0 for another `dtype`.
  // Attention counts with its two products over the positions before a token.
  double Prefill(const std::string& dtype, int prompt) const;

  // New tokens per second of `batch` sequences of `positions` each if one more of each took no
  // longer than to read the matrices once, in the type `dtype` of DecoderOptions, and all keys and
  // values, which take `kv_bytes` a position.
  double Decode(const std::string& dtype, int batch, double positions, double kv_bytes) const;

  double memory_bytes_per_s() const { return memory_bytes_per_s_; }

 private:
  ModelConfig config_;
  double numbers_ = 0;      // of all matrices that a token is multiplied with
  double output_ = 0;       // of these, of the output projection, which only a last token needs
  double file_bytes_ = 0;   // of all of them, as the files have them
  bool quantised_ = false;  // the files have weights in blocks
  double memory_bytes_per_s_ = 0;
};

}  // namespace agentr
