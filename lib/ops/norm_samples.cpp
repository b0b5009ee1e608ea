// Normalizations that are layer normalization of another shape: each group of numbers that belong together is a line.
#include <taper/memory_format.h>
#include <taper/ops/norm.h>
#include <taper/ops/norm_samples.h>
#include <taper/ops/pad.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/recomputation.h>

namespace taper {
namespace {

void need_floating(const char* op, const Tensor& x) {
  check<DTypeError>(x.is_floating_point(), op, ": needs a floating dtype, got x ", x.spec(),
                    "; convert with x.to(taper::float32) first");
}

/// Each of `groups` equally many numbers, in the order of memory, with mean 0 and variance 1.
Tensor standardized(const Tensor& x, std::int64_t groups, double eps) {
  if (x.numel() == 0) return x.mul(1);
  return layer_norm(x.reshape({groups, x.numel() / groups}), x.numel() / groups, {}, {}, eps).reshape(x.sizes());
}

/// As standardized(), of groups of neighbouring channels of x [n, c, ...] in the channels_last order, which it keeps:
/// the numbers of a group do not lie together, and layer_norm would copy them there.
Tensor standardized_in_place(const Tensor& x, std::int64_t groups, double eps) {
  IntVec sizes = x.sizes().vec();
  sizes[1] /= groups;
  sizes.insert(sizes.begin() + 1, groups);
  const bool is_wide = x.dtype() == float32 || x.dtype() == float64;
  const Tensor in = (is_wide ? x : x.to(float32)).view(sizes);
  IntVec others;
  for (std::int64_t d = 2; d < in.dim(); ++d) others.push_back(d);
  const auto [variance, mean] = var_mean(in, others, 0, true);
  return in.sub(mean).mul(variance.add(eps).rsqrt()).view(x.sizes()).to(x.dtype());
}
Tensor standardized_samples(const Tensor& x, std::int64_t groups, double eps) {
  const bool is_last = x.dim() >= 3 && x.numel() > 0 && suggested_memory_format(x) == MemoryFormat::channels_last;
  return is_last ? standardized_in_place(x, groups, eps) : standardized(x, x.size(0) * groups, eps);
}

Tensor scaled(const Tensor& y, const Tensor& weight, const Tensor& bias) {
  const Tensor z = weight.defined() ? y.mul(weight) : y;
  return bias.defined() ? z.add(bias) : z;
}

void check_channels(const char* op, const char* name, const Tensor& t, const Tensor& x) {
  check<ShapeError>(!t.defined() || (t.dim() == 1 && t.size(0) == x.size(1)), op, ": ", name, " must be [", x.size(1),
                    "] to go with x ", x.sizes(), ", got ", t.defined() ? t.sizes() : IntSpan());
}
/// [c] so that it broadcasts to x [n, c, ...].
Tensor along_channels(const Tensor& t, const Tensor& x) {
  if (!t.defined()) return t;
  IntVec sizes(std::size_t(x.dim()) - 1, 1);
  sizes[0] = x.size(1);
  return t.reshape(sizes);
}

/// running = (1 - momentum) running + momentum (mean of the samples' values).
void move(Tensor running, const Tensor& values, double momentum) {
  if (running.defined()) running.mul_(1 - momentum).add_(values.mean(IntSpan{0}).to(running.dtype()), momentum);
}

}  // namespace

Tensor group_norm(const Tensor& x, std::int64_t num_groups, const Tensor& weight, const Tensor& bias, double eps) {
  constexpr const char* op = "group_norm";
  need_floating(op, x);
  check<ShapeError>(x.dim() >= 2, op, ": needs x [n, c, ...], got ", x.sizes());
  check<ValueError>(num_groups > 0, op, ": num_groups is ", num_groups, ", expected 1 or more");
  check<ShapeError>(x.size(1) % num_groups == 0, op, ": ", num_groups, " groups do not divide the ", x.size(1),
                    " channels of x ", x.sizes());
  check_channels(op, "weight", weight, x);
  check_channels(op, "bias", bias, x);
  return scaled(standardized_samples(x, num_groups, eps), along_channels(weight, x), along_channels(bias, x));
}

Tensor instance_norm(const Tensor& x, const Tensor& running_mean, const Tensor& running_var, const Tensor& weight,
                     const Tensor& bias, bool use_input_stats, double momentum, double eps) {
  constexpr const char* op = "instance_norm";
  need_floating(op, x);
  check<ShapeError>(x.dim() >= 3, op, ": needs x [n, c, ...] with at least one more dim, got ", x.sizes());
  check<ValueError>(running_mean.defined() == running_var.defined(), op,
                    ": running_mean and running_var come together or not at all");
  check_channels(op, "weight", weight, x);
  check_channels(op, "bias", bias, x);
  check_channels(op, "running_mean", running_mean, x);
  check_channels(op, "running_var", running_var, x);
  if (!use_input_stats) {
    check<ValueError>(running_mean.defined(), op, ": needs running_mean and running_var without use_input_stats");
    return batch_norm(x, weight, bias, running_mean, running_var, false, momentum, eps);
  }
  std::int64_t size = 1;
  for (int d = 2; d < x.dim(); ++d) size *= x.size(d);
  check<ValueError>(size > 1, op, ": x ", x.sizes(), " has ", size, " value per channel, whose variance is 0");
  if (running_mean.defined() && x.size(0) > 0 && momentum != 0 && !Recomputation::is_active()) {
    const NoGradGuard no_grad;
    const Tensor flat = x.detach().reshape({x.size(0), x.size(1), size});
    move(running_mean, flat.mean(IntSpan{2}), momentum);
    move(running_var, flat.var(IntSpan{2}), momentum);
  }
  return scaled(standardized_samples(x, x.size(1), eps), along_channels(weight, x), along_channels(bias, x));
}

Tensor local_response_norm(const Tensor& x, std::int64_t size, double alpha, double beta, double k) {
  need_floating("local_response_norm", x);
  check<ShapeError>(x.dim() >= 3, "local_response_norm: needs x [n, c, ...] with at least one more dim, got ",
                    x.sizes());
  check<ValueError>(size > 0, "local_response_norm: size is ", size, ", expected 1 or more");
  if (x.numel() == 0) return x.mul(1);
  const Tensor squares = x.square().reshape({x.size(0), x.size(1), -1});
  const Tensor near =
      pad(squares, {0, 0, size / 2, (size - 1) / 2}).unfold(1, size, 1).mean(IntSpan{-1}).reshape(x.sizes());
  return x.div(near.mul(alpha).add(k).pow(beta));
}

}  // namespace taper
