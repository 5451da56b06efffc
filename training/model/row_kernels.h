// The inner loops of training on the CPU, over one row of floats each. Compiled once per
// instruction set and chosen when the program starts; the sums run in 16 lanes whatever the set.
//
// Rows of bfloat16 are widened into a scratch row, worked on, and narrowed again (in the L1 cache).
#pragma once

#include <cstdint>

namespace agentr::rows {

void Widen(const uint16_t* from, int64_t n, float* to);   // bfloat16 to float
void Narrow(const float* from, int64_t n, uint16_t* to);  // to the nearest, ties to even

float Dot(const float* a, const float* b, int64_t n);

// y = x * scale * weight, scale = 1 / sqrt(mean(x²) + epsilon), which is returned.
float RmsNorm(const float* x, const float* weight, float epsilon, int64_t n, float* y);
// dx += the gradient; dweight += that of the weight where it is not null.
void RmsNormBackward(const float* dy, const float* x, const float* weight, float epsilon, int64_t n,
                     float* dx, float* dweight);

// y = gate / (1 + exp(-gate)) * up.
void SwiGlu(const float* gate, const float* up, int64_t n, float* y);
// y again, and the gradients of gate and up.
void SwiGluBackward(const float* dy, const float* gate, const float* up, int64_t n, float* y,
                    float* dgate, float* dup);

// Turns the pairs (i, i + half) of a head by angles with these cosines and sines; `sign` -1 turns
// them back. `from` may be `to`.
void Rotate(const float* from, const float* cos, const float* sin, float sign, int64_t half,
            float* to);

// softmax(scale * x) over x[begin … end), in place; 0 elsewhere in 0 … n - 1. Returns the
// logarithm of the sum of exp(scale * x).
float Softmax(float* x, float scale, int64_t begin, int64_t end, int64_t n);
// The row of Softmax again, from its result: x becomes p = exp(scale * x - log_sum), and dp becomes
// the gradient of x, where `dot` is the sum of p * dp.
void SoftmaxBackward(float* x, float* dp, float scale, float log_sum, float dot, int64_t begin,
                     int64_t end, int64_t n);

// The logarithm of the sum of exp(x).
float LogSumExp(const float* x, int64_t n);
// x becomes factor * exp(x - log_sum).
void ScaledExp(float* x, float log_sum, float factor, int64_t n);

}  // namespace agentr::rows
