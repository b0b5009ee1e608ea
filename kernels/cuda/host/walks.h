#pragma once
// From tensors to the walks of kernels.
#include <taper/tensor.h>

#include <algorithm>
#include <array>
#include <limits>

#include "cuda/walk.h"
#include "dispatch_size.h"

namespace taper::cuda_kernels {

inline constexpr std::int64_t kMostCounted = std::numeric_limits<std::int32_t>::max();  // kernels count in 32 bits

template <class T>
T* elements(const Tensor& t) {
  return static_cast<T*>(t.impl()->data());
}

/// The same memory, looked at in another way; strides may be negative.
inline Tensor look_at(const Tensor& memory, SizesAndStrides geometry, std::int64_t offset) {
  return Tensor(make_intrusive<TensorImpl>(memory.storage(), memory.dtype(), std::move(geometry), offset));
}

using kernels::dispatch_size;

/// Operands over one shape that has elements. Dims that continue each other for all operands become one.
template <std::size_t N>
Walk<int(N)> walk_over(const char* op, IntSpan sizes, const std::array<IntVec, N>& strides) {
  Walk<int(N)> walk{};
  std::int64_t count = 1, size[Walk<int(N)>::kMaxDims] = {};
  for (std::size_t d = sizes.size(); d-- > 0;) {
    count *= sizes[d];
    check<NotImplementedError>(count <= kMostCounted, op, ": shape ", sizes, " has more than ", kMostCounted,
                               " elements, which is what kernels of cuda count; work on parts of it");
    if (sizes[d] == 1) continue;
    bool continues = walk.rank > 0;
    for (std::size_t k = 0; continues && k < N; ++k)
      continues = strides[k][d] == walk.dim[walk.rank - 1].step[k] * size[walk.rank - 1];
    if (continues) {
      size[walk.rank - 1] *= sizes[d];
      continue;
    }
    check<NotImplementedError>(walk.rank < walk.kMaxDims, op, ": shape ", sizes, " has more than ", walk.kMaxDims,
                               " dims that do not continue each other in memory, which is what kernels of cuda can ",
                               "walk; call contiguous() first");
    size[walk.rank] = sizes[d];
    for (std::size_t k = 0; k < N; ++k) walk.dim[walk.rank].step[k] = strides[k][d];
    ++walk.rank;
  }
  walk.count = std::uint32_t(count);
  for (int d = 0; d < walk.rank; ++d) walk.dim[d].size = FastDiv::by(std::uint32_t(size[d]));
  return walk;
}

inline IntVec dense_strides(IntSpan sizes) { return SizesAndStrides::contiguous(sizes).strides().vec(); }

}  // namespace taper::cuda_kernels
