#include <taper/nn/optim_adaptive.h>

#include "descent.h"
#include "option_checks.h"

namespace taper::optim {

Rprop::Rprop(const TensorList& params, const RpropOptions& options) { add(params, options); }
Rprop::Rprop(const std::vector<Group>& groups) { add(groups); }

void Rprop::visit_options(std::size_t group, OptionVisitor& v) {
  RpropOptions& o = options(group);
  v("lr", o.lr);
  v("eta_minus", o.etas[0]);
  v("eta_plus", o.etas[1]);
  v("step_size_min", o.step_sizes[0]);
  v("step_size_max", o.step_sizes[1]);
  v("maximize", o.maximize);
}

void Rprop::check_options(std::size_t group) const {
  const RpropOptions& o = options(group);
  check_rate(name(), "lr", o.lr);
  check<ValueError>(0 < o.etas[0] && o.etas[0] < 1 && 1 < o.etas[1],
                    "Rprop: etas must be a number in (0, 1) and one above 1, got ", o.etas[0], " and ", o.etas[1]);
  check<ValueError>(0 <= o.step_sizes[0] && o.step_sizes[0] <= o.step_sizes[1],
                    "Rprop: step_sizes must be the least and the greatest, neither negative, got ", o.step_sizes[0],
                    " and ", o.step_sizes[1]);
}

void Rprop::update(Slot& slot, const Tensor& grad, std::size_t group) {
  const RpropOptions& o = options(group);
  check_grad(slot.param, grad);
  Tensor& previous = state_of(slot, 0);
  Tensor& size = state_of(slot, 1, o.lr);
  const Tensor g = descent(slot.param, grad, o.maximize, 0);
  Tensor factor = g.mul(previous);
  const Tensor turned = factor.lt(0), kept = factor.gt(0);
  size.mul_(factor.fill_(1).masked_fill_(turned, o.etas[0]).masked_fill_(kept, o.etas[1]));
  size.clamp_(o.step_sizes[0], o.step_sizes[1]);
  // Where the sign has changed, the next step is taken as the first was.
  previous.copy_(g).masked_fill_(turned, 0);
  slot.param.addcmul_(previous.sign(), size, -1);
  ++slot.steps;
}

}  // namespace taper::optim
