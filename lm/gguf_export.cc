#include "lm/gguf_export.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/file.h"
#include "lm/decoder/decoder_plan.h"
#include "lm/tokenizer/gguf_tokenizer.h"
#include "lm/tokenizer/tokenizer_config.h"
#include "lm/tokenizer/tokenizer_json.h"
#include "lm/weights/gguf_model.h"
#include "lm/weights/model_config.h"
#include "lm/weights/quantised.h"

namespace agentr {
namespace fs = std::filesystem;
namespace {

constexpr size_t kAlignment = 32;  // of tensors, the format's default

// A tensor as it is written.
struct GgufTensor {
  std::string name;
  Weight from;
  WeightType type = WeightType::kF32;
  int64_t pair_heads = 0;  // not 0: the halves of this many heads become pairs of neighbours
  float plus = 0;
};

// Numbers of values and tensors are those of the format (gguf.cc reads the same).
class GgufWriter {
 public:
  void Text(const std::string& key, std::string_view value) {
    Begin(key, 8);
    Put(value);
  }
  void Whole(const std::string& key, int64_t value) {
    Begin(key, 4);
    Put(static_cast<uint32_t>(value));
  }
  void Real(const std::string& key, double value) {
    Begin(key, 6);
    Put(static_cast<float>(value));
  }
  void Bool(const std::string& key, bool value) {
    Begin(key, 7);
    Put(static_cast<uint8_t>(value));
  }
  void Texts(const std::string& key, const std::vector<std::string>& values) {
    BeginArray(key, 8, values.size());
    for (const std::string& value : values) Put(std::string_view(value));
  }
  void Wholes(const std::string& key, const std::vector<int32_t>& values) {
    BeginArray(key, 5, values.size());
    for (const int32_t value : values) Put(value);
  }
  void Reals(const std::string& key, const std::vector<float>& values) {
    BeginArray(key, 6, values.size());
    for (const float value : values) Put(value);
  }

  // The file before the tensors' data.
  std::string Head(const std::vector<GgufTensor>& tensors) const {
    GgufWriter head;
    head.bytes_ = "GGUF";
    head.Put(uint32_t{3});
    head.Put(static_cast<uint64_t>(tensors.size()));
    head.Put(static_cast<uint64_t>(values_));
    head.bytes_ += bytes_;
    uint64_t offset = 0;
    for (const GgufTensor& tensor : tensors) {
      head.Put(std::string_view(tensor.name));
      head.Put(static_cast<uint32_t>(tensor.from.shape.size()));
      int64_t count = 1;
      for (size_t i = tensor.from.shape.size(); i-- > 0;) {
        head.Put(static_cast<uint64_t>(tensor.from.shape[i]));
        count *= tensor.from.shape[i];
      }
      head.Put(GgufNumber(tensor.type));
      head.Put(offset);
      offset += Aligned(static_cast<size_t>(BytesOf(tensor.type, count)));
    }
    head.bytes_.resize(Aligned(head.bytes_.size()));
    return head.bytes_;
  }

  static size_t Aligned(size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

 private:
  void Begin(const std::string& key, uint32_t type) {
    Put(std::string_view(key));
    Put(type);
    ++values_;
  }
  void BeginArray(const std::string& key, uint32_t type, size_t count) {
    Begin(key, 9);
    Put(type);
    Put(static_cast<uint64_t>(count));
  }
  template <typename T>
  void Put(T number) {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void Put(std::string_view text) {
    Put(static_cast<uint64_t>(text.size()));
    bytes_ += text;
  }

  std::string bytes_;
  int64_t values_ = 0;
};

void WriteTensor(const GgufTensor& tensor, AtomicFile& out) {
  constexpr size_t kBlock = 1 << 20;  // bytes that are written at once
  const std::vector<int64_t>& shape = tensor.from.shape;
  const int64_t rows = shape[0], width = shape.size() > 1 ? shape[1] : 1;
  const int64_t half = tensor.pair_heads > 0 ? rows / tensor.pair_heads / 2 : 0;
  size_t written = 0;
  std::string block;
  const auto write = [&] {
    out.Append(block);
    written += block.size();
    block.clear();
  };
  std::vector<float> values(width);
  for (int64_t row = 0; row < rows; ++row) {
    // Row h d + 2 i + j of the file is row h d + i + j d / 2 of the folder, for heads of d rows.
    const int64_t from =
        half == 0 ? row : row / (2 * half) * 2 * half + row % (2 * half) / 2 + row % 2 * half;
    ReadWeight(tensor.from, from * width, width, values.data());
    for (float& value : values) value += tensor.plus;
    const std::vector<std::byte> bytes = StoredAs(tensor.type, values);
    block.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (block.size() >= kBlock) write();
  }
  write();
  out.Append(std::string(GgufWriter::Aligned(written) - written, '\0'));
}

const ModelFamily& WrittenFamily(const ModelConfig& config, const fs::path& folder) {
  // Without a window Mistral is a Llama.
  const bool llama = config.family == "mistral" && config.sliding_window == 0;
  const ModelFamily& family = FamilyOf(llama ? "llama" : config.family);
  if (family.gguf.empty()) {
    throw FatalError(ExitCode::kFile,
                     fmt::format("{}: models of the family {} are not written as GGUF files",
                                 folder.string(), config.family));
  }
  const bool scaled = !config.rope_divisors.empty() || config.rope_growth > 0;
  const bool window = config.sliding_window > 0 && config.family.starts_with("qwen");
  if (scaled || window) {
    throw FatalError(
        ExitCode::kFile,
        fmt::format("{}: models of the family {} with {} are not written as GGUF files",
                    folder.string(), config.family,
                    scaled ? "this rope_type" : "a sliding_window"));
  }
  return family;
}

void PutConfig(const ModelConfig& c, const ModelFamily& family, const std::string& name,
               WeightType type, GgufWriter& out) {
  const auto key = [&](std::string_view field) { return fmt::format("{}.{}", family.gguf, field); };
  out.Text("general.architecture", family.gguf);
  out.Text("general.name", name);
  // The format's numbers of what most tensors are.
  const std::pair<WeightType, int> kinds[] = {{WeightType::kF32, 0},
                                              {WeightType::kF16, 1},
                                              {WeightType::kQ4_0, 2},
                                              {WeightType::kQ8_0, 7},
                                              {WeightType::kBF16, 32}};
  for (const auto& [kind, number] : kinds) {
    if (kind == type) out.Whole("general.file_type", number);
  }
  out.Whole(key("context_length"), c.max_context);
  out.Whole(key("embedding_length"), c.hidden_size);
  out.Whole(key("block_count"), c.num_layers);
  out.Whole(key("feed_forward_length"), c.intermediate_size);
  out.Whole(key("attention.head_count"), c.num_heads);
  out.Whole(key("attention.head_count_kv"), c.num_kv_heads);
  out.Whole(key("attention.key_length"), c.head_dim);
  out.Whole(key("attention.value_length"), c.head_dim);
  out.Real(key("attention.layer_norm_rms_epsilon"), c.norm_epsilon);
  out.Whole(key("rope.dimension_count"), c.head_dim);
  out.Real(key("rope.freq_base"), c.rope_theta);
  out.Whole(key("vocab_size"), c.vocab_size);
  if (family.gguf == "gemma3") {
    out.Whole(key("attention.sliding_window"), c.sliding_window);
    out.Real(key("rope.freq_base_swa"), c.window_rope_theta);
  }
  if (family.gguf == "phi3") out.Whole(key("attention.sliding_window"), c.sliding_window);
  if (family.gguf == "granite") {
    out.Real(key("attention.scale"), c.score_scale / std::sqrt(static_cast<double>(c.head_dim)));
    out.Real(key("embedding_scale"), c.embedding_scale);
    out.Real(key("residual_scale"), c.residual_scale);
    out.Real(key("logit_scale"), 1 / c.logit_scale);
  }
}

std::vector<GgufTensor> Tensors(const ModelConfig& config, const ModelFamily& family,
                                const WeightSource& source, WeightType type) {
  std::vector<GgufTensor> tensors;
  for (const auto& [name, weight] : source.weights()) {
    if (config.tied_embeddings && name == "lm_head.weight") continue;
    if (name.ends_with(".rotary_emb.inv_freq")) continue;  // no parameter
    GgufTensor tensor{GgufTensorName(name, family), weight};
    if (weight.shape.size() > 1) {
      const bool whole = weight.shape[1] % BlockOf(type).values == 0;
      tensor.type = whole ? type : WeightType::kF16;
    }
    const bool queries = name.find("q_proj") != std::string::npos;
    if (family.pairs && (queries || name.find("k_proj") != std::string::npos)) {
      tensor.pair_heads = queries ? config.num_heads : config.num_kv_heads;
    }
    if (family.norm_plus_one && name.ends_with("norm.weight")) tensor.plus = 1;
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

// By what the frequencies of Llama 3's scaling are smaller than the plain ones.
std::vector<float> RopeDivisors(const ModelConfig& config) {
  ModelConfig plain = config;
  plain.llama3_rope.reset();
  const std::vector<float> wide = RotaryFrequencies(plain), scaled = RotaryFrequencies(config);
  std::vector<float> divisors;
  for (size_t i = 0; i < wide.size(); ++i) divisors.push_back(wide[i] / scaled[i]);
  return divisors;
}

void PutTokenizer(const fs::path& folder, const ModelConfig& config, GgufWriter& out) {
  const nlohmann::json json = ParseTokenizerFile(folder / "tokenizer.json");
  const GgufVocabulary vocabulary = VocabularyForGguf(
      TokenizerJson(json, (folder / "tokenizer.json").string()), config.vocab_size);
  out.Text("tokenizer.ggml.model", vocabulary.model);
  if (!vocabulary.pre.empty()) out.Text("tokenizer.ggml.pre", vocabulary.pre);
  out.Texts("tokenizer.ggml.tokens", vocabulary.tokens);
  out.Wholes("tokenizer.ggml.token_type", vocabulary.types);
  if (!vocabulary.merges.empty()) out.Texts("tokenizer.ggml.merges", vocabulary.merges);
  if (!vocabulary.scores.empty()) {
    out.Reals("tokenizer.ggml.scores", vocabulary.scores);
    out.Bool("tokenizer.ggml.add_space_prefix", vocabulary.space_prefix);
  }
  const TokenizerConfig tokens = ReadTokenizerConfig(folder);
  for (const auto& [key, name] :
       {std::pair("bos", "bos_token"), std::pair("eos", "eos_token"),
        std::pair("unknown", "unk_token"), std::pair("padding", "pad_token")}) {
    const auto text = tokens.special_tokens.find(name);
    if (text == tokens.special_tokens.end()) continue;
    const auto found = std::ranges::find(vocabulary.tokens, text->second);
    if (found == vocabulary.tokens.end()) continue;
    out.Whole(fmt::format("tokenizer.ggml.{}_token_id", key), found - vocabulary.tokens.begin());
  }
  // Of what llama.cpp puts before a text by itself; chat templates write it.
  out.Bool("tokenizer.ggml.add_bos_token", tokens.adds_bos.value_or(vocabulary.adds_bos));
  if (!tokens.chat_template.empty()) out.Text("tokenizer.chat_template", tokens.chat_template);
}

}  // namespace

void ExportGguf(const fs::path& folder, const fs::path& file, WeightType type,
                std::shared_ptr<const WeightSource> weights) {
  const ModelConfig config = ReadModelConfig(folder);
  const ModelFamily& family = WrittenFamily(config, folder);
  const auto source = weights ? std::move(weights) : OpenWeights(folder);
  GgufWriter values;
  PutConfig(config, family, file.stem().string(), type, values);
  PutTokenizer(folder, config, values);
  std::vector<GgufTensor> tensors = Tensors(config, family, *source, type);
  const std::vector<float> divisors =
      config.llama3_rope ? RopeDivisors(config) : std::vector<float>();
  if (!divisors.empty()) {
    tensors.push_back(
        {"rope_freqs.weight",
         {WeightType::kF32, {std::ssize(divisors)}, std::as_bytes(std::span(divisors))}});
  }
  AtomicFile out(file);
  out.Append(values.Head(tensors));
  for (const GgufTensor& tensor : tensors) WriteTensor(tensor, out);
  out.Commit();
}

}  // namespace agentr
