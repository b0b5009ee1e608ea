#pragma once
// Other names that PyTorch has for functions which are documented under their own, functions that are methods, and the
// out forms of what is seldom written into something.
#include <taper/ops/compare.h>
#include <taper/ops/index.h>
#include <taper/ops/join.h>
#include <taper/ops/math.h>
#include <taper/ops/math_binary.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/pools.h>
#include <taper/ops/scan.h>
#include <taper/ops/sort.h>
#include <taper/ops/view.h>

namespace taper {

inline Tensor absolute(const Tensor& self) { return abs(self); }
inline Tensor negative(const Tensor& self) { return neg(self); }
inline Tensor sgn(const Tensor& self) { return sign(self); }
inline Tensor fix(const Tensor& self) { return trunc(self); }
inline Tensor arcsin(const Tensor& self) { return asin(self); }
inline Tensor arccos(const Tensor& self) { return acos(self); }
inline Tensor arctan(const Tensor& self) { return atan(self); }
inline Tensor arcsinh(const Tensor& self) { return asinh(self); }
inline Tensor arccosh(const Tensor& self) { return acosh(self); }
inline Tensor arctanh(const Tensor& self) { return atanh(self); }
inline Tensor arctan2(const Tensor& self, const Tensor& other) { return atan2(self, other); }
inline Tensor subtract(const Tensor& self, const Tensor& other, Scalar alpha = 1) { return sub(self, other, alpha); }
inline Tensor subtract(const Tensor& self, Scalar other, Scalar alpha = 1) { return sub(self, other, alpha); }
inline Tensor multiply(const Tensor& self, const Tensor& other) { return mul(self, other); }
inline Tensor multiply(const Tensor& self, Scalar other) { return mul(self, other); }
inline Tensor divide(const Tensor& self, const Tensor& other) { return div(self, other); }
inline Tensor divide(const Tensor& self, Scalar other) { return div(self, other); }
inline Tensor true_divide(const Tensor& self, const Tensor& other) { return div(self, other); }
inline Tensor true_divide(const Tensor& self, Scalar other) { return div(self, other); }
inline Tensor not_equal(const Tensor& self, const Tensor& other) { return ne(self, other); }
inline Tensor not_equal(const Tensor& self, Scalar other) { return ne(self, other); }
inline Tensor less(const Tensor& self, const Tensor& other) { return lt(self, other); }
inline Tensor less(const Tensor& self, Scalar other) { return lt(self, other); }
inline Tensor less_equal(const Tensor& self, const Tensor& other) { return le(self, other); }
inline Tensor less_equal(const Tensor& self, Scalar other) { return le(self, other); }
inline Tensor greater(const Tensor& self, const Tensor& other) { return gt(self, other); }
inline Tensor greater(const Tensor& self, Scalar other) { return gt(self, other); }
inline Tensor greater_equal(const Tensor& self, const Tensor& other) { return ge(self, other); }
inline Tensor greater_equal(const Tensor& self, Scalar other) { return ge(self, other); }
inline Tensor max(const Tensor& self, const Tensor& other) { return maximum(self, other); }
inline Tensor min(const Tensor& self, const Tensor& other) { return minimum(self, other); }
inline Tensor& max_out(Tensor& out, const Tensor& self, const Tensor& other) { return maximum_out(out, self, other); }
inline Tensor& min_out(Tensor& out, const Tensor& self, const Tensor& other) { return minimum_out(out, self, other); }
inline Tensor clip(const Tensor& self, std::optional<Scalar> min = {}, std::optional<Scalar> max = {}) {
  return clamp(self, min, max);
}
inline Tensor moveaxis(const Tensor& self, IntSpan source, IntSpan destination) {
  return movedim(self, source, destination);
}
inline Tensor ger(const Tensor& self, const Tensor& vec2) { return outer(self, vec2); }
inline Tensor vdot(const Tensor& self, const Tensor& other) { return dot(self, other); }
inline Tensor concat(const TensorList& tensors, std::int64_t dim = 0) { return cat(tensors, dim); }
inline Tensor concatenate(const TensorList& tensors, std::int64_t dim = 0) { return cat(tensors, dim); }
inline Tensor row_stack(const TensorList& tensors) { return vstack(tensors); }
inline Tensor trapz(const Tensor& y, double dx = 1, std::int64_t dim = -1) { return trapezoid(y, dx, dim); }
inline Tensor trapz(const Tensor& y, const Tensor& x, std::int64_t dim = -1) { return trapezoid(y, x, dim); }
inline Tensor msort(const Tensor& self) { return std::get<0>(sort(self, 0)); }
inline Tensor argwhere(const Tensor& self) { return nonzero(self); }

inline Tensor& sgn_out(Tensor& out, const Tensor& self) { return sign_out(out, self); }
inline std::tuple<Tensor&, Tensor&> adaptive_max_pool2d_out(Tensor& out, Tensor& indices, const Tensor& self,
                                                            const OutputSizes& output_size) {
  return adaptive_max_pool2d_with_indices_out(out, indices, self, output_size);
}
Tensor& clone_out(Tensor& out, const Tensor& self);
Tensor& zeros_like_out(Tensor& out, const Tensor& self);
Tensor& ones_like_out(Tensor& out, const Tensor& self);
Tensor& full_like_out(Tensor& out, const Tensor& self, Scalar value);
Tensor& tril_indices_out(Tensor& out, std::int64_t rows, std::int64_t columns, std::int64_t offset = 0);
Tensor& triu_indices_out(Tensor& out, std::int64_t rows, std::int64_t columns, std::int64_t offset = 0);

inline Tensor& fill_(Tensor& self, Scalar value) { return self.fill_(value); }
inline Tensor& fill_(Tensor& self, const Tensor& value) { return self.fill_(value); }
inline Tensor& zero_(Tensor& self) { return self.zero_(); }
inline Tensor& clamp_(Tensor& self, std::optional<Scalar> min = {}, std::optional<Scalar> max = {}) {
  return self.clamp_(min, max);
}
inline Tensor& clamp_min_(Tensor& self, Scalar min) { return self.clamp_min_(min); }
inline Tensor& clamp_min_(Tensor& self, const Tensor& min) { return self.clamp_min_(min); }
inline Tensor& clamp_max_(Tensor& self, Scalar max) { return self.clamp_max_(max); }
inline Tensor& clamp_max_(Tensor& self, const Tensor& max) { return self.clamp_max_(max); }
inline Tensor& frac_(Tensor& self) { return self.frac_(); }
inline Tensor& sinc_(Tensor& self) { return self.sinc_(); }
inline Tensor& deg2rad_(Tensor& self) { return self.deg2rad_(); }
inline Tensor& rad2deg_(Tensor& self) { return self.rad2deg_(); }
inline Tensor& logit_(Tensor& self, std::optional<double> eps = {}) { return self.logit_(eps); }
inline Tensor& nan_to_num_(Tensor& self, double nan = 0, std::optional<double> posinf = {},
                           std::optional<double> neginf = {}) {
  return self.nan_to_num_(nan, posinf, neginf);
}
inline Tensor& xlogy_(Tensor& self, const Tensor& other) { return self.xlogy_(other); }
inline Tensor& xlogy_(Tensor& self, Scalar other) { return self.xlogy_(other); }
inline Tensor& addmv_(Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta = 1, Scalar alpha = 1) {
  return self.addmv_(mat, vec, beta, alpha);
}

}  // namespace taper
