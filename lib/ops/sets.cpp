#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/compare.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/scan.h>
#include <taper/ops/sets.h>
#include <taper/ops/sort.h>
#include <taper/ops/view.h>
#include <taper/promotion.h>

#include "wrap_dim.h"
#include "write_out.h"

namespace taper {

Tensor isin(const Tensor& elements, const Tensor& test_elements, bool, bool invert) {
  const DType dtype = result_type(elements, test_elements);
  const Tensor x = elements.detach().to(dtype);
  const std::int64_t n = test_elements.numel();
  if (n == 0) return full(x.sizes(), invert, bool_, x.device());
  Tensor tests = std::get<0>(sort(test_elements.detach().to(x.device(), dtype).reshape(-1)));
  if (is_floating(dtype))  // NaN, which cannot be searched among, gives way to the first again
    tests = std::get<0>(sort(where(tests.isnan(), tests.select(0, 0), tests)));
  const Tensor found = tests.take(searchsorted(tests, x).clamp_max(n - 1));
  return invert ? found.ne(x) : found.eq(x);
}
Tensor isin(const Tensor& elements, Scalar test_element, bool, bool invert) {
  const Tensor x = elements.detach();
  return invert ? x.ne(test_element) : x.eq(test_element);
}
Tensor isin(Scalar element, const Tensor& test_elements, bool assume_unique, bool invert) {
  return isin(wrapped_number(element).to(test_elements.device()), test_elements, assume_unique, invert);
}
Tensor& isin_out(Tensor& out, const Tensor& elements, const Tensor& test_elements, bool assume_unique, bool invert) {
  return write_out("isin", out, isin(elements, test_elements, assume_unique, invert));
}

namespace {

void check_self(const char* op, const Tensor& self) {
  check<AutogradError>(!detail::requires_grad_hook || !GradMode::is_enabled() || !detail::requires_grad_hook(self), op,
                       ": has no derivative, but ", self, " requires grad; use x.detach()");
  check<DeviceError>(!self.device().is_meta(), op, ": the size of the result depends on the values of ", self,
                     ", and a meta tensor has none");
}

/// self as rows [n, width], one for each slice along dim.
Tensor rows_of(const Tensor& self, std::int64_t dim) {
  const Tensor first = self.dim() == 0 ? self.unsqueeze(0) : movedim(self, dim, 0);
  const std::int64_t n = first.size(0);
  return first.reshape({n, n == 0 ? 0 : first.numel() / n});
}

/// Of rows in an order in which equals are neighbours: where each run begins, and the run of each row.
struct Runs {
  Tensor starts, run;
  explicit Runs(const Tensor& rows) {
    const std::int64_t n = rows.size(0);
    Tensor first = full({n}, true, bool_, rows.device());
    if (n > 0) first.narrow(0, 1, n - 1).copy_(rows.narrow(0, 1, n - 1).ne(rows.narrow(0, 0, n - 1)).any(1));
    starts = nonzero(first).select(1, 0);
    run = cumsum(first, 0).sub(1);
  }
  Tensor counts() const { return diff(starts, 1, 0, {}, full({1}, run.numel(), int64, run.device())); }
};

}  // namespace

std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, std::int64_t dim, bool return_inverse,
                                              bool return_counts) {
  check_self("unique_dim", self);
  const NoGradGuard no_grad;
  const std::int64_t at = wrap_dim("unique_dim", dim, self);
  const Tensor rows = rows_of(self, at);
  Tensor order = arange(rows.size(0), {.dtype = int64, .device = self.device()});
  for (std::int64_t column = rows.size(1); column-- > 0;)  // sorting keeps the order of equals
    order = order.index_select(0, argsort(rows.select(1, column).index_select(0, order), 0));
  const Runs runs(rows.index_select(0, order));
  const Tensor chosen = order.index_select(0, runs.starts);
  return {self.dim() == 0 ? self.reshape({1}) : self.index_select(at, chosen),
          return_inverse ? scatter(order, 0, order, runs.run) : Tensor(), return_counts ? runs.counts() : Tensor()};
}

std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self, bool return_inverse, bool return_counts,
                                                      std::optional<std::int64_t> dim) {
  check_self("unique_consecutive", self);
  const NoGradGuard no_grad;
  const Tensor of = dim ? self : self.reshape(-1);
  const std::int64_t at = dim ? wrap_dim("unique_consecutive", *dim, self) : 0;
  const Runs runs(rows_of(of, at));
  const Tensor inverse = dim ? runs.run : runs.run.view(self.sizes());
  return {of.dim() == 0 ? of.reshape({1}) : of.index_select(at, runs.starts), return_inverse ? inverse : Tensor(),
          return_counts ? runs.counts() : Tensor()};
}

}  // namespace taper
