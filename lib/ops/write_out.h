#pragma once
// Out forms of functions that make their result themselves; those of operators are StructuredOp::out.
#include <taper/tensor.h>

namespace taper {

/// Writes the result into `out`, resized if it has no elements, and returns it. The checks are those of
/// StructuredOp::out, and come before anything is written. `op` must outlive the program: the version names it.
Tensor& write_out(const char* op, Tensor& out, const Tensor& result);
/// Several results, or none of them. A result that is undefined, as Q of qr(A, "r"), leaves its tensor as it is.
std::tuple<Tensor&, Tensor&> write_out(const char* op, Tensor& out0, Tensor& out1,
                                       const std::tuple<Tensor, Tensor>& results);
std::tuple<Tensor&, Tensor&, Tensor&> write_out(const char* op, Tensor& out0, Tensor& out1, Tensor& out2,
                                                const std::tuple<Tensor, Tensor, Tensor>& results);

namespace detail {
/// Throws unless a result of `want` may be written into out, once an out without elements is resized.
void check_out(const char* op, const TensorSpec& want, const Tensor& out);
}  // namespace detail

}  // namespace taper
