#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>

#include "checks.h"

namespace op_table {
namespace {

using autograd::AtKink;
using autograd::GradcheckOptions;
using Kind = Operand::Kind;

/// Shapes and nothing more: there is no element to compare.
void check_empty(Report& report, const OpSamples& op, const Sample& sample) {
  TensorList in = operands_of(sample);
  const TensorList tracked = track(sample, in);
  for (const Tensor& y : differentiable(op, sample.call(in))) {
    if (!y.requires_grad()) continue;
    const TensorList g = autograd::grad({y}, tracked, {ones_like(y)}, {.retain_graph = true, .allow_unused = true});
    for (std::size_t k = 0; k < g.size(); ++k)
      if (g[k].defined())
        report.require(g[k].sizes() == tracked[k].sizes() && g[k].dtype() == tracked[k].dtype(),
                       "the gradient of an operand without elements has another shape or dtype");
  }
}

void check_both(Report& report, const std::string& what, const OpSamples& op,
                const std::function<TensorList(const TensorList&)>& f, const TensorList& in, Layout layout, bool fast,
                bool allow_zero) {
  GradcheckOptions options{.eps = op.eps, .atol = op.atol, .fast_mode = fast};
  // Equal elements tie, and any share of a tie is right; and they may leave nothing to choose.
  if (layout == Layout::expanded) options.at_kink = AtKink::accept_between;
  options.allow_zero = allow_zero || layout == Layout::expanded;
  report.run(what, [&] { autograd::gradcheck(f, in, options); });
  report.run(what, [&] { autograd::gradgradcheck(f, in, options); });
}

void check_functional(Report& report, const OpSamples& op, const Sample& sample, Layout layout) {
  const auto f = [&](const TensorList& in) { return differentiable(op, sample.call(in)); };
  const bool fast = layout != Layout::contiguous, some_flat = has(sample, Kind::flat);
  TensorList in = operands_of(sample, layout);
  track(sample, in);
  check_both(report, "functional", op, f, in, layout, fast, some_flat);
  if (some_flat && has(sample, Kind::real)) {  // that one derivative is 0 must not hide that all are
    TensorList real = operands_of(sample, layout);
    for (std::size_t k = 0; k < real.size(); ++k)
      if (sample.operands[k].kind == Kind::real) real[k].requires_grad_();
    check_both(report, "of the real operands", op, f, real, layout, true, false);
  }
  const TensorList all = sample.call(in);
  for (std::size_t i = op.results; i < all.size(); ++i)
    report.require(!all[i].requires_grad(), "result " + std::to_string(i) + " has no derivative but requires grad");
}

/// Written over a copy of the first operand, and over a part of a larger tensor.
void check_inplace(Report& report, const OpSamples& op, const Sample& sample, bool allow_zero) {
  TensorList in = operands_of(sample);
  track(sample, in);
  const auto whole = [&](const TensorList& t) {
    Tensor self = t[0].clone();
    sample.inplace(self, t);
    return TensorList{self};
  };
  const auto part = [&](const TensorList& t) {
    IntVec sizes = t[0].sizes().vec();
    sizes.insert(sizes.begin(), 2);
    const Tensor base = full(sizes, 0.5, float64);
    Tensor self = base.select(0, 1);
    self.copy_(t[0]);
    sample.inplace(self, t);
    return TensorList{base};
  };
  check_both(report, "in place", op, whole, in, Layout::contiguous, true, allow_zero);
  check_both(report, "in place on a view", op, part, in, Layout::contiguous, true, allow_zero);
}

bool fits_in_place(const Sample& sample) {
  if (!sample.inplace || sample.operands[0].kind > Kind::flat) return false;
  const TensorList in = operands_of(sample);
  const Tensor result = sample.call(in)[0];
  return result.sizes() == in[0].sizes() && can_cast(result.dtype(), in[0].dtype());
}

/// Each floating operand in turn requires grad, and the operator must say that it cannot.
void check_refusal(Report& report, const OpSamples& op, const Sample& sample, Kind refused) {
  for (std::size_t k = 0; k < sample.operands.size(); ++k) {
    if (sample.operands[k].kind != refused) continue;
    const std::string operand = "operand " + std::to_string(k) + " that requires grad";
    TensorList in = operands_of(sample);
    in[k].requires_grad_();
    report.must_refuse(operand, *op.op, [&] { sample.call(in); });
    if (sample.inplace && fits_in_place(sample)) {
      Tensor self = operands_of(sample)[0];
      if (k == 0) self = in[0].mul(1);
      report.must_refuse(operand + ", in place", *op.op, [&] { sample.inplace(self, in); });
    }
  }
}

void check_no_history(Report& report, const Sample& sample, Layout layout) {
  TensorList in = operands_of(sample, layout);
  track(sample, in);
  for (const Tensor& y : sample.call(in))
    report.require(!y.requires_grad(), "has no derivative, but its result requires grad");
}

}  // namespace

void check_gradients(Report& report, const OpSamples& op) {
  const Derivative derivative = derivative_of(op);
  for (std::size_t i = 0; i < op.samples.size(); ++i) {
    const Sample& sample = op.samples[i];
    for (const Layout layout : kLayouts) {
      if (!has_layout(sample, layout) || (!op.any_layout && layout != Layout::contiguous)) continue;
      report.enter(op, i, layout);
      report.run("call", [&] {
        if (derivative == Derivative::none)
          check_no_history(report, sample, layout);
        else if (derivative == Derivative::rule && !is_empty(op, sample))
          check_functional(report, op, sample, layout);
      });
    }
    report.enter(op, i, Layout::contiguous);
    report.run("call", [&] {
      if (derivative == Derivative::refused) return check_refusal(report, op, sample, Kind::real);
      check_refusal(report, op, sample, Kind::constant);
      if (is_empty(op, sample)) return derivative == Derivative::rule ? check_empty(report, op, sample) : void();
      if (op.op->filled().has(DispatchKey::Autograd) && fits_in_place(sample))
        check_inplace(report, op, sample, derivative == Derivative::none || has(sample, Kind::flat));
    });
  }
}

}  // namespace op_table
