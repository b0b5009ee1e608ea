#include <taper/autograd/record.h>
#include <taper/ops/rearrange.h>

#include "rules.h"

namespace taper {
namespace {

struct FlipBackward final : Node {
  SmallVector<std::int64_t, 5> dims;
  void save(const Tensor&, IntSpan d) {
    for (const std::int64_t dim : d) dims.push_back(dim);
  }
  Gradients apply(Gradients g) override { return {flip(g[0], IntSpan(dims.data(), dims.size()))}; }
};

}  // namespace

void install_rearrange_rules() { differentiate<FlipBackward, ops::flip>(); }

}  // namespace taper
