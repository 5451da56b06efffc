// The computations of a layer between its matrix products, forward and backward, on the CPU.
//
// Matrices are [rows, width], float32 or bfloat16 (computed in float32), with contiguous rows. Only
// the inputs are kept for the backward passes; cheap intermediate values are computed again.
// Gradients of weights are float32, summed in an order that does not depend on the threads.
#pragma once

#include <ATen/ATen.h>

#include <vector>

namespace agentr {

// Access to the rows of a matrix of either type as floats.
class MatrixRows {
 public:
  explicit MatrixRows(const at::Tensor& matrix);  // [rows, width], rows contiguous

  int64_t rows() const { return rows_; }
  int64_t width() const { return width_; }
  // Row `row`; converted into `scratch` [width] unless it is float32.
  const float* Read(int64_t row, std::vector<float>& scratch) const;
  // A buffer with the old values of row `row` to be changed; Store writes it back.
  float* Open(int64_t row, std::vector<float>& scratch) const;
  // The same for a row of which every value will be set: the buffer's values are arbitrary.
  float* New(int64_t row, std::vector<float>& scratch) const;
  void Store(int64_t row, const float* values) const;

 private:
  char* const data_;
  const int64_t rows_, width_, stride_;
  const bool wide_;
};

// x / sqrt(mean(x²) + epsilon) * weight over the last dimension (Zhang and Sennrich 2019); weight
// float32 [width].
at::Tensor RmsNorm(const at::Tensor& x, const at::Tensor& weight, double epsilon);
// Adds the gradient of x to `dx`, and that of the weight to `dweight` if it is defined.
void RmsNormBackward(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                     double epsilon, const at::Tensor& dx, const at::Tensor& dweight);

// silu(gate) * up, where gate_up [rows, 2 * width] holds both (Shazeer 2020). `gelu`: with gelu by
// tanh instead of silu (GeGLU).
at::Tensor SwiGlu(const at::Tensor& gate_up, bool gelu = false);
struct SwiGluGradient {
  at::Tensor y;         // the recomputed SwiGlu(gate_up)
  at::Tensor dgate_up;  // the shape of gate_up
};
SwiGluGradient SwiGluBackward(const at::Tensor& dy, const at::Tensor& gate_up, bool gelu = false);

// Cosines and sines of rotary embedding, float32 [tokens, head_dim / 2].
struct RotaryTable {
  at::Tensor cos, sin;
};

// x [tokens, groups * shared * head_dim] -> [groups, tokens, shared, head_dim]: the order in which
// attention reads it; each head is rotated by its token's angles if `rotary` is not null.
at::Tensor ToHeads(const at::Tensor& x, int64_t groups, int64_t shared, const RotaryTable* rotary);
// The inverse, including the rotation, into `x`, which may be some columns of a matrix.
void FromHeads(const at::Tensor& heads, const RotaryTable* rotary, const at::Tensor& x);

// The scalar products of the heads of a and b [tokens, groups * shared * head_dim]: float32
// [groups, tokens, shared].
at::Tensor HeadDots(const at::Tensor& a, const at::Tensor& b, int64_t groups, int64_t shared);

}  // namespace agentr
