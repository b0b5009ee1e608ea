// Tensors without gradients: this program links lib and kernels only, so that a use of autograd in either fails to
// link.
#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/ops/compare.h>
#include <taper/ops/conv.h>
#include <taper/ops/index.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/softmax.h>
#include <taper/ops/view.h>
#include <taper/random.h>
#include <taper/tensor_index.h>

#include <cmath>
#include <cstdio>

using namespace taper;

int main() {
  int failures = 0;
  const auto expect = [&](const Tensor& got, const Tensor& want, const char* what) {
    if (got.equal(want)) return;
    ++failures;
    std::printf("FAILED %s: got %s\n", what, to_string(got).c_str());
  };

  const Tensor x = arange(6, {.dtype = float32}).view({2, 3});
  expect(x + x.select(1, 0).unsqueeze(1), tensor({{0.0, 1.0, 2.0}, {6.0, 7.0, 8.0}}), "add of a view");
  expect(x.matmul(x.t()), tensor({{5.0, 14.0}, {14.0, 50.0}}), "matmul");
  expect(x.sum({1}), tensor({3.0, 12.0}), "sum");
  Tensor y = x.clone();
  y.t().narrow(0, 1, 2).mul_(2);
  expect(y, tensor({{0.0, 2.0, 4.0}, {3.0, 8.0, 10.0}}), "in place through views");
  y.index_put_({tensor({1, 0}), 0}, tensor({-1.0, -2.0}));
  expect(y.index({Slice(), 0}), tensor({-2.0, -1.0}), "indexing");
  expect(conv2d(ones({1, 1, 3, 3}), ones({1, 1, 2, 2})), full({1, 1, 2, 2}, 4.0), "conv2d");
  if (std::abs(softmax(randn({10}), 0).sum().item<float>() - 1) > 1e-5f) ++failures;
  try {
    x.matmul(x);
    ++failures;
  } catch (const ShapeError&) {
  }
  return failures;
}
