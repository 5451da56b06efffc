#include "lm/decoder/cpu_decoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include "common/error.h"
#include "lm/decoder/batch_parts.h"
#include "lm/decoder/expert_routing.h"
#include "lm/decoder/kv_pool.h"
#include "lm/decoder/left_rows.h"
#include "lm/decoder/packed_matrix.h"
#include "lm/decoder/team_size.h"
#include "lm/weights/quantised.h"

namespace agentr {
namespace {

constexpr int kMaxRows = 512;  // computed through all layers at once; longer batches are divided
constexpr int kRowBlock = 96;  // rows that one thread multiplies with a panel at once
constexpr int kFewRows = 8;    // up to this many, every thread normalises them for itself
constexpr int kRowsOfPiece = 8;

struct Mlp {
  PackedMatrix gate, up, down;
};

struct Layer {
  // Empty: there is none.
  std::vector<float> attention_norm, attention_out_norm, query_norm, key_norm, mlp_norm,
      mlp_out_norm;
  PackedMatrix query_key_value, output;
  Mlp mlp;  // without experts
  PackedMatrix router;
  std::vector<Mlp> experts;
};

class CpuDecoder : public Decoder {
 public:
  CpuDecoder(const DecoderPlan& plan, std::shared_ptr<const WeightSource> source, Simd simd)
      : config_(Checked(plan.config)),
        weights_(plan.weights),
        kv_type_(plan.kv_type),
        kernels_(KernelsOf(simd)),
        team_(plan.threads),
        team_size_(plan.threads),
        pool_(config_, kv_type_, plan.cache_bytes),
        shape_{static_cast<int32_t>(config_.vocab_size), plan.max_context, kKeyBlock,
               pool_.blocks(), pool_.block_bytes()},
        width_(static_cast<int>(config_.hidden_size)),
        head_dim_(static_cast<int>(config_.head_dim)),
        queries_per_kv_head_(static_cast<int>(config_.num_heads / config_.num_kv_heads)),
        frequencies_{RotaryFrequencies(config_, /*window=*/false, plan.max_context), {}},
        separate_(config_.norms != NormPlaces::kBefore || config_.residual_scale != 1),
        layers_(static_cast<size_t>(config_.num_layers)),
        x_(kMaxRows, config_.hidden_size),
        branch_(separate_ ? kMaxRows : 0, config_.hidden_size),
        projected_(kMaxRows, (config_.num_heads + 2 * config_.num_kv_heads) * config_.head_dim),
        scratch_(plan.threads, config_.hidden_size),
        cos_{{{kMaxRows, config_.head_dim / 2}, {kMaxRows, config_.head_dim / 2}}},
        sin_{{{kMaxRows, config_.head_dim / 2}, {kMaxRows, config_.head_dim / 2}}},
        routed_(config_.experts > 0 ? kMaxRows : 0, config_.experts),
        made_(kMaxRows * config_.token_experts, config_.hidden_size),
        routing_(config_, kMaxRows, kRowBlock) {
    if (config_.window_rope_theta > 0)
      frequencies_[1] = RotaryFrequencies(config_, /*window=*/true);
    Load(std::move(source));
  }

  const DecoderShape& shape() const override { return shape_; }

  std::span<const float> Forward(std::span<const SequenceChunk> batch) override {
    int64_t wanted = 0;
    for (const SequenceChunk& chunk : batch) wanted += chunk.logits;
    if (const size_t bytes = wanted * Padded(config_.vocab_size) * sizeof(float);
        bytes > logits_.size()) {
      logits_ = AlignedBuffer(bytes);
    }
    logit_rows_ = 0;
    batch_.Clear();
    for (SequenceChunk chunk : batch) {
      while (!chunk.tokens.empty()) {
        batch_.Take(chunk, kMaxRows);
        if (batch_.rows() == kMaxRows) ForwardRows();
      }
    }
    if (batch_.rows() > 0) ForwardRows();
    return CompactLogits();
  }

  void CopyBlock(int32_t from, int32_t to, int32_t /*tokens*/) override { pool_.Copy(from, to); }

  void Load(std::shared_ptr<const WeightSource> source) override {
    const ModelWeights weights = PlaceWeights(config_, *source);
    norm_ = Norm(weights.norm);
    output_.Pack({weights.output}, OutputType(), kernels_, team_);
    for (size_t i = 0; i < layers_.size(); ++i) Pack(weights.layers[i], layers_[i]);
    KeepEmbedding(*weights.embedding, std::move(source));
    MakeLeftRows();
  }

 private:
  static const ModelConfig& Checked(const ModelConfig& config) {
    if (config.head_dim > kMaxHeadDim || config.head_dim % 2 != 0 ||
        config.num_heads / config.num_kv_heads > kTileRows) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("the CPU kernels take an even head width up to {} and up to {} "
                                   "heads per key-value head; this model has {} and {}",
                                   kMaxHeadDim, kTileRows, config.head_dim,
                                   config.num_heads / config.num_kv_heads));
    }
    return config;
  }

  // The factors of a norm; empty: there is none.
  std::vector<float> Norm(const Weight* weight) const {
    if (weight == nullptr) return {};
    std::vector<float> values = ReadWeight(*weight);
    if (config_.norm_plus_one) {
      for (float& value : values) value += 1;
    }
    return values;
  }

  void Pack(const LayerWeights& from, Layer& layer) {
    layer.attention_norm = Norm(from.attention_norm);
    layer.attention_out_norm = Norm(from.attention_out_norm);
    layer.query_norm = Norm(from.query_norm);
    layer.key_norm = Norm(from.key_norm);
    layer.mlp_norm = Norm(from.mlp_norm);
    layer.mlp_out_norm = Norm(from.mlp_out_norm);
    layer.query_key_value.Pack({from.query, from.key, from.value}, weights_, kernels_, team_);
    layer.output.Pack({from.output}, weights_, kernels_, team_);
    if (from.experts.empty()) return Pack(from.mlp, layer.mlp);
    // Which experts a token has depends on small differences.
    layer.router.Pack({from.router}, WeightType::kF32, kernels_, team_);
    layer.experts.resize(from.experts.size());
    for (size_t e = 0; e < from.experts.size(); ++e) Pack(from.experts[e], layer.experts[e]);
  }

  void Pack(const MlpWeights& from, Mlp& mlp) {
    mlp.gate.Pack({from.gate}, weights_, kernels_, team_);
    mlp.up.Pack({from.up}, weights_, kernels_, team_);
    mlp.down.Pack({from.down}, weights_, kernels_, team_);
  }

  // Four bits are too few for the output, which decides between neighbouring tokens.
  std::optional<WeightType> OutputType() const {
    return weights_ == WeightType::kQ4_0 ? WeightType::kQ8_0 : weights_;
  }

  // The left sides of all products, in the forms that the matrices need.
  void MakeLeftRows() {
    LeftForms normed = output_.forms(), mixed, hidden, gathered;
    for (const Layer& layer : layers_) {
      normed = normed | layer.query_key_value.forms();
      mixed = mixed | layer.output.forms();
      if (layer.experts.empty()) {
        normed = normed | layer.mlp.gate.forms() | layer.mlp.up.forms();
        hidden = hidden | layer.mlp.down.forms();
        continue;
      }
      normed = normed | layer.router.forms();
      for (const Mlp& expert : layer.experts) {
        gathered = gathered | expert.gate.forms() | expert.up.forms();
        hidden = hidden | expert.down.forms();
      }
    }
    const int64_t heads = config_.num_heads * config_.head_dim;
    if (mixed.blocks && heads / config_.num_kv_heads % kLeftBlock != 0) {
      throw FatalError(ExitCode::kUsage,
                       fmt::format("the kernels of quantised weights take heads whose key-value "
                                   "group is a multiple of {} wide; that of this model is {} wide. "
                                   "Cure: --dtype bfloat16",
                                   kLeftBlock, heads / config_.num_kv_heads));
    }
    normed_.emplace(kMaxRows, config_.hidden_size, normed, kernels_);
    mixed_.emplace(kMaxRows, heads, mixed, kernels_);
    const int64_t entries = config_.experts > 0 ? kMaxRows * config_.token_experts : kMaxRows;
    hidden_.emplace(entries, config_.intermediate_size, hidden, kernels_);
    if (config_.experts > 0) gathered_.emplace(entries, config_.hidden_size, gathered, kernels_);
    own_normed_.clear();
    for (int i = 0; i < team_.size(); ++i) {
      own_normed_.emplace_back(kFewRows, config_.hidden_size, normed, kernels_);
    }
  }

  // Only one row per token is read, so an immutable source makes a copy of the whole embedding
  // unnecessary. Merged and reordered matrices are packed and go; the embedding is none of them.
  void KeepEmbedding(const Weight& embedding, std::shared_ptr<const WeightSource> source) {
    embedding_ = embedding;
    if (source->immutable()) {
      keeper_ = source->embedding_keeper();
      if (keeper_ == nullptr) keeper_ = std::move(source);
      embedding_copy_ = {};
      return;
    }
    embedding_copy_.assign(embedding.data.begin(), embedding.data.end());
    embedding_.data = embedding_copy_;
    keeper_ = nullptr;
  }

  using Member = ThreadTeam::Member;

  // Computes all layers for the rows of batch_ and then clears it.
  void ForwardRows() {
    const int threads = team_size_.Next(batch_.rows());
    const int tile_tokens = std::max(1, kTileRows / queries_per_kv_head_);
    // Sequences that share blocks are joined as far as that leaves attention to each thread.
    const auto heads = static_cast<int64_t>(batch_.parts().size()) * config_.num_kv_heads;
    batch_.Finish(tile_tokens, static_cast<int>(std::min<int64_t>(tile_tokens, heads / threads)));
    const auto begin = std::chrono::steady_clock::now();
    const auto work = [&](Member& member) {
      Embed(member);
      for (size_t i = 0; i < layers_.size(); ++i) ForwardLayer(static_cast<int64_t>(i), member);
      Logits(member);
    };
    team_.Run(work, threads);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    team_size_.Took(batch_.rows(), took.count());
    logit_rows_ += static_cast<int64_t>(batch_.wanted().size());
    batch_.Clear();
  }

  // Calls body(row) for `rows` rows, which the team shares in pieces.
  template <class Body>
  void ForRows(int64_t rows, Member& member, const Body& body) {
    member.ForEach((rows + kRowsOfPiece - 1) / kRowsOfPiece, [&](int64_t piece) {
      const int64_t end = std::min((piece + 1) * kRowsOfPiece, rows);
      for (int64_t row = piece * kRowsOfPiece; row < end; ++row) body(row);
    });
  }

  // Reads the embedding of each row and computes the angles of its position.
  void Embed(Member& member) {
    ForRows(batch_.rows(), member, [&](int64_t row) {
      ReadWeight(embedding_, batch_.tokens()[row] * config_.hidden_size, config_.hidden_size,
                 x_[row]);
      Scale(x_[row], config_.embedding_scale, config_.hidden_size);
      for (size_t table = 0; table < frequencies_.size(); ++table) {
        const auto factor = static_cast<float>(table == 0 ? config_.rope_attention : 1);
        for (size_t i = 0; i < frequencies_[table].size(); ++i) {
          const float angle = static_cast<float>(batch_.positions()[row]) * frequencies_[table][i];
          cos_[table][row][i] = factor * std::cos(angle);
          sin_[table][row][i] = factor * std::sin(angle);
        }
      }
    });
  }

  static void Scale(float* x, double factor, int64_t n) {
    if (factor == 1) return;
    for (int64_t i = 0; i < n; ++i) x[i] *= static_cast<float>(factor);
  }

  void ForwardLayer(int64_t index, Member& member) {
    const int64_t rows = batch_.rows();
    const Layer& layer = layers_[index];
    {
      Normed normed(*this, layer.attention_norm, rows, member);
      ForSlices(layer.query_key_value.slices(), rows, member, [&](const Piece& piece) {
        Multiply(normed.Rows(), layer.query_key_value, piece, projected_, /*add=*/false);
      });
    }
    if (config_.qk_norm_of_all) NormaliseAllHeads(layer, rows, member);
    Attention(layer, index, member);
    const ActivationRows& to = separate_ ? branch_ : x_;
    ForSlices(layer.output.slices(), rows, member, [&](const Piece& piece) {
      Multiply(*mixed_, layer.output, piece, to, /*add=*/!separate_);
    });
    AddBranch(layer.attention_out_norm, rows, member);
    if (!layer.experts.empty()) return ForwardExperts(layer, rows, member);
    {
      Normed normed(*this, layer.mlp_norm, rows, member);
      ForSlices(layer.mlp.gate.slices(), rows, member,
                [&](const Piece& piece) { GateAndUp(layer.mlp, normed.Rows(), piece); });
    }
    ForSlices(layer.mlp.down.slices(), rows, member, [&](const Piece& piece) {
      Multiply(*hidden_, layer.mlp.down, piece, to, /*add=*/!separate_);
    });
    AddBranch(layer.mlp_out_norm, rows, member);
  }

  // The MLP of a layer with experts: each row is copied to its experts, and what they make of it is
  // added in the order of its choices, so that it does not depend on other rows.
  void ForwardExperts(const Layer& layer, int64_t rows, Member& member) {
    const int64_t most = config_.token_experts;
    {
      Normed normed(*this, layer.mlp_norm, rows, member);
      ForSlices(layer.router.slices(), rows, member, [&](const Piece& piece) {
        Multiply(normed.Rows(), layer.router, piece, routed_, /*add=*/false);
      });
    }
    ForRows(rows, member, [&](int64_t row) { routing_.Choose(row, routed_[row]); });
    member.ForEach(1, [&](int64_t) { routing_.Sort(rows); });
    ForRows(rows * most, member, [&](int64_t entry) {
      NormaliseRow(layer.mlp_norm, x_[routing_.row_of(entry)], *gathered_, entry,
                   scratch_[member.rank()]);
    });
    // A member that was put aside may come here when the others sort the rows of the next layer, so
    // only one that has a piece reads the blocks.
    const auto for_blocks = [&](int64_t slices, const auto& body) {
      const int64_t count = routing_.MostBlocks(rows);
      member.ForEach(slices * count, [&](int64_t i) {
        if (i % count >= std::ssize(routing_.blocks())) return;
        const ExpertRouting::Block& block = routing_.blocks()[i % count];
        const Piece piece{i / count, block.entry, block.rows};
        body(layer.experts[block.expert], piece);
      });
    };
    for_blocks(layer.experts[0].gate.slices(), [&](const Mlp& expert, const Piece& piece) {
      GateAndUp(expert, *gathered_, piece);
    });
    for_blocks(layer.experts[0].down.slices(), [&](const Mlp& expert, const Piece& piece) {
      Multiply(*hidden_, expert.down, piece, made_, /*add=*/false);
    });
    ForRows(rows, member, [&](int64_t row) {
      for (int64_t k = 0; k < most; ++k) {
        const ExpertRouting::Choice& choice = routing_.choice(row, k);
        const float* const made = made_[choice.entry];
        for (int i = 0; i < width_; ++i) x_[row][i] += choice.weight * made[i];
      }
    });
  }

  // Adds what attention or the MLP computed to the residual stream, unless their products did so.
  void AddBranch(const std::vector<float>& norm, int64_t rows, Member& member) {
    if (!separate_) return;
    ForRows(rows, member, [&](int64_t row) {
      float *branch = branch_[row], *x = x_[row];
      if (!norm.empty()) kernels_.rms_norm(branch, norm.data(), Epsilon(), width_, branch);
      Scale(branch, config_.residual_scale, width_);
      for (int i = 0; i < width_; ++i) x[i] += branch[i];
    });
  }

  void NormaliseAllHeads(const Layer& layer, int64_t rows, Member& member) {
    ForRows(rows, member, [&](int64_t row) {
      for (const auto& [norm, values] :
           {std::pair(&layer.query_norm, Query(row, 0)), std::pair(&layer.key_norm, Key(row, 0))}) {
        kernels_.rms_norm(values, norm->data(), Epsilon(), static_cast<int>(norm->size()), values);
      }
    });
  }

  // The normalised rows of x_. Many are shared by the team; a few are normalised by each member,
  // when it has a piece of the product that needs them.
  class Normed {
   public:
    Normed(CpuDecoder& decoder, const std::vector<float>& weight, int64_t rows, Member& member)
        : decoder_(decoder),
          weight_(weight),
          rows_(rows),
          to_(rows > kFewRows ? *decoder.normed_ : decoder.own_normed_[member.rank()]),
          scratch_(decoder.scratch_[member.rank()]) {
      if (rows <= kFewRows) return;
      decoder.ForRows(rows, member, [&](int64_t row) { Normalise(row); });
      done_ = true;
    }
    const LeftRows& Rows() {
      for (int64_t row = 0; row < rows_ && !done_; ++row) Normalise(row);
      done_ = true;
      return to_;
    }

   private:
    void Normalise(int64_t row) {
      decoder_.NormaliseRow(weight_, decoder_.x_[row], to_, row, scratch_);
    }

    CpuDecoder& decoder_;
    const std::vector<float>& weight_;
    const int64_t rows_;
    LeftRows& to_;
    float* const scratch_;
    bool done_ = false;
  };

  void NormaliseRow(const std::vector<float>& weight, const float* x, LeftRows& to, int64_t row,
                    float* scratch) {
    if (weight.empty()) return to.Put(row, 0, x, width_);
    kernels_.rms_norm(x, weight.data(), Epsilon(), width_, scratch);
    to.Put(row, 0, scratch, width_);
  }

  float Epsilon() const { return static_cast<float>(config_.norm_epsilon); }

  // A slice of outputs for neighbouring rows: what a thread computes at once.
  struct Piece {
    int64_t slice = 0;
    int64_t row = 0;
    int rows = 0;
  };

  template <class Body>
  void ForSlices(int64_t slices, int64_t rows, Member& member, const Body& body) {
    const int64_t row_blocks = (rows + kRowBlock - 1) / kRowBlock;
    member.ForEach(slices * row_blocks, [&](int64_t i) {
      const int64_t row = i % row_blocks * kRowBlock;
      body({i / row_blocks, row, static_cast<int>(std::min<int64_t>(kRowBlock, rows - row))});
    });
  }

  // Computes to (+)= from weightᵀ + bias.
  static void Multiply(const LeftRows& from, const PackedMatrix& weight, const Piece& piece,
                       const ActivationRows& to, bool add) {
    weight.Multiply(from, piece.row, piece.rows, piece.slice,
                    to[piece.row] + weight.FirstOutput(piece.slice), to.stride(), add);
  }

  void GateAndUp(const Mlp& mlp, const LeftRows& from, const Piece& piece) {
    alignas(64) float gate[kRowBlock * kSlice];
    alignas(64) float up[kRowBlock * kSlice];
    mlp.gate.Multiply(from, piece.row, piece.rows, piece.slice, gate, kSlice, /*add=*/false);
    mlp.up.Multiply(from, piece.row, piece.rows, piece.slice, up, kSlice, /*add=*/false);
    (config_.gelu ? kernels_.geglu : kernels_.swiglu)(gate, up, piece.rows * kSlice, gate);
    for (int i = 0; i < piece.rows; ++i) {
      hidden_->Put(piece.row + i, piece.slice * kSlice, gate + i * kSlice, kSlice);
    }
  }

  // A piece is a kv head of a tile: the keys and values of its parts are written and then read.
  // Another step is needed only if a part is in several tiles, because other threads then read
  // them.
  void Attention(const Layer& layer, int64_t index, Member& member) {
    const int64_t heads = config_.num_kv_heads;
    const auto& parts = batch_.parts();
    const auto& tiles = batch_.tiles();
    const bool together = batch_.parts_are_whole();
    if (!together) {
      member.ForEach(static_cast<int64_t>(parts.size()) * heads, [&](int64_t i) {
        StoreKeys(layer, index, parts[i / heads], static_cast<int>(i % heads));
      });
    }
    member.ForEach(static_cast<int64_t>(tiles.size()) * heads, [&](int64_t i) {
      const BatchParts::Tile& tile = tiles[i / heads];
      const int kv_head = static_cast<int>(i % heads);
      if (together) {
        for (const BatchParts::Part* part : tile.parts) StoreKeys(layer, index, *part, kv_head);
      }
      Attend(index, tile, kv_head);
    });
  }

  float* Query(int64_t row, int kv_head) const {
    return projected_[row] + kv_head * queries_per_kv_head_ * head_dim_;
  }
  float* Key(int64_t row, int kv_head) const {
    return projected_[row] + (config_.num_heads + kv_head) * head_dim_;
  }
  float* Value(int64_t row, int kv_head) const {
    return projected_[row] + (config_.num_heads + config_.num_kv_heads + kv_head) * head_dim_;
  }

  // Normalises and rotates the queries and keys of a kv head; stores its keys and values.
  void StoreKeys(const Layer& layer, int64_t index, const BatchParts::Part& part, int kv_head) {
    for (size_t i = 0; i < part.chunk.tokens.size(); ++i) {
      const int64_t row = part.row + static_cast<int64_t>(i);
      for (int h = 0; h < queries_per_kv_head_; ++h) {
        float* const query = Query(row, kv_head) + h * head_dim_;
        Turn(layer.query_norm, index, row, query);
        Scale(query, config_.score_scale, head_dim_);
      }
      Turn(layer.key_norm, index, row, Key(row, kv_head));
      const int position = part.chunk.start + static_cast<int>(i);
      pool_.Write(part.chunk.blocks[position / kKeyBlock], index, kv_head, position % kKeyBlock,
                  Key(row, kv_head), Value(row, kv_head));
    }
  }

  void Turn(const std::vector<float>& norm, int64_t index, int64_t row, float* head) {
    if (!norm.empty() && !config_.qk_norm_of_all) {
      kernels_.rms_norm(head, norm.data(), Epsilon(), head_dim_, head);
    }
    if (!config_.HasRotary(index)) return;
    const int table = config_.HasWindowRope(index) ? 1 : 0;
    kernels_.rotate(head, cos_[table][row], sin_[table][row], head_dim_ / 2);
  }

  void Attend(int64_t index, const BatchParts::Tile& tile, int kv_head) {
    alignas(64) float mixed[kTileRows * kMaxHeadDim];
    std::array<AttentionToken, kTileRows> tokens;
    for (size_t i = 0; i < tile.tokens.size(); ++i) {
      const BatchParts::Token& token = tile.tokens[i];
      tokens[i] = {Query(token.row, kv_head), token.blocks, token.position};
    }
    AttentionTask task;
    task.type = kv_type_;
    task.tokens = std::span(tokens).first(tile.tokens.size());
    task.mixed = mixed;
    task.heads = queries_per_kv_head_;
    task.head_dim = head_dim_;
    task.window = static_cast<int>(config_.WindowOf(index));
    task.keys = pool_.Keys(index, kv_head);
    task.values = pool_.Values(index, kv_head);
    task.block_bytes = pool_.block_bytes();
    kernels_.attend(task);
    const int width = queries_per_kv_head_ * head_dim_;
    for (size_t i = 0; i < tile.tokens.size(); ++i) {
      mixed_->Put(tile.tokens[i].row, kv_head * width, mixed + i * width, width);
    }
  }

  void Logits(Member& member) {
    const std::vector<int64_t>& wanted = batch_.wanted();
    const auto count = static_cast<int64_t>(wanted.size());
    if (count == 0) return;
    ForRows(count, member, [&](int64_t i) {
      float* const normed = scratch_[member.rank()];
      kernels_.rms_norm(x_[wanted[i]], norm_.data(), Epsilon(), width_, normed);
      Scale(normed, config_.logit_scale, width_);
      normed_->Put(i, 0, normed, width_);
    });
    const int64_t stride = Padded(config_.vocab_size);
    float* logits = reinterpret_cast<float*>(logits_.data()) + logit_rows_ * stride;
    ForSlices(output_.slices(), count, member, [&](const Piece& piece) {
      output_.Multiply(*normed_, piece.row, piece.rows, piece.slice,
                       logits + piece.row * stride + piece.slice * kSlice, stride, /*add=*/false);
    });
  }

  // Removes the gaps after rows whose last panel is incomplete.
  std::span<const float> CompactLogits() {
    auto* logits = reinterpret_cast<float*>(logits_.data());
    const int64_t n = config_.vocab_size, stride = Padded(n);
    for (int64_t row = 1; row < logit_rows_ && stride != n; ++row) {
      std::memmove(logits + row * n, logits + row * stride, n * sizeof(float));
    }
    return {logits, static_cast<size_t>(logit_rows_ * n)};
  }

  const ModelConfig config_;
  const std::optional<WeightType> weights_;  // of matrices; none: as in the file
  const WeightType kv_type_;
  const Kernels& kernels_;
  std::shared_ptr<const void> keeper_;  // keeps the embedding alive if it is not a copy
  std::vector<std::byte> embedding_copy_;
  Weight embedding_;
  ThreadTeam team_;
  TeamSize team_size_;
  KvPool pool_;
  const DecoderShape shape_;
  const int width_;
  const int head_dim_;
  const int queries_per_kv_head_;                  // query heads per kv head
  std::array<std::vector<float>, 2> frequencies_;  // of the layers, and of those with a window
  const bool separate_;  // attention and the MLP have norms or a factor behind them
  std::vector<float> norm_;
  PackedMatrix output_;
  std::vector<Layer> layers_;

  // The state of the present batch.
  BatchParts batch_;
  ActivationRows x_;          // [rows, width]: the residual stream
  ActivationRows branch_;     // [rows, width]: what is added to it, where `separate_`
  ActivationRows projected_;  // [rows, queries, keys and values of all heads]
  ActivationRows scratch_;    // [threads, width]
  std::array<ActivationRows, 2> cos_, sin_;  // [rows, head_dim / 2]
  std::optional<LeftRows> normed_;           // [rows, width]
  std::optional<LeftRows> mixed_;            // [rows, heads * head_dim]
  std::optional<LeftRows> hidden_;           // [rows, intermediate_size], or of entries
  // Only with experts.
  ActivationRows routed_;             // [rows, experts]: the router's logits
  ActivationRows made_;               // [entries, width]
  std::optional<LeftRows> gathered_;  // [entries, width]
  ExpertRouting routing_;
  std::vector<LeftRows> own_normed_;  // by thread, [kFewRows, width]
  AlignedBuffer logits_;
  int64_t logit_rows_ = 0;  // logit rows computed so far
};

}  // namespace

std::unique_ptr<Decoder> MakeCpuDecoder(const DecoderPlan& plan,
                                        std::shared_ptr<const WeightSource> weights, Simd simd) {
  return std::make_unique<CpuDecoder>(plan, std::move(weights), simd);
}

}  // namespace agentr
