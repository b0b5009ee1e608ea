// Losses over classes, an input being [n, classes, positions], and the mean square difference.
#include <taper/operator.h>
#include <taper/ops/copy.h>
#include <taper/ops/loss.h>

#include <algorithm>
#include <cmath>

#include "class_targets.h"
#include "parallel.h"
#include "scratch.h"
#include "softmax_lines.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_loss();
namespace {

using OptionalTensor = std::optional<Tensor>;
using ops::ClassLoss;

template <class T>
const T* elements(const Tensor& t) {
  return static_cast<const T*>(t.impl()->data());
}
template <class T>
T* elements(Tensor& t) {
  return static_cast<T*>(t.impl()->data());
}

Tensor dense(const Tensor& t) { return t.is_contiguous() ? t : ops::contiguous.below_autograd(t); }

/// Targets and class weights, and what the mean divides by.
template <class T>
struct Targets {
  Tensor target, weight;  // keep copies alive
  const std::int64_t* index;
  const T* class_weight;  // null: 1
  std::int64_t count;
  ClassLoss options;
  double weight_sum;  // over the classes
  double divisor;     // of the losses

  Targets(const char* op, const Tensor& t, const OptionalTensor& w, const ClassLoss& o)
      : target(dense(t)), index(elements<std::int64_t>(target)), class_weight(nullptr), count(t.numel()), options(o) {
    if (w && w->defined()) {
      weight = dense(*w);
      class_weight = elements<T>(weight);
    }
    weight_sum = double(o.classes);
    if (class_weight) weight_sum = row_sum(class_weight, o.classes);
    double total = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (ignored(i)) continue;
      if (index[i] < 0 || index[i] >= o.classes) kernels::raise_no_class(op, t, index[i], i, o);
      total += weight_of(i);
    }
    divisor = o.reduction == Reduction::mean ? total : 1;
  }
  bool ignored(std::int64_t i) const { return index[i] == options.ignore_index; }
  double weight_of(std::int64_t i) const { return class_weight ? double(class_weight[index[i]]) : 1; }
  double weight_of_class(std::int64_t c) const { return class_weight ? double(class_weight[c]) : 1; }
  /// What the target class and each class count in the loss of an element: the second times their own weight.
  double sharp_share(std::int64_t i) const { return (1 - options.label_smoothing) * weight_of(i); }
  double even_share() const { return options.label_smoothing / double(options.classes); }
};

/// Calls f(element, offset of its first class) for each element, whose classes are `positions` apart.
template <class F>
void for_each_element(std::int64_t count, std::int64_t classes, std::int64_t positions, std::int64_t cost, const F& f) {
  parallel_for(0, count, grain_for(cost), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) f(i, i / positions * classes * positions + i % positions);
  });
}

std::int64_t positions_of(const Tensor& target) {
  std::int64_t n = 1;
  for (int d = 1; d < target.dim(); ++d) n *= target.size(d);
  return std::max<std::int64_t>(n, 1);  // without positions there is no element that this could be wrong for
}

/// Turns the losses of the elements into the result.
template <class T, class LossOf>
void reduce_losses(Tensor& loss, const Targets<T>& t, const LossOf& loss_of) {
  T* y = elements<T>(loss);
  if (t.options.reduction == Reduction::none) {
    for (std::int64_t i = 0; i < t.count; ++i) y[i] = T(loss_of(i));
    return;
  }
  double total = 0;
  for (std::int64_t i = 0; i < t.count; ++i) total += loss_of(i);
  *y = T(total / t.divisor);
}

/// -(1 - s) w_t log p_t - s / C sum_c w_c log p_c, where log p_c = x_c - shift.
template <class T>
double element_loss(const Targets<T>& t, std::int64_t i, const T* x, std::int64_t step, double shift) {
  double loss = t.sharp_share(i) * (shift - double(x[t.index[i] * step]));
  if (t.options.label_smoothing > 0) {
    double even = 0;
    for (std::int64_t c = 0; c < t.options.classes; ++c) even += t.weight_of_class(c) * (shift - double(x[c * step]));
    loss += t.even_share() * even;
  }
  return loss;
}

void cross_entropy(std::array<Tensor, 2>& out, const Tensor& input, const Tensor& target, const OptionalTensor& weight,
                   const ClassLoss& o) {
  const Tensor logits = dense(input);
  dispatch_floating(input.dtype(), "cross_entropy", [&]<class T>(Type<T>) {
    const Targets<T> t("cross_entropy", target, weight, o);
    const T* x = elements<T>(logits);
    T* largest = elements<T>(out[1]);
    T* log_sum = largest + t.count;
    const std::int64_t positions = positions_of(target);
    const Scratch<double> losses(t.count);
    const auto finish = [&](std::int64_t i, std::int64_t at, T best, double sum) {
      largest[i] = best, log_sum[i] = fn::log_of(T(sum));
      losses[i] = t.ignored(i) ? 0 : element_loss(t, i, x + at, positions, double(best) + double(log_sum[i]));
    };
    if (positions == 1) {
      for_each_element(t.count, o.classes, 1, o.classes * kExpCost, [&](std::int64_t i, std::int64_t at) {
        const T best = row_max(x + at, o.classes);
        finish(i, at, best, sum_exp<false>(largest, x + at, o.classes, best));
      });
    } else {
      for_each_columns(t.count / positions, o.classes, positions, [&](std::int64_t at, std::int64_t width) {
        T best[kColumns];
        double sum[kColumns];
        max_and_sum_of_columns(x + at, o.classes, positions, width, best, sum);
        const std::int64_t first = at / (o.classes * positions) * positions + at % positions;
        for (std::int64_t j = 0; j < width; ++j) finish(first + j, at + j, best[j], sum[j]);
      });
    }
    reduce_losses(out[0], t, [&](std::int64_t i) { return losses[i]; });
  });
}

/// dx_c = g / divisor ((a + b W) p_c - a [c is the target] - b w_c), where a and b are the shares of target and classes
/// and W is the sum of the class weights.
void cross_entropy_backward(Tensor& out, const Tensor& grad, const Tensor& input, const Tensor& target,
                            const OptionalTensor& weight, const Tensor& statistics, const ClassLoss& o) {
  const Tensor logits = dense(input), dense_grad = dense(grad);
  dispatch_floating(input.dtype(), "cross_entropy_backward", [&]<class T>(Type<T>) {
    const Targets<T> t("cross_entropy", target, weight, o);
    const T* x = elements<T>(logits);
    const T* g = elements<T>(dense_grad);
    const T* largest = elements<T>(statistics);
    const T* log_sum = largest + t.count;
    T* dx = elements<T>(out);
    const std::int64_t positions = positions_of(target);
    const double b = t.even_share();
    const auto scale_of = [&](std::int64_t i) { return double(g[o.reduction == Reduction::none ? i : 0]) / t.divisor; };
    // What is left after the probabilities.
    const auto subtract_targets = [&](std::int64_t i, std::int64_t at) {
      const double scale = scale_of(i);
      if (b != 0)
        for (std::int64_t c = 0; c < o.classes; ++c) dx[at + c * positions] -= T(scale * b * t.weight_of_class(c));
      dx[at + t.index[i] * positions] -= T(scale * t.sharp_share(i));
    };
    const auto factor_of = [&](std::int64_t i) {
      // Without smoothing an infinite weight of another class does not count.
      return t.ignored(i) ? T(0) : T(scale_of(i) * (t.sharp_share(i) + (b != 0 ? b * t.weight_sum : 0)));
    };
    if (positions == 1) {
      for_each_element(t.count, o.classes, 1, o.classes * kExpCost, [&](std::int64_t i, std::int64_t at) {
        if (t.ignored(i)) {
          std::fill_n(dx + at, o.classes, T(0));
          return;
        }
        const T best = largest[i], shift = log_sum[i], factor = factor_of(i);
        for (std::int64_t c = at; c < at + o.classes; ++c) dx[c] = fn::exp_of(x[c] - best - shift) * factor;
        subtract_targets(i, at);
      });
    } else {
      for_each_columns(t.count / positions, o.classes, positions, [&](std::int64_t at, std::int64_t width) {
        const std::int64_t first = at / (o.classes * positions) * positions + at % positions;
        T factor[kColumns];
        for (std::int64_t j = 0; j < width; ++j) factor[j] = factor_of(first + j);
        for (std::int64_t c = 0; c < o.classes; ++c) {
          const std::int64_t row = at + c * positions;
          for (std::int64_t j = 0; j < width; ++j)
            dx[row + j] = fn::exp_of(x[row + j] - largest[first + j] - log_sum[first + j]) * factor[j];
        }
        for (std::int64_t j = 0; j < width; ++j) {
          if (!t.ignored(first + j)) {
            subtract_targets(first + j, at + j);
            continue;
          }
          for (std::int64_t c = 0; c < o.classes; ++c) dx[at + j + c * positions] = T(0);  // also where p is NaN
        }
      });
    }
  });
}

void nll_loss(Tensor& out, const Tensor& input, const Tensor& target, const OptionalTensor& weight,
              const ClassLoss& o) {
  const Tensor log_p = dense(input);
  dispatch_floating(input.dtype(), "nll_loss", [&]<class T>(Type<T>) {
    const Targets<T> t("nll_loss", target, weight, o);
    const T* x = elements<T>(log_p);
    const std::int64_t positions = positions_of(target);
    reduce_losses(out, t, [&](std::int64_t i) {
      if (t.ignored(i)) return 0.0;
      return element_loss(t, i, x + i / positions * o.classes * positions + i % positions, positions, 0);
    });
  });
}

void nll_loss_backward(Tensor& out, const Tensor& grad, const Tensor& target, const OptionalTensor& weight,
                       const ClassLoss& o) {
  const Tensor dense_grad = dense(grad);
  dispatch_floating(grad.dtype(), "nll_loss_backward", [&]<class T>(Type<T>) {
    const Targets<T> t("nll_loss", target, weight, o);
    const T* g = elements<T>(dense_grad);
    T* dx = elements<T>(out);
    const std::int64_t positions = positions_of(target);
    std::fill_n(dx, out.numel(), T(0));
    for_each_element(t.count, o.classes, positions, o.classes, [&](std::int64_t i, std::int64_t at) {
      if (t.ignored(i)) return;
      const double scale = double(g[o.reduction == Reduction::none ? i : 0]) / t.divisor;
      if (t.even_share() != 0)
        for (std::int64_t c = 0; c < o.classes; ++c)
          dx[at + c * positions] = T(-scale * t.even_share() * t.weight_of_class(c));
      dx[at + t.index[i] * positions] -= T(scale * t.sharp_share(i));
    });
  });
}

void mse_loss(Tensor& out, const Tensor& input, const Tensor& target, const Reduction& reduction) {
  const Tensor a = dense(input), b = dense(target);
  dispatch_floating(input.dtype(), "mse_loss", [&]<class T>(Type<T>) {
    const T* x = elements<T>(a);
    const T* t = elements<T>(b);
    const std::int64_t n = a.numel();
    constexpr std::int64_t chunk = 1 << 16, lanes = kLanes<double>;
    const Scratch<double> partial((n + chunk - 1) / chunk);
    parallel_for(0, n, chunk, [&](std::int64_t begin, std::int64_t end) {
      const auto squared = [&](std::int64_t i) {
        const Vec<double> d = load_doubles(x + i) - load_doubles(t + i);
        return d * d;
      };
      Vec<double> s0{}, s1{};
      std::int64_t i = begin;
      for (; i + 2 * lanes <= end; i += 2 * lanes) s0 += squared(i), s1 += squared(i + lanes);
      double total = lane_sum<double>(s0 + s1);
      for (; i < end; ++i) total += (double(x[i]) - double(t[i])) * (double(x[i]) - double(t[i]));
      partial[begin / chunk] = total;
    });
    double total = 0;
    for (std::int64_t i = 0; i * chunk < n; ++i) total += partial[i];
    *elements<T>(out) = T(reduction == Reduction::mean ? total / double(n) : total);
  });
}

}  // namespace

void install_loss() {
  ops::cross_entropy.set_kernel(DispatchKey::CPU, kernels::widening<cross_entropy>);
  ops::cross_entropy_backward.set_kernel(DispatchKey::CPU, kernels::widening<cross_entropy_backward>);
  ops::nll_loss.set_kernel(DispatchKey::CPU, kernels::widening<nll_loss>);
  ops::nll_loss_backward.set_kernel(DispatchKey::CPU, kernels::widening<nll_loss_backward>);
  ops::mse_loss.set_kernel(DispatchKey::CPU, kernels::widening<mse_loss>);
}

}  // namespace taper::cpu_kernels
