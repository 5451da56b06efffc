#include "training/model/induction_heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "common/error.h"
#include "common/random.h"
#include "lm/decoder/decoder_plan.h"
#include "training/model/random_matrix.h"

namespace agentr {
namespace {

constexpr double kFastest = 0.05;     // radians per token: slower pairs tell positions too coarsely
constexpr double kSlowest = 1.01e-3;  // faster pairs turn too far within a prompt to match content
constexpr double kPositionScale = 6.5;  // of the biases that look one token back
constexpr double kMatchScale = 2;       // of queries and keys that look for a token
constexpr double kCopyScale = 1.5;      // of what is copied, in units of the embedding

class InductionHeads {
 public:
  InductionHeads(const ModelConfig& config, uint64_t seed, double embedding,
                 std::map<std::string, std::vector<float>>& weights)
      : width_(static_cast<size_t>(config.hidden_size)),
        heads_(static_cast<size_t>(config.num_heads)),
        head_dim_(static_cast<size_t>(config.head_dim)),
        embedding_(embedding),
        frequencies_(RotaryFrequencies(config)),
        read_(RandomRotation(width_, RandomStream(seed).Split("induction read"))),
        note_(RandomRotation(width_, RandomStream(seed).Split("induction note"))),
        copy_(RandomRotation(width_, RandomStream(seed).Split("induction copy"))),
        weights_(weights) {}

  void SetLookBack() {
    for (size_t head = 0; head < heads_ / 4 * 3; ++head) {
      const bool two_back = head >= heads_ / 2;
      LookBack(head, two_back ? 2 : 1);
      // The token two before is noted by the rows of the first heads, so that both can be compared.
      const size_t rows = two_back ? head - heads_ / 2 : head;
      for (size_t d = 0; d < head_dim_; ++d) {
        Row(0, "v_proj", head, d) = Scaled(ReadRow(rows, d), 1);
        SetColumn(0, head, d, Scaled(NoteRow(head, d), embedding_));
      }
    }
  }

  void SetMatch() {
    std::vector<size_t> slow;  // dimensions of a head; those of a pair are apart by half a head
    for (size_t pair = 0; pair < head_dim_ / 2; ++pair) {
      if (frequencies_[pair] > kSlowest) continue;
      slow.push_back(pair);
      slow.push_back(pair + head_dim_ / 2);
    }
    for (size_t head = 0; head < heads_; ++head) {
      const bool with_second = head >= heads_ / 2;
      for (size_t i = 0; i < slow.size(); ++i) {
        // Heads of the second half use every other dimension for the predecessor's predecessor.
        const size_t noted = with_second ? head - heads_ / 2 : head;
        const size_t d = (i + (with_second ? head_dim_ / 2 : 0)) % head_dim_;
        const bool second = with_second && i % 2 == 1 && noted < heads_ / 4;
        const auto query = second ? NoteRow(noted, d) : ReadRow(noted, d);
        const auto key = second ? NoteRow(noted + heads_ / 2, d) : NoteRow(noted, d);
        Row(1, "q_proj", head, slow[i]) = Scaled(query, kMatchScale);
        Row(1, "k_proj", head, slow[i]) = Scaled(key, kMatchScale);
      }
      for (size_t d = 0; d < head_dim_; ++d) {
        const std::span<const float> row = copy_.Row(head * head_dim_ + d);
        Row(1, "v_proj", head, d) = Scaled(row, 1);
        SetColumn(1, head, d, Scaled(row, embedding_ * kCopyScale));
      }
    }
  }

 private:
  // A row of a weight that can be assigned.
  struct RowOf {
    std::span<float> to;
    RowOf& operator=(const std::vector<float>& values) {
      std::copy(values.begin(), values.end(), to.begin());
      return *this;
    }
  };

  std::vector<float>& Tensor(int layer, const char* name, const char* kind) {
    return weights_.at(fmt::format("model.layers.{}.self_attn.{}.{}", layer, name, kind));
  }

  RowOf Row(int layer, const char* name, size_t head, size_t d) {
    return {
        std::span(Tensor(layer, name, "weight")).subspan((head * head_dim_ + d) * width_, width_)};
  }

  // Of the output projection: where the head's dimension d goes.
  void SetColumn(int layer, size_t head, size_t d, const std::vector<float>& values) {
    std::vector<float>& output = Tensor(layer, "o_proj", "weight");
    const size_t inputs = heads_ * head_dim_;
    for (size_t i = 0; i < width_; ++i) output[i * inputs + head * head_dim_ + d] = values[i];
  }

  // The score of a pair of dimensions is cos(frequency * (distance - back)), largest at `back`.
  void LookBack(size_t head, int back) {
    std::vector<float>& query = Tensor(0, "q_proj", "bias");
    std::vector<float>& key = Tensor(0, "k_proj", "bias");
    for (size_t pair = 0; pair < head_dim_ / 2; ++pair) {
      const double frequency = frequencies_[pair];
      if (frequency < kFastest) continue;
      const size_t at = head * head_dim_ + pair;
      query[at] = static_cast<float>(kPositionScale);
      key[at] = static_cast<float>(kPositionScale * std::cos(frequency * back));
      key[at + head_dim_ / 2] = static_cast<float>(kPositionScale * std::sin(frequency * back));
    }
  }

  std::span<const float> ReadRow(size_t head, size_t d) const {
    return read_.Row(head * head_dim_ + d);
  }
  std::span<const float> NoteRow(size_t head, size_t d) const {
    return note_.Row(head * head_dim_ + d);
  }

  static std::vector<float> Scaled(std::span<const float> row, double scale) {
    std::vector<float> scaled(row.begin(), row.end());
    for (float& value : scaled) value *= static_cast<float>(scale);
    return scaled;
  }

  const size_t width_, heads_, head_dim_;
  const double embedding_;
  const std::vector<float> frequencies_;
  const SquareMatrix read_, note_, copy_;
  std::map<std::string, std::vector<float>>& weights_;
};

}  // namespace

void SetInductionHeads(const ModelConfig& config, uint64_t seed, double embedding,
                       std::map<std::string, std::vector<float>>& weights) {
  if (!config.qkv_bias || config.num_heads != config.num_kv_heads || config.num_heads % 4 != 0 ||
      config.num_heads * config.head_dim != config.hidden_size || config.num_layers < 2) {
    throw FatalError(
        ExitCode::kUsage,
        "--initial_attention induction needs a config.json with biases of the queries and keys (of "
        "Qwen2's family, or of Llama's with attention_bias), two layers or more, and four heads or "
        "a multiple of it, as many of keys as of queries, that together "
        "are as wide as the model; --initial_attention random takes any");
  }
  InductionHeads heads(config, seed, embedding, weights);
  heads.SetLookBack();
  heads.SetMatch();
}

}  // namespace agentr
