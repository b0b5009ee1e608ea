#pragma once
// What the elementwise kernels of every device share: an operand is a tensor or a number, read as elements of one
// dtype.
#include <taper/tensor.h>

namespace taper::pointwise {

/// One operand: a tensor, read as elements of compute_dtype(dtype); or, where `tensor` is null, one number of that
/// dtype.
struct Operand {
  const Tensor* tensor;
  DType dtype;
  const void* number = nullptr;
};

/// A number of compute_dtype(dtype), to be pointed at by an Operand.
class Number {
 public:
  Number(Scalar value, DType dtype);
  Operand operand() const { return {nullptr, dtype_, bytes_}; }
  const void* bytes() const { return bytes_; }
  template <class T>
  T as() const {
    return *reinterpret_cast<const T*>(bytes_);
  }

 private:
  alignas(8) unsigned char bytes_[8];
  DType dtype_;
};

// How an operator says which loop it wants, `On` being the device: OnCpu of cpu/pointwise.h or OnCuda of
// cuda/host/elementwise.h. Each has
//   key          its DispatchKey
//   Loop         a pointer to the loop of one function over elements of given types
//   loop<F, R, A...>   that pointer, for R f(A...)
//   wide(d)      the dtype that d is computed in, if the device has no loops for its own
//   elementwise(out, result, operands, loop, functor, cost)
//                out = loop(operands), where the loop makes elements of compute_dtype(result); `cost` is the work per
//                element, in additions; `functor` is null where F has no state

namespace detail {
template <class On, class F, class R, class T, int arity>
constexpr typename On::Loop loop_of() {
  if constexpr (arity == 1)
    return On::template loop<F, R, T>;
  else
    return On::template loop<F, R, T, T>;
}
}  // namespace detail

/// F on any dtype, giving that dtype.
template <class On, class F, int arity>
typename On::Loop any_loop(DType d) {
  return dispatch_computed(d, []<class T>(Type<T>) { return detail::loop_of<On, F, T, T, arity>(); });
}
/// F on any dtype, giving bool.
template <class On, class F, int arity>
typename On::Loop mask_loop(DType d) {
  return dispatch_computed(d, []<class T>(Type<T>) { return detail::loop_of<On, F, bool, T, arity>(); });
}
/// F on the number types; infer has refused bool.
template <class On, class F, int arity>
typename On::Loop number_loop(DType d, const char* op) {
  return dispatch_numbers(compute_dtype(d), op, []<class T>(Type<T>) { return detail::loop_of<On, F, T, T, arity>(); });
}
/// F on the floating dtypes; infer has refused others.
template <class On, class F, int arity>
typename On::Loop floating_loop(DType d) {
  return dispatch_floating(compute_dtype(d), "an elementwise function",
                           []<class T>(Type<T>) -> typename On::Loop { return detail::loop_of<On, F, T, T, arity>(); });
}
/// A choice moves elements: one loop for each size serves all dtypes.
template <class On, class F>
typename On::Loop choice_loop(DType d) {
  switch (itemsize(compute_dtype(d))) {
    case 1:
      return On::template loop<F, std::uint8_t, bool, std::uint8_t, std::uint8_t>;
    case 2:
      return On::template loop<F, std::int16_t, bool, std::int16_t, std::int16_t>;
    case 4:
      return On::template loop<F, std::int32_t, bool, std::int32_t, std::int32_t>;
    default:
      return On::template loop<F, std::int64_t, bool, std::int64_t, std::int64_t>;
  }
}

}  // namespace taper::pointwise
