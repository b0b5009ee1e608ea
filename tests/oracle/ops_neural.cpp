#include <taper/ops/dropout.h>

#include "op_table.h"

namespace oracle {
namespace {

/// Dropout whose result does not depend on chance, as the records have it.
template <class F>
void dropout(OpTable& t, const std::string& name, F f) {
  t.add(name,
        [f](const Args& a) -> Outputs { return f(a.tensor("input"), a.real("p", 0.5), a.flag("training", true)); });
}

}  // namespace

void add_neural(OpTable& t) {
  dropout(t, "dropout", [](const Tensor& x, double p, bool training) { return taper::dropout(x, p, training); });
  dropout(t, "dropout1d", [](const Tensor& x, double p, bool training) { return taper::dropout1d(x, p, training); });
  dropout(t, "dropout2d", [](const Tensor& x, double p, bool training) { return taper::dropout2d(x, p, training); });
  dropout(t, "dropout3d", [](const Tensor& x, double p, bool training) { return taper::dropout3d(x, p, training); });
}

}  // namespace oracle
