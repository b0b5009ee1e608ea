#pragma once
// Elements moved by positions, several at a time where they lie together.
#include "cuda/index.h"
#include "device.h"
#include "walks.h"

namespace taper::cuda_kernels {

/// Takes neighbours along the innermost dim for one element of up to 16 bytes, if positions, the operands after the
/// first two, do not vary there and all steps and addresses allow it. Returns the bytes of an element.
template <int N>
std::size_t join_neighbours(Walk<N>& walk, std::int64_t& step, std::size_t item, const void* to, const void* from) {
  if (walk.rank == 0 || walk.dim[0].step[0] != 1 || walk.dim[0].step[1] != 1) return item;
  for (int k = 2; k < N; ++k)
    if (walk.dim[0].step[k] != 0) return item;
  for (std::size_t bytes = 16; bytes > item; bytes /= 2) {
    const auto n = std::int64_t(bytes / item);
    bool fits = walk.dim[0].size.divisor % n == 0 && step % n == 0 &&
                reinterpret_cast<std::uintptr_t>(to) % bytes == 0 &&
                reinterpret_cast<std::uintptr_t>(from) % bytes == 0;
    for (int d = 1; d < walk.rank; ++d) fits &= walk.dim[d].step[0] % n == 0 && walk.dim[d].step[1] % n == 0;
    if (!fits) continue;
    walk.count /= std::uint32_t(n);
    walk.dim[0].size = FastDiv::by(walk.dim[0].size.divisor / std::uint32_t(n));
    for (int d = 1; d < walk.rank; ++d) walk.dim[d].step[0] /= n, walk.dim[d].step[1] /= n;
    step /= n;
    return bytes;
  }
  return item;
}

template <class F>
void dispatch_bytes(std::size_t bytes, F&& f) {
  if (bytes == sizeof(Sixteen)) return f(Type<Sixteen>{});
  kernels::dispatch_bytes(bytes, f);
}

/// See take() and replace() in cuda/index.h.
inline void take_elements(const OnDevice& on, Walk<3> walk, const Positions& positions, std::int64_t step,
                          const Tensor& to, const Tensor& from) {
  const std::size_t bytes = join_neighbours(walk, step, itemsize(from.dtype()), to.impl()->data(), from.impl()->data());
  dispatch_bytes(bytes, [&]<class T>(Type<T>) {
    take(on.queue(), walk, positions, step, elements<T>(to), elements<const T>(from));
  });
}
inline void replace_elements(const OnDevice& on, Walk<5> walk, const Positions& positions, std::int64_t step,
                             const Owners& owners, const Tensor& to, const Tensor& from) {
  const std::size_t bytes = join_neighbours(walk, step, itemsize(to.dtype()), to.impl()->data(), from.impl()->data());
  dispatch_bytes(bytes, [&]<class T>(Type<T>) {
    replace(on.queue(), walk, positions, step, owners, elements<T>(to), elements<const T>(from));
  });
}

}  // namespace taper::cuda_kernels
