// Filling tensors with random numbers, and dropout.
#include "cuda/random.h"

#include <taper/operator.h>
#include <taper/ops/dropout.h>
#include <taper/random.h>

#include <cmath>

#include "elementwise.h"
#include "findings.h"
#include "install.h"
#include "next_below.h"
#include "walks.h"
#include "widen.h"

namespace taper::cuda_kernels {
namespace {

/// Runs kernel(t) on `out` if it is dense and of the dtype `made`, else on such a tensor whose values `out` gets.
template <class F>
void with_dense(const Tensor& out, DType made, F&& kernel) {
  if (out.numel() == 0) return;
  check<NotImplementedError>(out.numel() <= kMostCounted, "random numbers: ", out,
                             " has more elements than kernels of cuda count; fill it in parts");
  if (out.dtype() == made && out.is_contiguous()) return kernel(out);
  const Tensor t = empty(TensorSpec::contiguous(out.sizes(), made, out.device()));
  kernel(t);
  copy_elements(out, t);
}
Tensor dense(const Tensor& x) {
  if (x.is_contiguous()) return x;
  const Tensor t = empty(TensorSpec::contiguous(x.sizes(), x.dtype(), x.device()));
  copy_elements(t, x);
  return t;
}
RandomSource source_of(const RandomStream& s) {
  const RandomStream* const at = CapturedRandom::at;
  if (at == nullptr) return {s, nullptr};
  // What has been drawn since the capture began goes on with the default generator; a checkpoint draws some of it
  // again.
  const RandomStream first = CapturedRandom::first;
  const std::uint64_t number = s.stream - first.stream, drawn = default_generator().state().stream - first.stream;
  check<NotImplementedError>(
      s.seed == first.seed && number < drawn,
      "random numbers of a generator of their own cannot be captured into a graph, they would be the same in every ",
      "replay; draw them from the default generator, or before and copy them into an input of the graph");
  return {{0, number}, at};
}
std::uint32_t count(const Tensor& t) { return std::uint32_t(t.numel()); }

void uniform(Tensor& out, const Tensor& self, const double& from, const double& to, const RandomStream& s) {
  const OnDevice on(out.device());
  dispatch_floating(compute_dtype(self.dtype()), "uniform_", [&]<class T>(Type<T>) {
    const T low = T(from), high = from < to ? std::max(low, kernels::next_below(self.dtype(), T(to))) : low;
    with_dense(out, dtype_of<T>, [&](const Tensor& t) {
      fill_uniform(on.queue(), source_of(s), count(t), low, T(to - from), high, elements<T>(t));
    });
  });
}
void normal(Tensor& out, const Tensor& self, const double& mean, const double& std, const RandomStream& s) {
  const OnDevice on(out.device());
  dispatch_floating(compute_dtype(self.dtype()), "normal_", [&]<class T>(Type<T>) {
    with_dense(out, dtype_of<T>, [&](const Tensor& t) {
      fill_normal(on.queue(), source_of(s), count(t), T(mean), T(std), elements<T>(t));
    });
  });
}
void exponential(Tensor& out, const Tensor& self, const double& lambd, const RandomStream& s) {
  const OnDevice on(out.device());
  dispatch_floating(compute_dtype(self.dtype()), "exponential_", [&]<class T>(Type<T>) {
    with_dense(out, dtype_of<T>, [&](const Tensor& t) {
      fill_exponential(on.queue(), source_of(s), count(t), T(1 / lambd), elements<T>(t));
    });
  });
}

void random(Tensor& out, const Tensor&, const std::int64_t& from, const std::int64_t& to, const RandomStream& s) {
  const OnDevice on(out.device());
  with_dense(out, int64, [&](const Tensor& t) {
    fill_integers(on.queue(), source_of(s), count(t), std::uint64_t(from), std::uint64_t(to) - std::uint64_t(from),
                  elements<std::int64_t>(t));
  });
}

/// One element after the other, each with what the ones before it left: work for the host.
void permutation(Tensor& out, const Tensor&, const RandomStream& s) {
  if (out.numel() == 0) return;
  const OnDevice on(out.device());
  check<NotImplementedError>(!is_capturing(on.stream()), "randperm: is made on the host, which a graph cannot do; ",
                             "make it before and copy it into an input of the graph");
  const Tensor made = ops::permutation.below_autograd(empty(TensorSpec::contiguous(out.sizes(), int64, cpu)), s);
  cuda::detail::copy(out, made);
}

Event event_of(double p) {
  const std::uint64_t threshold = philox::threshold(p);
  return {std::uint32_t(threshold == 0 ? 0 : threshold - 1), threshold == 0};
}
void bernoulli_fill(Tensor& out, const Tensor& self, const double& p, const RandomStream& s) {
  const OnDevice on(out.device());
  const auto fill = [&]<class T>(Type<T>, DType made) {
    with_dense(out, made,
               [&](const Tensor& t) { fill_events(on.queue(), source_of(s), count(t), event_of(p), elements<T>(t)); });
  };
  if (is_floating(self.dtype()))
    fill(Type<float>{}, float32);
  else
    fill(Type<std::uint8_t>{}, self.dtype() == bool_ ? bool_ : uint8);
}

void bernoulli(Tensor& out, const Tensor& p, const RandomStream& s) {
  const OnDevice on(out.device());
  if (cuda::detail::checks_now(out.device())) {
    const cuda::detail::SyncCause cause("check of probabilities");
    Tensor on_host = empty(TensorSpec::contiguous(p.sizes(), p.dtype(), cpu));
    cuda::detail::copy(on_host, dense(p));
    ops::bernoulli.below_autograd(on_host, s);  // which looks at them
  }
  dispatch_floating(p.dtype(), "bernoulli", [&]<class T>(Type<T>) {
    const Tensor from = dense(p);
    with_dense(out, p.dtype(), [&](const Tensor& t) {
      draw_events(on.queue(), source_of(s), count(t), watch(on, Watcher::bernoulli), elements<const T>(from),
                  elements<T>(t));
    });
  });
}

void dropout(Tensor& out, const Tensor& x, const double& p, const RandomStream& s) {
  const OnDevice on(out.device());
  const Event keep = event_of(1 - p);
  dispatch_floating(x.dtype(), "dropout", [&]<class T>(Type<T>) {
    const Tensor from = dense(x);
    with_dense(out, x.dtype(), [&](const Tensor& t) {
      drop(on.queue(), source_of(s), count(t), keep, keep.never ? T(0) : T(1 / (1 - p)), elements<const T>(from),
           elements<T>(t));
    });
  });
}

}  // namespace

void install_random() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::uniform.set_kernel(key, uniform);
  ops::normal.set_kernel(key, normal);
  ops::exponential.set_kernel(key, exponential);
  ops::random.set_kernel(key, random);
  ops::permutation.set_kernel(key, permutation);
  ops::bernoulli_fill.set_kernel(key, bernoulli_fill);
  ops::bernoulli.set_kernel(key, kernels::widening<bernoulli>);
  ops::dropout.set_kernel(key, kernels::widening<dropout>);
}

}  // namespace taper::cuda_kernels
