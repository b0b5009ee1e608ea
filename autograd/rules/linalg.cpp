// Derivatives of linear algebra: M. Giles, "Collected matrix derivative results for forward and reverse mode
// algorithmic differentiation", 2008; S. Walter and L. Lehmann, "Algorithmic differentiation of linear algebra
// functions", 2010, for qr. Written for any batch: mT and matmul work on the last two dims.
#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/ops/diagonals.h>
#include <taper/ops/join.h>
#include <taper/ops/linalg.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include "rules.h"

namespace taper {
namespace {

/// A number for each matrix, so that it multiplies all of it.
Tensor each(const Tensor& numbers) { return numbers.unsqueeze(-1).unsqueeze(-1); }
Tensor antisymmetric(const Tensor& m) { return m - mT(m); }

struct InverseBackward final : Node {
  Saved result{this, "result"};
  void save_output(const Tensor& y) { result.keep_output(y); }
  Gradients apply(Gradients g) override {
    const Tensor y = mT(result);
    return {neg(matmul(matmul(y, g[0]), y))};
  }
};

struct SolveBackward final : Node {  // A X = B: A^T dB = dX, dA = -dB X^T
  Saved A{this, "A"}, result{this, "result"};
  void save(const Tensor& a, const Tensor&) { A = a; }
  void save_output(const Tensor& x) {
    if (wants(0)) result.keep_output(x);
  }
  Gradients apply(Gradients g) override {
    const Tensor db = linalg::solve(mT(A), g[0]);
    return {wants(0) ? neg(matmul(db, mT(result))) : Tensor(), wants(1) ? db : Tensor()};
  }
};

struct SolveTriangularBackward final : Node {
  Saved A{this, "A"}, result{this, "result"};
  bool upper = false, unitriangular = false;
  void save(const Tensor& a, const Tensor&, bool up, bool unit) { A = a, upper = up, unitriangular = unit; }
  void save_output(const Tensor& x) {
    if (wants(0)) result.keep_output(x);
  }
  Gradients apply(Gradients g) override {
    const Tensor db = linalg::solve_triangular(mT(A), g[0], !upper, true, unitriangular);
    Gradients in(2);
    if (wants(1)) in[1] = db;
    if (!wants(0)) return in;
    const Tensor da = neg(matmul(db, mT(result)));
    const std::int64_t first = unitriangular ? 1 : 0;  // what is not read has no gradient
    in[0] = upper ? triu(da, first) : tril(da, -first);
    return in;
  }
};

struct CholeskyBackward final : Node {  // dA = L^-T P(L^T dL) L^-1 made symmetric, P: lower triangle, half the diagonal
  Saved result{this, "result"};
  void save_output(const Tensor& y) { result.keep_output(y); }
  Gradients apply(Gradients g) override {
    const Tensor l = result, m = tril(matmul(mT(l), g[0]));
    const Tensor p = m - diag_embed(m.diagonal(0, -2, -1)) * 0.5;
    const Tensor left = linalg::solve_triangular(mT(l), p, true);
    const Tensor s = linalg::solve_triangular(l, left, false, false);
    return {(s + mT(s)) * 0.5};
  }
};

struct DetBackward final : Node {
  Saved A{this, "A"};
  void save(const Tensor& a) { A = a; }
  Gradients apply(Gradients g) override { return {each(g[0]) * ops::cofactor(A)}; }
};
struct CofactorBackward final : Node {  // of det(A) Y with Y = A^-T
  Saved A{this, "A"};
  void save(const Tensor& a) { A = a; }
  Gradients apply(Gradients grads) override {
    const Tensor a = A, d = linalg::det(a), g = grads[0];
    check<AutogradError>(d.device().is_meta() || !d.eq(0).any().item<bool>(),
                         "det: its second derivative is computed from the inverse, but A is singular, ", a);
    const Tensor y = mT(linalg::inv(a));
    const Tensor along = each((g * y).sum({-2, -1}));
    return {each(d) * (along * y - matmul(matmul(y, mT(g)), y))};
  }
};
struct SlogdetBackward final : Node {  // of the second output; the sign is constant in pieces
  Saved A{this, "A"};
  void save(const Tensor& a) { A = a; }
  Gradients apply(Gradients g) override {
    const Tensor a = A;
    return {g[1].defined() ? each(g[1]) * mT(linalg::inv(a)) : zeros_like(a)};
  }
};

struct EighBackward final : Node {  // A = V diag(w) V^T
  Saved w{this, "eigenvalues"}, v{this, "eigenvectors"};
  void save_output(const std::array<Tensor, 2>& out) { w.keep_output(out[0]), v.keep_output(out[1]); }
  Gradients apply(Gradients g) override {
    const Tensor vectors = v;
    Tensor inner;
    if (g[0].defined()) inner = diag_embed(g[0]);
    if (g[1].defined()) {
      // V^T dV is antisymmetric, and its element i, j comes from 1 / (w_j - w_i).
      const Tensor values = w, distance = values.unsqueeze(-2) - values.unsqueeze(-1);
      const Tensor turn = antisymmetric(matmul(mT(vectors), g[1])) * 0.5;
      const Tensor part =
          turn / (distance + eye(values.size(-1), {}, {.dtype = values.dtype(), .device = values.device()}));
      inner = inner.defined() ? inner + part : part;
    }
    return {matmul(matmul(vectors, inner), mT(vectors))};
  }
};

struct SvdBackward final : Node {  // A = U diag(s) V^T
  Saved u{this, "U"}, s{this, "S"}, vh{this, "Vh"};
  void save(const Tensor& a, bool full_matrices) {
    check<AutogradError>(!full_matrices || a.size(-1) == a.size(-2), "svd: the full matrices U and Vh of ", a,
                         " are not determined by it and have no derivative; use ", "linalg::svd(A, false)");
  }
  void save_output(const std::array<Tensor, 3>& out) {
    u.keep_output(out[0]), s.keep_output(out[1]), vh.keep_output(out[2]);
  }
  Gradients apply(Gradients g) override {
    const Tensor left = u, values = s, right = vh;
    Tensor inner;  // dA = U inner V^T, and what turns U or V out of their spaces
    const auto add = [](Tensor& sum, const Tensor& t) { sum = sum.defined() ? sum + t : t; };
    if (g[1].defined()) inner = diag_embed(g[1]);
    if (!g[0].defined() && !g[2].defined()) return {matmul(matmul(left, inner), right)};

    const Tensor row = values.unsqueeze(-2), column = values.unsqueeze(-1);
    const Tensor squares = (row - column) * (row + column);
    const Tensor distance = squares + eye(values.size(-1), {}, {.dtype = values.dtype(), .device = values.device()});
    Tensor beyond;
    if (g[0].defined()) {
      const Tensor turn = matmul(mT(left), g[0]);
      add(inner, (antisymmetric(turn) / distance) * row);
      if (left.size(-2) > left.size(-1)) add(beyond, matmul((g[0] - matmul(left, turn)) / row, right));
    }
    if (g[2].defined()) {
      const Tensor turn = matmul(right, mT(g[2]));
      add(inner, column * (antisymmetric(turn) / distance));
      if (right.size(-1) > right.size(-2)) add(beyond, matmul(left, (g[2] - matmul(mT(turn), right)) / column));
    }
    Tensor da = matmul(matmul(left, inner), right);
    if (beyond.defined()) add(da, beyond);
    return {da};
  }
};

struct QrBackward final : Node {  // dA = (dQ + Q L(R dR^T - dQ^T Q)) R^-T, L: the lower triangle, mirrored
  Saved A{this, "A"}, q{this, "Q"}, r{this, "R"};
  void save(const Tensor& a, bool complete) {
    check<AutogradError>(!complete || a.size(-2) <= a.size(-1), "qr: the columns of the complete Q of ", a,
                         R"( are not determined by it and have no derivative; use linalg::qr(A, "reduced"))");
    if (a.size(-2) < a.size(-1)) A = a;
  }
  void save_output(const std::array<Tensor, 2>& out) { q.keep_output(out[0]), r.keep_output(out[1]); }
  Gradients apply(Gradients g) override {
    const Tensor Q = q, R = r;
    const std::int64_t m = Q.size(-2), n = R.size(-1);
    if (m >= n) return {tall(Q, R, g[0], g[1])};
    // A = [B, C] with a square B = Q R1, and C = Q R2.
    const Tensor c = A.get().narrow(-1, m, n - m);
    Tensor dq = g[0], dr, dc;
    if (g[1].defined()) {
      dr = g[1].narrow(-1, 0, m);
      const Tensor dr2 = g[1].narrow(-1, m, n - m), from_c = matmul(c, mT(dr2));
      dc = matmul(Q, dr2);
      dq = dq.defined() ? dq + from_c : from_c;
    } else {
      dc = zeros_like(c);
    }
    return {cat({tall(Q, R.narrow(-1, 0, m), dq, dr), dc}, -1)};
  }

 private:
  static Tensor tall(const Tensor& Q, const Tensor& R, const Tensor& dq, const Tensor& dr) {
    Tensor m;
    if (dr.defined()) m = matmul(R, mT(dr));
    if (dq.defined()) m = m.defined() ? m - matmul(mT(dq), Q) : neg(matmul(mT(dq), Q));
    const Tensor mirrored = tril(m) + mT(tril(m, -1));
    const Tensor turned = dq.defined() ? dq + matmul(Q, mirrored) : matmul(Q, mirrored);
    return linalg::solve_triangular(mT(R), turned, false, false);
  }
};

}  // namespace

void install_linalg_rules() {
  differentiate<InverseBackward, ops::inverse>();
  differentiate<SolveBackward, ops::solve>();
  differentiate<SolveTriangularBackward, ops::solve_triangular>();
  differentiate<CholeskyBackward, ops::cholesky>();
  differentiate<DetBackward, ops::det>();
  differentiate<CofactorBackward, ops::cofactor>();
  differentiate<SlogdetBackward, ops::slogdet>();
  differentiate<EighBackward, ops::eigh>();
  differentiate<SvdBackward, ops::svd>();
  differentiate<QrBackward, ops::qr>();
}

}  // namespace taper
