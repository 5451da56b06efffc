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

// Always inline, because GCC leaves out the call of a function that does nothing else.
AGENTR_INLINE void Prefetch(const std::byte* from, int64_t bytes) {
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

// Neighbours among the tokens of a task that see the same block: its number in their tables, and
// the tokens first … last - 1.
struct AttentionRun {
  int block = 0;
  int first = 0;
  int last = 0;
};

AGENTR_SIMD inline bool Sees(const AttentionTask& t, int token, int block) {
  const int position = t.tokens[token].position, begin = block * kKeyBlock;
  return begin <= position && (t.window == 0 || begin + kKeyBlock > position + 1 - t.window);
}

// Moves to the next run, block by block; false if there is none before block number `end`.
AGENTR_SIMD inline bool Advance(const AttentionTask& t, int end, AttentionRun& run) {
  const int count = static_cast<int>(t.tokens.size());
  const auto next_seeing = [&](int token) {
    while (token < count && !Sees(t, token, run.block)) ++token;
    return token;
  };
  while ((run.first = next_seeing(run.last)) == count) {
    if (++run.block >= end) return false;
    run.last = 0;
  }
  const int32_t block = t.tokens[run.first].blocks[run.block];
  run.last = run.first + 1;
  while (run.last < count && Sees(t, run.last, run.block) &&
         t.tokens[run.last].blocks[run.block] == block) {
    ++run.last;
  }
  return true;
}

AGENTR_SIMD inline void Attend(const AttentionTask& t) {
  AttentionScratch s;
  Bf16Tiles tiles;
  const bool narrow = t.type == WeightType::kBF16;
  const bool bytes = t.type == WeightType::kQ8_0;  // with a factor for each position behind them
  const int count = static_cast<int>(t.tokens.size());
  const int width = (t.head_dim + kLanes - 1) / kLanes * kLanes;
  const float scale = 1 / std::sqrt(static_cast<float>(t.head_dim));
  int first_seen = t.tokens[0].position, last_seen = 0;  // positions
  for (int token = 0; token < count; ++token) {
    const int position = t.tokens[token].position;
    first_seen = std::min(first_seen, t.window > 0 ? std::max(0, position + 1 - t.window) : 0);
    last_seen = std::max(last_seen, position);
  }
  for (int row = 0; row < count * t.heads; ++row) {
    const float* query = t.tokens[row / t.heads].query + row % t.heads * t.head_dim;
    float* scaled = s.queries + row * width;
    for (int i = 0; i < t.head_dim; ++i) scaled[i] = query[i] * scale;
    if (narrow) RoundLeft(scaled, t.head_dim, s.left_queries + row * width * kBf16LeftBytes);
    std::fill_n(s.mixed + row * width, width, 0.0f);
    s.highest[row] = -std::numeric_limits<float>::infinity();
    StoreVec(s.totals + row * kWidth, Vec{});
  }
  const int64_t quarter = kKeyBlock / 2 * width * NumberBytes(t.type);  // of a block, in bytes
  const int end = last_seen / kKeyBlock + 1;
  const auto place = [&](const AttentionRun& run) {
    return t.tokens[run.first].blocks[run.block] * t.block_bytes;
  };
  AttentionRun run{first_seen / kKeyBlock};
  for (bool more = Advance(t, end, run); more;) {
    AttentionRun next = run;
    more = Advance(t, end, next);
    const int64_t block = place(run);
    // The next block can be anywhere in memory, so nothing but this announces it. It is asked for
    // in quarters between the parts of the work, because a core that waits for some dozens of lines
    // can do nothing else before one has come.
    const int64_t ahead = more ? place(next) : 0;
    if (more) Prefetch(t.keys + ahead, quarter);
    const int begin = run.first * t.heads, rows = (run.last - run.first) * t.heads;
    const float* const queries = s.queries + begin * width;
    const std::byte* const left_queries = s.left_queries + begin * width * kBf16LeftBytes;
    float* const shares = s.shares + begin * kKeyBlock;
    std::byte* const left_shares = s.left_shares + begin * kKeyBlock * kBf16LeftBytes;
    MultiplyIn(tiles, t.type,
               {narrow ? static_cast<const void*>(left_queries) : queries, width, rows,
                t.keys + block, kKeyBlock, t.head_dim, shares, kKeyBlock, kKeyBlock});
    if (more) Prefetch(t.keys + ahead + quarter, quarter);
    const int first = run.block * kKeyBlock;
    int seen = 0;  // positions of the block that a token of the run sees
    for (int row = 0; row < rows; ++row) {
      const int position = t.tokens[run.first + row / t.heads].position;
      const int low = t.window > 0 ? std::max(0, position + 1 - t.window - first) : 0;
      const int high = std::min(position + 1 - first, kKeyBlock);
      seen = std::max(seen, high);
      float* const weights = shares + row * kKeyBlock;
      if (bytes) ScaleByPosition(t.keys + block + kKeyBlock * t.head_dim, weights);
      WeighScores(s, begin + row, low, high, width);
      if (bytes) ScaleByPosition(t.values + block + kKeyBlock * width, weights);
      if (narrow) RoundLeft(weights, kKeyBlock, left_shares + row * kKeyBlock * kBf16LeftBytes);
    }
    if (more) Prefetch(t.values + ahead, quarter);
    // Values that no token sees yet are not read, because they may be uninitialised.
    MultiplyIn(tiles, t.type,
               {narrow ? static_cast<const void*>(left_shares) : shares, kKeyBlock, rows,
                t.values + block, width, narrow ? (seen + 1) / 2 * 2 : seen,
                s.mixed + begin * width, width, width, /*add=*/true});
    if (more) Prefetch(t.values + ahead + quarter, quarter);
    run = next;
  }
  for (int row = 0; row < count * t.heads; ++row) {
    float* mixed = t.mixed + row * t.head_dim;
    const float total = Sum(LoadVec(s.totals + row * kWidth));
    for (int i = 0; i < t.head_dim; ++i) mixed[i] = s.mixed[row * width + i] / total;
  }
}
