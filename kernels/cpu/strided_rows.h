#pragma once
#include <taper/sizes_and_strides.h>
#include <taper/small_vector.h>

#include <array>

namespace taper::cpu_kernels {

/// Visits every index of a shape in row-major order for N operands with strides of their own, a row of the innermost
/// dimension at a time. Dimensions that all operands step through as one are merged, so rows are as long as they can
/// be.
template <std::size_t N>
class StridedRows {
 public:
  using Offsets = std::array<std::int64_t, N>;

  StridedRows(IntSpan sizes, const std::array<IntSpan, N>& strides) {
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      if (sizes[d] == 1) continue;
      Dim dim{sizes[d], {}};
      for (std::size_t k = 0; k < N; ++k) dim.step[k] = strides[k][d];
      if (!dims_.empty() && continues(dims_.back(), dim)) {
        dim.size *= dims_.back().size;
        dims_.back() = dim;
      } else {
        dims_.push_back(dim);
      }
    }
    if (dims_.empty()) dims_.push_back({1, {}});
    for (std::size_t d = 0; d + 1 < dims_.size(); ++d) rows_ *= dims_[d].size;
  }

  std::int64_t rows() const { return rows_; }
  std::int64_t row_length() const { return dims_[dims_.size() - 1].size; }
  /// Distance of neighbours in a row, per operand.
  const Offsets& steps() const { return dims_[dims_.size() - 1].step; }

  /// Calls f(offsets of the row's first element) for the rows [begin, end).
  template <class F>
  void for_each_row(std::int64_t begin, std::int64_t end, F&& f) const {
    if (row_length() == 0 || begin >= end) return;
    const std::size_t outer = dims_.size() - 1;
    SmallVector<std::int64_t, 8> at(outer);
    Offsets offsets{};
    std::int64_t rest = begin;
    for (std::size_t d = outer; d-- > 0;) {
      at[d] = rest % dims_[d].size;
      rest /= dims_[d].size;
      for (std::size_t k = 0; k < N; ++k) offsets[k] += at[d] * dims_[d].step[k];
    }
    for (std::int64_t row = begin; row < end; ++row) {
      f(offsets);
      for (std::size_t d = outer; d-- > 0;) {
        const Dim& dim = dims_[d];
        for (std::size_t k = 0; k < N; ++k) offsets[k] += dim.step[k];
        if (++at[d] < dim.size) break;
        for (std::size_t k = 0; k < N; ++k) offsets[k] -= dim.size * dim.step[k];
        at[d] = 0;
      }
    }
  }

  /// Calls f(offsets) for every element.
  template <class F>
  void for_each(F&& f) const {
    const Offsets step = steps();
    const std::int64_t n = row_length();
    for_each_row(0, rows_, [&](Offsets at) {
      for (std::int64_t i = 0; i < n; ++i) {
        f(at);
        for (std::size_t k = 0; k < N; ++k) at[k] += step[k];
      }
    });
  }

 private:
  struct Dim {
    std::int64_t size = 1;
    Offsets step{};
  };
  static bool continues(const Dim& outer, const Dim& inner) {
    for (std::size_t k = 0; k < N; ++k)
      if (outer.step[k] != inner.size * inner.step[k]) return false;
    return true;
  }

  SmallVector<Dim, 6> dims_;
  std::int64_t rows_ = 1;
};

}  // namespace taper::cpu_kernels
