#include <taper/autograd/record.h>
#include <taper/ops/dropout.h>

#include "rules.h"

namespace taper {
namespace {

/// Linear in x, and the same stream makes the same mask.
struct DropoutBackward final : Node {
  double p = 0;
  RandomStream stream;
  void save(const Tensor&, double probability, RandomStream s) {
    p = probability;
    stream = s;
  }
  Gradients apply(Gradients g) override { return {ops::dropout(g[0], p, stream)}; }
};

}  // namespace

void install_dropout_rules() { differentiate<DropoutBackward, ops::dropout>(); }

}  // namespace taper
