#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/join.h>
#include <taper/ops/linalg.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/promotion.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "op_names.h"
#include "write_out.h"

namespace taper {
namespace {

void check_matrix(const char* op, const char* name, const Tensor& A) {
  check<ShapeError>(A.dim() >= 2, op, ": ", name, " must be a matrix or a batch of them, got ", A);
  check<DTypeError>(A.dtype() == float32 || A.dtype() == float64, op, ": is defined for float32 and float64, but ",
                    name, " is ", A.dtype(), "; convert with x.to(taper::float32) first");
}
void check_square(const char* op, const Tensor& A) {
  check_matrix(op, "A", A);
  check<ShapeError>(A.size(-1) == A.size(-2), op, ": A must be square, got ", A);
}
IntSpan batch_of(const Tensor& A) { return {A.sizes().data(), std::size_t(A.dim() - 2)}; }

/// A's batch, and then these sizes.
TensorSpec shaped(const Tensor& A, std::initializer_list<std::int64_t> sizes) {
  IntVec all(batch_of(A).begin(), batch_of(A).end());
  for (const std::int64_t s : sizes) all.push_back(s);
  return TensorSpec::contiguous(all, A.dtype(), A.device());
}

template <OpName op>
TensorSpec infer_square(const Tensor& A) {
  check_square(op.text, A);
  return TensorSpec::contiguous(A.sizes(), A.dtype(), A.device());
}
TensorSpec infer_det(const Tensor& A) {
  check_square("det", A);
  return shaped(A, {});
}
std::array<TensorSpec, 2> infer_slogdet(const Tensor& A) {
  check_square("slogdet", A);
  return {shaped(A, {}), shaped(A, {})};
}
std::array<TensorSpec, 2> infer_eigh(const Tensor& A) {
  check_square("eigh", A);
  return {shaped(A, {A.size(-1)}), shaped(A, {A.size(-1), A.size(-1)})};
}

void check_right_side(const char* op, const Tensor& A, const Tensor& B) {
  check_square(op, A);
  check_matrix(op, "B", B);
  check<DTypeError>(A.dtype() == B.dtype(), op, ": A is ", A.dtype(), " but B is ", B.dtype(),
                    "; convert one of them with to()");
  check<ShapeError>(A.size(-1) == B.size(-2), op, ": A ", A.sizes(), " has ", A.size(-1), " columns but B ", B.sizes(),
                    " has ", B.size(-2), " rows");
  check<ShapeError>(batch_of(A) == batch_of(B), op, ": the batches of A ", A.sizes(), " and B ", B.sizes(), " differ");
}
TensorSpec infer_solve(const Tensor& A, const Tensor& B) {
  check_right_side("solve", A, B);
  return TensorSpec::contiguous(B.sizes(), B.dtype(), B.device());
}
TensorSpec infer_solve_triangular(const Tensor& A, const Tensor& B, const bool&, const bool&) {
  check_right_side("solve_triangular", A, B);
  return TensorSpec::contiguous(B.sizes(), B.dtype(), B.device());
}
std::array<TensorSpec, 2> infer_qr(const Tensor& A, const bool& complete) {
  check_matrix("qr", "A", A);
  const std::int64_t m = A.size(-2), n = A.size(-1), k = complete ? m : std::min(m, n);
  return {shaped(A, {m, k}), shaped(A, {k, n})};
}
std::array<TensorSpec, 3> infer_svd(const Tensor& A, const bool& full_matrices) {
  check_matrix("svd", "A", A);
  const std::int64_t m = A.size(-2), n = A.size(-1), k = std::min(m, n);
  return {shaped(A, {m, full_matrices ? m : k}), shaped(A, {k}), shaped(A, {full_matrices ? n : k, n})};
}

/// Both with the batches of both.
std::pair<Tensor, Tensor> with_common_batch(const char* op, const Tensor& A, const Tensor& B) {
  if (batch_of(A) == batch_of(B)) return {A, B};
  const IntVec batch = broadcast_sizes(op, batch_of(A), batch_of(B));
  const auto expanded = [&](const Tensor& t) {
    IntVec sizes = batch;
    sizes.push_back(t.size(-2)), sizes.push_back(t.size(-1));
    return t.expand(sizes);
  };
  return {expanded(A), expanded(B)};
}

/// A, or what has the triangle to be read below its diagonal.
Tensor with_lower(const char* op, const Tensor& A, const std::string& uplo) {
  check<ValueError>(uplo == "L" || uplo == "U", op, ": UPLO is \"", uplo, "\", expected \"L\" or \"U\"");
  check_square(op, A);
  return uplo == "L" ? A : mT(A);
}

}  // namespace

namespace ops {
constinit StructuredOp<Tensor(Tensor)> inverse{"inverse", "A", infer_square<"inverse">};
constinit StructuredOp<Tensor(Tensor)> cholesky{"cholesky", "A", infer_square<"cholesky">};
constinit StructuredOp<Tensor(Tensor)> det{"det", "A", infer_det};
constinit StructuredOp<Tensor(Tensor)> cofactor{"cofactor", "A", infer_square<"cofactor">};
constinit StructuredOp<std::array<Tensor, 2>(Tensor)> slogdet{"slogdet", "A", infer_slogdet};
constinit StructuredOp<std::array<Tensor, 2>(Tensor)> eigh{"eigh", "A", infer_eigh};
constinit StructuredOp<Tensor(Tensor, Tensor)> solve{"solve", "A, B", infer_solve};
constinit StructuredOp<Tensor(Tensor, Tensor, bool, bool)> solve_triangular{
    "solve_triangular", "A, B, upper, unitriangular", infer_solve_triangular};
constinit StructuredOp<std::array<Tensor, 2>(Tensor, bool)> qr{"qr", "A, complete", infer_qr};
constinit StructuredOp<std::array<Tensor, 3>(Tensor, bool)> svd{"svd", "A, full_matrices", infer_svd};
}  // namespace ops

namespace linalg {

Tensor inv(const Tensor& A) { return ops::inverse(A); }
Tensor& inv_out(Tensor& out, const Tensor& A) { return ops::inverse.out(out, A); }
Tensor solve(const Tensor& A, const Tensor& B) {
  check_square("solve", A);
  check<ShapeError>(B.dim() >= 1, "solve: B must have at least one dimension, got ", B);
  const bool vectors = B.dim() == 1 || B.sizes() == IntSpan(A.sizes().data(), std::size_t(A.dim() - 1));
  const auto [a, b] = with_common_batch("solve", A, vectors ? B.unsqueeze(-1) : B);
  const Tensor x = ops::solve(a, b);
  return vectors ? x.squeeze(-1) : x;
}
Tensor& solve_out(Tensor& out, const Tensor& A, const Tensor& B) { return write_out("solve", out, solve(A, B)); }
Tensor solve_triangular(const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular) {
  check_square("solve_triangular", A);
  check_matrix("solve_triangular", "B", B);
  const auto [a, b] = with_common_batch("solve_triangular", A, B);
  if (left) return ops::solve_triangular(a, b, upper, unitriangular);
  return mT(ops::solve_triangular(mT(a), mT(b), !upper, unitriangular));
}
Tensor& solve_triangular_out(Tensor& out, const Tensor& A, const Tensor& B, bool upper, bool left, bool unitriangular) {
  return write_out("solve_triangular", out, solve_triangular(A, B, upper, left, unitriangular));
}
Tensor cholesky(const Tensor& A, bool upper) {
  if (!upper) return ops::cholesky(A);
  check_square("cholesky", A);
  return mT(ops::cholesky(mT(A)));
}
Tensor& cholesky_out(Tensor& out, const Tensor& A, bool upper) {
  return write_out("cholesky", out, cholesky(A, upper));
}
Tensor det(const Tensor& A) { return ops::det(A); }
Tensor& det_out(Tensor& out, const Tensor& A) { return ops::det.out(out, A); }
std::tuple<Tensor, Tensor> slogdet(const Tensor& A) {
  auto [sign, logabsdet] = ops::slogdet(A);
  return {std::move(sign), std::move(logabsdet)};
}
std::tuple<Tensor&, Tensor&> slogdet_out(Tensor& sign, Tensor& logabsdet, const Tensor& A) {
  return write_out("slogdet", sign, logabsdet, linalg::slogdet(A));
}
std::tuple<Tensor, Tensor> qr(const Tensor& A, const std::string& mode) {
  check<ValueError>(mode == "reduced" || mode == "complete" || mode == "r", "qr: mode is \"", mode,
                    R"(", expected "reduced", "complete" or "r")");
  auto [q, r] = ops::qr(A, mode == "complete");
  return {mode == "r" ? Tensor() : std::move(q), std::move(r)};
}
std::tuple<Tensor&, Tensor&> qr_out(Tensor& Q, Tensor& R, const Tensor& A, const std::string& mode) {
  return write_out("qr", Q, R, qr(A, mode));
}
std::tuple<Tensor, Tensor, Tensor> svd(const Tensor& A, bool full_matrices) {
  auto [u, s, vh] = ops::svd(A, full_matrices);
  return {std::move(u), std::move(s), std::move(vh)};
}
std::tuple<Tensor&, Tensor&, Tensor&> svd_out(Tensor& U, Tensor& S, Tensor& Vh, const Tensor& A, bool full_matrices) {
  return write_out("svd", U, S, Vh, svd(A, full_matrices));
}
Tensor svdvals(const Tensor& A) { return ops::svd(A, false)[1]; }
Tensor& svdvals_out(Tensor& out, const Tensor& A) { return write_out("svdvals", out, svdvals(A)); }
std::tuple<Tensor, Tensor> eigh(const Tensor& A, const std::string& UPLO) {
  auto [values, vectors] = ops::eigh(with_lower("eigh", A, UPLO));
  return {std::move(values), std::move(vectors)};
}
std::tuple<Tensor&, Tensor&> eigh_out(Tensor& values, Tensor& vectors, const Tensor& A, const std::string& UPLO) {
  return write_out("eigh", values, vectors, eigh(A, UPLO));
}
Tensor eigvalsh(const Tensor& A, const std::string& UPLO) { return ops::eigh(with_lower("eigvalsh", A, UPLO))[0]; }
Tensor& eigvalsh_out(Tensor& out, const Tensor& A, const std::string& UPLO) {
  return write_out("eigvalsh", out, eigvalsh(A, UPLO));
}

Tensor matrix_power(const Tensor& A, std::int64_t n) {
  check_square("matrix_power", A);
  if (n == 0) return eye(A.size(-1), {}, {.dtype = A.dtype(), .device = A.device()}).expand(A.sizes()).clone();
  Tensor square = n < 0 ? inv(A) : A, power;
  for (std::uint64_t left = n < 0 ? -std::uint64_t(n) : std::uint64_t(n);;) {
    if (left & 1) power = power.defined() ? matmul(power, square) : square;
    if (!(left >>= 1)) return power;
    square = matmul(square, square);
  }
}
Tensor& matrix_power_out(Tensor& out, const Tensor& A, std::int64_t n) {
  return write_out("matrix_power", out, linalg::matrix_power(A, n));
}

Tensor vector_norm(const Tensor& x, double ord, IntSpan dims, bool keepdim) { return norm(x, ord, dims, keepdim); }

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();
Tensor of_matrices(const Tensor& numbers, bool keepdim) {
  return keepdim ? numbers.unsqueeze(-1).unsqueeze(-1) : numbers;
}
double epsilon_of(const Tensor& A) {
  const double each =
      A.dtype() == float64 ? std::numeric_limits<double>::epsilon() : double(std::numeric_limits<float>::epsilon());
  return each * double(std::max(A.size(-1), A.size(-2)));
}
}  // namespace

Tensor matrix_norm(const Tensor& A, const std::string& ord, bool keepdim) {
  check_matrix("matrix_norm", "A", A);
  if (ord == "fro") return norm(A, 2, {-2, -1}, keepdim);
  check<ValueError>(ord == "nuc", "matrix_norm: ord is \"", ord, R"(", expected "fro", "nuc" or a number)");
  return of_matrices(svdvals(A).sum(-1), keepdim);
}
Tensor matrix_norm(const Tensor& A, double ord, bool keepdim) {
  check_matrix("matrix_norm", "A", A);
  const double size = std::abs(ord);
  check<ValueError>(size == 1 || size == 2 || size == kInfinity, "matrix_norm: ord is ", ord,
                    ", expected 1, 2 or infinity, or one of them negative");
  const Tensor sums = size == 2 ? svdvals(A) : A.abs().sum(size == 1 ? -2 : -1);
  return of_matrices(ord > 0 ? sums.amax(-1) : sums.amin(-1), keepdim);
}
Tensor matrix_rank(const Tensor& A, std::optional<double> tol) {
  check_matrix("matrix_rank", "A", A);
  const Tensor values = svdvals(A.detach());
  if (tol) return values.gt(*tol).sum(-1);
  if (values.size(-1) == 0) return values.sum(-1).to(int64);
  return values.gt(values.amax(-1, true).mul(epsilon_of(A))).sum(-1);
}
Tensor pinv(const Tensor& A, std::optional<double> rtol) {
  check_matrix("pinv", "A", A);
  if (A.numel() == 0) return mT(A).clone();
  const auto [u, values, vh] = svd(A, false);
  const Tensor counts = values.gt(values.amax(-1, true).mul(rtol.value_or(epsilon_of(A)))).detach();
  const Tensor inverses = where(counts, where(counts, values, 1).reciprocal(), 0);
  return matmul(mT(vh).mul(inverses.unsqueeze(-2)), mT(u));
}
Tensor cross(const Tensor& a, const Tensor& b, std::int64_t dim) {
  const IntVec sizes = broadcast_sizes("cross", a.sizes(), b.sizes());
  const Tensor x = a.expand(sizes), y = b.expand(sizes);
  check<ShapeError>(x.dim() > 0, "cross: needs vectors of 3, got a ", a, " and b ", b);
  check<ShapeError>(x.size(dim) == 3, "cross: dim ", dim, " of a ", a, " and b ", b, " has size ", x.size(dim),
                    ", expected 3");
  const auto next = [&](const Tensor& t) { return t.roll(-1, dim); };
  const auto after = [&](const Tensor& t) { return t.roll(-2, dim); };
  return next(x).mul(after(y)).sub(after(x).mul(next(y)));
}
Tensor vecdot(const Tensor& a, const Tensor& b, std::int64_t dim) { return a.mul(b).sum(dim); }
Tensor vander(const Tensor& x, std::optional<std::int64_t> n) {
  check<ShapeError>(x.dim() > 0, "vander: needs at least one dim, got ", x);
  const std::int64_t count = n.value_or(x.size(-1));
  check<ValueError>(count >= 0, "vander: n is ", count, ", expected 0 or more");
  IntVec sizes = x.sizes().vec();
  sizes.push_back(count);
  if (count == 0) return empty(sizes, {.dtype = x.dtype(), .device = x.device()});
  const Tensor one = ones_like(x.detach()).unsqueeze(-1);
  if (count == 1) return one;
  sizes.back() = count - 1;
  return cat({one, x.unsqueeze(-1).expand(sizes).cumprod(-1)}, -1).to(x.dtype());
}

}  // namespace linalg

Tensor logdet(const Tensor& self) {
  const auto [sign, logabsdet] = linalg::slogdet(self);
  return where(sign.lt(0), std::numeric_limits<double>::quiet_NaN(), logabsdet);
}

std::tuple<Tensor, Tensor> Tensor::slogdet() const { return linalg::slogdet(*this); }
Tensor Tensor::cross(const Tensor& other, std::optional<std::int64_t> dim) const {
  return taper::cross(*this, other, dim);
}
Tensor cross(const Tensor& a, const Tensor& b, std::optional<std::int64_t> dim) {
  if (dim) return linalg::cross(a, b, *dim);
  for (std::int64_t d = 0; d < a.dim(); ++d)
    if (a.size(d) == 3) return linalg::cross(a, b, d - a.dim());  // from the end, where operands broadcast
  raise<ShapeError>("cross: no dim of a ", a, " has size 3");
}
Tensor Tensor::inverse() const { return linalg::inv(*this); }
Tensor Tensor::det() const { return linalg::det(*this); }
Tensor Tensor::logdet() const { return taper::logdet(*this); }
Tensor Tensor::matrix_power(std::int64_t n) const { return linalg::matrix_power(*this, n); }

}  // namespace taper
