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
  float highest[kTileRows];          // highest score so far
  float totals[kTileRows * kWidth];  // of e^(score - highest), by lane
};

// Multiplies a row's values for the positions of a block by factors of the positions.
AGENTR_SIMD inline void ScaleByPosition(const std::byte* factors, float* row) {
  for (int i = 0; i < kKeyBlock; i += kWidth) {
    StoreVec(row + i, LoadVec(row + i) * LoadVec(factors + i * sizeof(float)));
  }
}

AGENTR_SIMD inline void Prefetch(const std::byte* from, int64_t bytes) {
  for (int64_t i = 0; i < bytes; i += 64) __builtin_prefetch(from + i);
}

// Turns the scores of one row for a block into shares e^(score - highest). The positions low … high
// - 1 of the block are visible, at least one.
AGENTR_SIMD inline void WeighScores(AttentionScratch& s, int row, int low, int high, int width) {
  constexpr int kVecs = kKeyBlock / kWidth;
  float* shares = s.shares + row * kKeyBlock;
  Vec scores[kVecs];
  for (int v = 0; v < kVecs; ++v) scores[v] = LoadVec(shares + v * kWidth);
  if (low > 0 || high < kKeyBlock) {
    const Vec never = Vec{} - std::numeric_limits<float>::infinity();
    for (int v = 0; v < kVecs; ++v) {
      const IntVec position =
          reinterpret_cast<IntVec>(LoadVec(kPositionsOfBlock.data() + v * kWidth));
      scores[v] = ((position >= low) & (position < high)) ? scores[v] : never;
    }
  }
  Vec most = scores[0];
  for (int v = 1; v < kVecs; ++v) most = Greater::Of(scores[v], most);
  Vec total = LoadVec(s.totals + row * kWidth);
  if (AnyGreater(most, s.highest[row])) {
    const float highest = Max(most);
    const Vec keep = ExpBelow88(Vec{} + (s.highest[row] - highest));
    s.highest[row] = highest;
    total *= keep;
    float* mixed = s.mixed + row * width;
    for (int i = 0; i < width; i += kWidth) StoreVec(mixed + i, LoadVec(mixed + i) * keep);
  }
  for (int v = 0; v < kVecs; ++v) {
    const Vec share = ExpBelow88(scores[v] - s.highest[row]);
    total += share;
    StoreVec(shares + v * kWidth, share);
  }
  StoreVec(s.totals + row * kWidth, total);
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
    StoreVec(s.totals + row * kWidth, Vec{});
  }
  const int64_t bytes_of_half = kKeyBlock * width * NumberBytes(t.type);
  const int end = t.start + t.tokens;
  const int begin = t.window > 0 ? std::max(0, t.start + 1 - t.window) : 0;
  for (int first = begin / kKeyBlock * kKeyBlock; first < end; first += kKeyBlock) {
    const int64_t block = t.blocks[first / kKeyBlock] * t.block_bytes;
    // The next block can be anywhere in memory, so nothing but this announces it. Each half is asked
    // for before the work on the other one.
    const std::byte* const next_keys =
        first + kKeyBlock < end ? t.keys + t.blocks[first / kKeyBlock + 1] * t.block_bytes
                                : nullptr;
    if (next_keys != nullptr) Prefetch(next_keys, bytes_of_half);
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
    if (next_keys != nullptr) Prefetch(next_keys + (t.values - t.keys), bytes_of_half);
    // Values that no token sees yet are not read, because they may be uninitialised.
    const int seen = std::min(end - first, kKeyBlock);
    Multiply(t.type, {narrow ? static_cast<const void*>(s.left_shares) : s.shares, kKeyBlock, rows,
                      t.values + block, width, narrow ? (seen + 1) / 2 * 2 : seen, s.mixed, width,
                      width, /*add=*/true});
  }
  for (int row = 0; row < rows; ++row) {
    float* mixed = t.mixed + row / t.heads * t.mixed_stride + row % t.heads * t.head_dim;
    const float total = Sum(LoadVec(s.totals + row * kWidth));
    for (int i = 0; i < t.head_dim; ++i) mixed[i] = s.mixed[row * width + i] / total;
  }
}
