#pragma once
#include <taper/memory_overlap.h>
#include <taper/operator.h>

namespace taper::kernels {

/// out = self, and then what write(Tensor) writes into it; into a copy of self, if that has another dtype.
template <class F>
void write_into_copy(Tensor& out, const Tensor& self, const F& write) {
  const bool direct = out.dtype() == self.dtype();
  Tensor result = direct ? out : taper::detail::private_copy(self);
  if (direct && overlap(out, self) != Overlap::identical) taper::detail::copy_into(out, self);
  write(result);
  if (!direct) taper::detail::copy_into(out, result);
}

/// t, or a copy where it overlaps what is to be written.
inline Tensor apart_from(const Tensor& written, const Tensor& t) {
  return overlap(written, t) == Overlap::none ? t : taper::detail::private_copy(t);
}

}  // namespace taper::kernels
