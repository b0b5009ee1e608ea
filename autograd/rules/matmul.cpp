// Derivatives of products: for C = A B, dA = G B^T and dB = A^T G.
#include <taper/autograd/record.h>
#include <taper/ops/matmul.h>

namespace taper {
void install_matmul_rules();
namespace {

/// All leading dimensions as one: [..., n] -> [rows, n].
Tensor as_rows(const Tensor& t) {
  if (t.dim() == 2) return t;
  std::int64_t rows = 1;
  for (int d = 0; d < t.dim() - 1; ++d) rows *= t.size(d);
  return t.reshape({rows, t.size(-1)});
}

struct MatmulBackward final : Node {
  Saved a{this, "a"}, b{this, "b"};
  int rank_a = 0, rank_b = 0;

  void save(const Tensor& left, const Tensor& right) {
    if (wants(1)) a = left;
    if (wants(0)) b = right;
    rank_a = left.dim(), rank_b = right.dim();
  }
  Gradients apply(Gradients grads) override {
    Tensor g = grads[0];
    if (rank_a == 1 && rank_b == 1) return {wants(0) ? b.get().mul(g) : Tensor(), wants(1) ? a.get().mul(g) : Tensor()};
    // Vectors become the matrices they stand for, in the gradient too.
    if (rank_a == 1) g = g.unsqueeze(-2);
    if (rank_b == 1) g = g.unsqueeze(-1);
    return {wants(0) ? grad_a(g) : Tensor(), wants(1) ? grad_b(g) : Tensor()};
  }

 private:
  // Broadcast dimensions are summed by the engine: the row that a vector stands for is one of them.
  Tensor grad_a(const Tensor& g) const {
    const Tensor right = b;
    return matmul(g, rank_b == 1 ? right.unsqueeze(0) : right.transpose(-2, -1));
  }
  Tensor grad_b(const Tensor& g) const {
    Tensor left = a;
    if (rank_a == 1) left = left.unsqueeze(0);
    // One b for all matrices of a: summing over them is part of the product.
    const Tensor grad = rank_b <= 2 ? matmul(as_rows(left).t(), as_rows(g)) : matmul(left.transpose(-2, -1), g);
    return rank_b == 1 ? grad.squeeze(-1) : grad;
  }
};

struct LinearBackward final : Node {  // y = x W^T + b
  Saved x{this, "x"}, weight{this, "weight"};
  void save(const Tensor& in, const Tensor& w, const std::optional<Tensor>&) {
    if (wants(1)) x = in;
    if (wants(0)) weight = w;
  }
  Gradients apply(Gradients grads) override {
    const Tensor g = grads[0];
    Gradients out(3);
    if (wants(0)) out[0] = matmul(g, weight.get());
    if (wants(1)) out[1] = matmul(as_rows(g).t(), as_rows(x.get()));
    if (wants(2)) out[2] = g;  // the engine sums over the rows
    return out;
  }
};

}  // namespace

void install_matmul_rules() {
  differentiate<MatmulBackward, ops::matmul>();
  differentiate<LinearBackward, ops::linear>();
}

}  // namespace taper
