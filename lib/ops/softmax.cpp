#include <taper/operator.h>
#include <taper/ops/softmax.h>

#include "image_order.h"
#include "write_out.h"

namespace taper {
namespace ops {
namespace {

TensorSpec same_shape(const char* op, const Tensor& x) {
  check<DTypeError>(x.is_floating_point(), op, ": needs a floating dtype, got x ", x.spec(), "; pass one, as in ", op,
                    "(x, dim, taper::float32)");
  return TensorSpec::contiguous(x.sizes(), x.dtype(), x.device());
}
TensorSpec infer_softmax(const Tensor& x, const std::int64_t&) { return same_shape("softmax", x); }
TensorSpec infer_log_softmax(const Tensor& x, const std::int64_t&) { return same_shape("log_softmax", x); }
TensorSpec infer_backward(const Tensor&, const Tensor& result, const std::int64_t&) {
  return TensorSpec::contiguous(result.sizes(), result.dtype(), result.device());
}

}  // namespace

constinit StructuredOp<Tensor(Tensor, std::int64_t)> softmax{"softmax", "x", infer_softmax};
constinit StructuredOp<Tensor(Tensor, std::int64_t)> log_softmax{"log_softmax", "x", infer_log_softmax};
constinit StructuredOp<Tensor(Tensor, Tensor, std::int64_t)> softmax_backward{"softmax_backward", "grad, result",
                                                                              infer_backward};
constinit StructuredOp<Tensor(Tensor, Tensor, std::int64_t)> log_softmax_backward{"log_softmax_backward",
                                                                                  "grad, result", infer_backward};

}  // namespace ops

namespace {

/// The place of dim, counted from the front. A tensor without dimensions is a line of one; an undefined one is reported
/// by the operator.
std::int64_t line_dim(const char* name, const Tensor& x, std::int64_t dim) {
  if (!x.defined()) return dim;
  const std::int64_t rank = x.dim() == 0 ? 1 : x.dim();
  check<IndexError>(-rank <= dim && dim < rank, name, ": dimension ", dim, " is out of range for x ", x.sizes(),
                    ", which has dimensions ", -rank, " to ", rank - 1);
  return dim < 0 ? dim + rank : dim;
}

template <auto& Op>
Tensor along(const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  dim = line_dim(Op.name(), x, dim);
  if (!x.defined()) return Op(x, dim);  // which reports it
  const Tensor of = dtype && *dtype != x.dtype() ? x.to(*dtype) : x;
  if (of.is_contiguous()) return Op(of, dim);
  const ImageOrder order(of);
  return order.back(Op(order.in_memory(of), order.dim(dim)));
}
template <auto& Op>
Tensor& along_into(Tensor& out, const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  return dtype ? write_out(Op.name(), out, along<Op>(x, dim, dtype)) : Op.out(out, x, line_dim(Op.name(), x, dim));
}

}  // namespace

Tensor softmax(const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  return along<ops::softmax>(x, dim, dtype);
}
Tensor& softmax_out(Tensor& out, const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  return along_into<ops::softmax>(out, x, dim, dtype);
}
Tensor log_softmax(const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  return along<ops::log_softmax>(x, dim, dtype);
}
Tensor& log_softmax_out(Tensor& out, const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  return along_into<ops::log_softmax>(out, x, dim, dtype);
}
Tensor Tensor::softmax(std::int64_t dim, std::optional<DType> dtype) const { return taper::softmax(*this, dim, dtype); }
Tensor Tensor::log_softmax(std::int64_t dim, std::optional<DType> dtype) const {
  return taper::log_softmax(*this, dim, dtype);
}

}  // namespace taper
