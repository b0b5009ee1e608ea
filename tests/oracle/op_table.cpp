#include "op_table.h"

#include <taper/error.h>

namespace oracle {

OpTable::OpTable() {
  add_pointwise(*this);
  add_reductions(*this);
  add_products(*this);
  add_views(*this);
  add_indexing(*this);
  add_shapes(*this);
  add_creation(*this);
  add_losses(*this);
  add_images(*this);
  add_neural(*this);
  add_activations(*this);
  add_functions(*this);
  add_order(*this);
  add_windows(*this);
}

const OpTable::Call* OpTable::find(const std::string& name) const {
  const auto it = calls_.find(name);
  return it == calls_.end() ? nullptr : &it->second;
}

Outputs OpTable::call(const Args& args) const {
  const Call* op = find(args.op());
  if (!op) throw Skip{"op " + args.op()};
  try {
    Outputs out = (*op)(args);
    args.check_all_read();
    return out;
  } catch (const taper::Error&) {
    args.check_all_read();  // refused for want of an argument that the operator does not know
    throw;
  }
}

}  // namespace oracle
