#include "strided.h"

#include <algorithm>

namespace taper::cpu_kernels {

StridedNest::StridedNest(IntSpan sizes) {
  dims_.resize(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    dims_[sizes.size() - 1 - d].size = sizes[d];
    numel_ *= sizes[d];
  }
}

void StridedNest::add(void* data, IntSpan sizes, IntSpan strides, std::size_t item) {
  const int k = operands_++;
  data_[k] = static_cast<char*>(data);
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const std::size_t from = sizes.size() - 1 - d;
    dims_[d].step[k] = sizes[from] == 1 ? 0 : strides[from] * std::int64_t(item);
  }
}

void StridedNest::merge() {
  std::size_t kept = 0;
  for (Dim& d : dims_)
    if (d.size != 1) dims_[kept++] = d;
  dims_.resize(kept);

  // Smallest steps innermost: the destination decides, then each operand that moves along both dimensions.
  const auto is_outside = [&](const Dim& a, const Dim& b) {
    for (int k = 0; k < operands_; ++k) {
      if (a.step[k] == 0 || b.step[k] == 0 || a.step[k] == b.step[k]) continue;
      return a.step[k] > b.step[k];
    }
    return false;
  };
  for (std::size_t i = 1; i < kept; ++i)
    for (std::size_t j = i; j > 0 && is_outside(dims_[j - 1], dims_[j]); --j) std::swap(dims_[j - 1], dims_[j]);

  if (kept == 0) return;
  std::size_t last = 0;
  for (std::size_t d = 1; d < kept; ++d) {
    Dim& inner = dims_[last];
    bool continues = true;
    for (int k = 0; k < operands_; ++k) continues &= dims_[d].step[k] == inner.step[k] * inner.size;
    if (continues)
      inner.size *= dims_[d].size;
    else
      dims_[++last] = dims_[d];
  }
  dims_.resize(last + 1);
}

void StridedNest::run(RowLoop loop, const void* functor, std::int64_t grain) const {
  parallel_for(0, numel_, grain, [&](std::int64_t begin, std::int64_t end) { run_range(loop, functor, begin, end); });
}

void StridedNest::run_range(RowLoop loop, const void* functor, std::int64_t begin, std::int64_t end) const {
  static constexpr std::int64_t kNoStep[kMaxOperands] = {};
  const std::size_t rank = dims_.size();
  if (rank == 0) {
    if (begin < end) loop(functor, data_, kNoStep, kNoStep, 1, 1);
    return;
  }
  char* p[kMaxOperands];
  for (int k = 0; k < operands_; ++k) p[k] = data_[k];
  SmallVector<std::int64_t, 8> at(rank);  // position of the next element
  for (std::size_t d = 0, rest = std::size_t(begin); d < rank; ++d) {
    at[d] = std::int64_t(rest) % dims_[d].size;
    rest /= std::size_t(dims_[d].size);
    for (int k = 0; k < operands_; ++k) p[k] += at[d] * dims_[d].step[k];
  }

  const Dim& inner = dims_[0];
  const auto advance = [&](std::size_t d, std::int64_t by) {
    at[d] += by;
    for (int k = 0; k < operands_; ++k) p[k] += by * dims_[d].step[k];
  };
  for (std::int64_t left = end - begin; left > 0;) {
    std::int64_t n = std::min(inner.size - at[0], left), rows = 1;
    if (rank > 1 && n == inner.size) rows = std::min(dims_[1].size - at[1], left / n);
    loop(functor, p, inner.step, rank > 1 ? dims_[1].step : kNoStep, n, rows);
    left -= n * rows;
    if (left == 0) return;
    const std::size_t moved = rows == 1 ? 0 : 1;
    advance(moved, rows == 1 ? n : rows);
    for (std::size_t d = moved; d + 1 < rank && at[d] == dims_[d].size; ++d) {
      advance(d, -dims_[d].size);
      advance(d + 1, 1);
    }
  }
}

}  // namespace taper::cpu_kernels
