// What the .cu files offer; no CUDA syntax, so any C++ file may include it.
#pragma once
#include <cstddef>
#include <cstdint>
namespace self_test {
enum class Binary { add, mul, relu_grad };
struct Shape {
  int ndim;
  int size[6];
  int stride_a[6], stride_b[6];
};  // strides in elements, 0 broadcasts
void binary(Binary op, const Shape&, const float* a, const float* b, float* out);
void binary_contiguous(Binary op, const float* a, const float* b, float* out, std::size_t n);
void bias_relu(const float* x, const float* bias, float* y, int rows, int cols, bool relu);
void to_bf16(const float* x, std::uint16_t* y, std::size_t n);
void from_bf16(const std::uint16_t* x, float* y, std::size_t n);
// state: {seed, offset} in device memory, so that a captured graph draws anew at each replay
void dropout(const float* x, float* y, std::size_t n, float p, const std::uint64_t* state,
             std::uint64_t offset_in_step);
void advance(std::uint64_t* state, std::uint64_t by);

void sum_all(const float* x, float* out, std::size_t n);  // out: one float
void softmax(const float* x, float* y, int rows, int cols);
void softmax_grad(const float* y, const float* dy, float* dx, int rows, int cols);
void layernorm(const float* x, const float* g, const float* b, float* y, float* mean, float* rstd, int rows, int cols);
void layernorm_grad(const float* x, const float* g, const float* mean, const float* rstd, const float* dy, float* dx,
                    float* dg, float* db, int rows, int cols);
void column_sum(const float* x, float* out, int rows, int cols);
void cross_entropy(const float* logits, const int* target, float* loss, float* dlogits, int rows, int cols);

void transpose(const float* x, float* y, int rows, int cols);
struct Conv {
  int n, h, w, c, k, pad, oh, ow;
};  // NHWC, square kernel, stride 1
void im2col(const Conv&, const float* x, float* col);
void col2im(const Conv&, const float* col, float* dx);
void conv_bias_relu(const Conv&, const std::uint16_t* x, const std::uint16_t* w, const float* bias, float* y, int oc,
                    bool relu);  // bf16, tensor cores
struct Pool {
  int n, h, w, c, k, stride, oh, ow;
};
void maxpool(const Pool&, const float* x, float* y, int* index);
void maxpool_grad(const Pool&, const float* dy, const int* index, float* dx);  // dx is zeroed here
void embedding(const float* table, const int* ids, float* out, int n, int dim);
void embedding_grad(const float* dout, const int* ids, float* dtable, int n, int dim);

inline constexpr int kAdamTensors = 24;
struct AdamList {
  float *p[kAdamTensors], *g[kAdamTensors], *m[kAdamTensors], *v[kAdamTensors];
  unsigned n[kAdamTensors];
  int count;
};
void adam(const AdamList&, const float* lr, float* step, float b1, float b2, float eps,
          float decay);  // lr, step: device
}  // namespace self_test
