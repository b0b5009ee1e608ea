#include "operands.h"

#include <taper/ops/fn.h>

#include <new>

namespace taper::pointwise {

Number::Number(Scalar value, DType dtype) : dtype_(compute_dtype(dtype)) {
  dispatch_computed(dtype, [&]<class T>(Type<T>) {
    const T v = value.is_floating() ? fn::Cast<T>{}(value.to<double>()) : fn::Cast<T>{}(value.to<std::int64_t>());
    ::new (static_cast<void*>(bytes_)) T(v);
  });
}

}  // namespace taper::pointwise
