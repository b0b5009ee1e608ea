#include "gemm_dots.h"

#include <algorithm>

#include "transpose.h"
#include "vec.h"

namespace taper::cpu_kernels {
namespace {

constexpr int L = kLanes<float>;
using V = Vec<float>;
using Row = Square<float>::Row;
constexpr int kMostColumns = kManyRegisters ? 3 : 1;

/// Neighbouring lanes added up until eight are left.
[[gnu::always_inline]] inline void eight_lanes(const V& v, Row& out) {
#if defined(__AVX512F__)
  out = __builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
        __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15);
#elif defined(__AVX__)
  out = v;
#else
  out = __builtin_shufflevector(v, V{}, 0, 1, 2, 3, 4, 5, 6, 7);
#endif
}

/// sums [N, 8]: the dot products of R <= 8 rows with N rows of B.
template <int R, int N>
void dots(const float* const* a, const float* b, std::int64_t ldb, std::int64_t k, float (*sums)[8]) {
  V sum[R][N] = {};
  const float* row[R];
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) row[r] = a[r];
  const auto step = [&](std::int64_t p, auto get) __attribute__((always_inline)) {
    V column[N];
#pragma GCC unroll 3
    for (int n = 0; n < N; ++n) column[n] = get(b + n * ldb + p);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const V x = get(row[r] + p);
#pragma GCC unroll 3
      for (int n = 0; n < N; ++n) sum[r][n] += x * column[n];
    }
  };
  std::int64_t p = 0;
  for (; p + L <= k; p += L)
    step(
        p, [](const float* from) __attribute__((always_inline)) { return load(from); });
  if (const int rest = static_cast<int>(k - p); rest > 0)
    step(
        p, [rest](const float* from) __attribute__((always_inline)) { return load_first(from, rest); });
#pragma GCC unroll 3
  for (int n = 0; n < N; ++n) {
    Row rows[8] = {};
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) eight_lanes(sum[r][n], rows[r]);
    Square<float>::transpose(rows);
    const Row total = ((rows[0] + rows[4]) + (rows[2] + rows[6])) + ((rows[1] + rows[5]) + (rows[3] + rows[7]));
    std::memcpy(sums[n], &total, sizeof total);
  }
}

template <int R>
void row_block(const GemmShape& s, const float* a, const float* b, float* c, int rows, float alpha, float beta,
               const float* bias) {
  const float* from[R];
  for (int r = 0; r < R; ++r) from[r] = a + std::min(r, rows - 1) * s.lda;  // rows that do not exist repeat the last
  float sums[kMostColumns][8];
  for (std::int64_t j = 0; j < s.n;) {
    const int columns = s.n - j >= kMostColumns ? kMostColumns : 1;
    if (columns == 1)
      dots<R, 1>(from, b + j * s.ldb, s.ldb, s.k, sums);
    else
      dots<R, kMostColumns>(from, b + j * s.ldb, s.ldb, s.k, sums);
    for (int n = 0; n < columns; ++n, ++j)
      for (int r = 0; r < rows; ++r) {
        float value = alpha * sums[n][r] + (bias ? bias[j] : 0.f);
        if (beta != 0) value += beta * c[r * s.ldc + j];
        c[r * s.ldc + j] = value;
      }
  }
}

}  // namespace

void gemm_dots(const GemmShape& s, const float* a, const float* b, float* c, float alpha, float beta,
               const float* bias) {
  for (std::int64_t i = 0; i < s.m; i += 8) {
    const int rows = static_cast<int>(std::min<std::int64_t>(8, s.m - i));
    const auto block = rows <= 2 ? row_block<2> : rows <= 4 ? row_block<4> : row_block<8>;
    block(s, a + i * s.lda, b, c + i * s.ldc, rows, alpha, beta, bias);
  }
}

}  // namespace taper::cpu_kernels
