// What modules and optimizers keep, for <taper/autograd/memory_view.h>.
#include <taper/autograd/memory_view.h>
#include <taper/nn/optim.h>

#include "module_walk.h"

namespace taper {

void nn::list_owned(const Module& m, OwnedTensors& out) {
  const ModuleWalk walk(m);
  for (const ModuleWalk::TensorEntry& e : walk.tensors)
    out.add(e.kind == ModuleWalk::Kind::parameter ? OwnedTensors::As::parameter : OwnedTensors::As::buffer, e.path,
            *e.tensor);
}

void optim::list_owned(const Optimizer& o, OwnedTensors& out) {
  const auto names = o.state_names();
  std::size_t index = 0;  // through all groups, as in state_dict()
  for (std::size_t g = 0; g < o.groups_.size(); ++g)
    for (const Optimizer::Slot& slot : o.groups_[g]) {
      const std::string group = "optimizer group " + std::to_string(g) + ": ";
      const std::string parameter = "parameter " + std::to_string(index++) + " of " + o.name();
      out.add(OwnedTensors::As::optimizer_parameter, group + parameter, slot.param);
      for (std::size_t i = 0; i < Optimizer::kMaxState && names[i]; ++i)
        out.add(OwnedTensors::As::optimizer_state, group + names[i] + " of " + parameter, slot.state[i]);
    }
}

}  // namespace taper
