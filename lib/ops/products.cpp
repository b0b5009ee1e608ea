// Products made of matmul: inner, tensordot, kron, bilinear, and the methods of the sums with a product.
#include <taper/operator.h>
#include <taper/ops/matmul.h>
#include <taper/ops/view.h>

#include <numeric>

#include "wrap_dim.h"
#include "write_out.h"

namespace taper {

Tensor inner(const Tensor& a, const Tensor& b) {
  if (a.dim() == 0 || b.dim() == 0) return a.mul(b);
  check<ShapeError>(a.size(-1) == b.size(-1), "inner: the last dims differ: a ", a.sizes(), ", b ", b.sizes());
  return tensordot(a, b, IntSpan{-1}, IntSpan{-1});
}
Tensor& inner_out(Tensor& out, const Tensor& a, const Tensor& b) { return write_out("inner", out, inner(a, b)); }

Tensor tensordot(const Tensor& a, const Tensor& b, std::int64_t dims) {
  check<ValueError>(dims >= 0 && dims <= a.dim() && dims <= b.dim(), "tensordot: dims is ", dims, " but a is ",
                    a.sizes(), " and b is ", b.sizes());
  IntVec of_a(static_cast<std::size_t>(dims)), of_b(static_cast<std::size_t>(dims));
  std::iota(of_a.begin(), of_a.end(), std::int64_t(a.dim()) - dims);
  std::iota(of_b.begin(), of_b.end(), std::int64_t(0));
  return tensordot(a, b, of_a, of_b);
}
Tensor& tensordot_out(Tensor& out, const Tensor& a, const Tensor& b, std::int64_t dims) {
  return write_out("tensordot", out, tensordot(a, b, dims));
}

Tensor tensordot(const Tensor& a, const Tensor& b, IntSpan dims_a, IntSpan dims_b) {
  check<ShapeError>(dims_a.size() == dims_b.size(), "tensordot: dims ", dims_a, " of a and ", dims_b,
                    " of b differ in number");
  Tensor x = a, y = b;
  IntVec last, first, sizes;
  std::vector<bool> summed_a(std::size_t(a.dim()), false), summed_b(std::size_t(b.dim()), false);
  std::int64_t inner = 1;
  for (std::size_t i = 0; i < dims_a.size(); ++i) {
    const std::int64_t da = wrap_dim("tensordot", dims_a[i], a), db = wrap_dim("tensordot", dims_b[i], b);
    check<ValueError>(!summed_a[std::size_t(da)] && !summed_b[std::size_t(db)], "tensordot: dims ", dims_a, " and ",
                      dims_b, " name a dim twice");
    summed_a[std::size_t(da)] = summed_b[std::size_t(db)] = true;
    const std::int64_t na = a.size(da), nb = b.size(db);
    check<ShapeError>(na == nb || na == 1 || nb == 1, "tensordot: dim ", da, " of a ", a.sizes(), " and dim ", db,
                      " of b ", b.sizes(), " differ in size");
    // A size of 1 stands for all of the other's entries, whose sum it is multiplied with.
    if (na == 1 && nb != 1) y = y.sum(IntSpan{db}, true, y.dtype());
    if (nb == 1 && na != 1) x = x.sum(IntSpan{da}, true, x.dtype());
    inner *= std::min(na, nb);
    last.push_back(da), first.push_back(db);
  }
  IntVec order_a, order_b = first;
  for (int d = 0; d < a.dim(); ++d)
    if (!summed_a[std::size_t(d)]) order_a.push_back(d), sizes.push_back(a.size(d));
  order_a.insert(order_a.end(), last.begin(), last.end());
  std::int64_t rows = 1, columns = 1;
  for (const std::int64_t n : sizes) rows *= n;
  for (int d = 0; d < b.dim(); ++d)
    if (!summed_b[std::size_t(d)]) order_b.push_back(d), sizes.push_back(b.size(d)), columns *= b.size(d);
  return mm(x.permute(order_a).reshape({rows, inner}), y.permute(order_b).reshape({inner, columns})).reshape(sizes);
}
Tensor& tensordot_out(Tensor& out, const Tensor& a, const Tensor& b, IntSpan dims_a, IntSpan dims_b) {
  return write_out("tensordot", out, tensordot(a, b, dims_a, dims_b));
}

Tensor kron(const Tensor& a, const Tensor& b) {
  const std::size_t rank = std::size_t(std::max(a.dim(), b.dim()));
  IntVec of_a(2 * rank, 1), of_b(2 * rank, 1), sizes(rank, 1);
  for (std::size_t d = 0; d < rank; ++d) {
    const std::size_t lead_a = rank - std::size_t(a.dim()), lead_b = rank - std::size_t(b.dim());
    if (d >= lead_a) of_a[2 * d] = a.sizes()[d - lead_a];
    if (d >= lead_b) of_b[2 * d + 1] = b.sizes()[d - lead_b];
    sizes[d] = of_a[2 * d] * of_b[2 * d + 1];
  }
  return a.reshape(of_a).mul(b.reshape(of_b)).reshape(sizes);
}
Tensor& kron_out(Tensor& out, const Tensor& a, const Tensor& b) { return write_out("kron", out, kron(a, b)); }

Tensor bilinear(const Tensor& x1, const Tensor& x2, const Tensor& weight, const Tensor& bias) {
  check<ShapeError>(weight.dim() == 3, "bilinear: weight must be [out, n, m], got ", weight.sizes());
  check<ShapeError>(x1.dim() >= 1 && x1.dim() == x2.dim(), "bilinear: x1 ", x1.sizes(), " and x2 ", x2.sizes(),
                    " must have the same number of dims, at least one");
  for (int d = 0; d + 1 < x1.dim(); ++d)
    check<ShapeError>(x1.size(d) == x2.size(d), "bilinear: x1 ", x1.sizes(), " and x2 ", x2.sizes(),
                      " differ in a dim that is not the last");
  check<ShapeError>(x1.size(-1) == weight.size(1) && x2.size(-1) == weight.size(2), "bilinear: x1 ", x1.sizes(),
                    " and x2 ", x2.sizes(), " do not fit weight ", weight.sizes());
  check<ShapeError>(!bias.defined() || (bias.dim() == 1 && bias.size(0) == weight.size(0)), "bilinear: bias must be [",
                    weight.size(0), "], got ", bias.defined() ? bias.sizes() : IntSpan());
  IntVec sizes = x1.sizes().vec();
  sizes.back() = weight.size(0);
  std::int64_t rows = 1;
  for (int d = 0; d + 1 < x1.dim(); ++d) rows *= x1.size(d);
  const std::int64_t n = weight.size(1), m = weight.size(2), out = weight.size(0);
  // [rows, 1, n] x [rows, out, n] summed over n, after weight met x2.
  const Tensor inner = matmul(x2.reshape({rows, m}), weight.reshape({out * n, m}).t()).reshape({rows, out, n});
  const Tensor y = matmul(inner, x1.reshape({rows, n, 1})).reshape(sizes);
  return bias.defined() ? y.add(bias) : y;
}

Tensor Tensor::outer(const Tensor& vec2) const { return taper::outer(*this, vec2); }
Tensor Tensor::inner(const Tensor& other) const { return taper::inner(*this, other); }
Tensor Tensor::kron(const Tensor& other) const { return taper::kron(*this, other); }
Tensor Tensor::addmm(const Tensor& mat1, const Tensor& mat2, Scalar beta, Scalar alpha) const {
  return taper::addmm(*this, mat1, mat2, beta, alpha);
}
Tensor& Tensor::addmm_(const Tensor& mat1, const Tensor& mat2, Scalar beta, Scalar alpha) {
  const Tensor sum = taper::addmm(*this, mat1, mat2, beta, alpha);
  check<ShapeError>(sum.sizes() == sizes(), "addmm_: the result ", sum.sizes(), " does not fit self ", sizes());
  return copy_(sum);
}
Tensor Tensor::baddbmm(const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) const {
  return taper::baddbmm(*this, batch1, batch2, beta, alpha);
}
Tensor& Tensor::baddbmm_(const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  const Tensor sum = taper::baddbmm(*this, batch1, batch2, beta, alpha);
  check<ShapeError>(sum.sizes() == sizes(), "baddbmm_: the result ", sum.sizes(), " does not fit self ", sizes());
  return copy_(sum);
}
Tensor Tensor::addbmm(const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) const {
  return taper::addbmm(*this, batch1, batch2, beta, alpha);
}
Tensor& Tensor::addbmm_(const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  const Tensor sum = taper::addbmm(*this, batch1, batch2, beta, alpha);
  check<ShapeError>(sum.sizes() == sizes(), "addbmm_: the result ", sum.sizes(), " does not fit self ", sizes());
  return copy_(sum);
}
Tensor Tensor::addmv(const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha) const {
  return taper::addmv(*this, mat, vec, beta, alpha);
}
Tensor& Tensor::addmv_(const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha) {
  const Tensor sum = taper::addmv(*this, mat, vec, beta, alpha);
  check<ShapeError>(sum.sizes() == sizes(), "addmv_: the result ", sum.sizes(), " does not fit self ", sizes());
  return copy_(sum);
}
Tensor Tensor::addr(const Tensor& vec1, const Tensor& vec2, Scalar beta, Scalar alpha) const {
  return taper::addr(*this, vec1, vec2, beta, alpha);
}
Tensor& Tensor::addr_(const Tensor& vec1, const Tensor& vec2, Scalar beta, Scalar alpha) {
  const Tensor sum = taper::addr(*this, vec1, vec2, beta, alpha);
  check<ShapeError>(sum.sizes() == sizes(), "addr_: the result ", sum.sizes(), " does not fit self ", sizes());
  return copy_(sum);
}

}  // namespace taper
