// cuemu: nvcuda::wmma, so that tensor-core kernels run as well.  Which lane holds which element
// is not specified by CUDA; here lane l holds elements l*n .. l*n+n-1 in row-major order.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
namespace cuemu {
// d = a * b + c for this lane's elements; a and b lie in all lanes.
void mma(const float* a, const float* b, const float* c, float* d, int m, int n, int k, const char* file, int line);
[[noreturn]] void fail(const char*, ...);
}  // namespace cuemu
namespace nvcuda::wmma {
struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
namespace precision {
struct tf32;
}
enum layout_t { mem_row_major, mem_col_major };
template <class T>
struct storage {
  using type = T;
};
template <>
struct storage<precision::tf32> {
  using type = float;
};
template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
  static constexpr int rows = std::is_same_v<Use, matrix_b> ? K : M, cols = std::is_same_v<Use, matrix_a> ? K : N;
  static constexpr int num_elements = rows * cols / 32;
  typename storage<T>::type x[num_elements];
};
inline float __float_to_tf32(float f) {
  unsigned u = __float_as_uint(f);
  return (u & 0x7f800000u) == 0x7f800000u ? f : __uint_as_float((u + 0xfffu + (u >> 13 & 1)) & ~0x1fffu);
}
template <class F, class V>
void fill_fragment(F& f, V v) {
  for (auto& e : f.x) e = v;
}
template <class S>
void check_tile(const S* p, unsigned ld) {
  if (reinterpret_cast<uintptr_t>(p) % 32 || ld * sizeof(S) % 16)
    cuemu::fail("wmma: the tile's address must be a multiple of 32 bytes and its leading dimension of 16 bytes");
}
template <class Use, int M, int N, int K, class T, class L, class S>
void load_matrix_sync(fragment<Use, M, N, K, T, L>& f, const S* p, unsigned ld) {
  using F = fragment<Use, M, N, K, T, L>;
  check_tile(p, ld);
  for (int i = 0; i < F::num_elements; ++i) {
    int e = int(cuemu::lane()) * F::num_elements + i, r = e / F::cols, c = e % F::cols;
    f.x[i] = std::is_same_v<L, row_major> ? p[r * ld + c] : p[c * ld + r];
  }
}
template <int M, int N, int K, class T>
void load_matrix_sync(fragment<accumulator, M, N, K, T>& f, const T* p, unsigned ld, layout_t l) {
  check_tile(p, ld);
  for (int i = 0; i < f.num_elements; ++i) {
    int e = int(cuemu::lane()) * f.num_elements + i, r = e / N, c = e % N;
    f.x[i] = l == mem_row_major ? p[r * ld + c] : p[c * ld + r];
  }
}
template <int M, int N, int K, class T>
void store_matrix_sync(T* p, const fragment<accumulator, M, N, K, T>& f, unsigned ld, layout_t l) {
  check_tile(p, ld);
  for (int i = 0; i < f.num_elements; ++i) {
    int e = int(cuemu::lane()) * f.num_elements + i, r = e / N, c = e % N;
    (l == mem_row_major ? p[r * ld + c] : p[c * ld + r]) = f.x[i];
  }
}
template <int M, int N, int K, class T, class LA, class LB>
void mma_sync(fragment<accumulator, M, N, K, float>& d, const fragment<matrix_a, M, N, K, T, LA>& a,
              const fragment<matrix_b, M, N, K, T, LB>& b, const fragment<accumulator, M, N, K, float>& c, CUEMU_SITE) {
  float fa[a.num_elements], fb[b.num_elements];
  for (int i = 0; i < a.num_elements; ++i) fa[i] = float(a.x[i]);
  for (int i = 0; i < b.num_elements; ++i) fb[i] = float(b.x[i]);
  if constexpr (std::is_same_v<T, precision::tf32>)
    for (float v : fa)
      if (v == v && __float_as_uint(v) & 0x1fff)
        cuemu::fail("%s:%d: wmma operand was not converted by __float_to_tf32", site_file, site_line);
  cuemu::mma(fa, fb, c.x, d.x, M, N, K, site_file, site_line);
}
}  // namespace nvcuda::wmma
