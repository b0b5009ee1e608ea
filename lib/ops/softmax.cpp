#include <taper/operator.h>
#include <taper/ops/softmax.h>

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

template <auto& Op>
Tensor along(const char* name, const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  if (!x.defined()) return Op(x, dim);                   // which reports it
  const std::int64_t rank = x.dim() == 0 ? 1 : x.dim();  // a tensor without dimensions is a line of one
  check<IndexError>(-rank <= dim && dim < rank, name, ": dimension ", dim, " is out of range for x ", x.sizes(),
                    ", which has dimensions ", -rank, " to ", rank - 1);
  return Op(dtype && *dtype != x.dtype() ? x.to(*dtype) : x, dim < 0 ? dim + rank : dim);
}

}  // namespace

Tensor softmax(const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  return along<ops::softmax>("softmax", x, dim, dtype);
}
Tensor log_softmax(const Tensor& x, std::int64_t dim, std::optional<DType> dtype) {
  return along<ops::log_softmax>("log_softmax", x, dim, dtype);
}
Tensor Tensor::softmax(std::int64_t dim, std::optional<DType> dtype) const { return taper::softmax(*this, dim, dtype); }
Tensor Tensor::log_softmax(std::int64_t dim, std::optional<DType> dtype) const {
  return taper::log_softmax(*this, dim, dtype);
}

}  // namespace taper
