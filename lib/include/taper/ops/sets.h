#pragma once
// Which values there are. No derivatives: results of differentiable values have none, as PyTorch's have not.
#include <taper/tensor.h>

#include <optional>
#include <tuple>

namespace taper {

/// Where an element of `elements` is one of `test_elements`, in a bool tensor of the shape of `elements`; `invert`: is
/// none of them. The operands are compared in their result_type(); NaN is none of them. `assume_unique` makes no
/// difference to the result.
Tensor isin(const Tensor& elements, const Tensor& test_elements, bool assume_unique = false, bool invert = false);
Tensor isin(const Tensor& elements, Scalar test_element, bool assume_unique = false, bool invert = false);
Tensor isin(Scalar element, const Tensor& test_elements, bool assume_unique = false, bool invert = false);
/// Writes the result into `out`, as the forms of <taper/ops/pointwise.h> do.
Tensor& isin_out(Tensor& out, const Tensor& elements, const Tensor& test_elements, bool assume_unique = false,
                 bool invert = false);

/// The different slices of self along dim, in lexicographic order; with return_inverse, which of them each slice is,
/// with return_counts, how often each occurs. What is not asked for is undefined. Throws AutogradError if self requires
/// grad, DeviceError on meta. unique() in <taper/ops/sort.h> is the form for elements.
std::tuple<Tensor, Tensor, Tensor> unique_dim(const Tensor& self, std::int64_t dim, bool return_inverse = false,
                                              bool return_counts = false);
/// The same of neighbours: of each run of equal elements (or slices along dim), the first.
std::tuple<Tensor, Tensor, Tensor> unique_consecutive(const Tensor& self, bool return_inverse = false,
                                                      bool return_counts = false, std::optional<std::int64_t> dim = {});

}  // namespace taper
