#include <taper/grad_mode.h>
#include <taper/operator.h>
#include <taper/ops/optim.h>

#include <utility>

namespace taper {

namespace {

/// Throws unless t can accompany param; a tensor that is written must have memory of its own.
void check_companion(const char* op, const char* name, const Tensor& t, const Tensor& param) {
  check<ShapeError>(t.sizes() == param.sizes(), op, ": ", name, " must have the shape of param, ", param.sizes(),
                    ", got ", t.sizes());
  check<DTypeError>(t.dtype() == param.dtype(), op, ": ", name, " must have the dtype of param, ", param.dtype(),
                    ", got ", t.dtype(), "; convert it with to()");
  check<ValueError>(!t.is_alias_of(param), op, ": ", name, " and param must not share memory");
}
void check_apart(const char* op, const Tensor& a, const Tensor& b) {
  check<ValueError>(!a.is_alias_of(b), op, ": the gradient and the parts of the state must not share memory");
}
void check_param(const char* op, const Tensor& param) {
  check<DTypeError>(is_floating(param.dtype()), op, ": param must be floating, got ", param.spec());
}

TensorSpec infer_sgd(const Tensor& param, const Tensor& grad, const std::optional<Tensor>& buffer,
                     const SgdStep& step) {
  check_param("sgd_step_", param);
  check_companion("sgd_step_", "grad", grad, param);
  check<ValueError>(buffer || step.momentum == 0, "sgd_step_: momentum ", step.momentum, " needs a momentum buffer");
  if (buffer) {
    check_companion("sgd_step_", "momentum_buffer", *buffer, param);
    check_apart("sgd_step_", *buffer, grad);
  }
  return param.spec();
}

TensorSpec infer_adam(const Tensor& param, const Tensor& grad, const Tensor& exp_avg, const Tensor& exp_avg_sq,
                      const std::optional<Tensor>& max_exp_avg_sq, const AdamStep& step) {
  check_param("adam_step_", param);
  check<ValueError>(step.step > 0, "adam_step_: steps are counted from 1, got ", step.step);
  check_companion("adam_step_", "grad", grad, param);
  check_companion("adam_step_", "exp_avg", exp_avg, param);
  check_companion("adam_step_", "exp_avg_sq", exp_avg_sq, param);
  check_apart("adam_step_", exp_avg, grad);
  check_apart("adam_step_", exp_avg_sq, grad);
  check_apart("adam_step_", exp_avg, exp_avg_sq);
  if (max_exp_avg_sq) {
    check_companion("adam_step_", "max_exp_avg_sq", *max_exp_avg_sq, param);
    check_apart("adam_step_", *max_exp_avg_sq, grad);
    check_apart("adam_step_", *max_exp_avg_sq, exp_avg);
    check_apart("adam_step_", *max_exp_avg_sq, exp_avg_sq);
  }
  return param.spec();
}

std::optional<Tensor> if_defined(const Tensor& t) { return t.defined() ? std::optional<Tensor>(t) : std::nullopt; }

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor, Tensor, std::optional<Tensor>, SgdStep)> sgd_step{
    "sgd_step", "param, grad, momentum_buffer", infer_sgd, "sgd_step_"};
constinit StructuredOp<Tensor(Tensor, Tensor, Tensor, Tensor, std::optional<Tensor>, AdamStep)> adam_step{
    "adam_step", "param, grad, exp_avg, exp_avg_sq, max_exp_avg_sq", infer_adam, "adam_step_"};
}  // namespace ops

void StepsTogether::finish() {
  if (const auto make = std::exchange(make_, nullptr)) make();
}
StepsTogether::~StepsTogether() {
  --depth_;
  try {
    finish();
  } catch (...) {  // another error is on its way already
  }
  again_ = false;
}

void sgd_step_(const Tensor& param, const Tensor& grad, const Tensor& momentum_buffer, const SgdStep& step) {
  const NoGradGuard no_grad;
  Tensor self = param;
  ops::sgd_step.inplace(self, self, grad, if_defined(momentum_buffer), step);
}

void adam_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg, const Tensor& exp_avg_sq,
                const Tensor& max_exp_avg_sq, const AdamStep& step) {
  const NoGradGuard no_grad;
  Tensor self = param;
  ops::adam_step.inplace(self, self, grad, exp_avg, exp_avg_sq, if_defined(max_exp_avg_sq), step);
}

}  // namespace taper
