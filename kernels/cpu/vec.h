#pragma once
// Vectors as wide as the instruction set the file is compiled for, through the compiler's vector extension.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#ifdef __AVX__
#include <immintrin.h>
#endif

namespace taper::cpu_kernels {

#if defined(__AVX512F__)
inline constexpr int kVectorBytes = 64;
inline constexpr bool kManyRegisters = true;  // 32 instead of 16
#elif defined(__AVX__)
inline constexpr int kVectorBytes = 32;
inline constexpr bool kManyRegisters = false;
#else
inline constexpr int kVectorBytes = 16;
inline constexpr bool kManyRegisters = false;
#endif

template <class T>
struct VecOf {
  using type [[gnu::vector_size(kVectorBytes)]] = T;
};
template <class T>
using Vec = typename VecOf<T>::type;

template <class T>
inline constexpr int kLanes = kVectorBytes / static_cast<int>(sizeof(T));

template <class T>
[[gnu::always_inline]] inline Vec<T> load(const T* p) {
  Vec<T> v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class T>
[[gnu::always_inline]] inline void store(T* p, const Vec<T>& v) {
  std::memcpy(p, &v, sizeof v);
}

#ifdef __AVX2__
/// A mask of the first `count` lanes of 32 bits.
[[gnu::always_inline]] inline __m256i first_lanes(int count) {
  static constexpr std::int32_t mask[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(mask + 8 - count));
}
#endif

/// The first `count` lanes from p, zeros in the others; reads nothing beyond them. 0 <= count < kLanes<T>.
template <class T>
[[gnu::always_inline]] inline Vec<T> load_first(const T* p, int count) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>)
    return (Vec<T>)_mm512_maskz_loadu_ps(static_cast<__mmask16>((1u << count) - 1), p);
  if constexpr (std::is_same_v<T, double>)
    return (Vec<T>)_mm512_maskz_loadu_pd(static_cast<__mmask8>((1u << count) - 1), p);
#elif defined(__AVX2__)
  const __m256i mask = first_lanes(count * static_cast<int>(sizeof(T)) / 4);
  if constexpr (std::is_same_v<T, float>) return (Vec<T>)_mm256_maskload_ps(p, mask);
  if constexpr (std::is_same_v<T, double>) return (Vec<T>)_mm256_maskload_pd(p, mask);
#endif
  Vec<T> v{};
  for (int i = 0; i < count; ++i) v[i] = p[i];
  return v;
}

/// Writes the first `count` lanes, 0 <= count < kLanes<T>.
template <class T>
[[gnu::always_inline]] inline void store_first(T* p, const Vec<T>& v, int count) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>)
    return _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << count) - 1), (__m512)v);
  if constexpr (std::is_same_v<T, double>)
    return _mm512_mask_storeu_pd(p, static_cast<__mmask8>((1u << count) - 1), (__m512d)v);
#elif defined(__AVX2__)
  const __m256i mask = first_lanes(count * static_cast<int>(sizeof(T)) / 4);
  if constexpr (std::is_same_v<T, float>) return _mm256_maskstore_ps(p, mask, (__m256)v);
  if constexpr (std::is_same_v<T, double>) return _mm256_maskstore_pd(p, mask, (__m256d)v);
#endif
  T lanes[kLanes<T>];
  store(lanes, v);
  for (int i = 0; i < count; ++i) p[i] = lanes[i];
}

template <class T>
[[gnu::always_inline]] inline Vec<T> broadcast(T x) {
  return x - Vec<T>{};
}

namespace detail {
template <class T, int N>
struct Lanes {
  using type [[gnu::vector_size(N * sizeof(T))]] = T;
};
template <class T, int N, std::size_t... I>
[[gnu::always_inline]] inline T halve(const typename Lanes<T, N>::type& v, std::index_sequence<I...>) {
  using Half = typename Lanes<T, N / 2>::type;
  const Half sum = __builtin_shufflevector(v, v, static_cast<int>(I)...) +
                   __builtin_shufflevector(v, v, static_cast<int>(I + N / 2)...);
  if constexpr (N == 4)
    return sum[0] + sum[1];
  else
    return halve<T, N / 2>(sum, std::make_index_sequence<N / 4>{});
}
}  // namespace detail

/// Sum of all lanes, always in the same order: halves are added until one lane is left.
template <class T>
[[gnu::always_inline]] inline T lane_sum(const Vec<T>& v) {
  if constexpr (kLanes<T> == 2)
    return v[0] + v[1];
  else
    return detail::halve<T, kLanes<T>>(v, std::make_index_sequence<kLanes<T> / 2>{});
}

}  // namespace taper::cpu_kernels
