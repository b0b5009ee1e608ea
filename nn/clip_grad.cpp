#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/nn/clip_grad.h>

#include <cmath>

namespace taper::nn::utils {

namespace {

TensorList gradients_of(const TensorList& parameters) {
  TensorList grads;
  for (const Tensor& p : parameters)
    if (Tensor g = p.grad(); g.defined()) grads.push_back(std::move(g));
  return grads;
}

/// What of one gradient adds up, or of which the maximum is taken for the norm of all.
Tensor contribution(const Tensor& g, double p) {
  if (std::isinf(p)) return g.numel() == 0 ? zeros({}, g.dtype(), g.device()) : g.abs().max();
  if (p == 2) return g.square().sum();
  if (p == 1) return g.abs().sum();
  return g.abs().pow(p).sum();
}

Tensor total_norm(const TensorList& grads, double p) {
  Tensor total = contribution(grads[0], p);
  for (std::size_t i = 1; i < grads.size(); ++i) {
    const Tensor next = contribution(grads[i], p).to(total.device());
    total = std::isinf(p) ? total.maximum(next) : total.add(next);
  }
  if (std::isinf(p) || p == 1) return total;
  return p == 2 ? total.sqrt() : total.pow(1 / p);
}

}  // namespace

Tensor clip_grad_norm_(const TensorList& parameters, double max_norm, double norm_type, bool error_if_nonfinite) {
  const NoGradGuard no_grad;
  check<ValueError>(norm_type > 0, "clip_grad_norm_: norm_type must be positive, got ", norm_type);
  check<ValueError>(max_norm >= 0, "clip_grad_norm_: max_norm must not be negative, got ", max_norm);
  TensorList grads = gradients_of(parameters);
  if (grads.empty()) return zeros({});
  const Tensor total = total_norm(grads, norm_type);
  if (error_if_nonfinite)
    check<ValueError>(std::isfinite(total.item<double>()), "clip_grad_norm_: the norm of the gradients is ",
                      total.item<double>(), ", so they cannot be clipped; with error_if_nonfinite = false they are ",
                      "scaled by it all the same");
  const Tensor factor = total.add(1e-6).reciprocal().mul(max_norm).clamp_max(1);
  for (Tensor& g : grads) g.mul_(factor.to(g.device()));
  return total;
}

Tensor clip_grad_norm_(const Tensor& parameter, double max_norm, double norm_type, bool error_if_nonfinite) {
  return clip_grad_norm_(TensorList{parameter}, max_norm, norm_type, error_if_nonfinite);
}

void clip_grad_value_(const TensorList& parameters, double clip_value) {
  const NoGradGuard no_grad;
  check<ValueError>(clip_value >= 0, "clip_grad_value_: clip_value must not be negative, got ", clip_value);
  for (Tensor& g : gradients_of(parameters)) g.clamp_(-clip_value, clip_value);
}

void clip_grad_value_(const Tensor& parameter, double clip_value) {
  clip_grad_value_(TensorList{parameter}, clip_value);
}

}  // namespace taper::nn::utils
