#pragma once
// What the elementwise kernels share: operands are brought to the dtype the loop wants, the result to the
// destination's, and contiguous operands reach the loop without a detour.
#include <initializer_list>

#include "strided.h"

namespace taper::cpu_kernels {

/// One operand: a tensor, read as elements of `dtype`; or, where `tensor` is null, one number of that dtype.
struct Operand {
  const Tensor* tensor;
  DType dtype;
  const void* number = nullptr;
};

/// out = loop(operands), where the loop makes elements of `result`. `cost` is the work per element, in additions.
void elementwise(const Tensor& out, DType result, std::initializer_list<Operand> operands, RowLoop loop,
                 const void* functor, int cost);

/// A number of the dtype, to be pointed at by an Operand.
class Number {
 public:
  Number(Scalar value, DType dtype);
  Operand operand() const { return {nullptr, dtype_, bytes_}; }
  template <class T>
  T as() const {
    return *reinterpret_cast<const T*>(bytes_);
  }

 private:
  alignas(8) unsigned char bytes_[8];
  DType dtype_;
};

namespace detail {
template <class F, class R, class T, int arity>
constexpr RowLoop loop_of() {
  if constexpr (arity == 1)
    return row_loop<F, R, T>;
  else
    return row_loop<F, R, T, T>;
}
}  // namespace detail

/// F on any dtype, giving that dtype.
template <class F, int arity>
RowLoop any_loop(DType d) {
  return dispatch_all(d, []<class T>(Type<T>) { return detail::loop_of<F, T, T, arity>(); });
}
/// F on any dtype, giving bool.
template <class F, int arity>
RowLoop mask_loop(DType d) {
  return dispatch_all(d, []<class T>(Type<T>) { return detail::loop_of<F, bool, T, arity>(); });
}
/// F on the number types; infer has refused bool.
template <class F, int arity>
RowLoop number_loop(DType d, const char* op) {
  return dispatch_numbers(d, op, []<class T>(Type<T>) { return detail::loop_of<F, T, T, arity>(); });
}
/// F on the floating dtypes; infer has refused others.
template <class F, int arity>
RowLoop floating_loop(DType d) {
  return dispatch_floating(d, "an elementwise function",
                           []<class T>(Type<T>) -> RowLoop { return detail::loop_of<F, T, T, arity>(); });
}

}  // namespace taper::cpu_kernels
