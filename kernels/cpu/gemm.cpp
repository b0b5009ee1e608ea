#include "gemm.h"

#include <algorithm>
#include <type_traits>

#include "gemm_dots.h"
#include "gemm_library.h"
#include "gemm_small.h"
#include "parallel.h"
#include "vec.h"

namespace taper::cpu_kernels {
namespace {

/// C = beta C + bias: what is left of a product without terms.
template <class T>
void scale(const GemmShape& s, T* c, T beta, const T* bias) {
  for (std::int64_t i = 0; i < s.m; ++i)
    for (std::int64_t j = 0; j < s.n; ++j) {
      T& y = c[i * s.ldc + j];
      y = static_cast<T>((beta == T(0) ? T(0) : static_cast<T>(beta * y)) + (bias ? bias[j] : T(0)));
    }
}

template <class T>
void add_bias(const GemmShape& s, T* c, const T* bias) {
  parallel_for(0, s.m, grain_for(s.n), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j < s.n; ++j) c[i * s.ldc + j] += bias[j];
  });
}

/// Row by row, in unsigned arithmetic, which wraps around by definition.
template <class T>
void integer_gemm(const GemmShape& s, const T* a, const T* b, T* c, T alpha, T beta, const T* bias) {
  using U = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;
  const std::int64_t a_row = s.trans_a ? 1 : s.lda, a_col = s.trans_a ? s.lda : 1;
  const std::int64_t b_row = s.trans_b ? 1 : s.ldb, b_col = s.trans_b ? s.ldb : 1;
  parallel_for(0, s.m, grain_for(s.n * s.k), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i)
      for (std::int64_t j = 0; j < s.n; ++j) {
        U sum = 0;
        for (std::int64_t p = 0; p < s.k; ++p)
          sum += static_cast<U>(a[i * a_row + p * a_col]) * static_cast<U>(b[p * b_row + j * b_col]);
        T& y = c[i * s.ldc + j];
        U value = static_cast<U>(alpha) * sum;
        if (beta != 0) value += static_cast<U>(beta) * static_cast<U>(y);
        if (bias) value += static_cast<U>(bias[j]);
        y = static_cast<T>(value);
      }
  });
}

/// Where our own kernel beats a library call. Beyond 128 its panels of B leave the first cache level.
template <class T>
bool is_small(const GemmShape& s) {
  const std::int64_t limit = s.k <= 128 ? std::int64_t{640} << 10 : std::int64_t{32} << 10;
  return s.m == 1 || s.n <= kLanes<T> || s.m * s.n * s.k <= limit;
}

template <class T>
void small_parallel(const GemmShape& s, const T* a, const T* b, T* c, T alpha, T beta, const T* bias) {
  constexpr std::int64_t kChunkWork = std::int64_t{1} << 20;
  if (s.m * s.n * s.k < 2 * kChunkWork) return gemm_small(s, a, b, c, alpha, beta, bias);
  if (s.m == 1) {
    const std::int64_t grain = (grain_for(s.k, kChunkWork) + 127) / 128 * 128;
    return parallel_for(0, s.n, grain, [&](std::int64_t begin, std::int64_t end) {
      GemmShape part = s;
      part.n = end - begin;
      gemm_small(part, a, b + begin * (s.trans_b ? s.ldb : 1), c + begin, alpha, beta, bias ? bias + begin : nullptr);
    });
  }
  const std::int64_t grain = (grain_for(s.n * s.k, kChunkWork) + 7) / 8 * 8;
  parallel_for(0, s.m, grain, [&](std::int64_t begin, std::int64_t end) {
    GemmShape part = s;
    part.m = end - begin;
    gemm_small(part, a + begin * (s.trans_a ? 1 : s.lda), b, c + begin * s.ldc, alpha, beta, bias);
  });
}

/// A few rows times B^T that is too long for the packed panels of gemm_small.
bool suits_dots(const GemmShape& s) {
  return !s.trans_a && s.trans_b && s.m >= 4 && s.m <= 32 && s.k > 256 && s.n > kLanes<float>;
}

void dots_parallel(const GemmShape& s, const float* a, const float* b, float* c, float alpha, float beta,
                   const float* bias) {
  constexpr std::int64_t kPanel = 96 * 1024, kColumns = 24, kParallelWork = std::int64_t{2} << 20;
  // A panel of B stays in the second cache level for all rows of A.
  const std::int64_t grain = std::max(kColumns, kPanel / s.k / kColumns * kColumns);
  const auto panel = [&](std::int64_t begin, std::int64_t end) {
    GemmShape part = s;
    part.n = end - begin;
    gemm_dots(part, a, b + begin * s.ldb, c + begin, alpha, beta, bias ? bias + begin : nullptr);
  };
  if (s.m * s.n * s.k >= kParallelWork) return parallel_for(0, s.n, grain, panel);
  for (std::int64_t j = 0; j < s.n; j += grain) panel(j, std::min(j + grain, s.n));
}

}  // namespace

template <class T>
void gemm(const GemmShape& s, const T* a, const T* b, T* c, T alpha, T beta, const T* bias) {
  if (s.m == 0 || s.n == 0) return;
  if (s.k == 0) return scale(s, c, beta, bias);
  if constexpr (std::is_integral_v<T>) {
    integer_gemm(s, a, b, c, alpha, beta, bias);
  } else {
    if (is_small<T>(s)) return small_parallel(s, a, b, c, alpha, beta, bias);
    if constexpr (std::is_same_v<T, float>) {
      if (suits_dots(s)) return dots_parallel(s, a, b, c, alpha, beta, bias);
    }
    gemm_library(s, a, b, c, alpha, beta);
    if (bias) add_bias(s, c, bias);
  }
}

template <class T>
void gemm_batch(const GemmShape& s, std::int64_t batch, const GemmStrides& strides, const T* a, const T* b, T* c,
                T alpha, T beta, const T* bias) {
  // Small products share threads by whole matrices; a large one uses them by itself.
  constexpr std::int64_t kLargeWork = std::int64_t{1} << 22, kChunkWork = std::int64_t{1} << 20;
  const std::int64_t work = s.m * s.n * s.k;
  const auto one = [&](std::int64_t i) {
    gemm(s, a + i * strides.a, b + i * strides.b, c + i * strides.c, alpha, beta, bias);
  };
  if (work >= kLargeWork && batch < 2 * available_threads()) {
    for (std::int64_t i = 0; i < batch; ++i) one(i);
    return;
  }
  parallel_for(0, batch, grain_for(work, kChunkWork), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) one(i);
  });
}

template void gemm<float>(const GemmShape&, const float*, const float*, float*, float, float, const float*);
template void gemm<double>(const GemmShape&, const double*, const double*, double*, double, double, const double*);
template void gemm<std::int8_t>(const GemmShape&, const std::int8_t*, const std::int8_t*, std::int8_t*, std::int8_t,
                                std::int8_t, const std::int8_t*);
template void gemm<std::int16_t>(const GemmShape&, const std::int16_t*, const std::int16_t*, std::int16_t*,
                                 std::int16_t, std::int16_t, const std::int16_t*);
template void gemm<std::int32_t>(const GemmShape&, const std::int32_t*, const std::int32_t*, std::int32_t*,
                                 std::int32_t, std::int32_t, const std::int32_t*);
template void gemm<std::int64_t>(const GemmShape&, const std::int64_t*, const std::int64_t*, std::int64_t*,
                                 std::int64_t, std::int64_t, const std::int64_t*);
template void gemm<std::uint8_t>(const GemmShape&, const std::uint8_t*, const std::uint8_t*, std::uint8_t*,
                                 std::uint8_t, std::uint8_t, const std::uint8_t*);

template void gemm_batch<float>(const GemmShape&, std::int64_t, const GemmStrides&, const float*, const float*, float*,
                                float, float, const float*);
template void gemm_batch<double>(const GemmShape&, std::int64_t, const GemmStrides&, const double*, const double*,
                                 double*, double, double, const double*);
template void gemm_batch<std::int8_t>(const GemmShape&, std::int64_t, const GemmStrides&, const std::int8_t*,
                                      const std::int8_t*, std::int8_t*, std::int8_t, std::int8_t, const std::int8_t*);
template void gemm_batch<std::int16_t>(const GemmShape&, std::int64_t, const GemmStrides&, const std::int16_t*,
                                       const std::int16_t*, std::int16_t*, std::int16_t, std::int16_t,
                                       const std::int16_t*);
template void gemm_batch<std::int32_t>(const GemmShape&, std::int64_t, const GemmStrides&, const std::int32_t*,
                                       const std::int32_t*, std::int32_t*, std::int32_t, std::int32_t,
                                       const std::int32_t*);
template void gemm_batch<std::int64_t>(const GemmShape&, std::int64_t, const GemmStrides&, const std::int64_t*,
                                       const std::int64_t*, std::int64_t*, std::int64_t, std::int64_t,
                                       const std::int64_t*);
template void gemm_batch<std::uint8_t>(const GemmShape&, std::int64_t, const GemmStrides&, const std::uint8_t*,
                                       const std::uint8_t*, std::uint8_t*, std::uint8_t, std::uint8_t,
                                       const std::uint8_t*);

}  // namespace taper::cpu_kernels
