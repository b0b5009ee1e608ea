#include "lenet.h"

namespace self_test {
LeNet::LeNet(int b)
    : batch(b),
      c1{b, 28, 28, 1, 5, 2, 28, 28},
      c2{b, 14, 14, 6, 5, 0, 10, 10},
      p1{b, 28, 28, 6, 2, 2, 14, 14},
      p2{b, 10, 10, 16, 2, 2, 5, 5},
      sizes{25 * 6, 6, 150 * 16, 16, 400 * 120, 120, 120 * 84, 84, 84 * 10, 10},
      x(std::size_t(b) * 784),
      loss(b),
      lr(1),
      step(1),
      target(b) {
  unsigned s = 12345;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<float> h(sizes[i]);
    int fan = i % 2 ? 1 : i == 0 ? 25 : i == 2 ? 150 : i == 4 ? 400 : i == 6 ? 120 : 84;
    for (auto& w : h) {
      s = s * 1664525u + 1013904223u;
      w = i % 2 ? 0.0f : (float(s >> 8) / float(1 << 23) - 1.0f) / std::sqrt(float(fan));
    }
    param.emplace_back(sizes[i]);
    param.back().upload(h.data());
    grad.emplace_back(sizes[i]);
    m.emplace_back(sizes[i]);
    m.back().zero();
    v.emplace_back(sizes[i]);
    v.back().zero();
  }
  float l = 1e-3f, z = 0;
  lr.upload(&l);
  step.upload(&z);
}

void LeNet::train_step() {
  struct Lin {
    int in, out, w;
    bool relu;
  };
  const Lin fc[3] = {{400, 120, 4, true}, {120, 84, 6, true}, {84, 10, 8, false}};
  const int r1 = batch * 784, r2 = batch * 100;
  // forward; weights are [out][in]
  Buffer<float> col1(std::size_t(r1) * 25), a1(std::size_t(r1) * 6), q1(std::size_t(batch) * 196 * 6);
  Buffer<int> i1(q1.size());
  im2col(c1, x.get(), col1.get());
  gemm(false, true, r1, 6, 25, 1, col1.get(), param[0].get(), 0, a1.get());
  bias_relu(a1.get(), param[1].get(), a1.get(), r1, 6, true);
  maxpool(p1, a1.get(), q1.get(), i1.get());
  Buffer<float> col2(std::size_t(r2) * 150), a2(std::size_t(r2) * 16);
  im2col(c2, q1.get(), col2.get());
  gemm(false, true, r2, 16, 150, 1, col2.get(), param[2].get(), 0, a2.get());
  bias_relu(a2.get(), param[3].get(), a2.get(), r2, 16, true);
  std::vector<Buffer<float>> act;  // inputs of the linear layers
  act.emplace_back(std::size_t(batch) * 400);
  Buffer<int> i2(act[0].size());
  maxpool(p2, a2.get(), act[0].get(), i2.get());
  for (auto& f : fc) {
    act.emplace_back(std::size_t(batch) * f.out);
    float* y = act.back().get();
    gemm(false, true, batch, f.out, f.in, 1, act[act.size() - 2].get(), param[f.w].get(), 0, y);
    bias_relu(y, param[f.w + 1].get(), y, batch, f.out, f.relu);
  }
  // backward
  Buffer<float> d(std::size_t(batch) * 10);
  cross_entropy(act[3].get(), target.get(), loss.get(), d.get(), batch, 10);
  for (int k = 2; k >= 0; --k) {
    auto& f = fc[k];
    if (f.relu) binary_contiguous(Binary::relu_grad, act[k + 1].get(), d.get(), d.get(), d.size());
    gemm(true, false, f.out, f.in, batch, 1, d.get(), act[k].get(), 0, grad[f.w].get());
    column_sum(d.get(), grad[f.w + 1].get(), batch, f.out);
    Buffer<float> dx(std::size_t(batch) * f.in);
    gemm(false, false, batch, f.in, f.out, 1, d.get(), param[f.w].get(), 0, dx.get());
    d = std::move(dx);
  }
  Buffer<float> da2(a2.size()), dcol2(col2.size()), dq1(q1.size()), da1(a1.size());
  maxpool_grad(p2, d.get(), i2.get(), da2.get());
  binary_contiguous(Binary::relu_grad, a2.get(), da2.get(), da2.get(), a2.size());
  gemm(true, false, 16, 150, r2, 1, da2.get(), col2.get(), 0, grad[2].get());
  column_sum(da2.get(), grad[3].get(), r2, 16);
  gemm(false, false, r2, 150, 16, 1, da2.get(), param[2].get(), 0, dcol2.get());
  col2im(c2, dcol2.get(), dq1.get());
  maxpool_grad(p1, dq1.get(), i1.get(), da1.get());
  binary_contiguous(Binary::relu_grad, a1.get(), da1.get(), da1.get(), a1.size());
  gemm(true, false, 6, 25, r1, 1, da1.get(), col1.get(), 0, grad[0].get());
  column_sum(da1.get(), grad[1].get(), r1, 6);
  // optimiser: one launch for all parameters
  AdamList l{};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    l.p[i] = param[i].get();
    l.g[i] = grad[i].get();
    l.m[i] = m[i].get();
    l.v[i] = v[i].get();
    l.n[i] = unsigned(sizes[i]);
  }
  l.count = int(sizes.size());
  adam(l, lr.get(), step.get(), 0.9f, 0.999f, 1e-8f, 0.0f);
}
}  // namespace self_test
