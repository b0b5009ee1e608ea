// Adamax, NAdam and RAdam.
#include <taper/nn/optim_adaptive.h>
#include <taper/ops/pointwise.h>

#include <cmath>

#include "descent.h"
#include "option_checks.h"

namespace taper::optim {

namespace {

/// What all of the three have.
template <class Options>
void check_common(const char* optimizer, const Options& o) {
  check_rate(optimizer, "lr", o.lr);
  check_betas(optimizer, o.betas);
  check_rate(optimizer, "eps", o.eps);
  check_rate(optimizer, "weight_decay", o.weight_decay);
}
template <class Options>
void visit_common(Options& o, OptionVisitor& v) {
  v("lr", o.lr);
  v("beta1", o.betas[0]);
  v("beta2", o.betas[1]);
  v("eps", o.eps);
  v("weight_decay", o.weight_decay);
  v("maximize", o.maximize);
}

/// The running mean of the gradient.
Tensor& mean_of(Tensor& state, const Tensor& g, double beta) { return state.mul_(beta).add_(g, 1 - beta); }
Tensor& mean_square_of(Tensor& state, const Tensor& g, double beta) {
  return state.mul_(beta).addcmul_(g, g, 1 - beta);
}

}  // namespace

Adamax::Adamax(const TensorList& params, const AdamaxOptions& options) { add(params, options); }
Adamax::Adamax(const std::vector<Group>& groups) { add(groups); }

void Adamax::visit_options(std::size_t group, OptionVisitor& v) { visit_common(options(group), v); }
void Adamax::check_options(std::size_t group) const { check_common(name(), options(group)); }

void Adamax::update(Slot& slot, const Tensor& grad, std::size_t group) {
  const AdamaxOptions& o = options(group);
  check_grad(slot.param, grad);
  const Tensor g = descent(slot.param, grad, o.maximize, o.weight_decay);
  const Tensor mean = mean_of(state_of(slot, 0), g, o.betas[0]);
  Tensor largest = state_of(slot, 1).mul_(o.betas[1]);
  maximum_out(largest, largest, g.abs().add_(o.eps));
  ++slot.steps;
  slot.param.addcdiv_(mean, largest, -o.lr / (1 - std::pow(o.betas[0], double(slot.steps))));
}

NAdam::NAdam(const TensorList& params, const NAdamOptions& options) { add(params, options); }
NAdam::NAdam(const std::vector<Group>& groups) { add(groups); }

void NAdam::visit_options(std::size_t group, OptionVisitor& v) {
  NAdamOptions& o = options(group);
  visit_common(o, v);
  v("momentum_decay", o.momentum_decay);
}

void NAdam::check_options(std::size_t group) const {
  check_common(name(), options(group));
  check_rate(name(), "momentum_decay", options(group).momentum_decay);
}

void NAdam::update(Slot& slot, const Tensor& grad, std::size_t group) {
  const NAdamOptions& o = options(group);
  check_grad(slot.param, grad);
  const Tensor g = descent(slot.param, grad, o.maximize, o.weight_decay);
  const Tensor mean = mean_of(state_of(slot, 0), g, o.betas[0]);
  const Tensor square = mean_square_of(state_of(slot, 1), g, o.betas[1]);
  const double step = double(++slot.steps);
  const auto mu = [&](double t) { return o.betas[0] * (1 - 0.5 * std::pow(0.96, t * o.momentum_decay)); };
  const double now = mu(step), next = mu(step + 1);
  const float product = float(slot.number) * float(now);
  const float next_product = product * float(now) * float(next);
  slot.number = double(product);
  const Tensor divisor = square.div(1 - std::pow(o.betas[1], step)).sqrt_().add_(o.eps);
  slot.param.addcdiv_(g, divisor, -o.lr * (1 - now) / (1 - slot.number));
  slot.param.addcdiv_(mean, divisor, -o.lr * next / (1 - double(next_product)));
}

RAdam::RAdam(const TensorList& params, const RAdamOptions& options) { add(params, options); }
RAdam::RAdam(const std::vector<Group>& groups) { add(groups); }

void RAdam::visit_options(std::size_t group, OptionVisitor& v) { visit_common(options(group), v); }
void RAdam::check_options(std::size_t group) const { check_common(name(), options(group)); }

void RAdam::update(Slot& slot, const Tensor& grad, std::size_t group) {
  const RAdamOptions& o = options(group);
  check_grad(slot.param, grad);
  const Tensor g = descent(slot.param, grad, o.maximize, o.weight_decay);
  const Tensor mean = mean_of(state_of(slot, 0), g, o.betas[0]);
  const Tensor square = mean_square_of(state_of(slot, 1), g, o.betas[1]);
  const double step = double(++slot.steps);
  const double rate = o.lr / (1 - std::pow(o.betas[0], step));
  const double kept = std::pow(o.betas[1], step), rest = 1 - kept;
  // The number of gradients that the mean square rests on, in the end and now.
  const double rho_inf = 2 / (1 - o.betas[1]) - 1, rho = rho_inf - 2 * step * kept / rest;
  if (rho <= 5) {
    slot.param.add_(mean, -rate);
    return;
  }
  const double rectification = std::sqrt((rho - 4) * (rho - 2) * rho_inf / ((rho_inf - 4) * (rho_inf - 2) * rho));
  slot.param.addcdiv_(mean, square.sqrt().add_(o.eps), -rate * rectification * std::sqrt(rest));
}

}  // namespace taper::optim
