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

NLLLoss::NLLLoss(const NllLossOptions& options) : weight(options.weight), options_(options) {
  options_.weight = Tensor();
}
NllLossOptions NLLLoss::options_with_weight() const {
  NllLossOptions o = options_;
  o.weight = weight;
  return o;
}
Tensor NLLLoss::forward(const Tensor& input, const Tensor& target) {
  return nll_loss(input, target, options_with_weight());
}

BCELoss::BCELoss(const BCELossOptions& options) : weight(options.weight), options_(options) {
  options_.weight = Tensor();
}
BCELossOptions BCELoss::options_with_weight() const {
  BCELossOptions o = options_;
  o.weight = weight;
  return o;
}
Tensor BCELoss::forward(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy(input, target, weight, options_.reduction);
}

BCEWithLogitsLoss::BCEWithLogitsLoss(const BCEWithLogitsLossOptions& options)
    : weight(options.weight), pos_weight(options.pos_weight), options_(options) {
  options_.weight = options_.pos_weight = Tensor();
}
BCEWithLogitsLossOptions BCEWithLogitsLoss::options_with_weights() const {
  BCEWithLogitsLossOptions o = options_;
  o.weight = weight, o.pos_weight = pos_weight;
  return o;
}
Tensor BCEWithLogitsLoss::forward(const Tensor& input, const Tensor& target) {
  return binary_cross_entropy_with_logits(input, target, weight, options_.reduction, pos_weight);
}
void BCEWithLogitsLoss::members(MemberVisitor& v) {
  v("weight", weight);
  v("pos_weight", pos_weight);
}

}  // namespace taper::nn
