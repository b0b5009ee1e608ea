#include <taper/autograd/record.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/softmax.h>

#include "rules.h"

namespace taper {
namespace {

struct SoftmaxBackward final : Node {
  Saved result{this, "result"};
  std::int64_t dim = 0;
  void save(const Tensor&, std::int64_t d) { dim = d; }
  void save_output(const Tensor& y) { result.keep_output(y); }
  Gradients apply(Gradients g) override { return {ops::softmax_backward(g[0], result, dim)}; }
};

struct SoftmaxBackwardBackward final : Node {  // of dx = y (g - sum(g y))
  Saved grad{this, "grad"}, result{this, "result"};
  std::int64_t dim = 0;
  void save(const Tensor& g, const Tensor& y, std::int64_t d) {
    if (wants(1)) grad = g;
    result = y, dim = d;
  }
  Gradients apply(Gradients c) override {
    const Tensor y = result;
    Gradients out(2);
    if (wants(0)) out[0] = ops::softmax_backward(c[0], y, dim);
    if (wants(1)) {
      const Tensor g = grad, cy = sum(c[0].mul(y), dim, true);
      out[1] = c[0].mul(g.sub(sum(g.mul(y), dim, true))).sub(g.mul(cy));
    }
    return out;
  }
};

struct LogSoftmaxBackward final : Node {
  Saved result{this, "result"};
  std::int64_t dim = 0;
  void save(const Tensor&, std::int64_t d) { dim = d; }
  void save_output(const Tensor& y) { result.keep_output(y); }
  Gradients apply(Gradients g) override { return {ops::log_softmax_backward(g[0], result, dim)}; }
};

struct LogSoftmaxBackwardBackward final : Node {  // of dx = g - exp(y) sum(g)
  Saved grad{this, "grad"}, result{this, "result"};
  std::int64_t dim = 0;
  void save(const Tensor& g, const Tensor& y, std::int64_t d) {
    if (wants(1)) grad = g;
    result = y, dim = d;
  }
  Gradients apply(Gradients c) override {
    const Tensor weighted = c[0].mul(result.get().exp());
    Gradients out(2);
    if (wants(0)) out[0] = c[0].sub(sum(weighted, dim, true));
    if (wants(1)) out[1] = weighted.mul(sum(grad.get(), dim, true)).neg();
    return out;
  }
};

}  // namespace

void install_softmax_rules() {
  differentiate<SoftmaxBackward, ops::softmax>();
  differentiate<SoftmaxBackwardBackward, ops::softmax_backward>();
  differentiate<LogSoftmaxBackward, ops::log_softmax>();
  differentiate<LogSoftmaxBackwardBackward, ops::log_softmax_backward>();
}

}  // namespace taper
