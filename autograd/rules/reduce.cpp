// Derivatives of reductions: the gradient of a result, spread over what it was made of.
#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "rules.h"

namespace taper {
namespace {

using ops::Reduced;

/// What is needed to bring a gradient back to the operand's shape.
struct Reduction {
  SizesAndStrides shape;  // the operand's
  Reduced dims;

  void remember(const Tensor& x, const Reduced& r) { shape = x.impl()->geometry(), dims = r; }
  /// A tensor of the result's shape, as a view that broadcasts to the operand's.
  Tensor restored(const Tensor& t) const {
    // Broadcasting adds dimensions on the left by itself: only those right of one that is there are needed.
    const std::uint64_t removed = dims.dims & ~dims.kept;
    const int first = std::countr_one(removed);
    Tensor out = t;
    for (int d = first; d < shape.rank(); ++d)
      if (removed >> d & 1) out = out.unsqueeze(d - first);
    return out;
  }
  Tensor expanded(const Tensor& t) const { return restored(t).expand(shape.sizes()); }
  /// Elements that went into each result.
  std::int64_t count() const {
    std::int64_t n = 1;
    for (int d = 0; d < shape.rank(); ++d)
      if (dims.dims >> d & 1) n *= shape.sizes()[std::size_t(d)];
    return n;
  }
  Reduced keepdim() const { return {dims.dims, dims.dims}; }
};

struct SumBackward final : Node {
  Reduction of;
  void save(const Tensor& x, const Reduced& r) { of.remember(x, r); }
  Gradients apply(Gradients g) override { return {of.expanded(g[0])}; }
};

struct MeanBackward final : Node {
  Reduction of;
  void save(const Tensor& x, const Reduced& r) { of.remember(x, r); }
  Gradients apply(Gradients g) override { return {of.expanded(g[0].div(double(of.count())))}; }
};

/// d var / dx = 2 (x - mean) / (n - correction)
Tensor var_grad(const Tensor& g, const Tensor& x, const Reduction& of, std::int64_t correction) {
  const double divisor = std::max(0.0, double(of.count()) - double(correction));
  return x.sub(ops::mean(x, of.keepdim())).mul(of.restored(g).mul(2 / divisor));
}

struct VarBackward final : Node {
  Saved x{this, "x"};
  Reduction of;
  std::int64_t correction = 1;
  void save(const Tensor& t, const Reduced& r, std::int64_t c) {
    x = t, correction = c;
    of.remember(t, r);
  }
  Gradients apply(Gradients g) override { return {var_grad(g[0], x, of, correction)}; }
};

/// As a divisor it gives 0 where y is 0; choosing after dividing by 0 would make the second derivative NaN.
Tensor nonzero_or_infinite(const Tensor& y) { return y.masked_fill(y.eq(0), std::numeric_limits<double>::infinity()); }

struct StdBackward final : Node {  // d sqrt(v) = dv / (2 sqrt(v)); 0 where all elements are equal
  Saved x{this, "x"}, result{this, "result"};
  Reduction of;
  std::int64_t correction = 1;
  void save(const Tensor& t, const Reduced& r, std::int64_t c) {
    x = t, correction = c;
    of.remember(t, r);
  }
  void save_output(const Tensor& y) { result.keep_output(y); }
  Gradients apply(Gradients g) override {
    return {var_grad(g[0].div(nonzero_or_infinite(result).mul(2)), x, of, correction)};
  }
};

/// Elements that equal the result share its gradient evenly.
Tensor among_ties(const Tensor& g, const Tensor& x, const Tensor& y, const Reduction& of) {
  const Tensor ties = x.eq(of.restored(y)).logical_or(x.isnan());  // if there is a NaN, the result is one
  return of.restored(g).div(ops::sum(ties, of.keepdim())).mul(ties);
}

struct ExtremeBackward final : Node {
  Saved x{this, "x"}, result{this, "result"};
  Reduction of;
  void save(const Tensor& t, const Reduced& r) {
    x = t;
    of.remember(t, r);
  }
  void save_output(const Tensor& y) { result.keep_output(y); }
  Gradients apply(Gradients g) override { return {among_ties(g[0], x, result, of)}; }
};

struct IndexedExtremeBackward final : Node {
  Saved indices{this, "indices"};
  Reduction of;
  void save(const Tensor& t, const Reduced& r) { of.remember(t, r); }
  void save_output(const std::array<Tensor, 2>& y) { indices.keep_output(y[1]); }
  Gradients apply(Gradients g) override {
    if (!g[0].defined() || of.dims.dims == 0) return {g[0]};  // a 0-dim operand is its own extreme
    const int dim = std::countr_zero(of.dims.dims);
    const bool keepdim = of.dims.kept != 0;
    return {ops::place_along(keepdim ? g[0] : g[0].unsqueeze(dim),
                             keepdim ? indices.get() : indices.get().unsqueeze(dim), dim,
                             of.shape.sizes()[std::size_t(dim)])};
  }
};

struct PlaceAlongBackward final : Node {
  Saved index{this, "index"};
  std::int64_t dim = 0;
  void save(const Tensor&, const Tensor& i, std::int64_t d, std::int64_t) { index = i, dim = d; }
  Gradients apply(Gradients g) override { return {ops::take_along(g[0], index, dim), Tensor()}; }
};

struct TakeAlongBackward final : Node {
  Saved index{this, "index"};
  std::int64_t dim = 0, size = 0;
  void save(const Tensor& x, const Tensor& i, std::int64_t d) { index = i, dim = d, size = x.size(d); }
  Gradients apply(Gradients g) override { return {ops::place_along(g[0], index, dim, size), Tensor()}; }
};

struct ProdBackward final : Node {
  Saved x{this, "x"};
  Reduction of;
  void save(const Tensor& t, const Reduced& r) {
    x = t;
    of.remember(t, r);
  }
  Gradients apply(Gradients g) override { return {of.restored(g[0]).mul(ops::prod_of_others(x, of.dims))}; }
};

/// With y_i = prod_{j != i} x_j: dx_k = sum_{i != k} g_i prod_{j != i, k} x_j, over all pairs of elements.
struct ProdOfOthersBackward final : Node {
  Saved x{this, "x"};
  Reduction of;
  void save(const Tensor& t, const Reduced& r) {
    x = t;
    of.remember(t, r);
  }
  Gradients apply(Gradients grads) override {
    // The reduced elements as the last dimension; prod reduces one dimension or all.
    const bool all = of.dims.dims != 0 && std::has_single_bit(of.dims.dims) == false;
    const int dim = of.dims.dims == 0 ? -1 : std::countr_zero(of.dims.dims);
    const auto to_last = [&](const Tensor& t) {
      if (all || t.dim() == 0) return t.reshape({t.numel()});
      return t.transpose(dim, -1);
    };
    const Tensor v = to_last(x), g = to_last(grads[0]);  // [..., n]
    const std::int64_t n = v.size(-1);
    const Tensor diagonal = eye(n, {}, {.dtype = bool_, .device = v.device()});
    // Row i holds x with element i left out.
    const Tensor rows = where(diagonal, 1, v.unsqueeze(-2));
    const Reduced last{std::uint64_t(1) << (rows.dim() - 1), 0};
    const Tensor pairs = where(diagonal, 0, ops::prod_of_others(rows, last));
    const Tensor dx = g.unsqueeze(-1).mul(pairs).sum({-2});
    if (all || of.shape.rank() == 0) return {dx.reshape(of.shape.sizes())};
    return {dx.transpose(dim, -1)};
  }
};

struct NormBackward final : Node {
  Saved x{this, "x"}, result{this, "result"};
  Reduction of;
  double p = 2;
  void save(const Tensor& t, const Reduced& r, double power) {
    x = t, p = power;
    of.remember(t, r);
  }
  void save_output(const Tensor& y) { result.keep_output(y); }
  Gradients apply(Gradients grads) override {
    const Tensor v = x, y = of.restored(result), g = of.restored(grads[0]);
    if (p == 0) return {g.mul(0).expand(of.shape.sizes())};
    if (p == 1) return {v.sign().mul(g)};
    if (p == 2) return {v.mul(g.div(nonzero_or_infinite(y)))};
    if (std::isinf(p)) return {v.sign().mul(among_ties(grads[0], v.abs(), result, of))};
    // d |x|^p^(1/p) = sign(x) (|x| / y)^(p-1): powers of a ratio, which neither overflow nor vanish
    const Tensor ratio = v.div(nonzero_or_infinite(y));
    if (p > 2) return {ratio.mul(ratio.abs().pow(p - 2)).mul(g)};
    const Tensor slope = v.sign().mul(ratio.abs().pow(p - 1));
    return {(p < 1 ? where(v.eq(0), 0, slope) : slope).mul(g)};
  }
};

struct LogSumExpBackward final : Node {
  Saved x{this, "x"}, result{this, "result"};
  Reduction of;
  void save(const Tensor& t, const Reduced& r) {
    x = t;
    of.remember(t, r);
  }
  void save_output(const Tensor& y) { result.keep_output(y); }
  Gradients apply(Gradients g) override { return {x.get().sub(of.restored(result)).exp().mul(of.restored(g[0]))}; }
};

}  // namespace

void install_reduce_rules() {
  differentiate<SumBackward, ops::sum>();
  differentiate<MeanBackward, ops::mean>();
  differentiate<VarBackward, ops::var>();
  differentiate<StdBackward, ops::std>();
  differentiate<ExtremeBackward, ops::max>();
  differentiate<ExtremeBackward, ops::min>();
  differentiate<ExtremeBackward, ops::amax>();
  differentiate<ExtremeBackward, ops::amin>();
  differentiate<IndexedExtremeBackward, ops::max_dim>();
  differentiate<IndexedExtremeBackward, ops::min_dim>();
  differentiate<PlaceAlongBackward, ops::place_along>();
  differentiate<TakeAlongBackward, ops::take_along>();
  differentiate<ProdBackward, ops::prod>();
  differentiate<ProdOfOthersBackward, ops::prod_of_others>();
  differentiate<NormBackward, ops::norm>();
  differentiate<LogSumExpBackward, ops::logsumexp>();
  ops::argmax.declare_non_differentiable();
  ops::argmin.declare_non_differentiable();
  ops::all.declare_non_differentiable();
  ops::any.declare_non_differentiable();
  ops::count_nonzero.declare_non_differentiable();
}

}  // namespace taper
