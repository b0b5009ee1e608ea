// The reductions: how a reduction is walked is decided here, from the plan that the CPU uses too.
#include "cuda/reduce.h"

#include <taper/operator.h>
#include <taper/ops/reduce.h>

#include <algorithm>
#include <bit>
#include <type_traits>

#include "caching_allocator.h"
#include "cpu/reduce_plan.h"
#include "cuda/products.h"
#include "cuda/reduce_ops.h"
#include "device.h"
#include "elementwise.h"
#include "install.h"
#include "moves.h"
#include "positions.h"
#include "widened.h"

namespace taper::cuda_kernels {
namespace {

constexpr std::int64_t kShort = 32;          // what one thread can as well add up alone
constexpr std::int64_t kWorthAThread = 64;   // elements that are worth cutting off for another thread,
constexpr std::int64_t kWorthABlock = 4096;  // or another block

/// bool's bytes order alike, and count alike.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

std::int32_t copy_loops(Reduction::Dim* dims, const cpu_kernels::ReduceLoops& loops, const char* op) {
  check<NotImplementedError>(loops.size() <= std::size_t(Reduction::kMaxDims), op, ": the operand has ", loops.size(),
                             " dimensions that are no run of memory; on cuda at most ", Reduction::kMaxDims,
                             " can be reduced; call contiguous() first");
  for (std::size_t i = 0; i < loops.size(); ++i) {
    const cpu_kernels::ReduceLoop& l = loops[loops.size() - 1 - i];
    dims[i] = {FastDiv::by(std::uint32_t(std::max<std::int64_t>(l.size, 1))), l.stride, l.out_stride};
  }
  return std::int32_t(loops.size());
}

/// Cuts the work so that there is enough of it for the whole device.
void choose_shape(Reduction& r, const cpu_kernels::ReducePlan& plan, unsigned multi_processors) {
  const std::int64_t results = plan.results, n = plan.per_result;
  r.by_blocks = plan.by_rows() && n > kShort;
  std::int64_t chunks = 1;
  if (r.by_blocks) {
    r.block_threads = unsigned(std::clamp<std::int64_t>(std::int64_t(std::bit_ceil(std::uint64_t(n / 4))), 32, 256));
    chunks = std::min(std::int64_t(multi_processors) * 4 / results, n / kWorthABlock);
  } else {
    chunks = std::min(std::int64_t(multi_processors) * 1024 / results, n / kWorthAThread);
  }
  chunks = std::clamp<std::int64_t>(chunks, 1, 1024);
  r.chunk_length = std::uint32_t((n + chunks - 1) / chunks);
  chunks = n == 0 ? 1 : (n + r.chunk_length - 1) / r.chunk_length;
  r.chunks = FastDiv::by(std::uint32_t(chunks));
}

template <class Op>
void reduce(const char* name, const Tensor& x, const cpu_kernels::ReducePlan& plan, const Op& op) {
  if (plan.results == 0) return;
  check<NotImplementedError>(plan.results <= kMostCounted && plan.per_result <= kMostCounted, name, ": ", x,
                             " has more than ", kMostCounted,
                             " results, or elements for one of them; reduce it in parts");
  const OnDevice on(x.device());
  Reduction r{};
  r.in = x.impl()->data();
  r.results = std::uint32_t(plan.results);
  r.per_result = std::uint32_t(plan.per_result);
  r.kept_rank = copy_loops(r.kept, plan.kept, name);
  r.reduced_rank = copy_loops(r.reduced, plan.reduced, name);
  choose_shape(r, plan, on.queue().multi_processors);
  DataPtr partials;
  if (r.chunks.divisor > 1)
    partials = on.state().allocator().allocate(std::size_t(r.results) * r.chunks.divisor * sizeof(typename Op::Acc));
  r.partials = partials.get();
  reduce_loop(on.queue(), r, op);
}

using cpu_kernels::plan_reduction;
using ops::Reduced;

void sum(Tensor& out, const Tensor& x, const Reduced& r) {
  dispatch_served(x.dtype(), "sum", [&]<class T>(Type<T>) {
    reduce("sum", x, plan_reduction(x, r), Sum<T, SumOut<T>>{elements<SumOut<T>>(out)});
  });
}
void mean(Tensor& out, const Tensor& x, const Reduced& r) {
  dispatch_floating(x.dtype(), "mean", [&]<class T>(Type<T>) {
    const auto plan = plan_reduction(x, r);
    reduce("mean", x, plan, Sum<T, T>{elements<T>(out), double(plan.per_result)});
  });
}
void prod(Tensor& out, const Tensor& x, const Reduced& r) {
  dispatch_served(x.dtype(), "prod", [&]<class T>(Type<T>) {
    reduce("prod", x, plan_reduction(x, r), Product<T>{elements<SumOut<T>>(out)});
  });
}

/// Two passes: subtracting the mean first keeps the digits that x^2 would lose.
void variance(const char* name, Tensor& out, const Tensor& x, const Reduced& r, std::int64_t correction, bool root) {
  dispatch_floating(x.dtype(), name, [&]<class T>(Type<T>) {
    const auto plan = plan_reduction(x, r);
    const Tensor means = empty(TensorSpec::contiguous({plan.results}, float64, x.device()));
    reduce(name, x, plan, Sum<T, double>{elements<double>(means), double(plan.per_result)});
    const double divisor = std::max(0.0, double(plan.per_result) - double(correction));
    reduce(name, x, plan, SumOfSquares<T>{elements<T>(out), elements<double>(means), divisor, root});
  });
}
void var(Tensor& out, const Tensor& x, const Reduced& r, const std::int64_t& correction) {
  variance("var", out, x, r, correction, false);
}
void std(Tensor& out, const Tensor& x, const Reduced& r, const std::int64_t& correction) {
  variance("std", out, x, r, correction, true);
}

void norm(Tensor& out, const Tensor& x, const Reduced& r, const double& p) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  dispatch_floating(x.dtype(), "norm", [&]<class T>(Type<T>) {
    const auto plan = plan_reduction(x, r);
    T* y = elements<T>(out);
    if (p == 2) return reduce("norm", x, plan, SumOfSquares<T>{y, nullptr, 1, true});
    const NormKind kind = p == infinity    ? NormKind::infinity
                          : p == -infinity ? NormKind::minus_infinity
                          : p == 0         ? NormKind::zero
                          : p == 1         ? NormKind::one
                                           : NormKind::power;
    reduce("norm", x, plan, Norm<T>{y, p, kind});
  });
}

template <bool largest>
void find_extreme(const char* name, const Tensor& x, const Reduced& r, const Tensor* values, const Tensor* indices) {
  dispatch_served(x.dtype(), name, [&]<class T>(Type<T>) {
    using S = Stored<T>;
    const Extreme<S, largest> op{values ? elements<S>(*values) : nullptr,
                                 indices ? elements<std::int64_t>(*indices) : nullptr};
    reduce(name, x, plan_reduction(x, r, indices != nullptr), op);
  });
}
template <bool largest>
void extreme(Tensor& out, const Tensor& x, const Reduced& r) {
  find_extreme<largest>(largest ? "max" : "min", x, r, &out, nullptr);
}
template <bool largest>
void index_of_extreme(Tensor& out, const Tensor& x, const Reduced& r) {
  find_extreme<largest>(largest ? "argmax" : "argmin", x, r, nullptr, &out);
}
template <bool largest>
void extreme_and_index(std::array<Tensor, 2>& out, const Tensor& x, const Reduced& r) {
  find_extreme<largest>(largest ? "max" : "min", x, r, &out[0], &out[1]);
}

template <bool identity>
void truth(Tensor& out, const Tensor& x, const Reduced& r) {
  dispatch_served(x.dtype(), identity ? "all" : "any", [&]<class T>(Type<T>) {
    reduce(identity ? "all" : "any", x, plan_reduction(x, r), Truth<T>{elements<std::uint8_t>(out), identity});
  });
}
void count_nonzero(Tensor& out, const Tensor& x, const Reduced& r) {
  dispatch_served(x.dtype(), "count_nonzero", [&]<class T>(Type<T>) {
    reduce("count_nonzero", x, plan_reduction(x, r), Count<T>{elements<std::int64_t>(out)});
  });
}
void logsumexp(Tensor& out, const Tensor& x, const Reduced& r) {
  dispatch_floating(x.dtype(), "logsumexp", [&]<class T>(Type<T>) {
    reduce("logsumexp", x, plan_reduction(x, r), LogSumExp<T>{elements<T>(out)});
  });
}

/// Strides of what positions along dim go into, in the shape of the positions.
IntVec apart_from(const Tensor& t, std::int64_t dim) {
  IntVec strides = t.strides().vec();
  strides[std::size_t(dim)] = 0;
  return strides;
}
void place_along(Tensor& out, const Tensor& g, const Tensor& index, const std::int64_t& dim, const std::int64_t&) {
  fill_elements(out, 0);
  if (index.numel() == 0) return;
  const OnDevice on(out.device());
  const IntVec none(std::size_t(index.dim()), 0);
  const Walk<5> walk = walk_over<5>("place_along", index.sizes(),
                                    {apart_from(out, dim), g.strides().vec(), index.strides().vec(), none, none});
  replace_elements(on, walk, trusted_positions(index), out.stride(dim), {}, out, g);
}
void take_along(Tensor& out, const Tensor& x, const Tensor& index, const std::int64_t& dim) {
  if (index.numel() == 0) return;
  const OnDevice on(out.device());
  const Walk<3> walk =
      walk_over<3>("take_along", index.sizes(), {out.strides().vec(), apart_from(x, dim), index.strides().vec()});
  take_elements(on, walk, trusted_positions(index), x.stride(dim), out, x);
}

void prod_of_others(Tensor& out, const Tensor& x, const Reduced& r) {
  if (x.numel() == 0) return;
  // The kernel wants the reduced dimensions outside, each result's elements in row-major order.
  IntVec order, sizes;
  std::int64_t n = 1;
  for (const bool kept : {false, true})
    for (int d = 0; d < x.dim(); ++d)
      if ((r.dims >> d & 1) != kept) order.push_back(d);
  for (std::int64_t d : order) {
    sizes.push_back(x.size(d));
    if (r.dims >> d & 1) n *= x.size(d);
  }
  const auto in_order = [&](const Tensor& t) {
    SizesAndStrides g = SizesAndStrides::of_rank(int(order.size()));
    for (std::size_t i = 0; i < order.size(); ++i) g.set(int(i), sizes[i], t.stride(order[i]));
    return Tensor(make_intrusive<TensorImpl>(t.storage(), t.dtype(), std::move(g), t.storage_offset()));
  };
  dispatch_floating(x.dtype(), "prod", [&]<class T>(Type<T>) {
    const Tensor from = empty(TensorSpec::contiguous(sizes, x.dtype(), x.device()));
    const Tensor to = empty(TensorSpec::contiguous(sizes, x.dtype(), x.device()));
    const Tensor left = empty(TensorSpec::contiguous(sizes, float64, x.device()));
    copy_elements(from, in_order(x));
    const OnDevice on(x.device());
    products_of_others(on.queue(), {std::uint32_t(x.numel() / n), std::uint32_t(n), elements<double>(left)},
                       elements<const T>(from), elements<T>(to));
    copy_elements(in_order(out), to);
  });
}

}  // namespace

void install_reduce() {
  constexpr DispatchKey key = DispatchKey::CUDA;
  ops::sum.set_kernel(key, widened_numbers<sum>);
  ops::mean.set_kernel(key, widened_numbers<mean>);
  ops::var.set_kernel(key, widened_numbers<var>);
  ops::std.set_kernel(key, widened_numbers<std>);
  ops::norm.set_kernel(key, widened_numbers<norm>);
  ops::max.set_kernel(key, widened_numbers<extreme<true>>);
  ops::min.set_kernel(key, widened_numbers<extreme<false>>);
  ops::amax.set_kernel(key, widened_numbers<extreme<true>>);
  ops::amin.set_kernel(key, widened_numbers<extreme<false>>);
  ops::argmax.set_kernel(key, widened_numbers<index_of_extreme<true>>);
  ops::argmin.set_kernel(key, widened_numbers<index_of_extreme<false>>);
  ops::max_dim.set_kernel(key, widened_numbers<extreme_and_index<true>>);
  ops::min_dim.set_kernel(key, widened_numbers<extreme_and_index<false>>);
  ops::all.set_kernel(key, widened_numbers<truth<true>>);
  ops::any.set_kernel(key, widened_numbers<truth<false>>);
  ops::count_nonzero.set_kernel(key, widened_numbers<count_nonzero>);
  ops::prod.set_kernel(key, widened_numbers<prod>);
  ops::logsumexp.set_kernel(key, widened_numbers<logsumexp>);
  ops::place_along.set_kernel(key, place_along);
  ops::take_along.set_kernel(key, take_along);
  ops::prod_of_others.set_kernel(key, widened_numbers<prod_of_others>);
}

}  // namespace taper::cuda_kernels
