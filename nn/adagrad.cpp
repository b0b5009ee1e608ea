// Adagrad, and Adadelta, which forgets old gradients.
#include <taper/nn/optim_adaptive.h>

#include "descent.h"
#include "option_checks.h"

namespace taper::optim {

Adagrad::Adagrad(const TensorList& params, const AdagradOptions& options) { add(params, options); }
Adagrad::Adagrad(const std::vector<Group>& groups) { add(groups); }

void Adagrad::visit_options(std::size_t group, OptionVisitor& v) {
  AdagradOptions& o = options(group);
  v("lr", o.lr);
  v("lr_decay", o.lr_decay);
  v("weight_decay", o.weight_decay);
  v("initial_accumulator_value", o.initial_accumulator_value);
  v("eps", o.eps);
  v("maximize", o.maximize);
}

void Adagrad::check_options(std::size_t group) const {
  const AdagradOptions& o = options(group);
  check_rate(name(), "lr", o.lr);
  check_rate(name(), "lr_decay", o.lr_decay);
  check_rate(name(), "weight_decay", o.weight_decay);
  check_rate(name(), "initial_accumulator_value", o.initial_accumulator_value);
  check_rate(name(), "eps", o.eps);
}

void Adagrad::update(Slot& slot, const Tensor& grad, std::size_t group) {
  const AdagradOptions& o = options(group);
  check_grad(slot.param, grad);
  const Tensor g = descent(slot.param, grad, o.maximize, o.weight_decay);
  const Tensor sum = state_of(slot, 0, o.initial_accumulator_value).addcmul_(g, g);
  slot.param.addcdiv_(g, sum.sqrt().add_(o.eps), -o.lr / (1 + double(slot.steps) * o.lr_decay));
  ++slot.steps;
}

Adadelta::Adadelta(const TensorList& params, const AdadeltaOptions& options) { add(params, options); }
Adadelta::Adadelta(const std::vector<Group>& groups) { add(groups); }

void Adadelta::visit_options(std::size_t group, OptionVisitor& v) {
  AdadeltaOptions& o = options(group);
  v("lr", o.lr);
  v("rho", o.rho);
  v("eps", o.eps);
  v("weight_decay", o.weight_decay);
  v("maximize", o.maximize);
}

void Adadelta::check_options(std::size_t group) const {
  const AdadeltaOptions& o = options(group);
  check_rate(name(), "lr", o.lr);
  check_share(name(), "rho", o.rho);
  check_rate(name(), "eps", o.eps);
  check_rate(name(), "weight_decay", o.weight_decay);
}

void Adadelta::update(Slot& slot, const Tensor& grad, std::size_t group) {
  const AdadeltaOptions& o = options(group);
  check_grad(slot.param, grad);
  const Tensor g = descent(slot.param, grad, o.maximize, o.weight_decay);
  const Tensor square = state_of(slot, 0).mul_(o.rho).addcmul_(g, g, 1 - o.rho);
  Tensor& steps = state_of(slot, 1);
  const Tensor delta = steps.add(o.eps).sqrt_().div_(square.add(o.eps).sqrt_()).mul_(g);
  steps.mul_(o.rho).addcmul_(delta, delta, 1 - o.rho);
  slot.param.add_(delta, -o.lr);
  ++slot.steps;
}

}  // namespace taper::optim
