// Running results: cumsum, cumprod, logcumsumexp, cummax, cummin, recurrence.
#include "cuda/scan.h"

#include <taper/operator.h>
#include <taper/ops/scan.h>

#include <algorithm>

#include "caching_allocator.h"
#include "cuda/scan_ops.h"
#include "device.h"
#include "elementwise.h"
#include "install.h"
#include "walks.h"
#include "widened.h"

namespace taper::cuda_kernels {
namespace {

constexpr std::int64_t kWorthAThread = 64;  // entries that are worth cutting off for another thread

/// Up to three tensors of one shape, walked along dim.
struct ScanLines {
  Scan scan{};
  std::array<std::int64_t, 3> step{};

  ScanLines(const char* op, std::int64_t any_dim, std::initializer_list<const Tensor*> tensors) {
    const Tensor& first = **tensors.begin();
    IntVec sizes = first.sizes().vec();
    std::array<IntVec, 3> strides;
    std::size_t k = 0;
    for (const Tensor* t : tensors) strides[k++] = t->strides().vec();
    for (; k < 3; ++k) strides[k] = IntVec(sizes.size(), 0);
    std::int64_t n = 1;
    if (first.dim() > 0) {
      const std::size_t d = first.wrapped_dim(any_dim);
      n = sizes[d];
      sizes.erase(sizes.begin() + std::ptrdiff_t(d));
      for (std::size_t i = 0; i < 3; ++i) {
        step[i] = strides[i][d];
        strides[i].erase(strides[i].begin() + std::ptrdiff_t(d));
      }
    }
    check<NotImplementedError>(first.numel() <= kMostCounted, op, ": ", first,
                               " has more elements than kernels of cuda count; work on parts of it");
    scan.lines = walk_over<3>(op, sizes, strides);
    scan.line_count = FastDiv::by(scan.lines.count);
    scan.n = std::uint32_t(n);
  }
};

template <class Op>
void run(const OnDevice& on, Scan scan, const Op& op) {
  const std::int64_t n = scan.n, lines = scan.lines.count, threads = std::int64_t(on.queue().multi_processors) * 1024;
  const std::int64_t chunks = std::clamp<std::int64_t>(std::min(threads / lines, n / kWorthAThread), 1, 1024);
  scan.chunk_length = std::uint32_t((n + chunks - 1) / chunks);
  scan.chunks = std::uint32_t((n + scan.chunk_length - 1) / scan.chunk_length);
  DataPtr partials;
  if (scan.chunks > 1)
    partials = on.state().allocator().allocate(std::size_t(lines) * scan.chunks * sizeof(typename Op::Acc));
  scan.partials = partials.get();
  scan_loop(on.queue(), scan, op);
}

/// Calls f with the types that are left when widened_integers has seen to the others.
template <class F>
void dispatch_wide(DType d, F&& f) {
  dispatch_all(d, [&]<class T>(Type<T> type) {
    if constexpr (sizeof(T) >= 4) f(type);
  });
}

template <template <class> class Op>
void running(const char* name, Tensor& out, const Tensor& x, std::int64_t dim) {
  if (out.numel() == 0) return;
  const OnDevice on(out.device());
  const ScanLines lines(name, dim, {&out, &x});
  dispatch_wide(x.dtype(), [&]<class T>(Type<T>) {
    run(on, lines.scan, Op<T>{elements<RunningOut<T>>(out), elements<const T>(x), lines.step[0], lines.step[1]});
  });
}
void cumsum(Tensor& out, const Tensor& x, const std::int64_t& dim) { running<RunningSum>("cumsum", out, x, dim); }
void cumprod(Tensor& out, const Tensor& x, const std::int64_t& dim) { running<RunningProduct>("cumprod", out, x, dim); }
void logcumsumexp(Tensor& out, const Tensor& x, const std::int64_t& dim) {
  if (out.numel() == 0) return;
  const OnDevice on(out.device());
  const ScanLines lines("logcumsumexp", dim, {&out, &x});
  dispatch_floating(x.dtype(), "logcumsumexp", [&]<class T>(Type<T>) {
    run(on, lines.scan, RunningLogSumExp<T>{elements<T>(out), elements<const T>(x), lines.step[0], lines.step[1]});
  });
}
template <bool largest>
void extremes(std::array<Tensor, 2>& out, const Tensor& x, const std::int64_t& dim) {
  if (x.numel() == 0) return;
  const OnDevice on(x.device());
  const ScanLines lines(largest ? "cummax" : "cummin", dim, {&out[0], &out[1], &x});
  dispatch_wide(x.dtype(), [&]<class T>(Type<T>) {
    run(on, lines.scan,
        RunningExtreme<T, largest>{elements<T>(out[0]), elements<std::int64_t>(out[1]), elements<const T>(x),
                                   lines.step[0], lines.step[1], lines.step[2]});
  });
}
void recurrence(Tensor& out, const Tensor& x, const Tensor& factor, const std::int64_t& dim) {
  if (out.numel() == 0) return;
  const OnDevice on(out.device());
  const ScanLines lines("recurrence", dim, {&out, &x, &factor});
  dispatch_floating(x.dtype(), "recurrence", [&]<class T>(Type<T>) {
    run(on, lines.scan,
        RunningRecurrence<T>{elements<T>(out), elements<const T>(x), elements<const T>(factor), lines.step[0],
                             lines.step[1], lines.step[2]});
  });
}

}  // namespace

void install_scan() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::cumsum.set_kernel(key, widened_integers<cumsum>);
  ops::cumprod.set_kernel(key, widened_integers<cumprod>);
  ops::logcumsumexp.set_kernel(key, widened_integers<logcumsumexp>);
  ops::cummax.set_kernel(key, widened_integers<extremes<true>>);
  ops::cummin.set_kernel(key, widened_integers<extremes<false>>);
  ops::recurrence.set_kernel(key, widened_integers<recurrence>);
}

}  // namespace taper::cuda_kernels
