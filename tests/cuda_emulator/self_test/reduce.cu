#include "kernels.h"
#include "launch.cuh"

namespace self_test {
namespace {
// Each block adds its part; the last block to finish sums the parts, in a fixed order.
__global__ void __launch_bounds__(256)
    sum_kernel(const float* x, float* parts, unsigned* done, float* out, unsigned n) {
  TAPER_SHARED(float, scratch, [32]);
  TAPER_SHARED(bool, last, [1]);
  float s = 0;
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) s += x[i];
  s = block_sum(s, scratch);
  if (threadIdx.x == 0) {
    parts[blockIdx.x] = s;
    __threadfence();
    last[0] = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last[0]) return;
  s = 0;
  for (unsigned i = threadIdx.x; i < gridDim.x; i += 256) s += parts[i];
  s = block_sum(s, scratch);
  if (threadIdx.x == 0) *out = s;
}

__global__ void __launch_bounds__(128) softmax_kernel(const float* x, float* y, int cols) {
  TAPER_SHARED(float, scratch, [32]);
  x += std::size_t(blockIdx.x) * cols;
  y += std::size_t(blockIdx.x) * cols;
  float m = -INFINITY, s = 0;
  for (int i = threadIdx.x; i < cols; i += 128) m = fmaxf(m, x[i]);
  m = block_max(m, scratch);
  for (int i = threadIdx.x; i < cols; i += 128) s += expf(x[i] - m);
  s = block_sum(s, scratch);
  for (int i = threadIdx.x; i < cols; i += 128) y[i] = expf(x[i] - m) / s;
}
__global__ void __launch_bounds__(128) softmax_grad_kernel(const float* y, const float* dy, float* dx, int cols) {
  TAPER_SHARED(float, scratch, [32]);
  const std::size_t o = std::size_t(blockIdx.x) * cols;
  float s = 0;
  for (int i = threadIdx.x; i < cols; i += 128) s += y[o + i] * dy[o + i];
  s = block_sum(s, scratch);
  for (int i = threadIdx.x; i < cols; i += 128) dx[o + i] = y[o + i] * (dy[o + i] - s);
}

__global__ void __launch_bounds__(128)
    layernorm_kernel(const float* x, const float* g, const float* b, float* y, float* mean, float* rstd, int cols) {
  TAPER_SHARED(float, scratch, [32]);
  const std::size_t o = std::size_t(blockIdx.x) * cols;
  float s = 0, q = 0;
  for (int i = threadIdx.x; i < cols; i += 128) s += x[o + i];
  const float mu = block_sum(s, scratch) / float(cols);
  for (int i = threadIdx.x; i < cols; i += 128) {
    float d = x[o + i] - mu;
    q += d * d;
  }
  const float r = rsqrtf(block_sum(q, scratch) / float(cols) + 1e-5f);
  for (int i = threadIdx.x; i < cols; i += 128) y[o + i] = (x[o + i] - mu) * r * g[i] + b[i];
  if (threadIdx.x == 0) {
    mean[blockIdx.x] = mu;
    rstd[blockIdx.x] = r;
  }
}
__global__ void __launch_bounds__(128) layernorm_dx_kernel(const float* x, const float* g, const float* mean,
                                                           const float* rstd, const float* dy, float* dx, int cols) {
  TAPER_SHARED(float, scratch, [32]);
  const std::size_t o = std::size_t(blockIdx.x) * cols;
  const float mu = mean[blockIdx.x], r = rstd[blockIdx.x];
  float a = 0, b = 0;
  for (int i = threadIdx.x; i < cols; i += 128) {
    float d = dy[o + i] * g[i];
    a += d;
    b += d * (x[o + i] - mu) * r;
  }
  a = block_sum(a, scratch) / float(cols);
  b = block_sum(b, scratch) / float(cols);
  for (int i = threadIdx.x; i < cols; i += 128) dx[o + i] = r * (dy[o + i] * g[i] - a - (x[o + i] - mu) * r * b);
}
// 32 columns by 8 rows of threads; one block per 32 columns.
__global__ void __launch_bounds__(256)
    layernorm_dparam_kernel(const float* x, const float* mean, const float* rstd, const float* dy, float* dg, float* db,
                            int rows, int cols) {
  TAPER_SHARED(float, sg, [8][33]);
  TAPER_SHARED(float, sb, [8][33]);
  const int c = blockIdx.x * 32 + threadIdx.x;
  float g = 0, b = 0;
  if (c < cols)
    for (int r = threadIdx.y; r < rows; r += 8) {
      float d = dy[std::size_t(r) * cols + c];
      b += d;
      g += d * (x[std::size_t(r) * cols + c] - mean[r]) * rstd[r];
    }
  sg[threadIdx.y][threadIdx.x] = g;
  sb[threadIdx.y][threadIdx.x] = b;
  __syncthreads();
  if (threadIdx.y == 0 && c < cols) {
    for (int k = 1; k < 8; ++k) {
      g += sg[k][threadIdx.x];
      b += sb[k][threadIdx.x];
    }
    dg[c] = g;
    db[c] = b;
  }
}
__global__ void __launch_bounds__(256) column_sum_kernel(const float* x, float* out, int rows, int cols) {
  TAPER_SHARED(float, part, [8][33]);
  const int c = blockIdx.x * 32 + threadIdx.x;
  float s = 0;
  if (c < cols)
    for (int r = threadIdx.y; r < rows; r += 8) s += x[std::size_t(r) * cols + c];
  part[threadIdx.y][threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.y == 0 && c < cols) {
    for (int k = 1; k < 8; ++k) s += part[k][threadIdx.x];
    out[c] = s;
  }
}
// One warp per row: log-softmax, the loss and its gradient in one pass.
__global__ void __launch_bounds__(128)
    cross_entropy_kernel(const float* x, const int* t, float* loss, float* dx, int rows, int cols) {
  const int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  x += std::size_t(row) * cols;
  dx += std::size_t(row) * cols;
  float m = -INFINITY, s = 0;
  for (int i = lane; i < cols; i += 32) m = fmaxf(m, x[i]);
  m = warp_max(m);
  for (int i = lane; i < cols; i += 32) s += expf(x[i] - m);
  s = warp_sum(s);
  for (int i = lane; i < cols; i += 32) dx[i] = (expf(x[i] - m) / s - (i == t[row] ? 1.0f : 0.0f)) / float(rows);
  if (lane == 0) loss[row] = logf(s) + m - x[t[row]];
}
}  // namespace

void sum_all(const float* x, float* out, std::size_t n) {
  unsigned b = blocks_for(n, 256);
  Buffer<float> parts(b);
  Buffer<unsigned> done(1);
  done.zero();
  launch(b, 256, 0, sum_kernel, x, parts.get(), done.get(), out, unsigned(n));
}
void softmax(const float* x, float* y, int rows, int cols) { launch(rows, 128, 0, softmax_kernel, x, y, cols); }
void softmax_grad(const float* y, const float* dy, float* dx, int rows, int cols) {
  launch(rows, 128, 0, softmax_grad_kernel, y, dy, dx, cols);
}
void layernorm(const float* x, const float* g, const float* b, float* y, float* mean, float* rstd, int rows, int cols) {
  launch(rows, 128, 0, layernorm_kernel, x, g, b, y, mean, rstd, cols);
}
void layernorm_grad(const float* x, const float* g, const float* mean, const float* rstd, const float* dy, float* dx,
                    float* dg, float* db, int rows, int cols) {
  launch(rows, 128, 0, layernorm_dx_kernel, x, g, mean, rstd, dy, dx, cols);
  launch((cols + 31) / 32, dim3(32, 8), 0, layernorm_dparam_kernel, x, mean, rstd, dy, dg, db, rows, cols);
}
void column_sum(const float* x, float* out, int rows, int cols) {
  launch((cols + 31) / 32, dim3(32, 8), 0, column_sum_kernel, x, out, rows, cols);
}
void cross_entropy(const float* x, const int* t, float* loss, float* dx, int rows, int cols) {
  launch((rows + 3) / 4, 128, 0, cross_entropy_kernel, x, t, loss, dx, rows, cols);
}
}  // namespace self_test
