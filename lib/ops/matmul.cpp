#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/promotion.h>

#include "write_out.h"

namespace taper {
namespace ops {
namespace {

void check_dtypes(const char* op, const char* a_name, const Tensor& a, const char* b_name, const Tensor& b) {
  check<DTypeError>(a.dtype() == b.dtype(), op, ": ", a_name, " is ", a.dtype(), " but ", b_name, " is ", b.dtype(),
                    "; convert one of them with to()");
  check<DTypeError>(a.dtype() != bool_, op, ": is not defined for bool; convert with x.to(taper::int64) first");
}

/// The rows and columns an operand of matmul stands for.
struct MatrixShape {
  std::int64_t rows, columns;
};
MatrixShape left_shape(const Tensor& a) { return {a.dim() == 1 ? 1 : a.size(-2), a.size(-1)}; }
MatrixShape right_shape(const Tensor& b) {
  if (b.dim() == 1) return {b.size(0), 1};
  return {b.size(-2), b.size(-1)};
}

[[noreturn]] void raise_inner_sizes(const Tensor& a, const Tensor& b) {
  const std::int64_t columns = left_shape(a).columns, rows = right_shape(b).rows;
  std::string remedy;
  if (b.dim() >= 2)
    remedy = columns == b.size(-1) ? "; b.transpose(-2, -1) would fit" : "; transposing b would not fit either";
  if (a.dim() >= 2 && columns != b.size(-1) && a.size(-2) == rows) remedy = "; a.transpose(-2, -1) would fit";
  raise<ShapeError>("matmul: inner sizes differ: a ", a.sizes(), " x b ", b.sizes(), " (", columns, " columns against ",
                    rows, " rows)", remedy);
}

TensorSpec infer_matmul(const Tensor& a, const Tensor& b) {
  check<ShapeError>(a.dim() >= 1 && b.dim() >= 1, "matmul: needs operands with at least one dimension, got a ",
                    a.sizes(), " and b ", b.sizes(), "; use mul() to multiply by a single number");
  check_dtypes("matmul", "a", a, "b", b);
  if (left_shape(a).columns != right_shape(b).rows) raise_inner_sizes(a, b);

  const int rank_a = a.dim() > 2 ? a.dim() - 2 : 0, rank_b = b.dim() > 2 ? b.dim() - 2 : 0;
  const int batch = std::max(rank_a, rank_b);
  const int rows = a.dim() > 1, columns = b.dim() > 1;
  SizesAndStrides sizes = SizesAndStrides::of_rank(batch + rows + columns);
  for (int d = 0; d < batch; ++d) {
    const std::int64_t x = d < batch - rank_a ? 1 : a.size(d - (batch - rank_a));
    const std::int64_t y = d < batch - rank_b ? 1 : b.size(d - (batch - rank_b));
    check<ShapeError>(x == y || x == 1 || y == 1, "matmul: the leading dimensions of a ", a.sizes(), " and b ",
                      b.sizes(), " do not broadcast: dimension ", d, " of the result would be both ", x, " and ", y);
    sizes.set(d, x == 1 ? y : x, 0);
  }
  if (rows) sizes.set(batch, a.size(-2), 0);
  if (columns) sizes.set(batch + rows, b.size(-1), 0);
  return TensorSpec::contiguous(sizes.sizes(), a.dtype(), a.device());
}

TensorSpec infer_linear(const Tensor& x, const Tensor& weight, const std::optional<Tensor>& bias) {
  check<ShapeError>(weight.dim() == 2, "linear: weight must be [out, in], got ", weight.sizes());
  check<ShapeError>(x.dim() >= 1, "linear: x must have at least one dimension, got ", x.sizes());
  check_dtypes("linear", "x", x, "weight", weight);
  check<ShapeError>(x.size(-1) == weight.size(1), "linear: x ", x.sizes(), " has ", x.size(-1), " features but weight ",
                    weight.sizes(), " takes ", weight.size(1),
                    x.size(-1) == weight.size(0) ? "; a weight is [out, in], weight.t() would fit" : "");
  const std::int64_t out = weight.size(0);
  if (bias && bias->defined()) {
    check_dtypes("linear", "x", x, "bias", *bias);
    check<ShapeError>(bias->dim() <= 1 && (bias->numel() == out || bias->numel() == 1), "linear: bias must be [", out,
                      "] to go with weight ", weight.sizes(), ", got ", bias->sizes());
  }
  SizesAndStrides sizes = x.impl()->geometry();
  sizes.set(sizes.rank() - 1, out, 0);
  return TensorSpec::contiguous(sizes.sizes(), x.dtype(), x.device());
}

}  // namespace

constinit StructuredOp<Tensor(Tensor, Tensor)> matmul{"matmul", "a, b", infer_matmul};
constinit StructuredOp<Tensor(Tensor, Tensor, std::optional<Tensor>)> linear{"linear", "x, weight, bias", infer_linear};

}  // namespace ops

namespace {

/// Throws unless a defined operand has `rank` dimensions; an undefined one is the operator's to report.
void check_rank(const char* op, const char* name, const Tensor& t, int rank, const char* what) {
  if (!t.defined()) return;
  check<ShapeError>(t.dim() == rank, op, ": ", name, " must be ", what, ", got ", t.sizes(),
                    "; matmul() takes every combination of ranks");
}

Tensor scaled(const char* op, const Tensor& t, const char* name, Scalar factor) {
  check<DTypeError>(!factor.is_floating() || t.is_floating_point(), op, ": ", name, " ", factor,
                    " is not an integer, but the operands are ", t.dtype());
  if (factor.is_floating() ? factor.to<double>() == 1 : factor.to<std::int64_t>() == 1) return t;
  return t.mul(factor);
}

/// beta self + alpha product.
Tensor add_product(const char* op, const Tensor& self, const Tensor& product, Scalar beta, Scalar alpha) {
  check<DTypeError>(self.dtype() == product.dtype(), op, ": self is ", self.dtype(), " but the product is ",
                    product.dtype(), "; convert one of them with to()");
  check<ShapeError>(broadcast_sizes(op, self.sizes(), product.sizes()) == product.sizes().vec(), op, ": self ",
                    self.sizes(), " does not broadcast to the product ", product.sizes());
  const Tensor scaled_product = scaled(op, product, "alpha", alpha);
  if (beta.is_zero()) {
    // Whatever self holds, NaN included, counts for nothing; its gradient is zero, not absent.
    const bool tracked = detail::requires_grad_hook && detail::requires_grad_hook(self);
    return tracked ? scaled_product.add(where(full({}, false), self, 0)) : scaled_product;
  }
  return scaled_product.add(scaled(op, self, "beta", beta));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) { return ops::matmul(a, b); }
Tensor& matmul_out(Tensor& out, const Tensor& a, const Tensor& b) { return ops::matmul.out(out, a, b); }

namespace {
void check_mm(const Tensor& a, const Tensor& b) {
  check_rank("mm", "a", a, 2, "a matrix");
  check_rank("mm", "b", b, 2, "a matrix");
}
void check_bmm(const Tensor& a, const Tensor& b) {
  check_rank("bmm", "a", a, 3, "a batch of matrices");
  check_rank("bmm", "b", b, 3, "a batch of matrices");
  check<ShapeError>(!a.defined() || !b.defined() || a.size(0) == b.size(0), "bmm: batch sizes differ: a ", a.sizes(),
                    " x b ", b.sizes(), "; matmul() broadcasts them");
}
void check_mv(const Tensor& a, const Tensor& vec) {
  check_rank("mv", "a", a, 2, "a matrix");
  check_rank("mv", "vec", vec, 1, "a vector");
}
void check_dot(const Tensor& a, const Tensor& b) {
  check_rank("dot", "a", a, 1, "a vector");
  check_rank("dot", "b", b, 1, "a vector");
  check<ShapeError>(a.sizes() == b.sizes(), "dot: the vectors differ in length: a ", a.sizes(), ", b ", b.sizes());
}
}  // namespace

Tensor mm(const Tensor& a, const Tensor& b) { return check_mm(a, b), ops::matmul(a, b); }
Tensor& mm_out(Tensor& out, const Tensor& a, const Tensor& b) { return check_mm(a, b), ops::matmul.out(out, a, b); }
Tensor bmm(const Tensor& a, const Tensor& b) { return check_bmm(a, b), ops::matmul(a, b); }
Tensor& bmm_out(Tensor& out, const Tensor& a, const Tensor& b) { return check_bmm(a, b), ops::matmul.out(out, a, b); }
Tensor mv(const Tensor& a, const Tensor& vec) { return check_mv(a, vec), ops::matmul(a, vec); }
Tensor& mv_out(Tensor& out, const Tensor& a, const Tensor& vec) {
  return check_mv(a, vec), ops::matmul.out(out, a, vec);
}
Tensor dot(const Tensor& a, const Tensor& b) { return check_dot(a, b), ops::matmul(a, b); }
Tensor& dot_out(Tensor& out, const Tensor& a, const Tensor& b) { return check_dot(a, b), ops::matmul.out(out, a, b); }
Tensor outer(const Tensor& a, const Tensor& b) {
  check<ShapeError>(a.dim() == 1 && b.dim() == 1, "outer: needs two vectors, got a ", a.sizes(), " and b ", b.sizes());
  return a.unsqueeze(1).mul(b);
}
Tensor& outer_out(Tensor& out, const Tensor& a, const Tensor& b) { return write_out("outer", out, outer(a, b)); }

Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias) {
  if (weight.defined() && weight.dim() == 1) {
    const Tensor y = ops::matmul(x, weight);
    return bias.defined() ? y.add(bias) : y;
  }
  return ops::linear(x, weight, bias.defined() ? std::optional<Tensor>(bias) : std::nullopt);
}
Tensor& linear_out(Tensor& out, const Tensor& x, const Tensor& weight, const Tensor& bias) {
  return write_out("linear", out, linear(x, weight, bias));
}

Tensor addmm(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  return add_product("addmm", self, mm(a, b), beta, alpha);
}
Tensor& addmm_out(Tensor& out, const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  return write_out("addmm", out, addmm(self, a, b, beta, alpha));
}
Tensor baddbmm(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  return add_product("baddbmm", self, bmm(a, b), beta, alpha);
}
Tensor& baddbmm_out(Tensor& out, const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  return write_out("baddbmm", out, baddbmm(self, a, b, beta, alpha));
}

Tensor addbmm(const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  return add_product("addbmm", self, bmm(a, b).sum(IntSpan{0}, false, a.dtype()), beta, alpha);
}
Tensor& addbmm_out(Tensor& out, const Tensor& self, const Tensor& a, const Tensor& b, Scalar beta, Scalar alpha) {
  return write_out("addbmm", out, addbmm(self, a, b, beta, alpha));
}
Tensor addmv(const Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha) {
  return add_product("addmv", self, mv(mat, vec), beta, alpha);
}
Tensor& addmv_out(Tensor& out, const Tensor& self, const Tensor& mat, const Tensor& vec, Scalar beta, Scalar alpha) {
  return write_out("addmv", out, addmv(self, mat, vec, beta, alpha));
}
Tensor addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, Scalar beta, Scalar alpha) {
  return add_product("addr", self, outer(vec1, vec2), beta, alpha);
}
Tensor& addr_out(Tensor& out, const Tensor& self, const Tensor& vec1, const Tensor& vec2, Scalar beta, Scalar alpha) {
  return write_out("addr", out, addr(self, vec1, vec2, beta, alpha));
}

Tensor Tensor::matmul(const Tensor& other) const { return taper::matmul(*this, other); }
Tensor Tensor::mm(const Tensor& other) const { return taper::mm(*this, other); }
Tensor Tensor::bmm(const Tensor& other) const { return taper::bmm(*this, other); }
Tensor Tensor::mv(const Tensor& vec) const { return taper::mv(*this, vec); }
Tensor Tensor::dot(const Tensor& other) const { return taper::dot(*this, other); }

}  // namespace taper
