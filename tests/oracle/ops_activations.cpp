#include <taper/ops/activation.h>

#include "op_table.h"

namespace oracle {

void add_activations(OpTable& t) {
  using taper::Scalar;
  t.unary("relu6", taper::relu6, taper::relu6_);
  t.unary("hardswish", taper::hardswish, taper::hardswish_);
  t.unary("hardsigmoid", taper::hardsigmoid, taper::hardsigmoid_);
  t.unary("silu", taper::silu, taper::silu_);
  t.unary("mish", taper::mish, taper::mish_);
  t.unary("selu", taper::selu, taper::selu_);
  t.unary("softsign", taper::softsign);
  t.unary("tanhshrink", taper::tanhshrink);
  t.unary("logsigmoid", taper::log_sigmoid);
  t.add("leaky_relu",
        [](const Args& a) { return taper::leaky_relu(a.tensor("input"), a.real("negative_slope", 0.01)); });
  t.add("leaky_relu_", [](const Args& a) {
    Tensor x = a.tensor("input");
    return taper::leaky_relu_(x, a.real("negative_slope", 0.01));
  });
  t.add("elu", [](const Args& a) { return taper::elu(a.tensor("input"), a.real("alpha", 1)); });
  t.add("elu_", [](const Args& a) {
    Tensor x = a.tensor("input");
    return taper::elu_(x, a.real("alpha", 1));
  });
  t.add("celu", [](const Args& a) { return taper::celu(a.tensor("input"), a.real("alpha", 1)); });
  t.add("celu_", [](const Args& a) {
    Tensor x = a.tensor("input");
    return taper::celu_(x, a.real("alpha", 1));
  });
  t.add("gelu", [](const Args& a) { return taper::gelu(a.tensor("input"), a.text("approximate", "none")); });
  t.add("gelu_", [](const Args& a) {
    Tensor x = a.tensor("input");
    return taper::gelu_(x, a.text("approximate", "none"));
  });
  t.add("softplus",
        [](const Args& a) { return taper::softplus(a.tensor("input"), a.real("beta", 1), a.real("threshold", 20)); });
  t.add("hardtanh", [](const Args& a) {
    return taper::hardtanh(a.tensor("input"), a.number("min_val", -1.0), a.number("max_val", 1.0));
  });
  t.add("hardtanh_", [](const Args& a) {
    Tensor x = a.tensor("input");
    return taper::hardtanh_(x, a.number("min_val", -1.0), a.number("max_val", 1.0));
  });
  t.add("hardshrink", [](const Args& a) { return taper::hardshrink(a.tensor("input"), a.real("lambd", 0.5)); });
  t.add("softshrink", [](const Args& a) { return taper::softshrink(a.tensor("input"), a.real("lambd", 0.5)); });
  t.add("threshold",
        [](const Args& a) { return taper::threshold(a.tensor("input"), a.number("threshold"), a.number("value")); });
  t.add("threshold_", [](const Args& a) {
    Tensor x = a.tensor("input");
    return taper::threshold_(x, a.number("threshold"), a.number("value"));
  });
  t.add("prelu", [](const Args& a) { return taper::prelu(a.tensor("input"), a.tensor("weight")); });
  t.add("glu", [](const Args& a) { return taper::glu(a.tensor("input"), a.integer("dim", -1)); });
  t.add("softmin", [](const Args& a) { return taper::softmin(a.tensor("input"), a.integer("dim"), a.dtype("dtype")); });
}

}  // namespace oracle
