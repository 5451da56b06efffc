#include "training/model/panel_product.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cstring>

#include "lm/kernels/kernels.h"

namespace agentr {
namespace {

using at::Tensor;

constexpr int64_t kPackedDepth = 4096;  // of all panels in memory at once: 8 MiB, in the L3 cache
constexpr int64_t kPackedColumns = 512;
constexpr int64_t kStripRows = 96;  // of A: they stay in the L2 cache for all panels
constexpr int64_t kTile = 6;        // rows that a kernel computes together
constexpr int64_t kMinDepth = 64;
constexpr int64_t kStripLength = kStripRows + kTile;

// A matrix in memory, whose rows or columns are contiguous.
struct Operand {
  explicit Operand(const Tensor& of)
      : data(of.data_ptr<float>()), row(of.stride(0)), column(of.stride(1)) {}
  float* At(int64_t i, int64_t k) const { return data + i * row + k * column; }
  bool HasRows() const { return column == 1; }

  float* data;
  int64_t row, column;  // distances of neighbours
};

// A panel stays in the L2 cache with AVX-512, whose kernels need few values of B for each product,
// else in the L1 cache.
int64_t DeepestPanel() { return ActiveSimd() >= Simd::kAvx512 ? 512 : 256; }

bool HasLines(const Tensor& x) { return x.stride(0) == 1 || x.stride(1) == 1; }

// OpenBLAS has faster products than the portable kernels.
bool HasFastKernels() { return ActiveSimd() != Simd::kPortable; }

int64_t Ceil(int64_t n, int64_t part) { return (n + part - 1) / part; }

using Four = float __attribute__((vector_size(16), aligned(4), may_alias));

// to[c * to_row + r] = from[r * from_row + c] for four rows and columns.
inline void TransposeFour(const float* from, int64_t from_row, float* to, int64_t to_row) {
  const auto row = [&](int64_t r) { return *reinterpret_cast<const Four*>(from + r * from_row); };
  const auto store = [&](int64_t r, Four x) { *reinterpret_cast<Four*>(to + r * to_row) = x; };
  const Four a = row(0), b = row(1), c = row(2), d = row(3);
  const Four ab01 = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab23 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd01 = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd23 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(0, __builtin_shufflevector(ab01, cd01, 0, 1, 4, 5));
  store(1, __builtin_shufflevector(ab01, cd01, 2, 3, 6, 7));
  store(2, __builtin_shufflevector(ab23, cd23, 0, 1, 4, 5));
  store(3, __builtin_shufflevector(ab23, cd23, 2, 3, 6, 7));
}

// to[c * to_row + r] = from[r * from_row + c], by blocks that fit into the L1 cache. `rows` is a
// multiple of kLanes.
void Transpose(const float* from, int64_t from_row, int64_t rows, int64_t columns, float* to,
               int64_t to_row) {
  for (int64_t r = 0; r < rows; r += kLanes) {
    for (int64_t c = 0; c < columns; c += kLanes) {
      const int64_t end = std::min(c + kLanes, columns), whole = c + (end - c) / 4 * 4;
      for (int64_t i = r; i < r + kLanes; i += 4) {
        for (int64_t k = c; k < whole; k += 4) {
          TransposeFour(from + i * from_row + k, from_row, to + k * to_row + i, to_row);
        }
      }
      for (int64_t i = r; i < r + kLanes; ++i) {
        for (int64_t k = whole; k < end; ++k) to[k * to_row + i] = from[i * from_row + k];
      }
    }
  }
}

// Copies `depth` rows of `from` that are `from_row` apart. The distance is too great for the
// processor to foresee the next rows, so it is told.
inline void CopyRows(const float* from, int64_t from_row, int64_t depth, int64_t columns, float* to,
                     int64_t to_row) {
  constexpr int64_t kAhead = 8;
  for (int64_t k = 0; k < depth; ++k, from += from_row, to += to_row) {
    for (int64_t c = 0; c < columns; c += kLanes) __builtin_prefetch(from + kAhead * from_row + c);
    int64_t c = 0;
    for (; c + kLanes <= columns; c += kLanes) {
      std::memcpy(to + c, from + c, kLanes * sizeof(float));  // inlined
    }
    std::copy_n(from + c, columns - c, to + c);
  }
}

// The product with a part of B, all of whose panels are copied first.
class PanelProduct {
 public:
  PanelProduct(const Operand& a, const Operand& b, const Operand& c, int64_t rows, int64_t depth,
               int64_t columns)
      : a_(a),
        b_(b),
        c_(c),
        rows_(rows),
        depth_(depth),
        columns_(columns),
        kernels_(KernelsOf(ActiveSimd())),
        panel_(kernels_.panel_columns),
        passes_(Ceil(depth, DeepestPanel())),
        panels_(Ceil(columns, panel_)),
        memory_(at::empty({panels_ * panel_ * depth}, at::kFloat)),
        packed_(memory_.data_ptr<float>()) {}

  void Run(bool add) {
    at::parallel_for(0, passes_ * panels_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) CopyPanel(i % panels_, i / panels_);
    });
    // Each thread takes as many strips, which begin with a whole tile.
    const int64_t threads = at::get_num_threads();
    const int64_t strips = threads * Ceil(rows_, threads * kStripRows);
    const auto first = [&](int64_t strip) {
      return strip == strips ? rows_ : rows_ * strip / strips / kTile * kTile;
    };
    at::parallel_for(0, strips, 1, [&](int64_t begin, int64_t end) {
      const Tensor lines =
          at::empty({a_.HasRows() ? 0 : kStripLength * DeepestPanel()}, at::kFloat);
      for (int64_t s = begin; s < end; ++s) {
        MultiplyStrip(first(s), first(s + 1), add, lines.data_ptr<float>());
      }
    });
  }

 private:
  int64_t Begin(int64_t pass) const { return depth_ * pass / passes_; }
  int64_t Depth(int64_t pass) const { return Begin(pass + 1) - Begin(pass); }
  int64_t Columns(int64_t panel) const { return std::min(panel_, columns_ - panel * panel_); }
  float* Panel(int64_t panel, int64_t pass) const {
    return packed_ + (Begin(pass) * panels_ + panel * Depth(pass)) * panel_;
  }

  void CopyPanel(int64_t panel, int64_t pass) const {
    const int64_t depth = Depth(pass), columns = Columns(panel);
    const float* from = b_.At(Begin(pass), panel * panel_);
    float* to = Panel(panel, pass);
    if (!b_.HasRows()) return Transpose(from, b_.column, columns, depth, to, panel_);
    CopyRows(from, b_.row, depth, columns, to, panel_);
  }

  // The rows row … end - 1. `lines` is memory for a copy of them, if A has contiguous columns.
  void MultiplyStrip(int64_t row, int64_t end, bool add, float* lines) const {
    for (int64_t pass = 0; pass < passes_; ++pass) {
      const float* a = a_.At(row, Begin(pass));
      if (!a_.HasRows()) {
        CopyRows(a, a_.column, Depth(pass), end - row, lines, kStripLength);
        a = lines;
      }
      kernels_.multiply(WeightType::kF32, {.a = a,
                                           .lda = a_.row,
                                           .rows = static_cast<int>(end - row),
                                           .b = Panel(0, pass),
                                           .ldb = panel_,
                                           .depth = Depth(pass),
                                           .c = c_.At(row, 0),
                                           .ldc = c_.row,
                                           .columns = static_cast<int>(columns_),
                                           .add = add || pass > 0,
                                           .a_step = a_.HasRows() ? 1 : kStripLength,
                                           .pass = Depth(pass),
                                           .panel_stride = Depth(pass) * panel_});
    }
  }

  Operand a_, b_, c_;
  int64_t rows_, depth_, columns_;
  const Kernels& kernels_;
  int64_t panel_;  // columns of a panel
  int64_t passes_, panels_;
  Tensor memory_;
  float* packed_;  // [pass][panel][depth of the pass][panel_]
};

}  // namespace

bool FitsPanels(const Tensor& a, const Tensor& b) {
  return HasFastKernels() && a.scalar_type() == at::kFloat && a.device().is_cpu() && HasLines(a) &&
         HasLines(b) && a.size(0) >= kStripRows && a.size(1) >= kMinDepth &&
         b.size(1) % kLanes == 0;
}

void MultiplyPanels(const Tensor& a, const Tensor& b, const Tensor& c, bool add) {
  const int64_t rows = a.size(0), depth = a.size(1), columns = b.size(1);
  TORCH_CHECK(b.size(0) == depth && c.size(0) == rows && c.size(1) == columns && c.stride(1) == 1,
              "the shapes of the product do not fit");
  for (int64_t k = 0; k < depth; k += kPackedDepth) {
    const int64_t steps = std::min(kPackedDepth, depth - k);
    for (int64_t j = 0; j < columns; j += kPackedColumns) {
      const int64_t count = std::min(kPackedColumns, columns - j);
      PanelProduct(Operand(a.narrow(1, k, steps)),
                   Operand(b.narrow(0, k, steps).narrow(1, j, count)),
                   Operand(c.narrow(1, j, count)), rows, steps, count)
          .Run(add || k > 0);
    }
  }
}

}  // namespace agentr
