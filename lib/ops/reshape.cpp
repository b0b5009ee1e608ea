// view and reshape: the same elements in reading order, in another shape.
#include <taper/layout_copies.h>
#include <taper/new_tensor_hook.h>
#include <taper/operator.h>
#include <taper/ops/view.h>

#include "wrap_dim.h"

namespace taper {
namespace {

/// Two neighbouring dims of the old shape that a new dim would have to step through as one, but cannot.
struct Seam {
  int dim = 0;  // the inner of the two
  std::int64_t step = 0, step_across = 0;
};

/// Fills in the strides that show `from` in the sizes of `to`, which has as many elements. Walks both shapes from the
/// last dim; old dims that one stride steps through are a run, and each run must be cut into new dims exactly.
std::optional<Seam> find_strides(const SizesAndStrides& from, SizesAndStrides& to) {
  const IntSpan sizes = from.sizes(), strides = from.strides();
  if (from.numel() == 0) {
    if (sizes == to.sizes())
      to = from;
    else
      to = SizesAndStrides::contiguous(to.sizes());
    return {};
  }
  int out = to.rank() - 1;
  const auto assign = [&](std::int64_t stride) {
    const std::int64_t size = to.sizes()[std::size_t(out)];
    to.set(out--, size, stride);
    return size;
  };
  std::int64_t run_stride = from.rank() > 0 ? strides[strides.size() - 1] : 1;
  std::int64_t run = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    run *= sizes[d];
    const bool run_goes_on = d > 0 && (sizes[d - 1] == 1 || strides[d - 1] == run * run_stride);
    if (run_goes_on) continue;
    std::int64_t covered = 1;
    while (out >= 0 && (covered < run || to.sizes()[std::size_t(out)] == 1)) covered *= assign(covered * run_stride);
    if (covered != run) return Seam{int(d), run_stride, strides[d - 1] - (run - 1) * run_stride};
    if (d > 0) run_stride = strides[d - 1];
    run = 1;
  }
  while (out >= 0) assign(run_stride);  // 0-dim: only sizes of 1 are left
  return {};
}

/// `sizes` with -1 worked out, as a shape whose strides are still to be found.
SizesAndStrides resolve_sizes(const char* op, const Tensor& self, IntSpan sizes) {
  SizesAndStrides to = SizesAndStrides::of_rank(int(sizes.size()));
  std::int64_t known = 1;
  int inferred = -1;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == -1) {
      check<ShapeError>(inferred < 0, op, ": size ", sizes, " has -1 at dims ", inferred, " and ", d,
                        "; only one size can be worked out from the others");
      inferred = int(d);
      continue;
    }
    check<ShapeError>(sizes[d] >= 0, op, ": size ", sizes, " has ", sizes[d], " at dim ", d,
                      ", expected 0 or more, or -1");
    check<ShapeError>(!__builtin_mul_overflow(known, sizes[d], &known), op, ": size ", sizes, " has too many elements");
    to.set(int(d), sizes[d], 0);
  }
  const std::int64_t n = self.numel();
  if (inferred >= 0) {
    check<ShapeError>(known != 0 || n != 0, op, ": the -1 in size ", sizes, " is ambiguous for ", self,
                      ", which has no elements: any number would do; write it out");
    check<ShapeError>(known != 0 && n % known == 0, op, ": size ", sizes, " does not fit ", self, ": its ", n,
                      " elements do not divide by ", known);
    to.set(inferred, n / known, 0);
  } else {
    check<ShapeError>(known == n, op, ": size ", sizes, " has ", known, " elements but ", self, " has ", n);
  }
  return to;
}

[[noreturn]] void raise_seam(const Tensor& self, IntSpan sizes, const Seam& seam) {
  raise<ShapeError>("view: size ", sizes, " needs dims ", seam.dim - 1, " and ", seam.dim, " of ", self,
                    " to merge, but no stride does that: with strides ", self.strides(),
                    " the elements in reading order are ", seam.step, " apart within dim ", seam.dim, " and ",
                    seam.step_across, " from one of its rows to the next; use reshape(), which copies");
}

Geometry infer_view(const Tensor& self, const IntSpan& sizes) {
  SizesAndStrides to = resolve_sizes("view", self, sizes);
  const std::optional<Seam> seam = find_strides(self.impl()->geometry(), to);
  if (seam) raise_seam(self, sizes, *seam);
  return {std::move(to), self.storage_offset()};
}

/// self's shape and place in elements of another size.
Geometry in_elements_of(const Tensor& self, DType dtype) {
  const auto from = std::int64_t(self.element_size()), to = std::int64_t(itemsize(dtype));
  SizesAndStrides geometry = self.impl()->geometry();
  if (from == to) return {std::move(geometry), self.storage_offset()};
  check<ShapeError>(self.dim() > 0, "view: ", self, " has no dim to hold elements of ", dtype,
                    ", which are of another size; use x.unsqueeze(0)");
  const int last = self.dim() - 1;
  check<ShapeError>(self.stride(-1) == 1 || self.numel() == 0, "view: elements of ", self, " with strides ",
                    self.strides(), " do not lie one after the other in the last dim, so that they do not make ", dtype,
                    "; use x.contiguous()");
  // Counts of elements become counts of elements of the other size, if they divide.
  const auto counted = [&](const char* what, std::int64_t n) {
    check<ShapeError>(n * from % to == 0, "view: ", what, " of ", self, " is ", n, ", which is no whole number of ",
                      dtype, ": ", n * from, " bytes");
    return n * from / to;
  };
  for (int d = 0; d < last; ++d) geometry.set(d, self.size(d), counted("a stride", self.stride(d)));
  geometry.set(last, counted("the last dim", self.size(-1)), 1);
  return {std::move(geometry), counted("the start", self.storage_offset())};
}

TensorSpec infer_reshape_copy(const Tensor& self, const IntSpan& sizes) {
  return TensorSpec::contiguous(resolve_sizes("reshape", self, sizes).sizes(), self.dtype(), self.device());
}

}  // namespace

namespace ops {
constinit ViewOp<IntSpan> view{"view", "self, size", infer_view};
constinit StructuredOp<Tensor(Tensor, IntSpan)> reshape_copy{"reshape", "self, shape", infer_reshape_copy};
}  // namespace ops

Tensor view(const Tensor& self, IntSpan sizes) { return ops::view(self, sizes); }
Tensor Tensor::view(DType dtype) const { return taper::view(*this, dtype); }
Tensor view(const Tensor& self, DType dtype) {
  if (dtype == self.dtype()) return ops::view(self, self.sizes());
  check<DTypeError>(dtype != bool_, "view: ", self, " may hold bytes that are no bool; use x.ne(0)");
  check<AutogradError>(!(GradMode::is_enabled() && detail::requires_grad_hook && detail::requires_grad_hook(self)),
                       "view: bytes have no derivative, but ", self,
                       " requires grad; use x.detach().view(taper::", dtype, ")");
  const auto [geometry, offset] = in_elements_of(self, dtype);
  auto same_bytes = make_intrusive<TensorImpl>(self.storage(), dtype, geometry, offset);
  const auto address = reinterpret_cast<std::uintptr_t>(same_bytes->data());
  check<ValueError>(address % itemsize(dtype) == 0, "view: the memory of ", self, " is not aligned for ", dtype,
                    "; copy it first with x.clone()");
  same_bytes->set_view_path(ViewPath::extend(self.impl()->view_path(), "view"));
  Tensor result(std::move(same_bytes));
  if (ExcludedKeys::watching()) [[unlikely]]
    detail::new_tensor_hook(result, "view");
  return result;
}
std::string explain_view(const Tensor& self, IntSpan sizes) {
  std::string text;
  try {
    append_to(text, "view with strides ");
    append_to(text, infer_view(self, sizes).shape.strides());
  } catch (const ShapeError& e) {
    text = e.what();
  }
  return text;
}
Tensor view_as(const Tensor& self, const Tensor& other) { return ops::view(self, other.sizes()); }

Tensor reshape(const Tensor& self, IntSpan sizes) {
  SizesAndStrides to = resolve_sizes("reshape", self, sizes);
  if (!find_strides(self.impl()->geometry(), to)) return ops::view(self, to.sizes());
  detail::count_implicit_copy("reshape", self);
  return ops::reshape_copy(self, to.sizes());
}
Tensor reshape_as(const Tensor& self, const Tensor& other) { return reshape(self, other.sizes()); }

Tensor flatten(const Tensor& self, std::int64_t start_dim, std::int64_t end_dim) {
  const std::int64_t start = wrap_dim("flatten", start_dim, self), end = wrap_dim("flatten", end_dim, self);
  check<ShapeError>(start <= end, "flatten: start_dim ", start_dim, " comes after end_dim ", end_dim, " of ", self);
  if (self.dim() == 0) return reshape(self, {1});
  if (start == end) return self;
  const IntSpan sizes = self.sizes();
  IntVec merged(sizes.begin(), sizes.begin() + start);
  std::int64_t n = 1;
  for (std::int64_t d = start; d <= end; ++d) n *= sizes[std::size_t(d)];
  merged.push_back(n);
  merged.insert(merged.end(), sizes.begin() + end + 1, sizes.end());
  return reshape(self, merged);
}

Tensor unflatten(const Tensor& self, std::int64_t dim, IntSpan sizes) {
  check<ShapeError>(!sizes.empty(), "unflatten: sizes is empty, expected at least one size");
  check<ShapeError>(self.dim() > 0, "unflatten: a 0-dim tensor has no dim to split");
  const std::int64_t at = wrap_dim("unflatten", dim, self), whole = self.size(at);
  std::int64_t known = 1, inferred = 0;
  for (const std::int64_t s : sizes) {
    check<ShapeError>(s >= -1, "unflatten: sizes ", sizes, " has a negative entry other than -1");
    if (s == -1)
      ++inferred;
    else
      check<ShapeError>(!__builtin_mul_overflow(known, s, &known), "unflatten: sizes ", sizes, " overflows");
  }
  check<ShapeError>(inferred <= 1, "unflatten: sizes ", sizes, " has -1 more than once");
  const bool fits = inferred ? known != 0 && whole % known == 0 : known == whole;
  check<ShapeError>(fits, "unflatten: sizes ", sizes, " do not multiply to dim ", dim, " of ", self, ", which is ",
                    whole);
  IntVec split(self.sizes().begin(), self.sizes().begin() + at);
  for (const std::int64_t s : sizes) split.push_back(s == -1 ? whole / known : s);
  split.insert(split.end(), self.sizes().begin() + at + 1, self.sizes().end());
  return ops::view(self, split);
}

Tensor ravel(const Tensor& self) { return self.contiguous().view(-1); }

Tensor atleast_1d(const Tensor& self) { return self.dim() >= 1 ? self : reshape(self, {1}); }
Tensor atleast_2d(const Tensor& self) {
  if (self.dim() >= 2) return self;
  return self.dim() == 0 ? reshape(self, {1, 1}) : unsqueeze(self, 0);
}
Tensor atleast_3d(const Tensor& self) {
  if (self.dim() >= 3) return self;
  if (self.dim() == 2) return unsqueeze(self, -1);
  return self.dim() == 0 ? reshape(self, {1, 1, 1}) : unsqueeze(unsqueeze(self, 0), -1);
}

Tensor Tensor::view(IntSpan sizes) const { return taper::view(*this, sizes); }
Tensor Tensor::view_as(const Tensor& other) const { return taper::view_as(*this, other); }
Tensor Tensor::reshape(IntSpan sizes) const { return taper::reshape(*this, sizes); }
Tensor Tensor::flatten(std::int64_t start_dim, std::int64_t end_dim) const {
  return taper::flatten(*this, start_dim, end_dim);
}

}  // namespace taper
