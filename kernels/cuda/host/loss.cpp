#include "cuda/loss.h"

#include <taper/operator.h>
#include <taper/ops/loss.h>

#include <algorithm>

#include "caching_allocator.h"
#include "class_targets.h"
#include "device.h"
#include "elementwise.h"
#include "findings.h"
#include "install.h"
#include "operand_order.h"
#include "widen.h"

namespace taper::cuda_kernels {
namespace {

using kernels::in_order;
using kernels::place_of;
using kernels::values_of;
using ops::ClassLoss;
using OptionalTensor = std::optional<Tensor>;

constexpr std::int64_t kMost = (std::int64_t(1) << 31) - 1;  // the gradient's kernel counts in 32 bits

Tensor dense(const Tensor& t) { return in_order(t, MemoryFormat::contiguous); }

LossReduction reduction_of(Reduction r) {
  return r == Reduction::none ? LossReduction::none : r == Reduction::mean ? LossReduction::mean : LossReduction::sum;
}

/// Where values are looked at before operators run. Else the kernel looks.
void check_classes(const char* op, const Tensor& target, const ClassLoss& o) {
  if (target.numel() == 0 || !cuda::detail::checks_now(target.device())) return;
  const cuda::detail::SyncCause cause("check of targets");
  const Tensor here = target.detach().to(cpu);
  const Tensor all = dense(here);
  const std::int64_t* values = values_of<std::int64_t>(all);
  for (std::int64_t i = 0; i < all.numel(); ++i)
    if (values[i] != o.ignore_index && (values[i] < 0 || values[i] >= o.classes))
      kernels::raise_no_class(op, target, values[i], i, o);
}

/// Keeps copies of targets and weights, and memory for sums, until the kernels are started.
class Targets {
 public:
  Targets(const OnDevice& on, Watcher watcher, const Tensor& target, const OptionalTensor& weight, const ClassLoss& o)
      : target_(dense(target)), sums_(on.state().allocator().allocate(most_loss_sums(on.queue()) * sizeof(LossSums))) {
    if (weight && weight->defined()) weight_ = dense(*weight);
    described_.target = values_of<std::int64_t>(target_);
    described_.class_weight = weight_.defined() ? weight_.impl()->data() : nullptr;
    described_.count = target.numel();
    described_.classes = o.classes;
    described_.positions = 1;
    for (int d = 1; d < target.dim(); ++d) described_.positions *= target.size(d);
    described_.positions = std::max<std::int64_t>(described_.positions, 1);  // without any there are no elements
    described_.ignore_index = o.ignore_index;
    described_.label_smoothing = o.label_smoothing;
    described_.reduction = reduction_of(o.reduction);
    described_.watch = watch(on, watcher);
  }
  const ClassTargets& described() const { return described_; }
  LossSums* sums() const { return static_cast<LossSums*>(sums_.get()); }

 private:
  Tensor target_, weight_;
  DataPtr sums_;
  ClassTargets described_{};
};

void check_countable(const char* op, const Tensor& t) {
  check<NotImplementedError>(t.numel() <= kMost, op, ": ", t, " has more than ", kMost,
                             " elements, which CUDA kernels do not count; take the loss in parts");
}

void cross_entropy(std::array<Tensor, 2>& out, const Tensor& input, const Tensor& target, const OptionalTensor& weight,
                   const ClassLoss& o) {
  const Tensor x = dense(input);
  check_classes("cross_entropy", target, o);
  const OnDevice on(input.device());
  const Targets t(on, Watcher::cross_entropy, target, weight, o);
  dispatch_floating(input.dtype(), "cross_entropy", [&]<class T>(Type<T>) {
    T* statistics = place_of<T>(out[1]);
    cross_entropy_losses(on.queue(), t.described(), values_of<T>(x), place_of<T>(out[0]), statistics,
                         statistics + target.numel(), t.sums());
  });
}
void cross_entropy_backward(Tensor& out, const Tensor& grad, const Tensor& input, const Tensor& target,
                            const OptionalTensor& weight, const Tensor& statistics, const ClassLoss& o) {
  if (out.numel() == 0) return;
  check_countable("cross_entropy", out);
  const Tensor x = dense(input), g = dense(grad);
  const OnDevice on(out.device());
  const Targets t(on, Watcher::cross_entropy, target, weight, o);
  dispatch_floating(input.dtype(), "cross_entropy", [&]<class T>(Type<T>) {
    const T* largest = values_of<T>(statistics);
    cross_entropy_gradients(on.queue(), t.described(), values_of<T>(g), values_of<T>(x), largest,
                            largest + target.numel(), place_of<T>(out), t.sums());
  });
}

void nll_loss(Tensor& out, const Tensor& input, const Tensor& target, const OptionalTensor& weight,
              const ClassLoss& o) {
  const Tensor x = dense(input);
  check_classes("nll_loss", target, o);
  const OnDevice on(input.device());
  const Targets t(on, Watcher::nll_loss, target, weight, o);
  dispatch_floating(input.dtype(), "nll_loss", [&]<class T>(Type<T>) {
    nll_losses(on.queue(), t.described(), values_of<T>(x), place_of<T>(out), t.sums());
  });
}
void nll_loss_backward(Tensor& out, const Tensor& grad, const Tensor& target, const OptionalTensor& weight,
                       const ClassLoss& o) {
  if (out.numel() == 0) return;
  check_countable("nll_loss", out);
  const Tensor g = dense(grad);
  const OnDevice on(out.device());
  const Targets t(on, Watcher::nll_loss, target, weight, o);
  dispatch_floating(grad.dtype(), "nll_loss", [&]<class T>(Type<T>) {
    nll_loss_gradients(on.queue(), t.described(), values_of<T>(g), place_of<T>(out), t.sums());
  });
}

void mse_loss(Tensor& out, const Tensor& input, const Tensor& target, const Reduction& reduction) {
  const Tensor x = dense(input), y = dense(target);
  const OnDevice on(out.device());
  const DataPtr sums = on.state().allocator().allocate(most_loss_sums(on.queue()) * sizeof(LossSums));
  dispatch_floating(input.dtype(), "mse_loss", [&]<class T>(Type<T>) {
    square_differences(on.queue(), x.numel(), reduction == Reduction::mean, values_of<T>(x), values_of<T>(y),
                       place_of<T>(out), static_cast<LossSums*>(sums.get()));
  });
}

}  // namespace

void install_loss() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::cross_entropy.set_kernel(key, kernels::widening<cross_entropy>);
  ops::cross_entropy_backward.set_kernel(key, kernels::widening<cross_entropy_backward>);
  ops::nll_loss.set_kernel(key, kernels::widening<nll_loss>);
  ops::nll_loss_backward.set_kernel(key, kernels::widening<nll_loss_backward>);
  ops::mse_loss.set_kernel(key, kernels::widening<mse_loss>);
}

}  // namespace taper::cuda_kernels
