#include "kernels.h"
#include "launch.cuh"

namespace self_test {
namespace {
// 32 x 32 tile, 32 x 8 threads; the 33rd column keeps the banks apart.
__global__ void __launch_bounds__(256) transpose_kernel(const float* x, float* y, int rows, int cols) {
  TAPER_SHARED(float, tile, [32][33]);
  int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (c < cols && r + k < rows) tile[threadIdx.y + k][threadIdx.x] = x[std::size_t(r + k) * cols + c];
  __syncthreads();
  c = blockIdx.y * 32 + threadIdx.x;
  r = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8)
    if (c < rows && r + k < cols) y[std::size_t(r + k) * rows + c] = tile[threadIdx.x][threadIdx.y + k];
}

// col[(n, oy, ox)][(ky, kx, c)]: the channel is innermost on both sides, so accesses coalesce.
__global__ void __launch_bounds__(256) im2col_kernel(Conv v, const float* x, float* col, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned c = i % v.c, q = i / v.c, kx = q % v.k;
    q /= v.k;
    unsigned ky = q % v.k;
    q /= v.k;
    unsigned ox = q % v.ow;
    q /= v.ow;
    unsigned oy = q % v.oh, b = q / v.oh;
    int iy = int(oy + ky) - v.pad, ix = int(ox + kx) - v.pad;
    bool in = iy >= 0 && iy < v.h && ix >= 0 && ix < v.w;
    col[i] = in ? x[((std::size_t(b) * v.h + iy) * v.w + ix) * v.c + c] : 0.0f;
  }
}
__global__ void __launch_bounds__(256) col2im_kernel(Conv v, const float* col, float* dx, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += gridDim.x * blockDim.x) {  // gathers, so no atomics
    unsigned c = i % v.c, q = i / v.c;
    int ix = int(q % v.w);
    q /= v.w;
    int iy = int(q % v.h), b = int(q / v.h);
    float s = 0;
    for (int ky = 0; ky < v.k; ++ky) {
      int oy = iy + v.pad - ky;
      if (oy < 0 || oy >= v.oh) continue;
      for (int kx = 0; kx < v.k; ++kx) {
        int ox = ix + v.pad - kx;
        if (ox < 0 || ox >= v.ow) continue;
        s += col[(((std::size_t(b) * v.oh + oy) * v.ow + ox) * v.k * v.k + ky * v.k + kx) * v.c + c];
      }
    }
    dx[i] = s;
  }
}

__global__ void __launch_bounds__(256) maxpool_kernel(Pool p, const float* x, float* y, int* index, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned c = i % p.c, q = i / p.c;
    int ox = int(q % p.ow);
    q /= p.ow;
    int oy = int(q % p.oh), b = int(q / p.oh), best = -1;
    float m = -INFINITY;
    for (int ky = 0; ky < p.k; ++ky)
      for (int kx = 0; kx < p.k; ++kx) {
        int iy = oy * p.stride + ky, ix = ox * p.stride + kx;
        if (iy >= p.h || ix >= p.w) continue;
        int j = ((b * p.h + iy) * p.w + ix) * p.c + int(c);
        if (x[j] > m || best < 0) {
          m = x[j];
          best = j;
        }
      }
    y[i] = m;
    index[i] = best;
  }
}
__global__ void __launch_bounds__(256) maxpool_grad_kernel(const float* dy, const int* index, float* dx, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&dx[index[i]], dy[i]);
}

__global__ void __launch_bounds__(128) embedding_kernel(const float* table, const int* ids, float* out, int dim) {
  const int id = ids[blockIdx.x];
  for (int i = threadIdx.x; i < dim; i += 128)
    out[std::size_t(blockIdx.x) * dim + i] = table[std::size_t(id) * dim + i];
}
__global__ void __launch_bounds__(128)
    embedding_grad_kernel(const float* dout, const int* ids, float* dtable, int dim) {
  const int id = ids[blockIdx.x];
  for (int i = threadIdx.x; i < dim; i += 128)
    atomicAdd(&dtable[std::size_t(id) * dim + i], dout[std::size_t(blockIdx.x) * dim + i]);
}

__global__ void __launch_bounds__(256)
    adam_kernel(AdamList l, const float* lr, const float* step, float b1, float b2, float eps, float decay) {
  const int t = blockIdx.y;
  const float a = *lr, c1 = 1.0f / (1.0f - powf(b1, *step)), c2 = rsqrtf(1.0f - powf(b2, *step));
  float *p = l.p[t], *m = l.m[t], *v = l.v[t];
  const float* g = l.g[t];
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < l.n[t]; i += gridDim.x * 256) {
    float gi = g[i], pi = p[i] * (1.0f - a * decay);
    float mi = b1 * m[i] + (1.0f - b1) * gi, vi = b2 * v[i] + (1.0f - b2) * gi * gi;
    m[i] = mi;
    v[i] = vi;
    p[i] = pi - a * mi * c1 / (sqrtf(vi) * c2 + eps);
  }
}
__global__ void step_kernel(float* step) { *step += 1.0f; }
}  // namespace

void transpose(const float* x, float* y, int rows, int cols) {
  launch(dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, 8), 0, transpose_kernel, x, y, rows, cols);
}
void im2col(const Conv& v, const float* x, float* col) {
  unsigned n = unsigned(v.n) * v.oh * v.ow * v.k * v.k * v.c;
  launch(blocks_for(n, 256), 256, 0, im2col_kernel, v, x, col, n);
}
void col2im(const Conv& v, const float* col, float* dx) {
  unsigned n = unsigned(v.n) * v.h * v.w * v.c;
  launch(blocks_for(n, 256), 256, 0, col2im_kernel, v, col, dx, n);
}
void maxpool(const Pool& p, const float* x, float* y, int* index) {
  unsigned n = unsigned(p.n) * p.oh * p.ow * p.c;
  launch(blocks_for(n, 256), 256, 0, maxpool_kernel, p, x, y, index, n);
}
void maxpool_grad(const Pool& p, const float* dy, const int* index, float* dx) {
  unsigned n = unsigned(p.n) * p.oh * p.ow * p.c;
  check(cudaMemsetAsync(dx, 0, sizeof(float) * p.n * p.h * p.w * p.c, device().stream), "memset");
  launch(blocks_for(n, 256), 256, 0, maxpool_grad_kernel, dy, index, dx, n);
}
void embedding(const float* table, const int* ids, float* out, int n, int dim) {
  launch(n, 128, 0, embedding_kernel, table, ids, out, dim);
}
void embedding_grad(const float* dout, const int* ids, float* dtable, int n, int dim) {
  launch(n, 128, 0, embedding_grad_kernel, dout, ids, dtable, dim);
}
void adam(const AdamList& l, const float* lr, float* step, float b1, float b2, float eps, float decay) {
  unsigned most = 0;
  for (int i = 0; i < l.count; ++i) most = most > l.n[i] ? most : l.n[i];
  launch(1, 1, 0, step_kernel, step);
  launch(dim3(blocks_for(most, 1024), l.count), 256, 0, adam_kernel, l, lr, static_cast<const float*>(step), b1, b2,
         eps, decay);
}
}  // namespace self_test
