#include <taper/nn/optim.h>
#include <taper/ops/optim.h>

#include "option_checks.h"

namespace taper::optim {

SGD::SGD(const TensorList& params, const SGDOptions& options) { add(params, options); }
SGD::SGD(const std::vector<Group>& groups) { add(groups); }

void SGD::visit_options(std::size_t group, OptionVisitor& v) {
  SGDOptions& o = options(group);
  v("lr", o.lr);
  v("momentum", o.momentum);
  v("dampening", o.dampening);
  v("weight_decay", o.weight_decay);
  v("nesterov", o.nesterov);
  v("maximize", o.maximize);
}

void SGD::check_options(std::size_t group) const {
  const SGDOptions& o = options(group);
  check_rate("SGD", "lr", o.lr);
  check_rate("SGD", "momentum", o.momentum);
  check_rate("SGD", "weight_decay", o.weight_decay);
  check<ValueError>(!o.nesterov || (o.momentum > 0 && o.dampening == 0), "SGD: nesterov needs momentum > 0 and ",
                    "dampening 0, got momentum ", o.momentum, " and dampening ", o.dampening);
}

void SGD::update(Slot& slot, const Tensor& grad, std::size_t group) {
  const SGDOptions& o = options(group);
  SgdStep step{o.lr, o.momentum, o.dampening, o.weight_decay, o.nesterov, o.maximize};
  if (o.momentum == 0) return sgd_step_(slot.param, grad, Tensor(), step);
  step.first = !slot.state[0].defined();
  sgd_step_(slot.param, grad, state_of(slot, 0), step);
}

template <class O, bool decoupled>
void AdamFamily<O, decoupled>::visit_options(std::size_t group, OptionVisitor& v) {
  O& o = this->options(group);
  v("lr", o.lr);
  v("beta1", o.betas[0]);
  v("beta2", o.betas[1]);
  v("eps", o.eps);
  v("weight_decay", o.weight_decay);
  v("amsgrad", o.amsgrad);
  v("maximize", o.maximize);
}

template <class O, bool decoupled>
void AdamFamily<O, decoupled>::check_options(std::size_t group) const {
  const O& o = this->options(group);
  check_rate(name(), "lr", o.lr);
  check_rate(name(), "eps", o.eps);
  check_rate(name(), "weight_decay", o.weight_decay);
  check_betas(name(), o.betas);
}

template <class O, bool decoupled>
bool AdamFamily<O, decoupled>::needs_state(std::size_t group, std::size_t i) const {
  return i < 2 || this->options(group).amsgrad;
}

template <class O, bool decoupled>
void AdamFamily<O, decoupled>::update(Slot& slot, const Tensor& grad, std::size_t group) {
  const O& o = this->options(group);
  const Tensor largest = o.amsgrad ? this->state_of(slot, 2) : Tensor();
  const AdamStep step{o.lr, o.betas[0], o.betas[1], o.eps, o.weight_decay, slot.steps + 1, decoupled, o.maximize};
  adam_step_(slot.param, grad, this->state_of(slot, 0), this->state_of(slot, 1), largest, step);
  ++slot.steps;
}

template class AdamFamily<AdamOptions, false>;
template class AdamFamily<AdamWOptions, true>;

}  // namespace taper::optim
