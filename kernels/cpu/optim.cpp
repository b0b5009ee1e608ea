#include <taper/operator.h>
#include <taper/ops/optim.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "copy.h"
#include "flat.h"
#include "parallel.h"
#include "widen.h"

namespace taper::cpu_kernels {
void install_optim();
namespace {

// Enough for a chunk to be worth a thread although memory, not arithmetic, is the limit.
constexpr std::int64_t kGrain = 1 << 16;

/// Calls f on the tensors, or on contiguous copies whose values are then brought back, but not to the gradient, ts[1],
/// which is only read.
template <std::size_t N, class F>
void on_flat(const std::array<const Tensor*, N>& ts, F&& f) {
  if (kernels::are_flat(ts)) return f(ts);
  std::array<Tensor, N> copies;
  std::array<const Tensor*, N> dense;
  for (std::size_t i = 0; i < N; ++i) {
    copies[i] = empty(TensorSpec::contiguous(ts[i]->sizes(), ts[i]->dtype(), ts[i]->device()));
    copy_elements(copies[i], *ts[i]);
    dense[i] = &copies[i];
  }
  f(dense);
  for (std::size_t i = 0; i < N; ++i)
    if (i != 1) copy_elements(*ts[i], copies[i]);
}

template <class T>
T* pointer(const Tensor* t) {
  return static_cast<T*>(t->impl()->data());
}

/// The state is written beside the result; whoever saved it for a backward pass must find out.
void count_write(const Tensor& t, const char* writer) { t.impl()->count_write(writer); }

/// Turns a condition into a constant, so that the loops are compiled for each case.
template <class F>
void with_constant(bool condition, F&& f) {
  if (condition)
    f(std::true_type{});
  else
    f(std::false_type{});
}

/// sign * grad + decay * param. Without decay the parameter is not touched: 0 * inf would be NaN.
template <bool decays, class T>
inline T with_decay(T grad, T param, T sign, T decay) {
  if constexpr (decays)
    return sign * grad + decay * param;
  else
    return sign * grad;
}

template <class T, bool decays>
void sgd_range(T* __restrict p, const T* __restrict grad, T* __restrict buffer, const SgdStep& s, std::int64_t begin,
               std::int64_t end) {
  const T lr = T(s.lr), decay = T(s.weight_decay), sign = s.maximize ? T(-1) : T(1);
  const T keep = T(s.momentum), take = T(1 - s.dampening);
  const auto gradient = [&](std::int64_t i) { return with_decay<decays>(grad[i], p[i], sign, decay); };
  if (s.momentum == 0) {
    for (std::int64_t i = begin; i < end; ++i) p[i] -= lr * gradient(i);
    return;
  }
  if (s.first) {
    for (std::int64_t i = begin; i < end; ++i) buffer[i] = gradient(i);
  } else {
    for (std::int64_t i = begin; i < end; ++i) buffer[i] = keep * buffer[i] + take * gradient(i);
  }
  if (s.nesterov) {
    for (std::int64_t i = begin; i < end; ++i) p[i] -= lr * (gradient(i) + keep * buffer[i]);
  } else {
    for (std::int64_t i = begin; i < end; ++i) p[i] -= lr * buffer[i];
  }
}

/// In blocks that stay in the first cache, so that the passes of sgd_range cost memory one.
template <class T>
void sgd_blocks(T* p, const T* grad, T* buffer, const SgdStep& s, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kBlock = 2048;
  with_constant(s.weight_decay != 0, [&](auto decays) {
    for (std::int64_t b = begin; b < end; b += kBlock)
      sgd_range<T, decays.value>(p, grad, buffer, s, b, std::min(end, b + kBlock));
  });
}

void sgd_step(Tensor& out, const Tensor& param, const Tensor& grad, const std::optional<Tensor>& buffer,
              const SgdStep& step) {
  if (!out.is_same(param)) copy_elements(out, param);
  const bool momentum = step.momentum != 0;
  if (momentum) count_write(*buffer, "sgd_step_");
  const Tensor p = kernels::widened(out), g = kernels::widened(grad);
  const std::optional<Tensor> velocity = kernels::widened(buffer);
  dispatch_floating(p.dtype(), "sgd_step_", [&]<class T>(Type<T>) {
    if (momentum)
      on_flat<3>({&p, &g, &*velocity}, [&](const auto& ts) {
        parallel_for(0, out.numel(), kGrain, [&](std::int64_t b, std::int64_t e) {
          sgd_blocks(pointer<T>(ts[0]), pointer<T>(ts[1]), pointer<T>(ts[2]), step, b, e);
        });
      });
    else
      on_flat<2>({&p, &g}, [&](const auto& ts) {
        parallel_for(0, out.numel(), kGrain, [&](std::int64_t b, std::int64_t e) {
          sgd_blocks(pointer<T>(ts[0]), pointer<T>(ts[1]), static_cast<T*>(nullptr), step, b, e);
        });
      });
  });
  kernels::narrow_into(out, p);
  if (momentum) kernels::narrow_into(*buffer, *velocity);
}

/// The numbers of a step that are the same for all elements.
template <class T>
struct AdamFactors {
  explicit AdamFactors(const AdamStep& s)
      : beta1(T(s.beta1)),
        beta2(T(s.beta2)),
        rest1(T(1 - s.beta1)),
        rest2(T(1 - s.beta2)),
        eps(T(s.eps)),
        sign(s.maximize ? T(-1) : T(1)),
        shrink(s.decoupled_decay ? T(1 - s.lr * s.weight_decay) : T(1)),
        decay(s.decoupled_decay ? T(0) : T(s.weight_decay)),
        step_size(T(s.lr / (1 - std::pow(s.beta1, double(s.step))))),
        root_scale(T(1 / std::sqrt(1 - std::pow(s.beta2, double(s.step))))) {}
  T beta1, beta2, rest1, rest2, eps, sign, shrink, decay, step_size, root_scale;
};

template <class T, bool amsgrad, bool decays>
void adam_range(T* __restrict p, const T* __restrict grad, T* __restrict m, T* __restrict v, T* __restrict max_v,
                const AdamFactors<T>& factors, std::int64_t begin, std::int64_t end) {
  const AdamFactors<T> f = factors;  // a copy: the compiler must see that the loop does not change it
  for (std::int64_t i = begin; i < end; ++i) {
    const T g = with_decay<decays>(grad[i], p[i], f.sign, f.decay);
    const T mean = f.beta1 * m[i] + f.rest1 * g;
    const T square = f.beta2 * v[i] + f.rest2 * g * g;
    m[i] = mean;
    v[i] = square;
    T largest = square;
    if constexpr (amsgrad) {
      // As maximum(): a NaN on either side stays.
      largest = square > max_v[i] || square != square ? square : max_v[i];
      max_v[i] = largest;
    }
    p[i] = f.shrink * p[i] - f.step_size * (mean / (std::sqrt(largest) * f.root_scale + f.eps));
  }
}

template <bool amsgrad, class T>
void adam_any(T* p, const T* grad, T* m, T* v, T* max_v, const AdamFactors<T>& f, std::int64_t begin,
              std::int64_t end) {
  with_constant(f.decay != 0,
                [&](auto decays) { adam_range<T, amsgrad, decays.value>(p, grad, m, v, max_v, f, begin, end); });
}

void adam_step(Tensor& out, const Tensor& param, const Tensor& grad, const Tensor& exp_avg, const Tensor& exp_avg_sq,
               const std::optional<Tensor>& max_exp_avg_sq, const AdamStep& step) {
  if (!out.is_same(param)) copy_elements(out, param);
  count_write(exp_avg, "adam_step_");
  count_write(exp_avg_sq, "adam_step_");
  if (max_exp_avg_sq) count_write(*max_exp_avg_sq, "adam_step_");
  const Tensor p = kernels::widened(out), g = kernels::widened(grad), m = kernels::widened(exp_avg),
               v = kernels::widened(exp_avg_sq);
  const std::optional<Tensor> max_v = kernels::widened(max_exp_avg_sq);
  dispatch_floating(p.dtype(), "adam_step_", [&]<class T>(Type<T>) {
    const AdamFactors<T> factors(step);
    if (max_v)
      on_flat<5>({&p, &g, &m, &v, &*max_v}, [&](const auto& ts) {
        parallel_for(0, out.numel(), kGrain, [&](std::int64_t b, std::int64_t e) {
          adam_any<true>(pointer<T>(ts[0]), pointer<T>(ts[1]), pointer<T>(ts[2]), pointer<T>(ts[3]), pointer<T>(ts[4]),
                         factors, b, e);
        });
      });
    else
      on_flat<4>({&p, &g, &m, &v}, [&](const auto& ts) {
        parallel_for(0, out.numel(), kGrain, [&](std::int64_t b, std::int64_t e) {
          adam_any<false>(pointer<T>(ts[0]), pointer<T>(ts[1]), pointer<T>(ts[2]), pointer<T>(ts[3]),
                          static_cast<T*>(nullptr), factors, b, e);
        });
      });
  });
  kernels::narrow_into(out, p);
  kernels::narrow_into(exp_avg, m);
  kernels::narrow_into(exp_avg_sq, v);
  if (max_v) kernels::narrow_into(*max_exp_avg_sq, *max_v);
}

}  // namespace

void install_optim() {
  ops::sgd_step.set_kernel(DispatchKey::CPU, sgd_step);
  ops::adam_step.set_kernel(DispatchKey::CPU, adam_step);
}

}  // namespace taper::cpu_kernels
