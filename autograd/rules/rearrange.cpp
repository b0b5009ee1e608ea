#include <taper/autograd/record.h>
#include <taper/ops/rearrange.h>
#include <taper/ops/resample_dim.h>

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

struct ResampleBackward final : Node {
  Resampling back;
  void save(const Tensor&, const Resampling& r) {
    back = {r.dim, r.transposed ? r.transposed : std::make_shared<const ResampleTaps>(r.taps->transposed()), r.taps};
  }
  Gradients apply(Gradients g) override { return {ops::resample(g[0], back)}; }
};

}  // namespace

void install_rearrange_rules() {
  differentiate<FlipBackward, ops::flip>();
  differentiate<ResampleBackward, ops::resample>();
}

}  // namespace taper
