// Along a dim: running results, sorting and choosing.
#include <taper/ops/scan.h>
#include <taper/ops/sort.h>

#include "op_table.h"

namespace oracle {
namespace {

Outputs unique(const Args& a) {
  a.flag("sorted", true);
  const bool inverse = a.flag("return_inverse", false), counts = a.flag("return_counts", false);
  const auto [values, places, times] = taper::unique(a.tensor("input"), inverse, counts);
  Outputs out(values);
  if (inverse) out.push_back({places});
  if (counts) out.push_back({times});
  return out;
}

}  // namespace

void add_order(OpTable& t) {
  t.add("cumsum", [](const Args& a) { return a.tensor("input").cumsum(a.integer("dim"), a.dtype()); });
  t.add("cumsum_", [](const Args& a) { return a.tensor("input").cumsum_(a.integer("dim"), a.dtype()); });
  t.add("cumprod", [](const Args& a) { return a.tensor("input").cumprod(a.integer("dim"), a.dtype()); });
  t.add("cumprod_", [](const Args& a) { return a.tensor("input").cumprod_(a.integer("dim"), a.dtype()); });
  t.add("logcumsumexp", [](const Args& a) { return a.tensor("input").logcumsumexp(a.integer("dim")); });
  t.add("cummax", [](const Args& a) { return a.tensor("input").cummax(a.integer("dim")); });
  t.add("cummin", [](const Args& a) { return a.tensor("input").cummin(a.integer("dim")); });
  t.add("diff", [](const Args& a) {
    return a.tensor("input").diff(a.integer("n", 1), a.integer("dim", -1), a.optional_tensor("prepend"),
                                  a.optional_tensor("append"));
  });

  t.add("sort", [](const Args& a) {
    if (a.has("stable")) a.flag("stable", true);  // it always is
    return a.tensor("input").sort(a.integer("dim", -1), a.flag("descending", false));
  });
  t.add("argsort",
        [](const Args& a) { return a.tensor("input").argsort(a.integer("dim", -1), a.flag("descending", false)); });
  t.add("topk", [](const Args& a) {
    return a.tensor("input").topk(a.integer("k"), a.integer("dim", -1), a.flag("largest", true),
                                  a.flag("sorted", true));
  });
  t.add("kthvalue", [](const Args& a) {
    return a.tensor("input").kthvalue(a.integer("k"), a.integer("dim", -1), a.flag("keepdim", false));
  });
  t.add("median.dim",
        [](const Args& a) { return a.tensor("input").median(a.integer("dim"), a.flag("keepdim", false)); });
  t.unary("median", [](const Tensor& x) { return x.median(); });
  t.add("unique", unique);
  t.add("bincount", [](const Args& a) {
    return a.tensor("input").bincount(a.optional_tensor("weights"), a.integer("minlength", 0));
  });
  t.add("searchsorted", [](const Args& a) {
    const Tensor sequence = a.tensor("sorted_sequence");
    const bool narrow = a.flag("out_int32", false), right = a.flag("right", false);
    return a.is_tensor("input") ? taper::searchsorted(sequence, a.tensor("input"), narrow, right)
                                : taper::searchsorted(sequence, a.number("input"), narrow, right);
  });
  t.add("bucketize", [](const Args& a) {
    const Tensor boundaries = a.tensor("boundaries");
    const bool narrow = a.flag("out_int32", false), right = a.flag("right", false);
    return a.is_tensor("input") ? taper::bucketize(a.tensor("input"), boundaries, narrow, right)
                                : taper::bucketize(a.number("input"), boundaries, narrow, right);
  });
}

}  // namespace oracle
