// Out forms of what makes tensors, and distributions made of others.
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/aliases.h>
#include <taper/ops/diagonals.h>
#include <taper/ops/math.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/scan.h>
#include <taper/ops/sort.h>
#include <taper/ops/view.h>
#include <taper/promotion.h>
#include <taper/random.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "value_checks.h"
#include "write_out.h"

namespace taper {
namespace {

TensorOptions options_of(const char* op, const Tensor& out) {
  check<ValueError>(out.defined(), op, ": out is an undefined tensor; make it with empty({0}, dtype)");
  return {.dtype = out.dtype(), .device = out.device()};
}

}  // namespace

Tensor& zeros_out(Tensor& out, IntSpan sizes) {
  return write_out("zeros", out, zeros(sizes, options_of("zeros", out)));
}
Tensor& ones_out(Tensor& out, IntSpan sizes) { return write_out("ones", out, ones(sizes, options_of("ones", out))); }
Tensor& full_out(Tensor& out, IntSpan sizes, Scalar value) {
  return write_out("full", out, full(sizes, value, options_of("full", out)));
}
Tensor& arange_out(Tensor& out, Scalar start, Scalar end, Scalar step) {
  return write_out("arange", out, arange(start, end, step, options_of("arange", out)));
}
Tensor& arange_out(Tensor& out, Scalar end) { return write_out("arange", out, arange(end, options_of("arange", out))); }
Tensor& linspace_out(Tensor& out, Scalar start, Scalar end, std::int64_t steps) {
  return write_out("linspace", out, linspace(start, end, steps, options_of("linspace", out)));
}
Tensor& logspace_out(Tensor& out, Scalar start, Scalar end, std::int64_t steps, double base) {
  return write_out("logspace", out, logspace(start, end, steps, base, options_of("logspace", out)));
}
Tensor& eye_out(Tensor& out, std::int64_t n, std::optional<std::int64_t> m) {
  return write_out("eye", out, eye(n, m, options_of("eye", out)));
}

Tensor& clone_out(Tensor& out, const Tensor& self) { return write_out("clone", out, self.clone()); }
Tensor& zeros_like_out(Tensor& out, const Tensor& self) { return zeros_out(out, self.sizes()); }
Tensor& ones_like_out(Tensor& out, const Tensor& self) { return ones_out(out, self.sizes()); }
Tensor& full_like_out(Tensor& out, const Tensor& self, Scalar value) { return full_out(out, self.sizes(), value); }
Tensor& tril_indices_out(Tensor& out, std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  const Device device = options_of("tril_indices", out).device;
  return write_out("tril_indices", out, tril_indices(rows, columns, offset).to(device));
}
Tensor& triu_indices_out(Tensor& out, std::int64_t rows, std::int64_t columns, std::int64_t offset) {
  const Device device = options_of("triu_indices", out).device;
  return write_out("triu_indices", out, triu_indices(rows, columns, offset).to(device));
}

Tensor& rand_out(Tensor& out, IntSpan sizes, Generator& generator) {
  return write_out("rand", out, rand(sizes, options_of("rand", out), generator));
}
Tensor& randn_out(Tensor& out, IntSpan sizes, Generator& generator) {
  return write_out("randn", out, randn(sizes, options_of("randn", out), generator));
}
Tensor& randint_out(Tensor& out, std::int64_t high, IntSpan sizes, Generator& generator) {
  return randint_out(out, 0, high, sizes, generator);
}
Tensor& randint_out(Tensor& out, std::int64_t low, std::int64_t high, IntSpan sizes, Generator& generator) {
  return write_out("randint", out, randint(low, high, sizes, options_of("randint", out), generator));
}
Tensor& randperm_out(Tensor& out, std::int64_t n, Generator& generator) {
  return write_out("randperm", out, randperm(n, options_of("randperm", out), generator));
}
Tensor& bernoulli_out(Tensor& out, const Tensor& p, Generator& generator) {
  return write_out("bernoulli", out, bernoulli(p, generator));
}

Tensor normal(const Tensor& mean, const Tensor& std, Generator& generator) {
  const DType dtype = result_type(mean, std);
  check<DTypeError>(is_floating(dtype), "normal: needs floating numbers, got mean ", mean, " and std ", std);
  expect_between("normal", std, 0, std::numeric_limits<double>::infinity(),
                 "std must hold standard deviations, 0 or more");
  const Tensor sum = mean.detach().add(std.detach());  // of the shape of the result, on its device
  return randn_like(sum, dtype, generator).mul(std).add(mean);
}
Tensor normal(const Tensor& mean, double std, Generator& generator) {
  check<DTypeError>(mean.is_floating_point(), "normal: needs floating numbers, got mean ", mean);
  check<ValueError>(std >= 0, "normal: std is a standard deviation, 0 or more, got ", std);
  return randn_like(mean, {}, generator).mul(std).add(mean);
}

Tensor multinomial(const Tensor& p, std::int64_t num_samples, bool replacement, Generator& generator) {
  check<DTypeError>(p.is_floating_point(), "multinomial: p holds probabilities, floating numbers, got ", p);
  check<ShapeError>(p.dim() == 1 || p.dim() == 2, "multinomial: p must be a vector or a matrix of rows, got ", p);
  check<ValueError>(num_samples > 0, "multinomial: num_samples is ", num_samples, ", expected 1 or more");
  const std::int64_t n = p.size(-1);
  check<ValueError>(replacement || num_samples <= n, "multinomial: ", num_samples, " different ones of ", n,
                    " cannot be drawn; pass replacement = true");
  const NoGradGuard no_grad;
  Tensor weight = p.detach().to(float64);
  constexpr double most = std::numeric_limits<double>::max();
  expect_between("multinomial", weight, 0, most, "p must hold finite numbers, 0 or more");
  expect_between("multinomial", weight.gt(0).sum(-1), double(replacement ? 1 : num_samples), most,
                 "each row of p must have as many elements above 0 as are drawn without replacement, and one at least");
  weight = weight.div(weight.amax({-1}, true));  // sums neither overflow nor vanish
  if (replacement) {
    const Tensor sums = weight.cumsum(-1), shares = sums.div(sums.narrow(-1, n - 1, 1));
    IntVec sizes = p.sizes().vec();
    sizes.back() = num_samples;
    const Tensor u = rand(sizes, {.dtype = float64, .device = p.device()}, generator);
    return searchsorted(shares, u, false, true).clamp_max(n - 1);  // the first share above u
  }
  // The first to arrive of n independent waits whose rates are p.
  Tensor wait = empty_like(weight);
  exponential_(wait, 1, generator);
  return std::get<1>(weight.div(wait).topk(num_samples));
}
Tensor& multinomial_out(Tensor& out, const Tensor& p, std::int64_t num_samples, bool replacement,
                        Generator& generator) {
  return write_out("multinomial", out, multinomial(p, num_samples, replacement, generator));
}

Tensor& log_normal_(Tensor& self, double mean, double std, Generator& generator) {
  return normal_(self, mean, std, generator).exp_();
}
Tensor& cauchy_(Tensor& self, double median, double sigma, Generator& generator) {
  check<ValueError>(sigma > 0, "cauchy_: sigma is ", sigma, ", expected a number above 0");
  return uniform_(self, 0, 1, generator).sub_(0.5).mul_(std::numbers::pi).tan_().mul_(sigma).add_(median);
}
Tensor& geometric_(Tensor& self, double p, Generator& generator) {
  check<ValueError>(p > 0 && p < 1, "geometric_: p is a probability between 0 and 1, got ", p);
  return exponential_(self, -std::log1p(-p), generator).floor_().add_(1);
}

Tensor Tensor::bernoulli() const { return taper::bernoulli(*this); }
Tensor Tensor::multinomial(std::int64_t num_samples, bool replacement) const {
  return taper::multinomial(*this, num_samples, replacement);
}
Tensor& Tensor::exponential_(double lambd) { return taper::exponential_(*this, lambd); }
Tensor& Tensor::log_normal_(double mean, double std) { return taper::log_normal_(*this, mean, std); }
Tensor& Tensor::cauchy_(double median, double sigma) { return taper::cauchy_(*this, median, sigma); }
Tensor& Tensor::geometric_(double p) { return taper::geometric_(*this, p); }

Tensor Tensor::to_sparse() const {
  raise<NotImplementedError>("to_sparse: there are strided tensors only, sparse ones are not supported; the positions ",
                             "of what is not 0 are x.nonzero(), of ", *this);
}

Tensor Tensor::new_empty_strided(IntSpan sizes, IntSpan strides, std::optional<DType> dtype) const {
  return empty_strided(sizes, strides, {.dtype = dtype.value_or(this->dtype()), .device = device()});
}

Tensor& Tensor::fill_diagonal_(Scalar value, bool wrap) {
  check<ShapeError>(dim() >= 2, "fill_diagonal_: needs at least two dims, got ", *this);
  if (dim() > 2) {
    IntSpan strides = this->strides();
    std::int64_t step = 0;
    for (int d = 0; d < dim(); ++d) {
      check<ShapeError>(size(d) == size(0), "fill_diagonal_: the dims of ", *this, " must all have one size");
      step += strides[std::size_t(d)];
    }
    as_strided(size(0), step, storage_offset()).fill_(value);
    return *this;
  }
  const std::int64_t rows = size(0), columns = size(1);
  for (std::int64_t first = 0; first < rows; first += columns + 1) {
    narrow(0, first, rows - first).diagonal().fill_(value);
    if (!wrap) break;
  }
  return *this;
}

}  // namespace taper
