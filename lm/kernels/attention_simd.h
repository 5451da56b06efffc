// Attention over the blocks of a sequence.

constexpr std::array<int32_t, kKeyBlock> Positions() {
  std::array<int32_t, kKeyBlock> positions = {};
  for (int i = 0; i < kKeyBlock; ++i) positions[i] = i;
  return positions;
}
constexpr std::array<int32_t, kKeyBlock> kPositionsOfBlock = Positions();

// Rows of a tile are (token, head), heads first.
struct AttentionScratch {
  alignas(64) float queries[kTileRows * kMaxHeadDim];
  alignas(64) float mixed[kTileRows * kMaxHeadDim];
  alignas(64) float shares[kTileRows * kKeyBlock];
  // Rounded to bfloat16, if the keys are.
  alignas(64) std::byte left_queries[kTileRows * kMaxHeadDim * kBf16LeftBytes];
  alignas(64) std::byte left_shares[kTileRows * kKeyBlock * kBf16LeftBytes];
  float highest[kTileRows];  // highest score so far
  float total[kTileRows];    // of e^(score - highest)
};

// Multiplies a row's values for the positions of a block by factors of the positions.
AGENTR_SIMD inline void ScaleByPosition(const std::byte* factors, float* row) {
  for (int i = 0; i < kKeyBlock; i += kWidth) {
    StoreVec(row + i, LoadVec(row + i) * LoadVec(factors + i * sizeof(float)));
  }
}

// Turns the scores of one row for a block into shares e^(score - highest). The positions low … high
// - 1 of the block are visible, at least one.
AGENTR_SIMD inline void WeighScores(AttentionScratch& s, int row, int low, int high, int width) {
  constexpr int kVecs = kKeyBlock / kWidth;
  const Vec never = Vec{} - std::numeric_limits<float>::infinity();
  float* shares = s.shares + row * kKeyBlock;
  Vec scores[kVecs], most = never;
  for (int v = 0; v < kVecs; ++v) {
    const IntVec position =
        reinterpret_cast<IntVec>(LoadVec(kPositionsOfBlock.data() + v * kWidth));
    scores[v] = ((position >= low) & (position < high)) ? LoadVec(shares + v * kWidth) : never;
    most = Greater::Of(scores[v], most);
  }
  const float highest = std::max(s.highest[row], Max(most));
  if (highest > s.highest[row]) {
    const float keep = Exp(Vec{} + (s.highest[row] - highest))[0];
    s.highest[row] = highest;
    s.total[row] *= keep;
    float* mixed = s.mixed + row * width;
    for (int i = 0; i < width; i += kWidth) StoreVec(mixed + i, LoadVec(mixed + i) * keep);
  }
  Vec total = {};
  for (int v = 0; v < kVecs; ++v) {
    const Vec share = Exp(scores[v] - highest);
    total += share;
    StoreVec(shares + v * kWidth, share);
  }
  s.total[row] += Sum(total);
}

AGENTR_SIMD inline void Attend(const AttentionTask& t) {
  AttentionScratch s;
  const bool narrow = t.type == WeightType::kBF16;
  const bool bytes = t.type == WeightType::kQ8_0;  // with a factor for each position behind them
  const int rows = t.tokens * t.heads;
  const int width = (t.head_dim + kLanes - 1) / kLanes * kLanes;
  const float scale = 1 / std::sqrt(static_cast<float>(t.head_dim));
  for (int row = 0; row < rows; ++row) {
    const float* query = t.queries + row / t.heads * t.query_stride + row % t.heads * t.head_dim;
    float* scaled = s.queries + row * width;
    for (int i = 0; i < t.head_dim; ++i) scaled[i] = query[i] * scale;
    if (narrow) RoundLeft(scaled, t.head_dim, s.left_queries + row * width * kBf16LeftBytes);
    std::fill_n(s.mixed + row * width, width, 0.0f);
    s.highest[row] = -std::numeric_limits<float>::infinity();
    s.total[row] = 0;
  }
  const int end = t.start + t.tokens;
  const int begin = t.window > 0 ? std::max(0, t.start + 1 - t.window) : 0;
  for (int first = begin / kKeyBlock * kKeyBlock; first < end; first += kKeyBlock) {
    const int64_t block = t.blocks[first / kKeyBlock] * t.block_bytes;
    if (first + kKeyBlock < end) {  // prefetch, because the next block can be anywhere in memory
      const int64_t next = t.blocks[first / kKeyBlock + 1] * t.block_bytes;
      const int64_t size = kKeyBlock * width * NumberBytes(t.type);
      for (int64_t i = 0; i < size; i += 64) __builtin_prefetch(t.keys + next + i, 0, 2);
      for (int64_t i = 0; i < size; i += 64) __builtin_prefetch(t.values + next + i, 0, 2);
    }
    Multiply(t.type, {narrow ? static_cast<const void*>(s.left_queries) : s.queries, width, rows,
                      t.keys + block, kKeyBlock, t.head_dim, s.shares, kKeyBlock, kKeyBlock});
    for (int row = 0; row < rows; ++row) {
      const int position = t.start + row / t.heads;
      const int low = t.window > 0 ? std::max(0, position + 1 - t.window - first) : 0;
      const int high = std::min(position + 1 - first, kKeyBlock);
      float* shares = s.shares + row * kKeyBlock;
      if (bytes) ScaleByPosition(t.keys + block + kKeyBlock * t.head_dim, shares);
      if (low < high) {
        WeighScores(s, row, low, high, width);
        if (bytes) ScaleByPosition(t.values + block + kKeyBlock * width, shares);
      } else {
        std::fill_n(shares, kKeyBlock, 0.0f);
      }
      if (narrow) RoundLeft(shares, kKeyBlock, s.left_shares + row * kKeyBlock * kBf16LeftBytes);
    }
    // Values that no token sees yet are not read, because they may be uninitialised.
    const int seen = std::min(end - first, kKeyBlock);
    Multiply(t.type, {narrow ? static_cast<const void*>(s.left_shares) : s.shares, kKeyBlock, rows,
                      t.values + block, width, narrow ? (seen + 1) / 2 * 2 : seen, s.mixed, width,
                      width, /*add=*/true});
  }
  for (int row = 0; row < rows; ++row) {
    float* mixed = t.mixed + row / t.heads * t.mixed_stride + row % t.heads * t.head_dim;
    for (int i = 0; i < t.head_dim; ++i) mixed[i] = s.mixed[row * width + i] / s.total[row];
  }
}
