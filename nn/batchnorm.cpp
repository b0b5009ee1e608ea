#include <taper/device.h>
#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/nn/batchnorm.h>
#include <taper/nn/init.h>
#include <taper/ops/norm.h>
#include <taper/recomputation.h>

#include "fan_init.h"

namespace taper::nn {

BatchNorm::BatchNorm(std::int64_t num_features, const BatchNormOptions& options)
    : num_features_(num_features), options_(options) {
  check<ValueError>(num_features > 0, "BatchNorm: num_features must be positive, got ", num_features);
  const auto vector = [&] { return empty({num_features}, options.dtype, options.device); };
  if (options.affine) {
    weight = Parameter(vector());
    bias = Parameter(vector());
    init::ones_(weight);
    init::zeros_(bias);
  }
  if (options.track_running_stats) {
    running_mean = vector();
    running_var = vector();
    num_batches_tracked = empty({}, int64, options.device);
    reset_running_stats();
  }
}

void BatchNorm::reset_running_stats() {
  if (!options_.track_running_stats) return;
  init::zeros_(running_mean);
  init::ones_(running_var);
  init::zeros_(num_batches_tracked);
}

Tensor BatchNorm::forward(const Tensor& x) {
  check_input(x);
  const bool tracks = options_.track_running_stats, by_batch = is_training() || !tracks;
  if (!by_batch || !tracks) return batch_norm(x, weight, bias, running_mean, running_var, by_batch, 0, options_.eps);

  // The mean over n batches gives the n-th the share 1 / n.
  double share = 0;
  if (options_.momentum) {
    share = *options_.momentum;
  } else {
    const ExcludeKeysGuard quiet(DispatchKey::Watch);  // y does not depend on it, and may be computed again
    share = 1 / (num_batches_tracked.item<double>() + 1);
  }
  Tensor y = batch_norm(x, weight, bias, running_mean, running_var, true, share, options_.eps);
  if (Recomputation::is_active()) return y;  // the first computation has counted this batch
  const NoGradGuard no_grad;
  num_batches_tracked.add_(1);
  return y;
}

void BatchNorm::members(MemberVisitor& v) {
  v("weight", weight);
  v("bias", bias);
  v("running_mean", running_mean);
  v("running_var", running_var);
  v("num_batches_tracked", num_batches_tracked);
}

std::string BatchNorm::extra_repr() const {
  return std::to_string(num_features_) + ", eps=" + name_of_number(options_.eps) +
         ", momentum=" + (options_.momentum ? name_of_number(*options_.momentum) : "None") +
         ", affine=" + name_of_bool(options_.affine) +
         ", track_running_stats=" + name_of_bool(options_.track_running_stats);
}

void BatchNorm1d::check_input(const Tensor& x) const {
  check<ShapeError>(x.dim() == 2 || x.dim() == 3, "BatchNorm1d: x must be [n, ", num_features(), "] or [n, ",
                    num_features(), ", length], got ", x.spec());
}

void BatchNorm2d::check_input(const Tensor& x) const {
  check<ShapeError>(x.dim() == 4, "BatchNorm2d: x must be [n, ", num_features(), ", h, w], got ", x.spec());
}

void BatchNorm3d::check_input(const Tensor& x) const {
  check<ShapeError>(x.dim() == 5, "BatchNorm3d: x must be [n, ", num_features(), ", d, h, w], got ", x.spec());
}

}  // namespace taper::nn
