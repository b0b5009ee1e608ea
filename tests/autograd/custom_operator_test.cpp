#include <taper/autograd/gradcheck.h>
#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/ops/math.h>
#include <taper/ops/pointwise.h>

#include <cmath>

#include "support/catch.h"

using namespace taper;
using autograd::gradcheck;
using autograd::gradgradcheck;

namespace {

// softsign(x) = x / (1 + |x|), all that a program needs to add it, by public headers alone.

TensorSpec infer_softsign(const Tensor& x) {
  check<DTypeError>(x.dtype() == float64, "softsign: x must be float64, got ", x.spec());
  return TensorSpec::contiguous(x.sizes(), x.dtype(), x.device());
}
void softsign_on_cpu(Tensor& out, const Tensor& x) {
  const std::vector<double> values = x.to_vector<double>();
  auto* y = static_cast<double*>(out.impl()->data());
  for (std::size_t i = 0; i < values.size(); ++i) y[i] = values[i] / (1 + std::fabs(values[i]));
}
constinit StructuredOp<Tensor(Tensor)> softsign{"softsign", "x", infer_softsign};

// softsign' = 1 / (1 + |x|)^2
struct SoftsignBackward final : Node {
  Saved x{this, "x"};
  void save(const Tensor& v) { x = v; }
  Gradients apply(Gradients g) override { return {g[0] / (x.get().abs() + 1).pow(2)}; }
};

void install_softsign() {
  softsign.set_kernel(DispatchKey::CPU, softsign_on_cpu);
  differentiate<SoftsignBackward, softsign>();
}

}  // namespace

TEST_CASE("an operator of one's own is a description, a kernel and a rule, in one file") {
  install_softsign();
  Tensor x = tensor({{-1, .25, 3}, {2, -4, .5}}, float64).requires_grad_();
  const Tensor y = softsign(x);
  CHECK(y.grad_fn()->name() == std::string("softsign"));
  CHECK(y.to_vector<double>()[2] == .75);
  CHECK(softsign(empty({2, 5}, float64, meta)).sizes() == IntSpan{2, 5});
  CHECK_THROWS_AS(softsign(ones({2})), DTypeError);

  const auto function = [](const TensorList& in) { return softsign(in[0]); };
  CHECK(gradcheck(function, {x}));
  CHECK(gradgradcheck(function, {x.detach().transpose(0, 1).requires_grad_()}));
}
