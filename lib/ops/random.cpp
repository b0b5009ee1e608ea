#include <taper/operator.h>
#include <taper/random.h>

#include <cmath>
#include <limits>

#include "elementwise.h"

namespace taper {
namespace {

TensorSpec spec_like(const Tensor& self) { return elementwise_spec("random", self.dtype(), self); }

void check_floating(const char* op, DType dtype) {
  check<DTypeError>(is_floating(dtype), op, ": makes floating numbers, got ", dtype,
                    "; make them as float32 and convert with x.to(taper::", dtype, ")");
}
void check_probability(const char* op, double p) {
  check<ValueError>(p >= 0 && p <= 1, op, ": p is a probability from 0 to 1, got ", p);
}

TensorSpec infer_uniform(const Tensor& self, const double& from, const double& to, const RandomStream&) {
  check_floating("uniform_", self.dtype());
  check<ValueError>(from <= to, "uniform_: the range from ", from, " to ", to, " is empty; from must not exceed to");
  const double limit =
      dispatch_all(self.dtype(), []<class T>(Type<T>) { return double(std::numeric_limits<T>::max()); });
  check<ValueError>(to - from <= limit && from >= -limit && to <= limit, "uniform_: the range from ", from, " to ", to,
                    " is wider than the largest ", self.dtype(), ", ", limit);
  return spec_like(self);
}

TensorSpec infer_normal(const Tensor& self, const double& mean, const double& std, const RandomStream&) {
  check_floating("normal_", self.dtype());
  check<ValueError>(std >= 0, "normal_: std is a standard deviation, 0 or more, got ", std, " (mean ", mean, ")");
  return spec_like(self);
}

TensorSpec infer_bernoulli_fill(const Tensor& self, const double& p, const RandomStream&) {
  check_probability("bernoulli_", p);
  return spec_like(self);
}

TensorSpec infer_exponential(const Tensor& self, const double& lambd, const RandomStream&) {
  check_floating("exponential_", self.dtype());
  check<ValueError>(lambd > 0, "exponential_: lambd is a rate above 0, got ", lambd);
  return spec_like(self);
}

/// The largest integer up to which a dtype holds every one.
std::int64_t last_exact_integer(DType dtype) {
  switch (dtype) {
    case DType::bool_:
      return 1;
    case DType::uint8:
      return std::numeric_limits<std::uint8_t>::max();
    case DType::int8:
      return std::numeric_limits<std::int8_t>::max();
    case DType::int16:
      return std::numeric_limits<std::int16_t>::max();
    case DType::int32:
      return std::numeric_limits<std::int32_t>::max();
    case DType::int64:
      return std::numeric_limits<std::int64_t>::max();
    case DType::float16:
      return std::int64_t(1) << std::numeric_limits<Half>::digits;
    case DType::bfloat16:
      return std::int64_t(1) << std::numeric_limits<BFloat16>::digits;
    case DType::float32:
      return std::int64_t(1) << std::numeric_limits<float>::digits;
    default:
      return std::int64_t(1) << std::numeric_limits<double>::digits;
  }
}
std::int64_t first_exact_integer(DType dtype) {
  if (dtype == bool_ || dtype == uint8) return 0;
  return is_floating(dtype) ? -last_exact_integer(dtype) : -last_exact_integer(dtype) - 1;
}

TensorSpec infer_random(const Tensor& self, const std::int64_t& from, const std::int64_t& to, const RandomStream&) {
  check<ValueError>(from < to, "random_: no integer is from ", from, " on and below ", to,
                    "; from must be less than to");
  check<ValueError>(from >= first_exact_integer(self.dtype()) && to - 1 <= last_exact_integer(self.dtype()),
                    "random_: ", self.dtype(), " does not hold every integer from ", from, " to ", to - 1, ", only ",
                    first_exact_integer(self.dtype()), " to ", last_exact_integer(self.dtype()));
  return spec_like(self);
}

TensorSpec infer_permutation(const Tensor& self, const RandomStream&) {
  check<ShapeError>(self.dim() == 1 && self.dtype() == int64, "permutation: needs int64[n], got ", self.spec());
  return spec_like(self);
}

TensorSpec infer_bernoulli(const Tensor& p, const RandomStream&) {
  check<DTypeError>(is_floating(p.dtype()), "bernoulli: p holds probabilities, floating numbers, got ", p.spec());
  return spec_like(p);
}

/// A tensor of this shape that costs the memory of one element: only what it is matters to the operators here.
Tensor outline(const char* op, IntSpan sizes, DType dtype, Device device) {
  for (const std::int64_t s : sizes) check<ValueError>(s >= 0, op, ": sizes ", sizes, " have a negative entry");
  return empty_strided(sizes, IntVec(sizes.size(), 0), {.dtype = dtype, .device = device});
}
Tensor outline_of(const Tensor& t, std::optional<DType> dtype) {
  return dtype && *dtype != t.dtype() ? empty_like(t, dtype) : t.detach();
}
Tensor finish(Tensor t, const TensorOptions& options) {
  check<NotImplementedError>(options.layout == Layout::strided,
                             "random numbers: there are strided tensors only, sparse ones are not supported");
  options.requires_grad.fulfil(t);
  return t;
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, double, double, RandomStream)> uniform{"uniform", "self, from, to, stream",
                                                                             infer_uniform, "uniform_"};
constinit StructuredOp<Tensor(Tensor, double, double, RandomStream)> normal{"normal", "self, mean, std, stream",
                                                                            infer_normal, "normal_"};
constinit StructuredOp<Tensor(Tensor, double, RandomStream)> bernoulli_fill{"bernoulli_fill", "self, p, stream",
                                                                            infer_bernoulli_fill, "bernoulli_"};
constinit StructuredOp<Tensor(Tensor, double, RandomStream)> exponential{"exponential", "self, lambd, stream",
                                                                         infer_exponential, "exponential_"};
constinit StructuredOp<Tensor(Tensor, std::int64_t, std::int64_t, RandomStream)> random{
    "random", "self, from, to, stream", infer_random, "random_"};
constinit StructuredOp<Tensor(Tensor, RandomStream)> permutation{"permutation", "self, stream", infer_permutation};
constinit StructuredOp<Tensor(Tensor, RandomStream)> bernoulli{"bernoulli", "p, stream", infer_bernoulli};
}  // namespace ops

Tensor rand(IntSpan sizes, const TensorOptions& o, Generator& generator) {
  const DType dtype = o.dtype.value_or(float32);
  check_floating("rand", dtype);
  return finish(ops::uniform(outline("rand", sizes, dtype, o.device), 0, 1, generator.next()), o);
}
Tensor randn(IntSpan sizes, const TensorOptions& o, Generator& generator) {
  const DType dtype = o.dtype.value_or(float32);
  check_floating("randn", dtype);
  return finish(ops::normal(outline("randn", sizes, dtype, o.device), 0, 1, generator.next()), o);
}
Tensor randint(std::int64_t low, std::int64_t high, IntSpan sizes, const TensorOptions& o, Generator& generator) {
  check<ValueError>(low < high, "randint: no integer is from ", low, " on and below ", high,
                    "; low must be less than high");
  const Tensor like = outline("randint", sizes, o.dtype.value_or(int64), o.device);
  return finish(ops::random(like, low, high, generator.next()), o);
}
Tensor randint(std::int64_t high, IntSpan sizes, const TensorOptions& o, Generator& generator) {
  return randint(0, high, sizes, o, generator);
}
Tensor randperm(std::int64_t n, const TensorOptions& o, Generator& generator) {
  check<ValueError>(n >= 0, "randperm: n is a number of elements, 0 or more, got ", n);
  const DType dtype = o.dtype.value_or(int64);
  check<ValueError>(n - 1 <= last_exact_integer(dtype), "randperm: ", dtype, " holds every integer only up to ",
                    last_exact_integer(dtype), ", n is ", n);
  Tensor t = ops::permutation(outline("randperm", {n}, int64, o.device), generator.next());
  return finish(dtype == int64 ? t : t.to(dtype), o);
}

Tensor rand_like(const Tensor& t, std::optional<DType> dtype, Generator& generator) {
  check_floating("rand_like", dtype.value_or(t.dtype()));
  return ops::uniform(outline_of(t, dtype), 0, 1, generator.next());
}
Tensor randn_like(const Tensor& t, std::optional<DType> dtype, Generator& generator) {
  check_floating("randn_like", dtype.value_or(t.dtype()));
  return ops::normal(outline_of(t, dtype), 0, 1, generator.next());
}
Tensor randint_like(const Tensor& t, std::int64_t low, std::int64_t high, std::optional<DType> dtype,
                    Generator& generator) {
  return ops::random(outline_of(t, dtype), low, high, generator.next());
}
Tensor bernoulli(const Tensor& p, Generator& generator) { return ops::bernoulli(p, generator.next()); }

Tensor& uniform_(Tensor& self, double from, double to, Generator& generator) {
  return ops::uniform.inplace(self, self, from, to, generator.next());
}
Tensor& normal_(Tensor& self, double mean, double std, Generator& generator) {
  return ops::normal.inplace(self, self, mean, std, generator.next());
}
Tensor& bernoulli_(Tensor& self, double p, Generator& generator) {
  return ops::bernoulli_fill.inplace(self, self, p, generator.next());
}
Tensor& random_(Tensor& self, std::int64_t from, std::int64_t to, Generator& generator) {
  return ops::random.inplace(self, self, from, to, generator.next());
}
Tensor& exponential_(Tensor& self, double lambd, Generator& generator) {
  return ops::exponential.inplace(self, self, lambd, generator.next());
}

Tensor& Tensor::uniform_(double from, double to) { return taper::uniform_(*this, from, to); }
Tensor& Tensor::normal_(double mean, double std) { return taper::normal_(*this, mean, std); }
Tensor& Tensor::bernoulli_(double p) { return taper::bernoulli_(*this, p); }
Tensor& Tensor::random_(std::int64_t from, std::int64_t to) { return taper::random_(*this, from, to); }

}  // namespace taper
