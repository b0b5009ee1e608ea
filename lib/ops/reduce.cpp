#include <taper/operator.h>
#include <taper/ops/reduce.h>

#include <limits>

#include "write_out.h"

namespace taper {
namespace ops {
namespace {

constexpr std::uint64_t bit(int d) { return std::uint64_t(1) << d; }

void need_floating(const char* op, const Tensor& x) {
  check<DTypeError>(x.is_floating_point(), op, ": needs a floating dtype, got x ", x.spec(),
                    "; convert it first with x.to(taper::float32)");
}

/// There must be an element to choose in what is reduced, also if there is no result.
void need_elements(const char* op, const Tensor& x, Reduced r) {
  for (int d = 0; d < x.dim(); ++d)
    check<ValueError>(!(r.dims & bit(d)) || x.size(d) != 0, op, ": x ", x.sizes(), " has no elements along dimension ",
                      d, ", and no elements have no ", op);
}

constexpr DType sum_dtype(DType d) { return is_floating(d) ? d : int64; }

TensorSpec infer_sum(const Tensor& x, const Reduced& r) { return reduced_spec(x, r, sum_dtype(x.dtype())); }
TensorSpec infer_mean(const Tensor& x, const Reduced& r) {
  check<DTypeError>(x.is_floating_point(), "mean: needs a floating dtype, got x ", x.spec(),
                    "; pass one, as in mean(x, taper::float32)");
  return reduced_spec(x, r, x.dtype());
}
TensorSpec infer_var(const Tensor& x, const Reduced& r, const std::int64_t&) {
  need_floating("var", x);
  return reduced_spec(x, r, x.dtype());
}
TensorSpec infer_std(const Tensor& x, const Reduced& r, const std::int64_t&) {
  need_floating("std", x);
  return reduced_spec(x, r, x.dtype());
}
TensorSpec infer_norm(const Tensor& x, const Reduced& r, const double& p) {
  need_floating("norm", x);
  if (p < 0 || p == std::numeric_limits<double>::infinity()) need_elements("norm", x, r);
  return reduced_spec(x, r, x.dtype());
}
TensorSpec infer_logsumexp(const Tensor& x, const Reduced& r) {
  need_floating("logsumexp", x);
  return reduced_spec(x, r, x.dtype());
}
TensorSpec infer_bool(const Tensor& x, const Reduced& r) {
  return reduced_spec(x, r, x.dtype() == uint8 ? uint8 : bool_);
}
TensorSpec infer_count(const Tensor& x, const Reduced& r) { return reduced_spec(x, r, int64); }

template <const char* const& Op>
TensorSpec infer_extreme(const Tensor& x, const Reduced& r) {
  need_elements(Op, x, r);
  return reduced_spec(x, r, x.dtype());
}
template <const char* const& Op>
TensorSpec infer_index(const Tensor& x, const Reduced& r) {
  need_elements(Op, x, r);
  return reduced_spec(x, r, int64);
}
template <const char* const& Op>
std::array<TensorSpec, 2> infer_extreme_and_index(const Tensor& x, const Reduced& r) {
  need_elements(Op, x, r);
  return {reduced_spec(x, r, x.dtype()), reduced_spec(x, r, int64)};
}
constexpr const char* kMax = "max";
constexpr const char* kMin = "min";
constexpr const char* kAmax = "amax";
constexpr const char* kAmin = "amin";
constexpr const char* kArgmax = "argmax";
constexpr const char* kArgmin = "argmin";

TensorSpec infer_place_along(const Tensor& g, const Tensor&, const std::int64_t& dim, const std::int64_t& size) {
  SizesAndStrides shape = g.impl()->geometry();
  shape.set(int(dim), size, 0);
  return TensorSpec::contiguous(shape.sizes(), g.dtype(), g.device());
}
TensorSpec infer_take_along(const Tensor& x, const Tensor& index, const std::int64_t&) {
  return TensorSpec::contiguous(index.sizes(), x.dtype(), x.device());
}
TensorSpec infer_prod_of_others(const Tensor& x, const Reduced&) {
  return TensorSpec::contiguous(x.sizes(), x.dtype(), x.device());
}

}  // namespace

Reduced reduced_dims(const char* op, const Tensor& x, IntSpan dims, bool keepdim) {
  if (!x.defined()) return {};  // the operator itself says which argument is missing
  const int rank = x.dim();
  check<ShapeError>(rank <= 64, op, ": reduces tensors of up to 64 dimensions, got ", rank);
  Reduced r;
  if (dims.empty()) r.dims = rank == 64 ? ~std::uint64_t(0) : bit(rank) - 1;
  const int wrap = rank == 0 ? 1 : rank;  // a tensor without dimensions is reduced as if it had one
  std::uint64_t seen = 0;
  for (const std::int64_t dim : dims) {
    check<IndexError>(-wrap <= dim && dim < wrap, op, ": dimension ", dim, " is out of range for x ", x.sizes(),
                      ", which has dimensions ", -wrap, " to ", wrap - 1);
    const int d = int(dim < 0 ? dim + wrap : dim);
    check<ValueError>(!(seen & bit(d)), op, ": dimension ", d, " appears twice in dims ", dims);
    seen |= bit(d);
  }
  if (rank > 0) r.dims |= seen;
  if (keepdim) r.kept = r.dims;
  return r;
}

TensorSpec reduced_spec(const Tensor& x, Reduced r, DType dtype) {
  std::int64_t sizes[64];
  std::size_t rank = 0;
  const IntSpan from = x.sizes();
  for (std::size_t d = 0; d < from.size(); ++d) {
    const std::uint64_t b = bit(int(d));
    if (!(r.dims & b))
      sizes[rank++] = from[d];
    else if (r.kept & b)
      sizes[rank++] = 1;
  }
  return TensorSpec::contiguous({sizes, rank}, dtype, x.device());
}

constinit StructuredOp<Tensor(Tensor, Reduced)> sum{"sum", "x", infer_sum};
constinit StructuredOp<Tensor(Tensor, Reduced)> mean{"mean", "x", infer_mean};
constinit StructuredOp<Tensor(Tensor, Reduced)> max{"max", "x", infer_extreme<kMax>};
constinit StructuredOp<Tensor(Tensor, Reduced)> min{"min", "x", infer_extreme<kMin>};
constinit StructuredOp<Tensor(Tensor, Reduced)> amax{"amax", "x", infer_extreme<kAmax>};
constinit StructuredOp<Tensor(Tensor, Reduced)> amin{"amin", "x", infer_extreme<kAmin>};
constinit StructuredOp<Tensor(Tensor, Reduced)> argmax{"argmax", "x", infer_index<kArgmax>};
constinit StructuredOp<Tensor(Tensor, Reduced)> argmin{"argmin", "x", infer_index<kArgmin>};
constinit StructuredOp<Tensor(Tensor, Reduced)> all{"all", "x", infer_bool};
constinit StructuredOp<Tensor(Tensor, Reduced)> any{"any", "x", infer_bool};
constinit StructuredOp<Tensor(Tensor, Reduced)> count_nonzero{"count_nonzero", "x", infer_count};
constinit StructuredOp<Tensor(Tensor, Reduced)> prod{"prod", "x", infer_sum};
constinit StructuredOp<Tensor(Tensor, Reduced)> logsumexp{"logsumexp", "x", infer_logsumexp};
constinit StructuredOp<Tensor(Tensor, Reduced, std::int64_t)> var{"var", "x", infer_var};
constinit StructuredOp<Tensor(Tensor, Reduced, std::int64_t)> std{"std", "x", infer_std};
constinit StructuredOp<Tensor(Tensor, Reduced, double)> norm{"norm", "x", infer_norm};
constinit StructuredOp<std::array<Tensor, 2>(Tensor, Reduced)> max_dim{"max", "x", infer_extreme_and_index<kMax>};
constinit StructuredOp<std::array<Tensor, 2>(Tensor, Reduced)> min_dim{"min", "x", infer_extreme_and_index<kMin>};
constinit StructuredOp<Tensor(Tensor, Tensor, std::int64_t, std::int64_t)> place_along{"place_along", "g, index",
                                                                                       infer_place_along};
constinit StructuredOp<Tensor(Tensor, Tensor, std::int64_t)> take_along{"take_along", "x, index", infer_take_along};
constinit StructuredOp<Tensor(Tensor, Reduced)> prod_of_others{"prod_of_others", "x", infer_prod_of_others};

}  // namespace ops

namespace {

/// A reduction in a dtype the caller chose: x is converted before; an integer narrower than the sum's int64, after.
template <auto& Op>
Tensor reduce_as(const Tensor& x, ops::Reduced r, std::optional<DType> dtype) {
  if (!dtype || !x.defined()) return Op(x, r);
  const Tensor out = Op(x.dtype() == *dtype ? x : x.to(*dtype), r);
  return out.dtype() == *dtype ? out : out.to(*dtype);
}

template <auto& Op>
Tensor& reduce_into(Tensor& out, const Tensor& x, ops::Reduced r, std::optional<DType> dtype) {
  return dtype ? write_out(Op.name(), out, reduce_as<Op>(x, r, dtype)) : Op.out(out, x, r);
}

std::tuple<Tensor, Tensor> as_tuple(std::array<Tensor, 2> pair) { return {std::move(pair[0]), std::move(pair[1])}; }

template <auto& Op>
Tensor arg(const char* name, const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) {
  return Op(x, ops::reduced_dims(name, x, dim ? IntSpan(*dim) : IntSpan(), keepdim));
}

}  // namespace

Tensor sum(const Tensor& x, std::optional<DType> dtype) { return sum(x, IntSpan(), false, dtype); }
Tensor& sum_out(Tensor& out, const Tensor& x, std::optional<DType> dtype) {
  return sum_out(out, x, IntSpan(), false, dtype);
}
Tensor sum(const Tensor& x, IntSpan dims, bool keepdim, std::optional<DType> dtype) {
  return reduce_as<ops::sum>(x, ops::reduced_dims("sum", x, dims, keepdim), dtype);
}
Tensor& sum_out(Tensor& out, const Tensor& x, IntSpan dims, bool keepdim, std::optional<DType> dtype) {
  return reduce_into<ops::sum>(out, x, ops::reduced_dims("sum", x, dims, keepdim), dtype);
}

Tensor sum_to_size(const Tensor& x, IntSpan sizes) {
  const IntSpan from = x.sizes();
  if (from == sizes) return x;
  const int extra = int(from.size()) - int(sizes.size());
  bool fits = extra >= 0 && from.size() <= 64;
  ops::Reduced r;
  for (int d = 0; fits && d < int(from.size()); ++d) {
    if (d < extra) {
      r.dims |= std::uint64_t(1) << d;
      continue;
    }
    const std::int64_t want = sizes[std::size_t(d - extra)], have = from[std::size_t(d)];
    if (want == have) continue;
    fits = want == 1;
    r.dims |= std::uint64_t(1) << d, r.kept |= std::uint64_t(1) << d;
  }
  check<ShapeError>(fits, "sum_to_size: x ", from, " cannot be summed to ", sizes,
                    ": that shape does not broadcast to x's");
  return reduce_as<ops::sum>(x, r, x.dtype());
}

Tensor mean(const Tensor& x, std::optional<DType> dtype) { return mean(x, IntSpan(), false, dtype); }
Tensor& mean_out(Tensor& out, const Tensor& x, std::optional<DType> dtype) {
  return mean_out(out, x, IntSpan(), false, dtype);
}
Tensor mean(const Tensor& x, IntSpan dims, bool keepdim, std::optional<DType> dtype) {
  return reduce_as<ops::mean>(x, ops::reduced_dims("mean", x, dims, keepdim), dtype);
}
Tensor& mean_out(Tensor& out, const Tensor& x, IntSpan dims, bool keepdim, std::optional<DType> dtype) {
  return reduce_into<ops::mean>(out, x, ops::reduced_dims("mean", x, dims, keepdim), dtype);
}

Tensor var(const Tensor& x, std::int64_t correction) { return var(x, IntSpan(), correction); }
Tensor& var_out(Tensor& out, const Tensor& x, std::int64_t correction) {
  return var_out(out, x, IntSpan(), correction);
}
Tensor var(const Tensor& x, IntSpan dims, std::int64_t correction, bool keepdim) {
  return ops::var(x, ops::reduced_dims("var", x, dims, keepdim), correction);
}
Tensor& var_out(Tensor& out, const Tensor& x, IntSpan dims, std::int64_t correction, bool keepdim) {
  return ops::var.out(out, x, ops::reduced_dims("var", x, dims, keepdim), correction);
}
Tensor std(const Tensor& x, std::int64_t correction) { return taper::std(x, IntSpan(), correction); }
Tensor& std_out(Tensor& out, const Tensor& x, std::int64_t correction) {
  return std_out(out, x, IntSpan(), correction);
}
Tensor std(const Tensor& x, IntSpan dims, std::int64_t correction, bool keepdim) {
  return ops::std(x, ops::reduced_dims("std", x, dims, keepdim), correction);
}
Tensor& std_out(Tensor& out, const Tensor& x, IntSpan dims, std::int64_t correction, bool keepdim) {
  return ops::std.out(out, x, ops::reduced_dims("std", x, dims, keepdim), correction);
}
std::tuple<Tensor, Tensor> var_mean(const Tensor& x, IntSpan dims, std::int64_t correction, bool keepdim) {
  const ops::Reduced r = ops::reduced_dims("var_mean", x, dims, keepdim);
  return {ops::var(x, r, correction), ops::mean(x, r)};
}
std::tuple<Tensor&, Tensor&> var_mean_out(Tensor& var, Tensor& mean, const Tensor& x, IntSpan dims,
                                          std::int64_t correction, bool keepdim) {
  return write_out("var_mean", var, mean, var_mean(x, dims, correction, keepdim));
}
std::tuple<Tensor, Tensor> std_mean(const Tensor& x, IntSpan dims, std::int64_t correction, bool keepdim) {
  const ops::Reduced r = ops::reduced_dims("std_mean", x, dims, keepdim);
  return {ops::std(x, r, correction), ops::mean(x, r)};
}
std::tuple<Tensor&, Tensor&> std_mean_out(Tensor& std, Tensor& mean, const Tensor& x, IntSpan dims,
                                          std::int64_t correction, bool keepdim) {
  return write_out("std_mean", std, mean, std_mean(x, dims, correction, keepdim));
}

Tensor max(const Tensor& x) { return ops::max(x, ops::reduced_dims("max", x, {}, false)); }
Tensor& max_out(Tensor& out, const Tensor& x) { return ops::max.out(out, x, ops::reduced_dims("max", x, {}, false)); }
Tensor min(const Tensor& x) { return ops::min(x, ops::reduced_dims("min", x, {}, false)); }
Tensor& min_out(Tensor& out, const Tensor& x) { return ops::min.out(out, x, ops::reduced_dims("min", x, {}, false)); }
std::tuple<Tensor, Tensor> max(const Tensor& x, std::int64_t dim, bool keepdim) {
  return as_tuple(ops::max_dim(x, ops::reduced_dims("max", x, dim, keepdim)));
}
std::tuple<Tensor&, Tensor&> max_out(Tensor& max, Tensor& indices, const Tensor& x, std::int64_t dim, bool keepdim) {
  return write_out("max", max, indices, taper::max(x, dim, keepdim));
}
std::tuple<Tensor, Tensor> min(const Tensor& x, std::int64_t dim, bool keepdim) {
  return as_tuple(ops::min_dim(x, ops::reduced_dims("min", x, dim, keepdim)));
}
std::tuple<Tensor&, Tensor&> min_out(Tensor& min, Tensor& indices, const Tensor& x, std::int64_t dim, bool keepdim) {
  return write_out("min", min, indices, taper::min(x, dim, keepdim));
}
Tensor amax(const Tensor& x, IntSpan dims, bool keepdim) {
  return ops::amax(x, ops::reduced_dims("amax", x, dims, keepdim));
}
Tensor& amax_out(Tensor& out, const Tensor& x, IntSpan dims, bool keepdim) {
  return ops::amax.out(out, x, ops::reduced_dims("amax", x, dims, keepdim));
}
Tensor amin(const Tensor& x, IntSpan dims, bool keepdim) {
  return ops::amin(x, ops::reduced_dims("amin", x, dims, keepdim));
}
Tensor& amin_out(Tensor& out, const Tensor& x, IntSpan dims, bool keepdim) {
  return ops::amin.out(out, x, ops::reduced_dims("amin", x, dims, keepdim));
}
Tensor argmax(const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) {
  return arg<ops::argmax>("argmax", x, dim, keepdim);
}
Tensor& argmax_out(Tensor& out, const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) {
  return ops::argmax.out(out, x, ops::reduced_dims("argmax", x, dim ? IntSpan(*dim) : IntSpan(), keepdim));
}
Tensor argmin(const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) {
  return arg<ops::argmin>("argmin", x, dim, keepdim);
}
Tensor& argmin_out(Tensor& out, const Tensor& x, std::optional<std::int64_t> dim, bool keepdim) {
  return ops::argmin.out(out, x, ops::reduced_dims("argmin", x, dim ? IntSpan(*dim) : IntSpan(), keepdim));
}
Tensor all(const Tensor& x) { return ops::all(x, ops::reduced_dims("all", x, {}, false)); }
Tensor& all_out(Tensor& out, const Tensor& x) { return ops::all.out(out, x, ops::reduced_dims("all", x, {}, false)); }
Tensor all(const Tensor& x, std::int64_t dim, bool keepdim) {
  return ops::all(x, ops::reduced_dims("all", x, dim, keepdim));
}
Tensor& all_out(Tensor& out, const Tensor& x, std::int64_t dim, bool keepdim) {
  return ops::all.out(out, x, ops::reduced_dims("all", x, dim, keepdim));
}
Tensor any(const Tensor& x) { return ops::any(x, ops::reduced_dims("any", x, {}, false)); }
Tensor& any_out(Tensor& out, const Tensor& x) { return ops::any.out(out, x, ops::reduced_dims("any", x, {}, false)); }
Tensor any(const Tensor& x, std::int64_t dim, bool keepdim) {
  return ops::any(x, ops::reduced_dims("any", x, dim, keepdim));
}
Tensor& any_out(Tensor& out, const Tensor& x, std::int64_t dim, bool keepdim) {
  return ops::any.out(out, x, ops::reduced_dims("any", x, dim, keepdim));
}
Tensor count_nonzero(const Tensor& x, IntSpan dims) {
  return ops::count_nonzero(x, ops::reduced_dims("count_nonzero", x, dims, false));
}
Tensor& count_nonzero_out(Tensor& out, const Tensor& x, IntSpan dims) {
  return ops::count_nonzero.out(out, x, ops::reduced_dims("count_nonzero", x, dims, false));
}
Tensor prod(const Tensor& x, std::optional<DType> dtype) {
  return reduce_as<ops::prod>(x, ops::reduced_dims("prod", x, {}, false), dtype);
}
Tensor& prod_out(Tensor& out, const Tensor& x, std::optional<DType> dtype) {
  return reduce_into<ops::prod>(out, x, ops::reduced_dims("prod", x, {}, false), dtype);
}
Tensor prod(const Tensor& x, std::int64_t dim, bool keepdim, std::optional<DType> dtype) {
  return reduce_as<ops::prod>(x, ops::reduced_dims("prod", x, dim, keepdim), dtype);
}
Tensor& prod_out(Tensor& out, const Tensor& x, std::int64_t dim, bool keepdim, std::optional<DType> dtype) {
  return reduce_into<ops::prod>(out, x, ops::reduced_dims("prod", x, dim, keepdim), dtype);
}
Tensor norm(const Tensor& x, double p) { return norm(x, p, IntSpan()); }
Tensor& norm_out(Tensor& out, const Tensor& x, double p) { return norm_out(out, x, p, IntSpan()); }
Tensor norm(const Tensor& x, double p, IntSpan dims, bool keepdim) {
  return ops::norm(x, ops::reduced_dims("norm", x, dims, keepdim), p);
}
Tensor& norm_out(Tensor& out, const Tensor& x, double p, IntSpan dims, bool keepdim) {
  return ops::norm.out(out, x, ops::reduced_dims("norm", x, dims, keepdim), p);
}
Tensor logsumexp(const Tensor& x, IntSpan dims, bool keepdim) {
  return ops::logsumexp(x, ops::reduced_dims("logsumexp", x, dims, keepdim));
}
Tensor& logsumexp_out(Tensor& out, const Tensor& x, IntSpan dims, bool keepdim) {
  return ops::logsumexp.out(out, x, ops::reduced_dims("logsumexp", x, dims, keepdim));
}

Tensor Tensor::sum(std::optional<DType> dtype) const { return taper::sum(*this, dtype); }
Tensor Tensor::sum(IntSpan dims, bool keepdim, std::optional<DType> dtype) const {
  return taper::sum(*this, dims, keepdim, dtype);
}
Tensor Tensor::mean(std::optional<DType> dtype) const { return taper::mean(*this, dtype); }
Tensor Tensor::mean(IntSpan dims, bool keepdim, std::optional<DType> dtype) const {
  return taper::mean(*this, dims, keepdim, dtype);
}
Tensor Tensor::var(std::int64_t correction) const { return taper::var(*this, correction); }
Tensor Tensor::var(IntSpan dims, std::int64_t correction, bool keepdim) const {
  return taper::var(*this, dims, correction, keepdim);
}
Tensor Tensor::std(std::int64_t correction) const { return taper::std(*this, correction); }
Tensor Tensor::std(IntSpan dims, std::int64_t correction, bool keepdim) const {
  return taper::std(*this, dims, correction, keepdim);
}
Tensor Tensor::sum_to_size(IntSpan sizes) const { return taper::sum_to_size(*this, sizes); }
Tensor Tensor::max() const { return taper::max(*this); }
Tensor Tensor::min() const { return taper::min(*this); }
std::tuple<Tensor, Tensor> Tensor::max(std::int64_t dim, bool keepdim) const { return taper::max(*this, dim, keepdim); }
std::tuple<Tensor, Tensor> Tensor::min(std::int64_t dim, bool keepdim) const { return taper::min(*this, dim, keepdim); }
Tensor Tensor::amax(IntSpan dims, bool keepdim) const { return taper::amax(*this, dims, keepdim); }
Tensor Tensor::amin(IntSpan dims, bool keepdim) const { return taper::amin(*this, dims, keepdim); }
Tensor Tensor::argmax(std::optional<std::int64_t> dim, bool keepdim) const {
  return taper::argmax(*this, dim, keepdim);
}
Tensor Tensor::argmin(std::optional<std::int64_t> dim, bool keepdim) const {
  return taper::argmin(*this, dim, keepdim);
}
Tensor Tensor::all() const { return taper::all(*this); }
Tensor Tensor::all(std::int64_t dim, bool keepdim) const { return taper::all(*this, dim, keepdim); }
Tensor Tensor::any() const { return taper::any(*this); }
Tensor Tensor::any(std::int64_t dim, bool keepdim) const { return taper::any(*this, dim, keepdim); }

}  // namespace taper
