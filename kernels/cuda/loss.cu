#include <taper/ops/fn_math.h>

#include <limits>

#include "loss.h"
#include "positions.cuh"
#include "team.cuh"

namespace taper::cuda_kernels {
namespace {

constexpr unsigned kThreads = kTeamThreads;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t kFewTargets = 4096;  // every block may as well look at all of them

__device__ __forceinline__ LossSums both(LossSums a, LossSums b) { return {a.loss + b.loss, a.weight + b.weight}; }
__device__ __forceinline__ double sum_of_block(double value, double* scratch) {
  return block_combine(value, scratch, [](double a, double b) { return a + b; });
}

template <class T>
__device__ __forceinline__ double weight_of(const ClassTargets& t, std::int64_t c) {
  return t.class_weight == nullptr ? 1 : double(static_cast<const T*>(t.class_weight)[c]);
}
__device__ __forceinline__ bool is_class(const ClassTargets& t, std::int64_t target) {
  return target >= 0 && target < t.classes;
}
/// Ignored targets, and those that are no class, count nothing.
template <class T>
__device__ __forceinline__ double target_weight(const ClassTargets& t, std::int64_t target) {
  return target == t.ignore_index || !is_class(t, target) ? 0 : weight_of<T>(t, target);
}
__device__ __forceinline__ double reduced(const ClassTargets& t, LossSums sums) {
  return t.reduction == LossReduction::mean ? sums.loss / sums.weight : sums.loss;
}

/// -(1 - s) w_t log p_t - s / C sum_c w_c log p_c, where log p_c = x_c - shift. Of logits, shift is the logarithm of
/// the sum of exponentials.
template <class T, bool logits, class Lines>
__global__ void class_losses(const ClassTargets t, const T* x, T* loss, T* largest, T* log_sum, LossSums* sums) {
  TAPER_SHARED(double, scratch, [kWarp]);
  TAPER_SHARED(LossSums, scratch_of_sums, [kWarp]);
  const std::int64_t step = t.positions;
  LossSums mine{0, 0};
  for (std::int64_t line = Lines::first(); line < t.count; line += Lines::step()) {
    const std::int64_t start = line_start(line, t.classes, t.positions);
    const std::int64_t target = t.target[line];
    double shift = 0;
    if (logits) {
      double most = -kInfinity;
      for (std::int64_t c = Lines::rank(); c < t.classes; c += Lines::size) {
        const double value = double(x[start + c * step]);
        most = value > most ? value : most;
      }
      const T best = T(Lines::combine(most, scratch, [](double a, double b) { return b > a ? b : a; }));
      double part = 0;
      for (std::int64_t c = Lines::rank(); c < t.classes; c += Lines::size)
        part += double(fn::exp_of(T(x[start + c * step] - best)));
      const T log_of_sum = fn::log_of(T(Lines::sum(part, scratch)));
      shift = double(best) + double(log_of_sum);
      if (Lines::rank() == 0) largest[line] = best, log_sum[line] = log_of_sum;
    }
    double even = 0;
    if (t.label_smoothing > 0) {
      for (std::int64_t c = Lines::rank(); c < t.classes; c += Lines::size)
        even += weight_of<T>(t, c) * (shift - double(x[start + c * step]));
      even = Lines::sum(even, scratch);
    }
    if (Lines::rank() == 0) {
      double value = 0;
      if (target != t.ignore_index) {
        if (is_class(t, target)) {
          const double weight = weight_of<T>(t, target);
          value = (1 - t.label_smoothing) * weight * (shift - double(x[start + target * step]));
          if (t.label_smoothing > 0) value += t.label_smoothing / double(t.classes) * even;
          mine.weight += weight;
        } else {
          tell(t.watch, target, double(t.ignore_index), t.classes);
          value = kNaN;
        }
      }
      if (t.reduction == LossReduction::none)
        loss[line] = T(value);
      else
        mine.loss += value;
    }
  }
  if (t.reduction == LossReduction::none) return;
  const LossSums all = block_combine(mine, scratch_of_sums, both);
  if (threadIdx.x != 0) return;
  if (gridDim.x == 1)
    *loss = T(reduced(t, all));
  else
    sums[blockIdx.x] = all;
}

__device__ __forceinline__ LossSums sum_of_sums(const LossSums* sums, unsigned count, LossSums* scratch) {
  LossSums mine{0, 0};
  for (unsigned i = threadIdx.x; i < count; i += blockDim.x) mine = both(mine, sums[i]);
  return block_combine(mine, scratch, both);
}
template <class T>
__global__ void finish_loss(const ClassTargets t, const LossSums* sums, unsigned count, T* loss) {
  TAPER_SHARED(LossSums, scratch, [kWarp]);
  const LossSums all = sum_of_sums(sums, count, scratch);
  if (threadIdx.x == 0) *loss = T(reduced(t, all));
}

template <class T>
__global__ void weigh_targets(const ClassTargets t, LossSums* sums) {
  TAPER_SHARED(LossSums, scratch, [kWarp]);
  LossSums mine{0, 0};
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < t.count;
       i += std::int64_t(gridDim.x) * blockDim.x)
    mine.weight += target_weight<T>(t, t.target[i]);
  const LossSums all = block_combine(mine, scratch, both);
  if (threadIdx.x == 0) sums[blockIdx.x] = all;
}

/// What a gradient needs beside one element: by how much it is divided, and the sum of the weights of the classes.
struct LossNumbers {
  double divisor, classes;
};
/// `sums` has the weights of the targets, or counts nothing if each block is to look at them itself.
template <class T>
__device__ __forceinline__ LossNumbers loss_numbers(const ClassTargets& t, const LossSums* sums, unsigned count,
                                                    LossSums* scratch) {
  LossSums mine{0, 0};  // of classes and targets
  if (t.reduction == LossReduction::mean) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) mine.weight += sums[i].weight;
    if (count == 0)
      for (std::int64_t i = threadIdx.x; i < t.count; i += blockDim.x) mine.weight += target_weight<T>(t, t.target[i]);
  }
  if (t.label_smoothing > 0)
    for (std::int64_t c = threadIdx.x; c < t.classes; c += blockDim.x) mine.loss += weight_of<T>(t, c);
  const LossSums all = block_combine(mine, scratch, both);
  return {t.reduction == LossReduction::mean ? all.weight : 1, all.loss};
}

/// dx_c = g / divisor ((a + b W) p_c - a [c is the target] - b w_c), where a and b are the shares of target and classes
/// and W is the sum of the class weights; without logits there is no p_c.
template <class T, bool logits>
__global__ void class_gradients(const ClassTargets t, const FastDiv classes, const FastDiv positions, std::uint32_t n,
                                const T* grad, const T* x, const T* largest, const T* log_sum, T* dx,
                                const LossSums* sums, unsigned sums_count) {
  TAPER_SHARED(LossSums, scratch, [kWarp]);
  const LossNumbers numbers = loss_numbers<T>(t, sums, sums_count, scratch);
  const double b = t.label_smoothing / double(t.classes);
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const std::uint32_t row = positions.divide(i), sample = classes.divide(row);
    const std::int64_t c = row - sample * classes.divisor;
    const std::int64_t line = std::int64_t(sample) * t.positions + (i - row * positions.divisor);
    const std::int64_t target = t.target[line];
    T value = 0;
    if (target != t.ignore_index && is_class(t, target)) {
      const double scale = double(grad[t.reduction == LossReduction::none ? line : 0]) / numbers.divisor;
      const double a = (1 - t.label_smoothing) * weight_of<T>(t, target);
      if (logits) value = fn::exp_of(T(x[i] - largest[line] - log_sum[line])) * T(scale * (a + b * numbers.classes));
      if (b != 0) value -= T(scale * b * weight_of<T>(t, c));
      if (c == target) value -= T(scale * a);
    }
    dx[i] = value;
  }
}

template <class T>
__global__ void squared_differences(std::int64_t n, const T* x, const T* y, LossSums* sums) {
  TAPER_SHARED(double, scratch, [kWarp]);
  double mine = 0;
  for (std::int64_t i = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
       i += std::int64_t(gridDim.x) * blockDim.x) {
    const double d = double(x[i]) - double(y[i]);
    mine += d * d;
  }
  const double all = sum_of_block(mine, scratch);
  if (threadIdx.x == 0) sums[blockIdx.x] = {all, blockIdx.x == 0 ? double(n) : 0};
}

template <class T, bool logits>
void losses(const Queue& queue, const ClassTargets& t, const T* x, T* loss, T* largest, T* log_sum, LossSums* sums) {
  const auto with = [&](auto team) {
    const unsigned blocks = blocks_for_team(queue, t.count, team);
    launch(queue, "a loss over classes", blocks, kThreads, 0, class_losses<T, logits, decltype(team)>, t, x, loss,
           largest, log_sum, sums);
    if (blocks > 1 && t.reduction != LossReduction::none)
      launch(queue, "a loss over classes", 1, kThreads, 0, finish_loss<T>, t, sums, blocks, loss);
  };
  // A block for all lines saves the kernel that adds up what blocks have found.
  const bool is_small = t.count <= kThreads && t.classes <= kWarp;
  if (is_small || (!logits && t.label_smoothing == 0))
    with(Team<1>{});
  else
    with_team(t.count, t.classes, t.positions, with);
}

template <class T, bool logits>
void gradients(const Queue& queue, const ClassTargets& t, const T* grad, const T* x, const T* largest, const T* log_sum,
               T* dx, LossSums* sums) {
  unsigned sums_count = 0;
  if (t.reduction == LossReduction::mean && t.count > kFewTargets) {
    sums_count = blocks_for(queue, std::uint64_t(t.count), kThreads);
    launch(queue, "a loss over classes", sums_count, kThreads, 0, weigh_targets<T>, t, sums);
  }
  const std::uint64_t n = std::uint64_t(t.count) * std::uint64_t(t.classes);
  launch(queue, "the gradient of a loss over classes", blocks_for(queue, n, kThreads), kThreads, 0,
         class_gradients<T, logits>, t, FastDiv::by(std::uint32_t(t.classes)), FastDiv::by(std::uint32_t(t.positions)),
         std::uint32_t(n), grad, x, largest, log_sum, dx, sums, sums_count);
}

}  // namespace

unsigned most_loss_sums(const Queue& queue) { return blocks_for(queue, ~std::uint32_t{0}, 1); }

template <class T>
void cross_entropy_losses(const Queue& queue, const ClassTargets& t, const T* x, T* loss, T* largest, T* log_sum,
                          LossSums* sums) {
  losses<T, true>(queue, t, x, loss, largest, log_sum, sums);
}
template <class T>
void nll_losses(const Queue& queue, const ClassTargets& t, const T* x, T* loss, LossSums* sums) {
  losses<T, false>(queue, t, x, loss, nullptr, nullptr, sums);
}
template <class T>
void cross_entropy_gradients(const Queue& queue, const ClassTargets& t, const T* grad, const T* x, const T* largest,
                             const T* log_sum, T* dx, LossSums* sums) {
  gradients<T, true>(queue, t, grad, x, largest, log_sum, dx, sums);
}
template <class T>
void nll_loss_gradients(const Queue& queue, const ClassTargets& t, const T* grad, T* dx, LossSums* sums) {
  gradients<T, false>(queue, t, grad, nullptr, nullptr, nullptr, dx, sums);
}
template <class T>
void square_differences(const Queue& queue, std::int64_t count, bool mean, const T* x, const T* y, T* loss,
                        LossSums* sums) {
  const unsigned blocks = blocks_for(queue, std::uint64_t(count), kThreads * 4);
  ClassTargets t{};
  t.reduction = mean ? LossReduction::mean : LossReduction::sum;
  launch(queue, "mse_loss", blocks, kThreads, 0, squared_differences<T>, count, x, y, sums);
  launch(queue, "mse_loss", 1, kThreads, 0, finish_loss<T>, t, sums, blocks, loss);
}

template void cross_entropy_losses(const Queue&, const ClassTargets&, const float*, float*, float*, float*, LossSums*);
template void cross_entropy_losses(const Queue&, const ClassTargets&, const double*, double*, double*, double*,
                                   LossSums*);
template void nll_losses(const Queue&, const ClassTargets&, const float*, float*, LossSums*);
template void nll_losses(const Queue&, const ClassTargets&, const double*, double*, LossSums*);
template void cross_entropy_gradients(const Queue&, const ClassTargets&, const float*, const float*, const float*,
                                      const float*, float*, LossSums*);
template void cross_entropy_gradients(const Queue&, const ClassTargets&, const double*, const double*, const double*,
                                      const double*, double*, LossSums*);
template void nll_loss_gradients(const Queue&, const ClassTargets&, const float*, float*, LossSums*);
template void nll_loss_gradients(const Queue&, const ClassTargets&, const double*, double*, LossSums*);
template void square_differences(const Queue&, std::int64_t, bool, const float*, const float*, float*, LossSums*);
template void square_differences(const Queue&, std::int64_t, bool, const double*, const double*, double*, LossSums*);

}  // namespace taper::cuda_kernels
