#include <cuda_bf16.h>

#include "kernels.h"
#include "launch.cuh"

namespace self_test {
namespace {
// n / d by a multiplication; exact for n < 2^31.
struct FastDiv {
  unsigned d = 1, mul = 0, shift = 0;
  FastDiv() = default;
  explicit FastDiv(unsigned v) : d(v) {
    while ((1ull << shift) < v) ++shift;
    mul = unsigned(((1ull << 32) * ((1ull << shift) - v)) / v + 1);
  }
  __device__ __forceinline__ unsigned div(unsigned n) const { return (__umulhi(n, mul) + n) >> shift; }
};
struct Index {  // flat output index -> offsets of both inputs
  int ndim;
  FastDiv size[6];
  int sa[6], sb[6];
  __device__ __forceinline__ void offsets(unsigned i, int& a, int& b) const {
    a = b = 0;
#pragma unroll
    for (int k = 5; k >= 0; --k) {
      if (k >= ndim) continue;
      unsigned q = size[k].div(i), r = i - q * size[k].d;
      a += int(r) * sa[k];
      b += int(r) * sb[k];
      i = q;
    }
  }
};

struct Add {
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Mul {
  __device__ float operator()(float a, float b) const { return a * b; }
};
struct ReluGrad {
  __device__ float operator()(float y, float dy) const { return y > 0 ? dy : 0.0f; }
};

template <class F>
__global__ void __launch_bounds__(256)
    binary_strided(Index ix, const float* a, const float* b, float* out, unsigned n, F f) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int oa, ob;
    ix.offsets(i, oa, ob);
    out[i] = f(a[oa], b[ob]);
  }
}

template <class F>
__global__ void __launch_bounds__(256)
    binary_vec4(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ out, unsigned n, F f) {
  const unsigned stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x, n4 = n / 4;
  for (unsigned i = first; i < n4; i += stride) {
    float4 x = reinterpret_cast<const float4*>(a)[i], y = reinterpret_cast<const float4*>(b)[i];
    reinterpret_cast<float4*>(out)[i] = make_float4(f(x.x, y.x), f(x.y, y.y), f(x.z, y.z), f(x.w, y.w));
  }
  for (unsigned i = n4 * 4 + first; i < n; i += stride) out[i] = f(a[i], b[i]);
}

template <class G>
void with_op(Binary op, G g) {
  switch (op) {
    case Binary::add:
      return g(Add{});
    case Binary::mul:
      return g(Mul{});
    case Binary::relu_grad:
      return g(ReluGrad{});
  }
}

__global__ void __launch_bounds__(256)
    bias_relu_kernel(const float* x, const float* bias, float* y, FastDiv cols, unsigned n, bool relu) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    float v = x[i] + bias[i - cols.div(i) * cols.d];
    y[i] = relu ? fmaxf(v, 0.0f) : v;
  }
}

__global__ void __launch_bounds__(256) to_bf16_kernel(const float* x, __nv_bfloat16* y, unsigned n) {
  const unsigned stride = gridDim.x * blockDim.x, first = blockIdx.x * blockDim.x + threadIdx.x, n4 = n / 4;
  for (unsigned i = first; i < n4; i += stride) {
    float4 v = reinterpret_cast<const float4*>(x)[i];
    __nv_bfloat162* o = reinterpret_cast<__nv_bfloat162*>(y) + i * 2;
    o[0] = __floats2bfloat162_rn(v.x, v.y);
    o[1] = __floats2bfloat162_rn(v.z, v.w);
  }
  for (unsigned i = n4 * 4 + first; i < n; i += stride) y[i] = __float2bfloat16(x[i]);
}
__global__ void __launch_bounds__(256) from_bf16_kernel(const __nv_bfloat16* x, float* y, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = __bfloat162float(x[i]);
}

// Philox4x32-10: four random words for a counter.
__device__ __forceinline__ uint4 philox(std::uint64_t seed, std::uint64_t subsequence, std::uint64_t offset) {
  uint4 c = make_uint4(unsigned(offset), unsigned(offset >> 32), unsigned(subsequence), unsigned(subsequence >> 32));
  unsigned k0 = unsigned(seed), k1 = unsigned(seed >> 32);
  for (int i = 0; i < 10; ++i) {
    unsigned h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = __umulhi(0xCD9E8D57u, c.z),
             l1 = 0xCD9E8D57u * c.z;
    c = make_uint4(h1 ^ c.y ^ k0, l1, h0 ^ c.w ^ k1, l0);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}
__global__ void __launch_bounds__(256)
    dropout_kernel(const float* x, float* y, unsigned n, float keep, const std::uint64_t* state, std::uint64_t extra) {
  const std::uint64_t seed = state[0], offset = state[1] + extra;
  const unsigned stride = gridDim.x * blockDim.x, n4 = (n + 3) / 4;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n4;
       i += stride) {  // counter = group of 4 elements, whatever the grid
    uint4 r = philox(seed, i, offset);
    unsigned w[4] = {r.x, r.y, r.z, r.w};
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      unsigned j = i * 4 + k;
      if (j < n) y[j] = float(w[k] >> 8) * 0x1p-24f < keep ? x[j] / keep : 0.0f;
    }
  }
}
__global__ void advance_kernel(std::uint64_t* state, std::uint64_t by) { state[1] += by; }
}  // namespace

void binary_contiguous(Binary op, const float* a, const float* b, float* out, std::size_t n) {
  if (!n) return;
  with_op(op, [&](auto f) {
    launch(blocks_for(n / 4 + 1, 256), 256, 0, binary_vec4<decltype(f)>, a, b, out, unsigned(n), f);
  });
}
void binary(Binary op, const Shape& s, const float* a, const float* b, float* out) {
  std::size_t n = 1;
  Index ix{};
  ix.ndim = s.ndim;
  for (int k = 0; k < s.ndim; ++k) {
    n *= std::size_t(s.size[k]);
    ix.size[k] = FastDiv(unsigned(s.size[k]));
    ix.sa[k] = s.stride_a[k];
    ix.sb[k] = s.stride_b[k];
  }
  if (!n) return;
  with_op(op, [&](auto f) {
    launch(blocks_for(n, 256), 256, 0, binary_strided<decltype(f)>, ix, a, b, out, unsigned(n), f);
  });
}
void bias_relu(const float* x, const float* bias, float* y, int rows, int cols, bool relu) {
  unsigned n = unsigned(rows) * unsigned(cols);
  launch(blocks_for(n, 256), 256, 0, bias_relu_kernel, x, bias, y, FastDiv(unsigned(cols)), n, relu);
}
void to_bf16(const float* x, std::uint16_t* y, std::size_t n) {
  launch(blocks_for(n / 4 + 1, 256), 256, 0, to_bf16_kernel, x, reinterpret_cast<__nv_bfloat16*>(y), unsigned(n));
}
void from_bf16(const std::uint16_t* x, float* y, std::size_t n) {
  launch(blocks_for(n, 256), 256, 0, from_bf16_kernel, reinterpret_cast<const __nv_bfloat16*>(x), y, unsigned(n));
}
void dropout(const float* x, float* y, std::size_t n, float p, const std::uint64_t* state, std::uint64_t extra) {
  launch(blocks_for(n / 4 + 1, 256), 256, 0, dropout_kernel, x, y, unsigned(n), 1.0f - p, state, extra);
}
void advance(std::uint64_t* state, std::uint64_t by) { launch(1, 1, 0, advance_kernel, state, by); }
}  // namespace self_test
