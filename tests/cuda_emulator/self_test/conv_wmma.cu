// Channels-last convolution on the tensor cores: an implicit GEMM (no im2col buffer) of bf16
// with fp32 accumulation, bias and ReLU in the epilogue.  Stride 1; c a multiple of 8.
// rows of the GEMM: output pixels (n, oy, ox); columns: output channels; depth: (ky, kx, c).
#include <cuda_bf16.h>
#include <mma.h>

#include "kernels.h"
#include "launch.cuh"

namespace self_test {
namespace {
namespace wmma = nvcuda::wmma;
constexpr int kTileM = 64, kTileN = 64, kTileK = 32, kLd = kTileK + 16;  // padded; 32-byte rows for wmma

__global__ void __launch_bounds__(128) conv_kernel(Conv v, const __nv_bfloat16* x, const __nv_bfloat16* w,
                                                   const float* bias, float* y, int oc, bool relu) {
  TAPER_SHARED(__nv_bfloat16, sa, [kTileM * kLd]);
  TAPER_SHARED(__nv_bfloat16, sb, [kTileN * kLd]);
  TAPER_SHARED(float, so, [kTileM * kTileN]);
  const int depth = v.k * v.k * v.c, rows = v.n * v.oh * v.ow, row0 = blockIdx.x * kTileM, col0 = blockIdx.y * kTileN;
  const int warp = threadIdx.x / 32, wm = warp / 2 * 32, wn = warp % 2 * 32;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) wmma::fill_fragment(acc[i][j], 0.0f);
  for (int k0 = 0; k0 < depth; k0 += kTileK) {
    for (int i = threadIdx.x; i < kTileM * kTileK / 8; i += 128) {  // 8 channels, 16 bytes, a thread
      const int r = i / (kTileK / 8), kk = i % (kTileK / 8) * 8, d = k0 + kk, row = row0 + r;
      uint4 val = make_uint4(0, 0, 0, 0);
      if (row < rows && d < depth) {
        const int c = d % v.c, kx = d / v.c % v.k, ky = d / v.c / v.k, ox = row % v.ow, oy = row / v.ow % v.oh,
                  b = row / v.ow / v.oh;
        const int iy = oy + ky - v.pad, ix = ox + kx - v.pad;
        if (iy >= 0 && iy < v.h && ix >= 0 && ix < v.w)
          val = *reinterpret_cast<const uint4*>(x + ((std::size_t(b) * v.h + iy) * v.w + ix) * v.c + c);
      }
      *reinterpret_cast<uint4*>(sa + r * kLd + kk) = val;
      val = make_uint4(0, 0, 0, 0);
      if (col0 + r < oc && d < depth) val = *reinterpret_cast<const uint4*>(w + std::size_t(col0 + r) * depth + d);
      *reinterpret_cast<uint4*>(sb + r * kLd + kk) = val;
    }
    __syncthreads();
    for (int kk = 0; kk < kTileK; kk += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> b[2];
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(a[i], sa + (wm + i * 16) * kLd + kk, kLd);
        wmma::load_matrix_sync(b[i], sb + (wn + i * 16) * kLd + kk, kLd);
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      wmma::store_matrix_sync(so + (wm + i * 16) * kTileN + wn + j * 16, acc[i][j], kTileN, wmma::mem_row_major);
  __syncthreads();
  for (int i = threadIdx.x; i < kTileM * kTileN; i += 128) {
    const int r = row0 + i / kTileN, c = col0 + i % kTileN;
    if (r < rows && c < oc) {
      float s = so[i] + bias[c];
      y[std::size_t(r) * oc + c] = relu ? fmaxf(s, 0.0f) : s;
    }
  }
}
}  // namespace
void conv_bias_relu(const Conv& v, const std::uint16_t* x, const std::uint16_t* w, const float* bias, float* y, int oc,
                    bool relu) {
  launch(dim3((v.n * v.oh * v.ow + kTileM - 1) / kTileM, (oc + kTileN - 1) / kTileN), 128, 0, conv_kernel, v,
         reinterpret_cast<const __nv_bfloat16*>(x), reinterpret_cast<const __nv_bfloat16*>(w), bias, y, oc, relu);
}
}  // namespace self_test
