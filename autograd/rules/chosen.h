#pragma once
// The rule for operators that return chosen elements along a dim, and their positions.
#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/ops/index.h>

namespace taper {

/// Each value's gradient goes to the place it was taken from; elements taken several times get the sum.
struct ChosenBackward final : Node {
  Saved indices{this, "indices"};
  TensorSpec self;
  std::int64_t dim = 0;
  template <class... Rest>
  void save(const Tensor& x, std::int64_t d, const Rest&...) {
    self = x.spec(), dim = d;
  }
  void save_output(const std::array<Tensor, 2>& chosen) { indices.keep_output(chosen[1]); }
  Gradients apply(Gradients g) override {
    if (!g[0].defined()) return {Tensor()};
    Tensor whole = zeros(self.sizes(), g[0].dtype(), self.device);
    scatter_add_(whole, dim, indices, g[0]);
    return {whole};
  }
};

}  // namespace taper
