#pragma once
// Forms that end in _out write the result into `out`, as those of <taper/ops/pointwise.h> do.
#include <taper/ops/declare.h>
#include <taper/tensor.h>

#include <array>
#include <tuple>

namespace taper {

// What the functions here have in common:
// `dims` are the dimensions to reduce, each in [-x.dim(), x.dim()) and at most once; {} means all of them. The result
// lacks them, or with `keepdim` has them with size 1. The result is contiguous new memory, on any device of x.
// Floating results are accumulated in float64, so a long float32 sum loses nothing to its length; the number of threads
// does not change a bit of them. NaN propagates. A dimension out of range throws IndexError, a repeated one ValueError.

/// The sum of the elements. Integers and bool are summed in int64; with `dtype`, x is converted to it first.
/// Zero for no elements. Differentiable.
Tensor sum(const Tensor& x, std::optional<DType> dtype = {});
Tensor& sum_out(Tensor& out, const Tensor& x, std::optional<DType> dtype = {});
Tensor sum(const Tensor& x, IntSpan dims, bool keepdim = false, std::optional<DType> dtype = {});
Tensor& sum_out(Tensor& out, const Tensor& x, IntSpan dims, bool keepdim = false, std::optional<DType> dtype = {});

/// The sum of x over the dimensions along which `sizes` would be broadcast to x's shape: the adjoint of
/// expand(sizes -> x.sizes()). Returns x itself if it has that shape already. Differentiable.
/// Throws ShapeError if `sizes` does not broadcast to x's shape.
Tensor sum_to_size(const Tensor& x, IntSpan sizes);

/// The arithmetic mean; NaN for no elements. x (or `dtype`) must be floating. Differentiable.
Tensor mean(const Tensor& x, std::optional<DType> dtype = {});
Tensor& mean_out(Tensor& out, const Tensor& x, std::optional<DType> dtype = {});
Tensor mean(const Tensor& x, IntSpan dims, bool keepdim = false, std::optional<DType> dtype = {});
Tensor& mean_out(Tensor& out, const Tensor& x, IntSpan dims, bool keepdim = false, std::optional<DType> dtype = {});

/// The variance sum((x - mean(x))^2) / max(0, n - correction), for n reduced elements. correction = 1 is the unbiased
/// estimate, 0 the mean square deviation. x must be floating. Differentiable.
Tensor var(const Tensor& x, std::int64_t correction = 1);
Tensor& var_out(Tensor& out, const Tensor& x, std::int64_t correction = 1);
Tensor var(const Tensor& x, IntSpan dims, std::int64_t correction = 1, bool keepdim = false);
Tensor& var_out(Tensor& out, const Tensor& x, IntSpan dims, std::int64_t correction = 1, bool keepdim = false);
/// The square root of var(); its gradient is 0 where it is 0.
Tensor std(const Tensor& x, std::int64_t correction = 1);
Tensor& std_out(Tensor& out, const Tensor& x, std::int64_t correction = 1);
Tensor std(const Tensor& x, IntSpan dims, std::int64_t correction = 1, bool keepdim = false);
Tensor& std_out(Tensor& out, const Tensor& x, IntSpan dims, std::int64_t correction = 1, bool keepdim = false);
/// {var, mean} and {std, mean} of the same elements.
std::tuple<Tensor, Tensor> var_mean(const Tensor& x, IntSpan dims = {}, std::int64_t correction = 1,
                                    bool keepdim = false);
std::tuple<Tensor&, Tensor&> var_mean_out(Tensor& var, Tensor& mean, const Tensor& x, IntSpan dims = {},
                                          std::int64_t correction = 1, bool keepdim = false);
std::tuple<Tensor, Tensor> std_mean(const Tensor& x, IntSpan dims = {}, std::int64_t correction = 1,
                                    bool keepdim = false);
std::tuple<Tensor&, Tensor&> std_mean_out(Tensor& std, Tensor& mean, const Tensor& x, IntSpan dims = {},
                                          std::int64_t correction = 1, bool keepdim = false);

/// The largest, smallest element. Elements that tie share the gradient evenly. Throws ValueError if there are none.
Tensor max(const Tensor& x);
Tensor& max_out(Tensor& out, const Tensor& x);
Tensor min(const Tensor& x);
Tensor& min_out(Tensor& out, const Tensor& x);
/// The largest, smallest element along `dim` and its index (int64), the first one of those that tie; NaN counts as
/// both. The gradient goes to the element at the returned index.
std::tuple<Tensor, Tensor> max(const Tensor& x, std::int64_t dim, bool keepdim = false);
std::tuple<Tensor&, Tensor&> max_out(Tensor& max, Tensor& indices, const Tensor& x, std::int64_t dim,
                                     bool keepdim = false);
std::tuple<Tensor, Tensor> min(const Tensor& x, std::int64_t dim, bool keepdim = false);
std::tuple<Tensor&, Tensor&> min_out(Tensor& min, Tensor& indices, const Tensor& x, std::int64_t dim,
                                     bool keepdim = false);
/// As max and min, over several dimensions; ties share the gradient evenly.
Tensor amax(const Tensor& x, IntSpan dims = {}, bool keepdim = false);
Tensor& amax_out(Tensor& out, const Tensor& x, IntSpan dims = {}, bool keepdim = false);
Tensor amin(const Tensor& x, IntSpan dims = {}, bool keepdim = false);
Tensor& amin_out(Tensor& out, const Tensor& x, IntSpan dims = {}, bool keepdim = false);
/// The index (int64) of the first largest, smallest element along `dim`, or of x in row-major order. NaN counts as
/// both. Not differentiable. Throws ValueError if there are no elements to choose from.
Tensor argmax(const Tensor& x, std::optional<std::int64_t> dim = {}, bool keepdim = false);
Tensor& argmax_out(Tensor& out, const Tensor& x, std::optional<std::int64_t> dim = {}, bool keepdim = false);
Tensor argmin(const Tensor& x, std::optional<std::int64_t> dim = {}, bool keepdim = false);
Tensor& argmin_out(Tensor& out, const Tensor& x, std::optional<std::int64_t> dim = {}, bool keepdim = false);

/// Whether all, any of the elements are nonzero: bool, or uint8 for a uint8 x. NaN is nonzero. Not differentiable.
Tensor all(const Tensor& x);
Tensor& all_out(Tensor& out, const Tensor& x);
Tensor all(const Tensor& x, std::int64_t dim, bool keepdim = false);
Tensor& all_out(Tensor& out, const Tensor& x, std::int64_t dim, bool keepdim = false);
Tensor any(const Tensor& x);
Tensor& any_out(Tensor& out, const Tensor& x);
Tensor any(const Tensor& x, std::int64_t dim, bool keepdim = false);
Tensor& any_out(Tensor& out, const Tensor& x, std::int64_t dim, bool keepdim = false);
/// How many elements are nonzero, int64. Not differentiable.
Tensor count_nonzero(const Tensor& x, IntSpan dims = {});
Tensor& count_nonzero_out(Tensor& out, const Tensor& x, IntSpan dims = {});

/// The product of the elements, with the dtypes of sum(). One for no elements. Differentiable, also at zeros.
Tensor prod(const Tensor& x, std::optional<DType> dtype = {});
Tensor& prod_out(Tensor& out, const Tensor& x, std::optional<DType> dtype = {});
Tensor prod(const Tensor& x, std::int64_t dim, bool keepdim = false, std::optional<DType> dtype = {});
Tensor& prod_out(Tensor& out, const Tensor& x, std::int64_t dim, bool keepdim = false, std::optional<DType> dtype = {});

/// The p-norm (sum |x|^p)^(1/p) of the elements as one vector; p = 2 is the Euclidean (Frobenius) norm, infinity the
/// largest magnitude, -infinity the smallest, 0 the number of nonzero elements. x must be floating.
/// Differentiable; the gradient of a zero vector is 0.
Tensor norm(const Tensor& x, double p = 2);
Tensor& norm_out(Tensor& out, const Tensor& x, double p = 2);
Tensor norm(const Tensor& x, double p, IntSpan dims, bool keepdim = false);
Tensor& norm_out(Tensor& out, const Tensor& x, double p, IntSpan dims, bool keepdim = false);

/// log(sum(exp(x))), computed without overflow. x must be floating. Differentiable.
Tensor logsumexp(const Tensor& x, IntSpan dims, bool keepdim = false);
Tensor& logsumexp_out(Tensor& out, const Tensor& x, IntSpan dims, bool keepdim = false);

/// The sum and the mean of the elements that are not NaN. nanmean needs a floating dtype and gives NaN for none.
Tensor nansum(const Tensor& x, IntSpan dims = {}, bool keepdim = false, std::optional<DType> dtype = {});
Tensor& nansum_out(Tensor& out, const Tensor& x, IntSpan dims = {}, bool keepdim = false,
                   std::optional<DType> dtype = {});
Tensor nanmean(const Tensor& x, IntSpan dims = {}, bool keepdim = false, std::optional<DType> dtype = {});
Tensor& nanmean_out(Tensor& out, const Tensor& x, IntSpan dims = {}, bool keepdim = false,
                    std::optional<DType> dtype = {});
/// amin and amax, over one dimension or all.
std::tuple<Tensor, Tensor> aminmax(const Tensor& x, std::optional<std::int64_t> dim = {}, bool keepdim = false);
std::tuple<Tensor&, Tensor&> aminmax_out(Tensor& min, Tensor& max, const Tensor& x,
                                         std::optional<std::int64_t> dim = {}, bool keepdim = false);

namespace ops {

/// Dimensions of one tensor as bits: bit d stands for dimension d.
struct Reduced {
  using plain_argument = void;
  std::uint64_t dims = 0;  ///< the dimensions that are reduced
  std::uint64_t kept = 0;  ///< those of them that stay, with size 1
};
/// The wrapped and checked form of a list of dimensions; {} means all. `op` is for messages.
Reduced reduced_dims(const char* op, const Tensor& x, IntSpan dims, bool keepdim);
/// The shape of a reduction of x.
TensorSpec reduced_spec(const Tensor& x, Reduced r, DType dtype);

extern StructuredOp<Tensor(Tensor, Reduced)> sum, mean, max, min, amax, amin, argmax, argmin, all, any, count_nonzero;
extern StructuredOp<Tensor(Tensor, Reduced)> prod, logsumexp;
extern StructuredOp<Tensor(Tensor, Reduced, std::int64_t)> var, std;
extern StructuredOp<Tensor(Tensor, Reduced, double)> norm;
/// The largest, smallest values along the one reduced dimension, and their indices.
extern StructuredOp<std::array<Tensor, 2>(Tensor, Reduced)> max_dim, min_dim;
/// Zeros of `size` along `dim`, with the values of g at `index`, both of which have size 1 there: the adjoint of
/// max_dim.
extern StructuredOp<Tensor(Tensor, Tensor, std::int64_t, std::int64_t)> place_along;
/// The elements of x at `index` along `dim`, where index has size 1: the adjoint of place_along.
extern StructuredOp<Tensor(Tensor, Tensor, std::int64_t)> take_along;
/// For each element the product of all others that are reduced with it: the gradient of prod.
extern StructuredOp<Tensor(Tensor, Reduced)> prod_of_others;

}  // namespace ops
}  // namespace taper
