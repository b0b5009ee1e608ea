#include "gemm_small.h"

#include <algorithm>

#include "scratch.h"
#include "transpose.h"
#include "vec.h"

namespace taper::cpu_kernels {
namespace {

/// What happens to the sums on their way to memory.
template <class T>
struct Epilogue {
  T alpha, beta;
  const T* bias;
};

template <class T>
[[gnu::always_inline]] inline Vec<T> finish(Vec<T> sum, const Epilogue<T>& e, const T* bias, const T* c, int count) {
  constexpr int L = kLanes<T>;
  sum *= e.alpha;
  if (bias) sum += count == L ? load(bias) : load_first(bias, count);
  if (e.beta != T(0)) sum += e.beta * (count == L ? load(c) : load_first(c, count));
  return sum;
}

/// C [R, V vectors] from R rows of A, element (i, p) at a[i * a_row + p * a_col], and V vectors of columns of B.
/// The last vector has only `last` columns if Partial.
template <class T, int R, int V, bool Partial>
void tile(std::int64_t k, const T* a, std::int64_t a_row, std::int64_t a_col, const T* b, std::int64_t ldb, T* c,
          std::int64_t ldc, const Epilogue<T>& e, const T* bias, int last) {
  constexpr int L = kLanes<T>;
  Vec<T> sum[R][V] = {};
  for (std::int64_t p = 0; p < k; ++p, a += a_col, b += ldb) {
    Vec<T> column[V];
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) column[v] = Partial && v == V - 1 ? load_first(b + v * L, last) : load(b + v * L);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      const T x = a[r * a_row];
#pragma GCC unroll 8
      for (int v = 0; v < V; ++v) sum[r][v] += x * column[v];
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < R; ++r) {
    T* row = c + r * ldc;
#pragma GCC unroll 8
    for (int v = 0; v < V; ++v) {
      const T* shift = bias ? bias + v * L : nullptr;
      if (Partial && v == V - 1)
        store_first(row + v * L, finish(sum[r][v], e, shift, row + v * L, last), last);
      else
        store(row + v * L, finish(sum[r][v], e, shift, row + v * L, L));
    }
  }
}

template <class T, int V, bool Partial>
void panel(const GemmShape& s, const T* a, std::int64_t a_row, std::int64_t a_col, const T* b, std::int64_t ldb, T* c,
           const Epilogue<T>& e, const T* bias, int last) {
  constexpr int kRows = kManyRegisters ? 8 : V == 1 ? 8 : 4;
  std::int64_t i = 0;
  const auto rows = [&]<int R>(std::integral_constant<int, R>) {
    tile<T, R, V, Partial>(s.k, a + i * a_row, a_row, a_col, b, ldb, c + i * s.ldc, s.ldc, e, bias, last);
    i += R;
  };
  while (s.m - i >= kRows) rows(std::integral_constant<int, kRows>{});
  switch (s.m - i) {
    case 7:
      return rows(std::integral_constant<int, 7>{});
    case 6:
      return rows(std::integral_constant<int, 6>{});
    case 5:
      return rows(std::integral_constant<int, 5>{});
    case 4:
      return rows(std::integral_constant<int, 4>{});
    case 3:
      return rows(std::integral_constant<int, 3>{});
    case 2:
      return rows(std::integral_constant<int, 2>{});
    case 1:
      return rows(std::integral_constant<int, 1>{});
    default:
      return;
  }
}

/// Rows of B^T [count, k] turned into columns: out [k, width], the columns from `count` on are zero.
template <class T>
void transpose_panel(const T* b, std::int64_t ldb, int count, std::int64_t k, int width, T* out) {
  using S = Square<T>;
  constexpr int N = S::kSide;
  std::int64_t done = 0;
  if constexpr (kLanes<T> % N == 0) {
    done = k / N * N;
    for (int j = 0; j < width; j += N) {
      const int rows = std::clamp(count - j, 0, N);
      const T* from = b + j * ldb;
      T* to = out + j;
      for (std::int64_t p = 0; p < done; p += N, from += N, to += N * width) {
        typename S::Row r[N] = {};
        if (rows == N) {
#pragma GCC unroll 8
          for (int i = 0; i < N; ++i) std::memcpy(&r[i], from + i * ldb, sizeof r[i]);
        } else {
          for (int i = 0; i < rows; ++i) std::memcpy(&r[i], from + i * ldb, sizeof r[i]);
        }
        S::transpose(r);
#pragma GCC unroll 8
        for (int i = 0; i < N; ++i) std::memcpy(to + i * width, &r[i], sizeof r[i]);
      }
    }
  }
  for (std::int64_t p = done; p < k; ++p) {
    for (int j = 0; j < count; ++j) out[p * width + j] = b[j * ldb + p];
    for (int j = count; j < width; ++j) out[p * width + j] = T(0);
  }
}

template <class T>
void columns(const GemmShape& s, const T* a, const T* b, T* c, const Epilogue<T>& e) {
  constexpr int L = kLanes<T>;
  const std::int64_t a_row = s.trans_a ? 1 : s.lda, a_col = s.trans_a ? s.lda : 1;
  const Scratch<T> packed(s.trans_b ? s.k * 2 * L : 0);
  for (std::int64_t j = 0; j < s.n;) {
    const std::int64_t left = s.n - j;
    const int vectors = s.m == 1 && !s.trans_b && left >= 8 * L ? 8 : left > L ? 2 : 1;
    const int count = static_cast<int>(std::min<std::int64_t>(left, vectors * L));
    const int last = count - (vectors - 1) * L;
    const T* from = b + j;
    std::int64_t ldb = s.ldb;
    if (s.trans_b) {
      transpose_panel(b + j * s.ldb, s.ldb, count, s.k, vectors * L, packed.data());
      from = packed, ldb = vectors * L;
    }
    const T* bias = e.bias ? e.bias + j : nullptr;
    const auto run = [&]<int V, bool Partial>(std::integral_constant<int, V>, std::bool_constant<Partial>) {
      panel<T, V, Partial>(s, a, a_row, a_col, from, ldb, c + j, e, bias, last);
    };
    if (vectors == 8)
      tile<T, 1, 8, false>(s.k, a, a_row, a_col, from, ldb, c + j, s.ldc, e, bias, last);
    else if (vectors == 2 && last == L)
      run(std::integral_constant<int, 2>{}, std::false_type{});
    else if (vectors == 2)
      run(std::integral_constant<int, 2>{}, std::true_type{});
    else if (last == L)
      run(std::integral_constant<int, 1>{}, std::false_type{});
    else
      run(std::integral_constant<int, 1>{}, std::true_type{});
    j += count;
  }
}

/// R dot products of x [k] with rows of B^T: sums [R].
template <class T, int R>
void dot_rows(const T* x, const T* b, std::int64_t ldb, std::int64_t k, T* sums) {
  constexpr int L = kLanes<T>;
  Vec<T> sum[R][2] = {};
  std::int64_t p = 0;
  for (; p + 2 * L <= k; p += 2 * L)
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      sum[r][0] += load(x + p) * load(b + r * ldb + p);
      sum[r][1] += load(x + p + L) * load(b + r * ldb + p + L);
    }
  if (p + L <= k) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) sum[r][0] += load(x + p) * load(b + r * ldb + p);
    p += L;
  }
  if (p < k) {
    const int rest = static_cast<int>(k - p);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) sum[r][1] += load_first(x + p, rest) * load_first(b + r * ldb + p, rest);
  }
#pragma GCC unroll 4
  for (int r = 0; r < R; ++r) sums[r] = lane_sum<T>(sum[r][0] + sum[r][1]);
}

/// One row times B^T: B is read once, in its own order.
template <class T>
void row_times_transposed(const GemmShape& s, const T* a, const T* b, T* c, const Epilogue<T>& e) {
  const Scratch<T> gathered(s.trans_a ? s.k : 0);
  if (s.trans_a) {
    for (std::int64_t p = 0; p < s.k; ++p) gathered[p] = a[p * s.lda];
    a = gathered;
  }
  const auto put = [&](std::int64_t j, T sum) {
    T value = e.alpha * sum;
    if (e.bias) value += e.bias[j];
    if (e.beta != T(0)) value += e.beta * c[j];
    c[j] = value;
  };
  std::int64_t j = 0;
  for (; j + 4 <= s.n; j += 4) {
    T sums[4];
    dot_rows<T, 4>(a, b + j * s.ldb, s.ldb, s.k, sums);
    for (int r = 0; r < 4; ++r) put(j + r, sums[r]);
  }
  for (; j < s.n; ++j) {
    T sum;
    dot_rows<T, 1>(a, b + j * s.ldb, s.ldb, s.k, &sum);
    put(j, sum);
  }
}

}  // namespace

template <class T>
void gemm_small(const GemmShape& s, const T* a, const T* b, T* c, T alpha, T beta, const T* bias) {
  const Epilogue<T> e{alpha, beta, bias};
  if (s.m == 1 && s.trans_b) return row_times_transposed(s, a, b, c, e);
  columns(s, a, b, c, e);
}

template void gemm_small<float>(const GemmShape&, const float*, const float*, float*, float, float, const float*);
template void gemm_small<double>(const GemmShape&, const double*, const double*, double*, double, double,
                                 const double*);

}  // namespace taper::cpu_kernels
