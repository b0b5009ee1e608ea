#include <taper/memory_format.h>
#include <taper/operator.h>
#include <taper/ops/join.h>
#include <taper/ops/view.h>
#include <taper/promotion.h>

#include "wrap_dim.h"
#include "write_out.h"

namespace taper {
namespace {

void check_not_empty(const char* op, const TensorList& tensors) {
  check<ValueError>(!tensors.empty(), op, ": the list of tensors is empty, expected at least one");
}

/// A 1-D tensor of no elements takes no part in cat.
bool is_skipped(const Tensor& t) { return t.dim() == 1 && t.numel() == 0; }

bool is_channels_last(const Tensor& t) {
  return t.dim() >= 3 && !t.is_contiguous() && t.is_contiguous(MemoryFormat::channels_last);
}

Device device_of_all(const TensorList& tensors) {
  for (const Tensor& t : tensors)
    if (t.dim() > 0) return t.device();
  return tensors[0].device();
}

TensorSpec infer_cat(const TensorList& tensors, const std::int64_t& dim) {
  check_not_empty("cat", tensors);
  const Tensor* first = nullptr;
  std::size_t first_at = 0;
  bool all_channels_last = true;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    check<ShapeError>(tensors[i].dim() > 0, "cat: tensor ", i, " is 0-dim; use stack(), or unsqueeze(0) it first");
    if (is_skipped(tensors[i])) continue;
    if (!first) first = &tensors[i], first_at = i;
    all_channels_last &= is_channels_last(tensors[i]);
  }
  const DType dtype = result_type(tensors);
  const Device device = device_of_all(tensors);
  if (!first) {
    wrap_dim("cat", dim, tensors[0]);
    return TensorSpec::contiguous({0}, dtype, device);
  }

  const std::size_t along = std::size_t(wrap_dim("cat", dim, *first));
  IntVec sizes = first->sizes().vec();
  sizes[along] = 0;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Tensor& t = tensors[i];
    if (is_skipped(t)) continue;
    check<ShapeError>(t.dim() == first->dim(), "cat: tensor ", i, " is ", t, " but tensor ", first_at, " is ", *first,
                      "; the numbers of dims must agree");
    for (std::size_t d = 0; d < sizes.size(); ++d)
      check<ShapeError>(d == along || t.sizes()[d] == sizes[d], "cat: tensor ", i, " is ", t, " but tensor ", first_at,
                        " is ", *first, "; sizes must agree in dim ", d, ", only dim ", along, " may differ");
    check<ShapeError>(!__builtin_add_overflow(sizes[along], t.sizes()[along], &sizes[along]), "cat: dim ", along,
                      " would be too large");
  }
  if (!all_channels_last) return TensorSpec::contiguous(sizes, dtype, device);
  return {dense_geometry(sizes, MemoryFormat::channels_last), dtype, device};
}

TensorSpec infer_stack(const TensorList& tensors, const std::int64_t& dim) {
  check_not_empty("stack", tensors);
  const Tensor& first = tensors[0];
  const int rank = first.dim();
  check<IndexError>(dim >= -rank - 1 && dim <= rank, "stack: dim ", dim, " is out of range for tensors like ", first,
                    ", which take ", -rank - 1, " to ", rank);
  for (std::size_t i = 1; i < tensors.size(); ++i)
    check<ShapeError>(tensors[i].sizes() == first.sizes(), "stack: tensor ", i, " is ", tensors[i], " but tensor 0 is ",
                      first, "; all must have the same shape");
  IntVec sizes = first.sizes().vec();
  sizes.insert(sizes.begin() + (dim < 0 ? dim + rank + 1 : dim), std::int64_t(tensors.size()));
  return TensorSpec::contiguous(sizes, result_type(tensors), device_of_all(tensors));
}

TensorList each(const TensorList& tensors, Tensor (*f)(const Tensor&)) {
  TensorList out;
  for (const Tensor& t : tensors) out.push_back(f(t));
  return out;
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(TensorList, std::int64_t)> cat{"cat", "tensors, dim", infer_cat};
constinit StructuredOp<Tensor(TensorList, std::int64_t)> stack{"stack", "tensors, dim", infer_stack};
}  // namespace ops

Tensor cat(const TensorList& tensors, std::int64_t dim) { return ops::cat(tensors, dim); }
Tensor& cat_out(Tensor& out, const TensorList& tensors, std::int64_t dim) { return ops::cat.out(out, tensors, dim); }
Tensor stack(const TensorList& tensors, std::int64_t dim) { return ops::stack(tensors, dim); }
Tensor& stack_out(Tensor& out, const TensorList& tensors, std::int64_t dim) {
  return ops::stack.out(out, tensors, dim);
}

Tensor hstack(const TensorList& tensors) {
  check_not_empty("hstack", tensors);
  const TensorList wide = each(tensors, atleast_1d);
  return cat(wide, wide[0].dim() == 1 ? 0 : 1);
}
Tensor& hstack_out(Tensor& out, const TensorList& tensors) { return write_out("hstack", out, hstack(tensors)); }
Tensor vstack(const TensorList& tensors) {
  check_not_empty("vstack", tensors);
  return cat(each(tensors, atleast_2d), 0);
}
Tensor& vstack_out(Tensor& out, const TensorList& tensors) { return write_out("vstack", out, vstack(tensors)); }
Tensor dstack(const TensorList& tensors) {
  check_not_empty("dstack", tensors);
  return cat(each(tensors, atleast_3d), 2);
}
Tensor& dstack_out(Tensor& out, const TensorList& tensors) { return write_out("dstack", out, dstack(tensors)); }
Tensor column_stack(const TensorList& tensors) {
  check_not_empty("column_stack", tensors);
  return hstack(each(tensors, [](const Tensor& t) { return t.dim() <= 1 ? reshape(t, {t.numel(), 1}) : t; }));
}
Tensor& column_stack_out(Tensor& out, const TensorList& tensors) {
  return write_out("column_stack", out, column_stack(tensors));
}

}  // namespace taper
