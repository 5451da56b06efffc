// Any config.json is either refused, or gives a shape whose sizes can be multiplied without
// overflow and tokens that are in its vocabulary.
#include "common/error.h"
#include "lm/weights/model_config.h"
#include "tests/fuzz/fuzz_input.h"

using agentr::Check;

namespace {

void CheckToken(int64_t token, const agentr::ModelConfig& config) {
  Check(token >= 0 && token < config.vocab_size);
}

void CheckConfig(const agentr::ModelConfig& config) {
  for (const int64_t size :
       {config.vocab_size, config.hidden_size, config.intermediate_size, config.num_layers,
        config.num_heads, config.num_kv_heads, config.head_dim, config.max_context}) {
    Check(size >= 1 && size <= INT32_MAX);
  }
  Check(config.num_heads % config.num_kv_heads == 0);
  Check(config.head_dim % 2 == 0);
  Check(config.sliding_window >= 0 && config.sliding_window <= INT32_MAX);
  Check(config.norm_epsilon > 0 && config.rope_theta > 0);
  for (const int32_t token : config.eos_tokens) CheckToken(token, config);
  if (config.bos_token) CheckToken(*config.bos_token, config);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const agentr::ScratchFolder& folder = agentr::FuzzFolder();
  folder.Write("config.json", std::string(agentr::AsText(data, size)));
  try {
    CheckConfig(agentr::ReadModelConfig(folder.path()));
  } catch (const agentr::FatalError&) {
  }
  return 0;
}
