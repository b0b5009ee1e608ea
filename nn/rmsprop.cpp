#include <taper/nn/optim_adaptive.h>

#include "descent.h"
#include "option_checks.h"

namespace taper::optim {

RMSprop::RMSprop(const TensorList& params, const RMSpropOptions& options) { add(params, options); }
RMSprop::RMSprop(const std::vector<Group>& groups) { add(groups); }

void RMSprop::visit_options(std::size_t group, OptionVisitor& v) {
  RMSpropOptions& o = options(group);
  v("lr", o.lr);
  v("alpha", o.alpha);
  v("eps", o.eps);
  v("weight_decay", o.weight_decay);
  v("momentum", o.momentum);
  v("centered", o.centered);
  v("maximize", o.maximize);
}

void RMSprop::check_options(std::size_t group) const {
  const RMSpropOptions& o = options(group);
  check_rate(name(), "lr", o.lr);
  check_share(name(), "alpha", o.alpha);
  check_rate(name(), "eps", o.eps);
  check_rate(name(), "weight_decay", o.weight_decay);
  check_rate(name(), "momentum", o.momentum);
}

bool RMSprop::needs_state(std::size_t group, std::size_t i) const {
  return i == 0 || (i == 1 ? options(group).momentum > 0 : options(group).centered);
}

void RMSprop::update(Slot& slot, const Tensor& grad, std::size_t group) {
  const RMSpropOptions& o = options(group);
  check_grad(slot.param, grad);
  const Tensor g = descent(slot.param, grad, o.maximize, o.weight_decay);
  Tensor square = state_of(slot, 0).mul_(o.alpha).addcmul_(g, g, 1 - o.alpha);
  if (o.centered) {
    const Tensor mean = state_of(slot, 2).mul_(o.alpha).add_(g, 1 - o.alpha);
    square = square.addcmul(mean, mean, -1);
  }
  const Tensor divisor = o.centered ? square.sqrt_().add_(o.eps) : square.sqrt().add_(o.eps);
  if (o.momentum > 0)
    slot.param.add_(state_of(slot, 1).mul_(o.momentum).addcdiv_(g, divisor), -o.lr);
  else
    slot.param.addcdiv_(g, divisor, -o.lr);
  ++slot.steps;
}

}  // namespace taper::optim
