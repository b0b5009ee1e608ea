#pragma once
// The arithmetic of the optimizers in <taper/nn/optim.h>: each function updates a parameter and its state in one pass
// over memory, without temporaries. All tensors of a call have one shape and one floating dtype.
// The writes count as writes of every tensor written, and are not recorded for differentiation.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

namespace taper {

struct SgdStep {
  using plain_argument = void;
  double lr = 0, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
  bool first = false;  ///< the momentum buffer has no value yet: it becomes the gradient, undamped
};
/// g = grad + weight_decay * param; buffer = momentum * buffer + (1 - dampening) * g; param -= lr * buffer, or
/// lr * (g + momentum * buffer) with Nesterov's momentum. The buffer may be undefined if momentum is 0.
void sgd_step_(const Tensor& param, const Tensor& grad, const Tensor& momentum_buffer, const SgdStep& step);

struct AdamStep {
  using plain_argument = void;
  double lr = 0, beta1 = 0, beta2 = 0, eps = 0, weight_decay = 0;
  std::int64_t step = 1;         ///< of this parameter, counted from 1
  bool decoupled_decay = false;  ///< AdamW: param *= 1 - lr * weight_decay; else grad += weight_decay * param
  bool maximize = false;
};
/// m = beta1 m + (1 - beta1) g; v = beta2 v + (1 - beta2) g^2;
/// param -= lr / (1 - beta1^step) * m / (sqrt(v) / sqrt(1 - beta2^step) + eps).
/// Kingma and Ba 2014, "Adam"; Loshchilov and Hutter 2017, "Decoupled weight decay regularization". If max_exp_avg_sq
/// is defined it keeps the largest v, which takes v's place: Reddi, Kale and Kumar 2018, "On the convergence of Adam".
void adam_step_(const Tensor& param, const Tensor& grad, const Tensor& exp_avg, const Tensor& exp_avg_sq,
                const Tensor& max_exp_avg_sq, const AdamStep& step);

/// While it lives, a device may put off what sgd_step_ and adam_step_ of this thread write, to write many parameters in
/// one pass. Until finish() nothing may read or write a parameter or its state but the steps themselves, each once.
class StepsTogether {
 public:
  StepsTogether() noexcept { ++depth_; }
  ~StepsTogether();
  StepsTogether(const StepsTogether&) = delete;
  StepsTogether& operator=(const StepsTogether&) = delete;

  /// Makes the steps that were put off. The destructor does so too, but cannot say if it fails.
  static void finish();
  static bool is_active() noexcept { return depth_ > 0; }
  /// Says that the one who opened it makes the same steps again, with their numbers of then, before each replay of the
  /// graph that they are captured into: the numbers of other steps would stay those of the capture, so these throw.
  void made_again_at_replay() noexcept { again_ = true; }
  static bool are_made_again() noexcept { return again_; }
  /// For kernels: what finish() is to call, once.
  using Make = void (*)();
  static void when_done(Make make) noexcept { make_ = make; }

 private:
  static inline constinit thread_local int depth_ = 0;
  static inline constinit thread_local bool again_ = false;
  static inline constinit thread_local Make make_ = nullptr;
};

namespace ops {
// In place on the first argument; the state is written too.
extern StructuredOp<Tensor(Tensor, Tensor, std::optional<Tensor>, SgdStep)> sgd_step;
extern StructuredOp<Tensor(Tensor, Tensor, Tensor, Tensor, std::optional<Tensor>, AdamStep)> adam_step;
}  // namespace ops

}  // namespace taper
