// Linear algebra: what defines each result, known values, batches, layouts, sizes of 0, errors, derivatives.
#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/compare.h>
#include <taper/ops/diagonals.h>
#include <taper/ops/linalg.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

Tensor random_matrices(IntSpan sizes, DType dtype = float64) {
  manual_seed(11);
  return randn(sizes, dtype);
}
/// Symmetric with eigenvalues of 1 and more.
Tensor positive(IntSpan sizes, DType dtype = float64) {
  const Tensor x = random_matrices(sizes, dtype);
  return matmul(x, mT(x)) + eye(x.size(-1), dtype);
}
bool close(const Tensor& a, const Tensor& b) {
  const double tolerance = a.dtype() == float64 ? 1e-10 : 1e-4;
  return a.sizes() == b.sizes() && allclose(a, b, tolerance, tolerance);
}
Tensor identity_like(const Tensor& product) { return eye(product.size(-1), product.dtype()).expand(product.sizes()); }

}  // namespace

TEST_CASE("an inverse times its matrix is the identity, for batches of any layout") {
  for (const DType dtype : {float32, float64}) {
    const Tensor a = random_matrices({2, 3, 4, 4}, dtype);
    const Tensor y = linalg::inv(a);
    CHECK(y.dtype() == dtype);
    CHECK(close(matmul(y, a), identity_like(a)));
    CHECK(equal(linalg::inv(mT(mT(a).contiguous())), y));
    CHECK(equal(linalg::inv(a[1]), y[1]));
  }
  CHECK(values(inverse(tensor({{2.0, 0.0}, {0.0, 4.0}}))) == std::vector<double>{0.5, 0, 0, 0.25});
  CHECK(linalg::inv(zeros({0, 0})).sizes() == IntSpan{0, 0});
  CHECK(linalg::inv(zeros({0, 3, 3})).sizes() == IntSpan{0, 3, 3});
  CHECK(linalg::inv(zeros({3, 3}, {.device = meta})).sizes() == IntSpan{3, 3});
}

TEST_CASE("solutions solve: matrices, vectors, and batches that broadcast") {
  const Tensor a = random_matrices({2, 3, 3}), b = randn({3, 4}, float64);
  const Tensor x = linalg::solve(a, b);
  CHECK(x.sizes() == IntSpan{2, 3, 4});
  CHECK(close(matmul(a, x), b.expand({2, 3, 4})));

  const Tensor v = randn({3}, float64), one = linalg::solve(a, v);
  CHECK(one.sizes() == IntSpan{2, 3});
  CHECK(close(matmul(a, one.unsqueeze(-1)).squeeze(-1), v.expand({2, 3})));
  const Tensor each = randn({2, 3}, float64);  // a vector for each matrix
  CHECK(close(matmul(a, linalg::solve(a, each).unsqueeze(-1)).squeeze(-1), each));
}

TEST_CASE("triangular solutions read one triangle, on either side") {
  const Tensor a = random_matrices({2, 3, 3}) + eye(3, float64) * 3, b = randn({2, 3, 3}, float64);
  for (const bool upper : {false, true})
    for (const bool unit : {false, true}) {
      Tensor t = upper ? triu(a) : tril(a);
      if (unit) t = t - diag_embed(t.diagonal(0, -2, -1)) + eye(3, float64);
      CHECK(close(matmul(t, linalg::solve_triangular(a, b, upper, true, unit)), b));
      CHECK(close(matmul(linalg::solve_triangular(a, b, upper, false, unit), t), b));
    }
}

TEST_CASE("cholesky gives the triangular root of what its triangle says") {
  for (const DType dtype : {float32, float64}) {
    const Tensor a = positive({2, 4, 4}, dtype), l = linalg::cholesky(a);
    CHECK(equal(l, tril(l)));
    CHECK(close(matmul(l, mT(l)), a));
    CHECK(equal(linalg::cholesky(tril(a)), l));
    const Tensor u = linalg::cholesky(a, true);
    CHECK(close(u, mT(l)));
    CHECK(equal(linalg::cholesky(triu(a), true), u));
  }
}

TEST_CASE("determinants and their logarithms") {
  CHECK(linalg::det(tensor({{1.0, 2.0}, {3.0, 4.0}}, float64)).item<double>() == Approx(-2));
  CHECK(linalg::det(zeros({0, 0})).item<float>() == 1);
  const Tensor batch = tensor({{{0.0, 1.0}, {1.0, 0.0}}, {{1.0, 2.0}, {2.0, 4.0}}, {{3.0, 1.0}, {0.0, 2.0}}}, float64);
  CHECK(values(det(batch)) == std::vector<double>{-1, 0, 6});
  const auto [sign, logabsdet] = linalg::slogdet(batch);
  CHECK(values(sign) == std::vector<double>{-1, 0, 1});
  CHECK(values(logabsdet)[0] == 0);
  CHECK(std::isinf(values(logabsdet)[1]));
  CHECK(values(logabsdet)[2] == Approx(std::log(6)));
  CHECK(std::isnan(values(logdet(batch))[0]));
  CHECK(values(logdet(batch))[2] == Approx(std::log(6)));
  // Too large for a determinant, not for its logarithm.
  CHECK(std::get<1>(linalg::slogdet(eye(200, float64) * 1e3)).item<double>() == Approx(200 * std::log(1e3)));
}

TEST_CASE("qr, svd and eigh give orthonormal factors that multiply to the matrix") {
  for (const DType dtype : {float32, float64})
    for (const IntVec& sizes : {IntVec{4, 3}, {3, 4}, {2, 3, 3}, {1, 1}, {40, 30}}) {
      const Tensor a = random_matrices(sizes, dtype);
      const std::int64_t m = a.size(-2), n = a.size(-1), k = std::min(m, n);
      for (const char* mode : {"reduced", "complete"}) {
        const auto [q, r] = linalg::qr(a, mode);
        CHECK(q.size(-1) == (mode[0] == 'c' ? m : k));
        CHECK(close(matmul(q, r), a));
        CHECK(equal(r, triu(r)));
        CHECK(close(matmul(mT(q), q), identity_like(matmul(mT(q), q))));
      }
      for (const bool full : {false, true}) {
        const auto [u, s, vh] = linalg::svd(a, full);
        CHECK(u.size(-1) == (full ? m : k));
        CHECK(vh.size(-2) == (full ? n : k));
        CHECK(close(matmul(u.narrow(-1, 0, k) * s.unsqueeze(-2), vh.narrow(-2, 0, k)), a));
        CHECK(close(matmul(mT(u), u), identity_like(matmul(mT(u), u))));
        CHECK(close(matmul(vh, mT(vh)), identity_like(matmul(vh, mT(vh)))));
        CHECK(s.ge(0).all().item<bool>());
        CHECK(s.narrow(-1, 0, k - 1).ge(s.narrow(-1, 1, k - 1)).all().item<bool>());
        CHECK(close(linalg::svdvals(a), s));
      }
      if (m != n) continue;
      const Tensor symmetric = a + mT(a);
      const auto [w, v] = linalg::eigh(symmetric);
      CHECK(close(matmul(v * w.unsqueeze(-2), mT(v)), symmetric));
      CHECK(close(matmul(mT(v), v), identity_like(v)));
      CHECK(w.narrow(-1, 0, k - 1).le(w.narrow(-1, 1, k - 1)).all().item<bool>());
      CHECK(equal(linalg::eigvalsh(tril(symmetric)), w));
      CHECK(close(linalg::eigvalsh(triu(symmetric), "U"), w));
    }
  const auto [none, r] = linalg::qr(eye(3, float64), "r");
  CHECK_FALSE(none.defined());
  CHECK(close(r.abs(), eye(3, float64)));
}

TEST_CASE("decompositions of matrices without rows or columns are those of nothing") {
  const auto [u, s, vh] = linalg::svd(zeros({3, 0}, float64));
  CHECK(equal(u, eye(3, float64)));
  CHECK(s.numel() == 0);
  CHECK(vh.sizes() == IntSpan{0, 0});
  const auto [q, r] = linalg::qr(zeros({3, 0}, float64), "complete");
  CHECK(equal(q, eye(3, float64)));
  CHECK(r.sizes() == IntSpan{3, 0});
  CHECK(std::get<0>(linalg::eigh(zeros({2, 0, 0}))).sizes() == IntSpan{2, 0});
}

TEST_CASE("matrix_power multiplies, inverts, and starts at the identity") {
  const Tensor a = tensor({{1.0, 1.0}, {0.0, 1.0}}, float64);
  CHECK(values(linalg::matrix_power(a, 5)) == std::vector<double>{1, 5, 0, 1});
  CHECK(values(matrix_power(a, -3)) == std::vector<double>{1, -3, 0, 1});
  CHECK(values(matrix_power(a, 0)) == std::vector<double>{1, 0, 0, 1});
  CHECK(autograd::gradcheck([](const TensorList& t) { return matrix_power(t[0], 3); },
                            {random_matrices({2, 2}).requires_grad_()}));
}

TEST_CASE("matrices that an operator is not defined for are named, and nothing is written") {
  const Tensor singular = tensor({{{1.0, 2.0}, {3.0, 4.0}}, {{1.0, 2.0}, {2.0, 4.0}}}, float64);
  CHECK(message_of<ValueError>([&] { linalg::inv(singular); }) ==
        "inverse: matrix 1 of the batch A is singular and has no inverse");
  CHECK(message_of<ValueError>([&] { linalg::solve(singular[1], ones({2}, float64)); }) ==
        "solve: A is singular: A X = B has no solution, or many");
  CHECK(message_of<ValueError>([&] { linalg::cholesky(neg(eye(2, float64))); }) ==
        "cholesky: A is not positive definite");
  Tensor untouched = full({2, 2, 2}, 7.0, float64);
  CHECK_THROWS_AS(ops::inverse.out(untouched, zeros({1, 2, 2}, float64)), Error);
  CHECK(untouched.eq(7).all().item<bool>());

  CHECK(message_of<ShapeError>([] {
          linalg::inv(ones({2, 3}));
        }) == "inverse: A must be square, got float32[2, 3] on cpu");
  CHECK(message_of<ShapeError>([] { linalg::det(ones({3})); }) ==
        "det: A must be a matrix or a batch of them, got float32[3] on cpu");
  CHECK(message_of<DTypeError>([] {
          linalg::inv(ones({2, 2}, int64));
        }) == "inverse: is defined for float32 and float64, but A is int64; convert with x.to(taper::float32) first");
  CHECK(message_of<ShapeError>([] {
          linalg::solve(ones({2, 2}), ones({3, 1}));
        }) == "solve: A [2, 2] has 2 columns but B [3, 1] has 3 rows");
  CHECK(message_of<ValueError>([] {
          linalg::qr(ones({2, 2}), "thin");
        }) == R"(qr: mode is "thin", expected "reduced", "complete" or "r")");
  CHECK(message_of<ValueError>([] { linalg::eigh(ones({2, 2}), "X"); }) == R"(eigh: UPLO is "X", expected "L" or "U")");
  CHECK_THROWS_AS(linalg::svd(full({2, 2}, std::nan(""), float64)), ValueError);
}

TEST_CASE("a determinant of 0 has the gradient that its minors say") {
  const auto gradient = [](const Tensor& at) {
    const Tensor a = at.detach().requires_grad_();
    linalg::det(a).backward();
    return values(a.grad());
  };
  const std::vector<double> two = gradient(tensor({{1.0, 2.0}, {2.0, 4.0}}, float64));
  for (const std::size_t i : {0u, 1u, 2u, 3u}) CHECK(two[i] == Approx(std::vector<double>{4, -2, -2, 1}[i]));
  CHECK(gradient(zeros({1, 1}, float64)) == std::vector<double>{1});
  CHECK(gradient(zeros({2, 2}, float64)) == std::vector<double>{0, 0, 0, 0});
  CHECK(gradient(ones({3, 3}, float64)) == std::vector<double>(9, 0));
  const Tensor rank_two = tensor({{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}, {7.0, 8.0, 9.0}}, float64);
  const std::vector<double> minors{-3, 6, -3, 6, -12, 6, -3, 6, -3};
  for (std::size_t i = 0; i < 9; ++i) CHECK(gradient(rank_two)[i] == Approx(minors[i]));

  const Tensor a = tensor({{1.0, 2.0}, {2.0, 4.0}}, {.dtype = float64, .requires_grad = true});
  const Tensor g = autograd::grad({linalg::det(a)}, {a}, {}, {.create_graph = true})[0];
  CHECK(message_of<AutogradError>([&] { autograd::grad({g.sum()}, {a}); }) ==
        "det: its second derivative is computed from the inverse, but A is singular, float64[2, 2] on cpu");
}

TEST_CASE("what a matrix does not determine has no derivative") {
  const Tensor a = random_matrices({4, 3}).requires_grad_();
  CHECK(message_of<AutogradError>([&] { linalg::svd(a); }).find("use linalg::svd(A, false)") != std::string::npos);
  CHECK(message_of<AutogradError>([&] { linalg::qr(a, "complete"); }).find(R"(linalg::qr(A, "reduced"))") !=
        std::string::npos);
  CHECK_NOTHROW(linalg::svdvals(a).sum().backward());
}

TEST_CASE("the gradient of cholesky and eigh is symmetric") {
  for (const auto& f : {+[](const Tensor& a) { return linalg::cholesky(a); },
                        +[](const Tensor& a) { return std::get<1>(linalg::eigh(a)); }}) {
    const Tensor a = positive({3, 3}).requires_grad_();
    (f(a) * random_matrices({3, 3})).sum().backward();
    CHECK(close(a.grad(), mT(a.grad())));
    const Tensor x = random_matrices({3, 3});
    CHECK(autograd::gradcheck([&](const TensorList& t) { return f(matmul(t[0], mT(t[0])) + eye(3, float64)); },
                              {x.clone().requires_grad_()}));
  }
}
