#include <taper/nn/loss.h>

namespace taper::nn {

CrossEntropyLoss::CrossEntropyLoss(const CrossEntropyOptions& options) : weight(options.weight), options_(options) {
  options_.weight = Tensor();
}

CrossEntropyOptions CrossEntropyLoss::options_with_weight() const {
  CrossEntropyOptions o = options_;
  o.weight = weight;
  return o;
}

Tensor CrossEntropyLoss::forward(const Tensor& input, const Tensor& target) {
  return cross_entropy(input, target, options_with_weight());
}

}  // namespace taper::nn
