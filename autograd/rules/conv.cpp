// The result is linear in the input and in the weight, so each gradient is again a convolution of one kind, with the
// same window, and all derivatives of all orders stay among the three operators.
#include <taper/autograd/record.h>
#include <taper/ops/conv.h>

#include "rules.h"

namespace taper {
namespace {

IntPair last_two(const Tensor& t) { return {t.size(2), t.size(3)}; }
std::optional<Tensor> optional(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }

struct Conv2dBackward final : Node {
  Saved input{this, "input"}, weight{this, "weight"};
  Conv2dWindow window;
  IntPair size = 0, kernel = 0;
  void save(const Tensor& x, const Tensor& w, const std::optional<Tensor>&, const Conv2dWindow& o) {
    window = o;
    size = last_two(x);
    kernel = last_two(w);
    if (wants(1)) input = x;
    if (wants(0)) weight = w;
  }
  Gradients apply(Gradients g) override {
    Gradients out(3);
    if (wants(0)) out[0] = ops::conv2d_input_grad(g[0], weight.get(), size, window);
    if (wants(1)) {
      const std::array<Tensor, 2> both = ops::conv2d_weight_grad(g[0], input.get(), kernel, wants(2), window);
      out[1] = both[0];
      if (wants(2)) out[2] = both[1];
    } else if (wants(2)) {
      out[2] = g[0].sum({0, 2, 3});
    }
    return out;
  }
};

struct Conv2dInputGradBackward final : Node {
  Saved grad{this, "grad"}, weight{this, "weight"};
  Conv2dWindow window;
  IntPair kernel = 0;
  void save(const Tensor& g, const Tensor& w, const IntPair&, const Conv2dWindow& o) {
    window = o;
    kernel = last_two(w);
    if (wants(1)) grad = g;
    if (wants(0)) weight = w;
  }
  Gradients apply(Gradients gg) override {
    return {wants(0) ? ops::conv2d(gg[0], weight.get(), std::nullopt, window) : Tensor(),
            wants(1) ? ops::conv2d_weight_grad(grad.get(), gg[0], kernel, false, window)[0] : Tensor()};
  }
};

struct Conv2dWeightGradBackward final : Node {
  Saved grad{this, "grad"}, input{this, "input"};
  Conv2dWindow window;
  IntPair size = 0;
  bool with_bias = false;
  TensorSpec result;
  void save(const Tensor& g, const Tensor& x, const IntPair&, const bool& bias, const Conv2dWindow& o) {
    window = o;
    size = last_two(x);
    with_bias = bias;
    result = g.spec();
    if (wants(1)) grad = g;
    if (wants(0)) input = x;
  }
  Gradients apply(Gradients gg) override {
    const Tensor of_bias = with_bias ? gg[1] : Tensor();
    Gradients out(2);
    if (wants(0)) {
      if (gg[0].defined())
        out[0] = ops::conv2d(input.get(), gg[0], optional(of_bias), window);
      else if (of_bias.defined())
        out[0] = of_bias.view({1, of_bias.size(0), 1, 1}).expand(result.sizes());
    }
    if (wants(1) && gg[0].defined()) out[1] = ops::conv2d_input_grad(grad.get(), gg[0], size, window);
    return out;
  }
};

}  // namespace

void install_conv_rules() {
  differentiate<Conv2dBackward, ops::conv2d>();
  differentiate<Conv2dInputGradBackward, ops::conv2d_input_grad>();
  differentiate<Conv2dWeightGradBackward, ops::conv2d_weight_grad>();
}

}  // namespace taper
