#pragma once
// Rules for functions of one tensor.
#include <taper/autograd/record.h>
#include <taper/factory.h>

namespace taper {

/// A derivative in terms of the argument.
template <Tensor (*derivative)(const Tensor& g, const Tensor& x)>
struct FromSelf final : Node {
  Saved self{this, "self"};
  bool saves_self() const { return true; }
  void save(const Tensor& x) { self = x; }
  Gradients apply(Gradients g) override { return {derivative(g[0], self)}; }
};
/// A derivative in terms of the result.
template <Tensor (*derivative)(const Tensor& g, const Tensor& y)>
struct FromResult final : Node {
  Saved result{this, "result"};
  void save_output(const Tensor& y) { result.keep_output(y); }
  Gradients apply(Gradients g) override { return {derivative(g[0], result)}; }
};
/// The gradient goes on as it is: adding a number, copies, conversions, and expand, since the engine sums a gradient in
/// the broadcast shape.
struct IdentityBackward final : Node {
  Gradients apply(Gradients g) override { return {g[0]}; }
};
/// For steps: the gradient exists and is 0.
struct ZeroBackward final : Node {
  Gradients apply(Gradients g) override { return {zeros_like(g[0])}; }
};

}  // namespace taper
