#include <taper/ops/reduce.h>

#include "op_table.h"

namespace oracle {
namespace {

/// f(input, dims, keepdim, dtype), for the reductions over several dimensions.
template <class F>
void reduction(OpTable& t, const std::string& name, F f) {
  t.add(name, [f](const Args& a) -> Outputs {
    return f(a.tensor("input"), a.ints("dim", IntVec{}), a.flag("keepdim", false), a.dtype());
  });
}
/// f(input, dims, correction, keepdim)
template <class F>
void spread(OpTable& t, const std::string& name, F f) {
  t.add(name, [f](const Args& a) -> Outputs {
    return f(a.tensor("input"), a.ints("dim", IntVec{}), a.integer("correction", 1), a.flag("keepdim", false));
  });
}
/// f(input, dims, keepdim)
template <class F>
void extreme(OpTable& t, const std::string& name, F f) {
  t.add(name, [f](const Args& a) -> Outputs {
    return f(a.tensor("input"), a.ints("dim", IntVec{}), a.flag("keepdim", false));
  });
}
/// f(input), or f(input, dim, keepdim) with a dimension.
template <class F>
void one_dim(OpTable& t, const std::string& name, F f) {
  t.add(name, [f](const Args& a) -> Outputs {
    const Tensor x = a.tensor("input");
    if (!a.has("dim")) return f(x);
    return f(x, a.integer("dim"), a.flag("keepdim", false));
  });
}

double norm_order(const Args& a) {
  if (!a.has("p")) return 2;
  if (!a.value("p").is<std::string>()) return a.real("p");
  if (a.text("p", "") != "fro") a.unsupported("p = " + a.text("p", ""));
  return 2;
}

}  // namespace

void add_reductions(OpTable& t) {
  reduction(t, "sum", [](const Tensor& x, const IntVec& d, bool k, auto to) { return x.sum(d, k, to); });
  reduction(t, "mean", [](const Tensor& x, const IntVec& d, bool k, auto to) { return x.mean(d, k, to); });
  reduction(t, "nansum", [](const Tensor& x, const IntVec& d, bool k, auto to) { return x.nansum(d, k, to); });
  reduction(t, "nanmean", [](const Tensor& x, const IntVec& d, bool k, auto to) { return x.nanmean(d, k, to); });
  spread(t, "var", [](const Tensor& x, const IntVec& d, auto c, bool k) { return x.var(d, c, k); });
  spread(t, "std", [](const Tensor& x, const IntVec& d, auto c, bool k) { return taper::std(x, d, c, k); });
  spread(t, "var_mean", [](const Tensor& x, const IntVec& d, auto c, bool k) { return taper::var_mean(x, d, c, k); });
  spread(t, "std_mean", [](const Tensor& x, const IntVec& d, auto c, bool k) { return taper::std_mean(x, d, c, k); });

  t.unary("max", [](const Tensor& x) { return x.max(); });
  t.unary("min", [](const Tensor& x) { return x.min(); });
  t.add("max.dim", [](const Args& a) { return a.tensor("input").max(a.integer("dim"), a.flag("keepdim", false)); });
  t.add("min.dim", [](const Args& a) { return a.tensor("input").min(a.integer("dim"), a.flag("keepdim", false)); });
  extreme(t, "amax", [](const Tensor& x, const IntVec& d, bool k) { return x.amax(d, k); });
  extreme(t, "amin", [](const Tensor& x, const IntVec& d, bool k) { return x.amin(d, k); });
  extreme(t, "logsumexp", [](const Tensor& x, const IntVec& d, bool k) { return taper::logsumexp(x, d, k); });
  t.add("aminmax",
        [](const Args& a) { return a.tensor("input").aminmax(a.optional_integer("dim"), a.flag("keepdim", false)); });
  t.add("argmax",
        [](const Args& a) { return a.tensor("input").argmax(a.optional_integer("dim"), a.flag("keepdim", false)); });
  t.add("argmin",
        [](const Args& a) { return a.tensor("input").argmin(a.optional_integer("dim"), a.flag("keepdim", false)); });
  one_dim(t, "all", [](const Tensor& x, auto... dim) { return x.all(dim...); });
  one_dim(t, "any", [](const Tensor& x, auto... dim) { return x.any(dim...); });
  t.add("count_nonzero",
        [](const Args& a) { return taper::count_nonzero(a.tensor("input"), a.ints("dim", IntVec{})); });
  t.add("prod", [](const Args& a) {
    const Tensor x = a.tensor("input");
    return a.has("dim") ? taper::prod(x, a.integer("dim"), a.flag("keepdim", false), a.dtype())
                        : taper::prod(x, a.dtype());
  });
  t.add("sum_to_size", [](const Args& a) { return taper::sum_to_size(a.tensor("input"), a.ints("size")); });
  t.add("norm", [](const Args& a) {
    return taper::norm(a.tensor("input"), norm_order(a), a.ints("dim", IntVec{}), a.flag("keepdim", false));
  });
}

}  // namespace oracle
