#pragma once
#include <taper/tensor.h>

#include <algorithm>

#include "strided_rows.h"

namespace taper::cpu_kernels {

/// The lines of some tensors of one shape along a dim: where each begins, in elements, a row of neighbouring lines at a
/// time. A 0-dim tensor has one line of one element.
template <std::size_t N>
class Lines {
 public:
  Lines(std::int64_t any_dim, const std::array<Tensor, N>& tensors)
      : rows_(without(any_dim, tensors[0].sizes(), 1), strides_of(any_dim, tensors)) {
    const Tensor& t = tensors[0];
    if (t.dim() == 0) return;
    const std::size_t d = t.wrapped_dim(any_dim);
    length_ = t.sizes()[d];
    for (std::size_t k = 0; k < N; ++k) step_[k] = tensors[k].strides()[d];
  }

  std::int64_t length() const { return length_; }
  /// From one element of a line of tensor k to the next.
  std::int64_t step(std::size_t k) const { return step_[k]; }
  /// Of lines; with lines in each and steps between them.
  const StridedRows<N>& rows() const { return rows_; }

  std::int64_t count() const { return rows_.rows() * rows_.row_length(); }
  /// Calls f(offsets of its first element) for the lines [begin, end).
  template <class F>
  void for_each(std::int64_t begin, std::int64_t end, F&& f) const {
    const std::int64_t n = rows_.row_length();
    if (n == 0 || begin >= end) return;
    std::int64_t row_begin = begin / n * n;
    rows_.for_each_row(begin / n, (end + n - 1) / n, [&](auto at) {
      const std::int64_t first = std::max(begin, row_begin), last = std::min(end, row_begin + n);
      for (std::size_t k = 0; k < N; ++k) at[k] += (first - row_begin) * rows_.steps()[k];
      for (std::int64_t i = first; i < last; ++i) {
        f(at);
        for (std::size_t k = 0; k < N; ++k) at[k] += rows_.steps()[k];
      }
      row_begin += n;
    });
  }

 private:
  static IntVec without(std::int64_t any_dim, IntSpan sizes, std::int64_t size) {
    IntVec s = sizes.vec();
    if (!s.empty()) s[std::size_t(any_dim < 0 ? any_dim + std::int64_t(s.size()) : any_dim)] = size;
    return s;
  }
  static std::array<IntSpan, N> strides_of(std::int64_t, const std::array<Tensor, N>& tensors) {
    std::array<IntSpan, N> s;
    for (std::size_t k = 0; k < N; ++k) s[k] = tensors[k].strides();
    return s;
  }

  StridedRows<N> rows_;
  std::int64_t length_ = 1;
  std::array<std::int64_t, N> step_{};
};

}  // namespace taper::cpu_kernels
