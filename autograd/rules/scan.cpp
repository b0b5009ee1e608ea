// Derivatives of running results: what reaches entry i comes from the entries i and after.
#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/ops/join.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/rearrange.h>
#include <taper/ops/scan.h>
#include <taper/ops/view.h>

#include <limits>

#include "chosen.h"
#include "rules.h"

namespace taper {
namespace {

/// Entry i of the result is entry i - 1 of x, and entry 0 is `first`; along a dim that exists and has entries.
Tensor one_later(const Tensor& x, std::int64_t dim, double first) {
  const std::int64_t n = x.size(dim);
  IntVec sizes = x.sizes().vec();
  sizes[x.wrapped_dim(dim)] = 1;
  return cat({full(sizes, first, x.dtype(), x.device()), x.narrow(dim, 0, n - 1)}, dim);
}
/// y[i] = x[i] + factor[i + 1] y[i + 1], from the end; factor may be anything in entry 0.
Tensor backward_recurrence(const Tensor& x, const Tensor& factor, std::int64_t dim) {
  const Tensor turned = one_later(factor.flip(dim), dim, 0);
  return ops::recurrence(x.flip(dim), turned, dim).flip(dim);
}
bool is_trivial(const Tensor& x) { return x.dim() == 0 || x.numel() == 0; }

struct CumsumBackward final : Node {
  std::int64_t dim = 0;
  void save(const Tensor&, std::int64_t d) { dim = d; }
  Gradients apply(Gradients g) override { return {is_trivial(g[0]) ? g[0] : cumsum(g[0].flip(dim), dim).flip(dim)}; }
};

/// With y[i] = x[0] ... x[i]: dx[k] = sum over i >= k of g[i] times all of x[0] ... x[i] but x[k]. The factors before k
/// are a running product, the rest is a recurrence; nothing is divided by, so zeros are no special case.
struct CumprodBackward final : Node {
  Saved self{this, "self"};
  std::int64_t dim = 0;
  bool saves_self() const { return true; }
  void save(const Tensor& x, std::int64_t d) { self = x, dim = d; }
  Gradients apply(Gradients g) override {
    const Tensor x = self;
    if (is_trivial(x)) return {g[0]};
    return {cumprod(one_later(x, dim, 1), dim) * backward_recurrence(g[0], x, dim)};
  }
};

/// dx[k] = sum over i >= k of g[i] e^(x[k] - y[i]): a recurrence whose factors e^(y[k] - y[k + 1]) are at most 1.
///
/// The share of an infinity in the same infinity has no value: NaN. It must not spread to elements that have one, so
/// that these differences are taken as 0 until the end.
struct LogcumsumexpBackward final : Node {
  Saved self{this, "self"}, result{this, "result"};
  std::int64_t dim = 0;
  void save(const Tensor& x, std::int64_t d) { self = x, dim = d; }
  void save_output(const Tensor& y) { result.keep_output(y); }
  Gradients apply(Gradients g) override {
    const Tensor x = self, y = result;
    if (is_trivial(x)) return {g[0]};
    const std::int64_t n = y.size(dim);
    const Tensor before = y.narrow(dim, 0, n - 1), after = y.narrow(dim, 1, n - 1);
    const Tensor steps = exp(where(same_infinity(before, after), 0, before - after));
    const Tensor factor = cat({zeros_like(y.narrow(dim, 0, 1)), steps}, dim);
    const Tensor undefined = same_infinity(x, y);
    const Tensor gradient = exp(where(undefined, 0, x - y)) * backward_recurrence(g[0], factor, dim);
    return {where(undefined, std::numeric_limits<double>::quiet_NaN(), gradient)};
  }
  static Tensor same_infinity(const Tensor& a, const Tensor& b) { return logical_and(a == b, isinf(a)); }
};

struct RecurrenceBackward final : Node {
  Saved factor{this, "factor"}, result{this, "result"};
  std::int64_t dim = 0;
  void save(const Tensor&, const Tensor& f, std::int64_t d) { factor = f, dim = d; }
  void save_output(const Tensor& y) {
    if (wants(1)) result.keep_output(y);
  }
  Gradients apply(Gradients g) override {
    if (is_trivial(g[0])) return {wants(0) ? g[0] : Tensor(), wants(1) ? zeros_like(g[0]) : Tensor()};
    const Tensor dx = backward_recurrence(g[0], factor, dim);
    return {wants(0) ? dx : Tensor(), wants(1) ? dx * one_later(result, dim, 0) : Tensor()};
  }
};

}  // namespace

void install_scan_rules() {
  differentiate<CumsumBackward, ops::cumsum>();
  differentiate<CumprodBackward, ops::cumprod>();
  differentiate<LogcumsumexpBackward, ops::logcumsumexp>();
  differentiate<ChosenBackward, ops::cummax>();
  differentiate<ChosenBackward, ops::cummin>();
  differentiate<RecurrenceBackward, ops::recurrence>();
}

}  // namespace taper
