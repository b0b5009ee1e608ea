#include "copy.h"

#include <taper/cuda.h>
#include <taper/operator.h>
#include <taper/ops/copy.h>
#include <taper/ops/fn.h>

#include <algorithm>
#include <cstring>

#include "strided.h"

namespace taper::cpu_kernels {
void install_copy();
namespace {

constexpr std::int64_t kGrain = 1 << 16;

/// dst[r][i] = src[r][i] where src is dense along r: square tiles use each cache line they touch in full.
template <class T>
void transpose_tiles(char* dst, std::int64_t dst_row, const char* src, std::int64_t src_step, std::int64_t n,
                     std::int64_t rows) {
  constexpr std::int64_t kTile = 16;
  for (std::int64_t r0 = 0; r0 < rows; r0 += kTile) {
    const std::int64_t r1 = std::min(rows, r0 + kTile);
    for (std::int64_t i0 = 0; i0 < n; i0 += kTile) {
      const std::int64_t i1 = std::min(n, i0 + kTile);
      for (std::int64_t r = r0; r < r1; ++r) {
        T* out = reinterpret_cast<T*>(dst + r * dst_row);
        const char* in = src + r * std::int64_t(sizeof(T));
        for (std::int64_t i = i0; i < i1; ++i) out[i] = *reinterpret_cast<const T*>(in + i * src_step);
      }
    }
  }
}

/// Elements of one size as they are, whatever their type.
template <class T>
void move_rows(const void* functor, char* const* p, const std::int64_t* step, const std::int64_t* row_step,
               std::int64_t n, std::int64_t rows) {
  constexpr std::int64_t item = sizeof(T);
  if (step[0] == item && step[1] == item) {
    for (std::int64_t r = 0; r < rows; ++r)
      std::memcpy(p[0] + r * row_step[0], p[1] + r * row_step[1], std::size_t(n * item));
  } else if (step[0] == item && row_step[1] == item && rows > 1) {
    transpose_tiles<T>(p[0], row_step[0], p[1], step[1], n, rows);
  } else {
    row_loop<fn::Cast<T>, T, T>(functor, p, step, row_step, n, rows);
  }
}

RowLoop move_loop(std::size_t item) {
  switch (item) {
    case 1:
      return move_rows<std::uint8_t>;
    case 2:
      return move_rows<std::int16_t>;
    case 4:
      return move_rows<std::int32_t>;
    default:
      return move_rows<std::int64_t>;
  }
}

void copy(Tensor& out, const Tensor&, const Tensor& src) { copy_elements(out, src); }
void copy_self(Tensor& out, const Tensor& self) { copy_elements(out, self); }
void to(Tensor& out, const Tensor& self, const Conversion&) { copy_elements(out, self); }
void fill(Tensor& out, const Tensor&, const Scalar& value) { fill_elements(out, value); }
void zero(Tensor& out, const Tensor&) { fill_elements(out, 0); }

}  // namespace

RowLoop cast_loop(DType to, DType from) {
  if (to == from) return move_loop(itemsize(to));
  return dispatch_all(to, [&]<class To>(Type<To>) {
    return dispatch_all(from, [&]<class From>(Type<From>) -> RowLoop { return row_loop<fn::Cast<To>, To, From>; });
  });
}

void copy_elements(const Tensor& dst, const Tensor& src) {
  const TensorImpl &d = *dst.impl(), &s = *src.impl();
  if (d.numel() == 0) return;
  if (!s.device().is_cpu()) return cuda::detail::copy(dst, src);
  if (d.data() == s.data() && d.dtype() == s.dtype() && d.geometry() == s.geometry()) return;
  const RowLoop loop = cast_loop(d.dtype(), s.dtype());
  if (d.is_contiguous() && s.is_contiguous() && d.numel() == s.numel()) {
    const std::int64_t to_item = std::int64_t(itemsize(d.dtype())), from_item = std::int64_t(itemsize(s.dtype()));
    parallel_for(0, d.numel(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      char* const p[] = {static_cast<char*>(d.data()) + begin * to_item,
                         static_cast<char*>(s.data()) + begin * from_item};
      const std::int64_t step[] = {to_item, from_item};
      const std::int64_t no_step[] = {0, 0};
      loop(nullptr, p, step, no_step, end - begin, 1);
    });
    return;
  }
  StridedNest nest(dst.sizes());
  nest.add(dst);
  nest.add(src);
  nest.merge();
  nest.run(loop, nullptr, kGrain);
}

void fill_elements(const Tensor& dst, Scalar value) {
  if (dst.numel() == 0) return;
  dispatch_all(dst.dtype(), [&]<class T>(Type<T>) {
    T v = value.is_floating() ? fn::Cast<T>{}(value.to<double>()) : fn::Cast<T>{}(value.to<std::int64_t>());
    StridedNest nest(dst.sizes());
    nest.add(dst);
    nest.add(&v, {}, {}, sizeof(T));
    nest.merge();
    nest.run(row_loop<fn::Cast<T>, T, T>, nullptr, kGrain);
  });
}

void install_copy() {
  ops::copy.set_kernel(DispatchKey::CPU, copy);
  ops::clone.set_kernel(DispatchKey::CPU, copy_self);
  ops::contiguous.set_kernel(DispatchKey::CPU, copy_self);
  ops::to.set_kernel(DispatchKey::CPU, to);
  ops::fill.set_kernel(DispatchKey::CPU, fill);
  ops::zero.set_kernel(DispatchKey::CPU, zero);
  ops::fill_tensor.set_kernel(DispatchKey::CPU, copy);
}

}  // namespace taper::cpu_kernels
