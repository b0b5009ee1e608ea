#include <taper/autograd/record.h>
#include <taper/ops/loss.h>
#include <taper/ops/loss_elementwise.h>
#include <taper/ops/math.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/softmax.h>

#include "rules.h"

namespace taper {
namespace {

using ops::ClassLoss;
using OptionalTensor = std::optional<Tensor>;

struct CrossEntropyBackward final : Node {
  Saved input{this, "input"}, target{this, "target"}, weight{this, "weight"}, statistics{this, "statistics"};
  ClassLoss options;

  void save(const Tensor& x, const Tensor& t, const OptionalTensor& w, const ClassLoss& o) {
    input = x, target = t, options = o;
    if (w) weight = *w;
  }
  Gradients apply(Gradients g) override {
    const Tensor x = input, t = target;
    const OptionalTensor w = weight.defined() ? OptionalTensor(weight.get()) : std::nullopt;
    Gradients out(3);
    if (GradMode::is_enabled()) {
      // Recorded, for second derivatives: cross_entropy is nll_loss of log_softmax, each with a rule of its own.
      const std::int64_t dim = x.dim() == 1 ? 0 : 1;
      out[0] = ops::log_softmax_backward(ops::nll_loss_backward(g[0], t, w, options), log_softmax(x, dim), dim);
    } else {
      out[0] = ops::cross_entropy_backward(g[0], x, t, w, statistics, options);
    }
    return out;
  }
};

/// The statistics are for the rule alone, so they get no history.
std::array<Tensor, 2> record_cross_entropy(const Tensor& input, const Tensor& target, const OptionalTensor& weight,
                                           const ClassLoss& options) {
  if (!GradMode::is_enabled() || !tracks(input))
    return ops::cross_entropy.below_autograd(input, target, weight, options);
  auto node = make_intrusive<CrossEntropyBackward>();
  node->set_name(ops::cross_entropy.name());
  node->connect(input, target, weight);
  node->save(input, target, weight, options);
  std::array<Tensor, 2> out = ops::cross_entropy.below_autograd(input, target, weight, options);
  node->statistics = out[1];
  set_history(out[0], node);
  return out;
}

/// Of nll_loss and of its adjoint, each of which is the other's: both are linear in their first argument.
template <auto& adjoint>
struct NllLossBackward final : Node {
  Saved target{this, "target"}, weight{this, "weight"};
  ClassLoss options;
  void save(const Tensor&, const Tensor& t, const OptionalTensor& w, const ClassLoss& o) {
    target = t, options = o;
    if (w) weight = *w;
  }
  Gradients apply(Gradients g) override {
    const OptionalTensor w = weight.defined() ? OptionalTensor(weight.get()) : std::nullopt;
    Gradients out(3);
    if (wants(0)) out[0] = adjoint(g[0], target, w, options);
    return out;
  }
};

struct MseLossBackward final : Node {  // d (x - t)^2 = 2 (x - t) (dx - dt)
  Saved input{this, "input"}, target{this, "target"};
  Reduction reduction = Reduction::mean;
  void save(const Tensor& x, const Tensor& t, Reduction r) { input = x, target = t, reduction = r; }
  Gradients apply(Gradients g) override {
    const Tensor x = input;
    const double factor = reduction == Reduction::mean ? 2 / double(x.numel()) : 2;
    const Tensor dx = x.sub(target).mul(g[0].mul(factor));
    return {wants(0) ? dx : Tensor(), wants(1) ? dx.neg() : Tensor()};
  }
};

struct BinaryCrossEntropyBackward final : Node {
  Saved input{this, "input"}, target{this, "target"};
  void save(const Tensor& x, const Tensor& t) { input = x, target = t; }
  Gradients apply(Gradients g) override {
    const Tensor x = input;
    Gradients in(2);
    if (wants(0)) in[0] = ops::binary_cross_entropy_grad(g[0], x, target);
    if (wants(1)) in[1] = g[0] * (clamp_min(log1p(neg(x)), -100) - clamp_min(log(x), -100));
    return in;
  }
};
/// (x - t) / q with q = x (1 - x), whose slope is (x^2 - 2 x t + t) / q^2; here q is bounded by a sum, as in PyTorch.
struct BinaryCrossEntropyGradBackward final : Node {
  Saved g_in{this, "grad"}, input{this, "input"}, target{this, "target"};
  void save(const Tensor& g, const Tensor& x, const Tensor& t) {
    if (wants(1) || wants(2)) g_in = g;
    input = x, target = t;
  }
  Gradients apply(Gradients g) override {
    const Tensor x = input, t = target;
    Gradients in(3);
    if (wants(0)) in[0] = ops::binary_cross_entropy_grad(g[0], x, t);
    if (!wants(1) && !wants(2)) return in;
    const Tensor by_grad = g[0] * g_in.get(), spread = x * (1 - x);
    if (wants(1)) in[1] = by_grad * ((x * x - x * t * 2 + t) / square(spread + 1e-12));
    if (wants(2)) in[2] = neg(by_grad) / clamp_min(spread, 1e-12);
    return in;
  }
};

}  // namespace

void install_loss_rules() {
  differentiate<BinaryCrossEntropyBackward, ops::binary_cross_entropy>();
  differentiate<BinaryCrossEntropyGradBackward, ops::binary_cross_entropy_grad>();
  ops::cross_entropy.set_record(record_cross_entropy);
  differentiate<NllLossBackward<ops::nll_loss_backward>, ops::nll_loss>();
  differentiate<NllLossBackward<ops::nll_loss>, ops::nll_loss_backward>();
  differentiate<MseLossBackward, ops::mse_loss>();
}

}  // namespace taper
