#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/compare.h>
#include <taper/ops/conv.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include "kernels/thread_count.h"
#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

Tensor normal(IntSpan sizes, bool requires_grad = false) {
  return randn(sizes, {.dtype = float64, .requires_grad = requires_grad});
}

/// The definition, one product at a time; batched input, float64.
std::vector<double> written_out(const Tensor& x, const Tensor& w, const Tensor& b, const Conv2dWindow& o) {
  const std::vector<double> vx = x.to_vector<double>(), vw = w.to_vector<double>();
  const std::vector<double> vb = b.defined() ? b.to_vector<double>() : std::vector<double>();
  const TensorSpec y = ops::conv2d.infer(x, w, b.defined() ? std::optional<Tensor>(b) : std::nullopt, o);
  std::vector<double> out;
  const std::int64_t group_c = w.size(1), group_out = w.size(0) / o.groups;
  for (std::int64_t n = 0; n < y.sizes()[0]; ++n)
    for (std::int64_t oc = 0; oc < y.sizes()[1]; ++oc)
      for (std::int64_t i = 0; i < y.sizes()[2]; ++i)
        for (std::int64_t j = 0; j < y.sizes()[3]; ++j) {
          double sum = vb.empty() ? 0 : vb[std::size_t(oc)];
          for (std::int64_t c = 0; c < group_c; ++c)
            for (std::int64_t ki = 0; ki < w.size(2); ++ki)
              for (std::int64_t kj = 0; kj < w.size(3); ++kj) {
                const std::int64_t r = i * o.stride.h - o.padding.h + ki * o.dilation.h;
                const std::int64_t q = j * o.stride.w - o.padding.w + kj * o.dilation.w;
                if (r < 0 || r >= x.size(2) || q < 0 || q >= x.size(3)) continue;
                const std::int64_t channel = oc / group_out * group_c + c;
                sum += vx[std::size_t(((n * x.size(1) + channel) * x.size(2) + r) * x.size(3) + q)] *
                       vw[std::size_t(((oc * group_c + c) * w.size(2) + ki) * w.size(3) + kj)];
              }
          out.push_back(sum);
        }
  return out;
}

bool close(const Tensor& y, const std::vector<double>& expected) {
  const std::vector<double> v = y.to_vector<double>();
  if (v.size() != expected.size()) return false;
  for (std::size_t i = 0; i < v.size(); ++i)
    if (v[i] != Approx(expected[i]).margin(1e-10)) return false;
  return true;
}

}  // namespace

TEST_CASE("conv2d adds up products under the window", "[conv]") {
  const Tensor x = tensor({{{{1.0, 2.0, 3.0}, {4.0, 5.0, 6.0}, {7.0, 8.0, 9.0}}}});
  const Tensor w = tensor({{{{1.0, 0.0}, {0.0, 10.0}}}});

  CHECK(conv2d(x, w).to_vector<float>() == std::vector<float>{51, 62, 84, 95});
  CHECK(conv2d(x, w, tensor({0.5})).to_vector<float>() == std::vector<float>{51.5, 62.5, 84.5, 95.5});
  CHECK(conv2d(x, w, {}, {.stride = 2}).to_vector<float>() == std::vector<float>{51});
  CHECK(conv2d(x, w, {}, {.dilation = 2}).to_vector<float>() == std::vector<float>{91});
  CHECK(conv2d(x, w, {}, {.padding = {1, 0}}).sizes() == IntSpan{1, 1, 4, 2});
  CHECK(conv2d(x, w, {}, {.padding = 1}).to_vector<float>() ==
        std::vector<float>{10, 20, 30, 0, 40, 51, 62, 3, 70, 84, 95, 6, 0, 7, 8, 9});
}

TEST_CASE("conv2d equals its definition for all options, dtypes and layouts", "[conv]") {
  manual_seed(1);
  const Tensor x = normal({2, 4, 7, 6}), b = normal({6});

  for (const std::int64_t groups : {1, 2})
    for (const IntPair stride : {IntPair(1), IntPair(2, 3)})
      for (const IntPair padding : {IntPair(0), IntPair(2, 1)})
        for (const IntPair dilation : {IntPair(1), IntPair(2, 1)}) {
          const Tensor w = normal({6, 4 / groups, 3, 2});
          const Conv2dOptions o{stride, padding, dilation, groups};
          const std::vector<double> expected = written_out(x, w, b, {stride, padding, dilation, groups});
          const Tensor y = conv2d(x, w, b, o);
          CHECK(close(y, expected));
          CHECK(y.is_contiguous());
          const Tensor last = conv2d(x.contiguous(MemoryFormat::channels_last), w, b, o);
          CHECK(close(last, expected));
          CHECK(last.is_contiguous(MemoryFormat::channels_last));
          CHECK(allclose(conv2d(x.to(float32), w.to(float32), b.to(float32), o), y.to(float32), 1e-4, 1e-5));
        }
}

TEST_CASE("conv2d takes operands of any strides", "[conv]") {
  manual_seed(2);
  const Tensor x = normal({2, 5, 6, 3}), w = normal({2, 2, 3, 4}), b = normal({8});
  const Tensor moved = x.permute({0, 3, 2, 1}).narrow(3, 1, 4);  // [2, 3, 6, 4]
  const Tensor turned = w.permute({3, 2, 1, 0});                 // [4, 3, 2, 2]
  const Tensor every_second = b.slice(0, 0, 8, 2);
  const Tensor repeated = normal({1, 3, 6, 4}).expand({2, 3, 6, 4});

  CHECK(close(conv2d(moved, turned, every_second), written_out(moved, turned, every_second, {})));
  CHECK(close(conv2d(repeated, turned), written_out(repeated, turned, {}, {})));
}

TEST_CASE("conv2d's padding can be named", "[conv]") {
  manual_seed(3);
  const Tensor x = normal({1, 2, 5, 6}), odd = normal({3, 2, 3, 3}), even = normal({3, 2, 2, 3});

  CHECK(close(conv2d(x, odd, {}, {.padding = "valid"}), written_out(x, odd, {}, {})));
  CHECK(close(conv2d(x, odd, {}, {.padding = "same"}), written_out(x, odd, {}, {.padding = 1})));
  // An odd number of zeros: one more at the end.
  const Tensor same = conv2d(x, even, {}, {.padding = "same"});
  CHECK(same.sizes() == IntSpan{1, 3, 5, 6});
  CHECK(close(same.narrow(2, 0, 4), written_out(x, even, {}, {.padding = {0, 1}})));
  CHECK_THROWS_WITH(Conv2dPadding("sane"), Contains("\"sane\"") && Contains("\"same\""));
  CHECK_THROWS_WITH(conv2d(x, odd, {}, {.stride = 2, .padding = "same"}), Contains("stride 1") && Contains("2 x 2"));
}

TEST_CASE("conv2d takes one image without a batch", "[conv]") {
  manual_seed(4);
  const Tensor x = normal({2, 4, 4}, true), w = normal({3, 2, 3, 3}, true);
  const Tensor y = conv2d(x, w);

  CHECK(y.sizes() == IntSpan{3, 2, 2});
  CHECK(close(y, written_out(x.detach().unsqueeze(0), w, {}, {})));
  y.sum().backward();
  CHECK(x.grad().sizes() == x.sizes());
}

TEST_CASE("conv2d has first and second derivatives", "[conv]") {
  manual_seed(5);
  const Tensor b = normal({4}, true);
  for (const std::int64_t groups : {1, 2}) {
    const Tensor w = normal({4, 4 / groups, 2, 3}, true);
    for (const bool is_last : {false, true}) {
      Tensor x = normal({2, 4, 5, 4});
      if (is_last) x = x.contiguous(MemoryFormat::channels_last);
      x.requires_grad_();
      const Conv2dOptions o{{2, 1}, {1, 2}, {1, 2}, groups};
      const auto f = [&](const TensorList& in) { return conv2d(in[0], in[1], in[2], o); };
      CHECK(autograd::gradcheck(f, {x, w, b}));
      CHECK(autograd::gradgradcheck(f, {x, w, b}));
    }
  }
}

TEST_CASE("conv2d differentiates any subset of its arguments", "[conv]") {
  manual_seed(6);
  const Tensor values[] = {normal({1, 2, 4, 4}), normal({2, 2, 3, 3}), normal({2})};
  for (int subset = 1; subset < 8; ++subset) {
    TensorList in;
    for (int i = 0; i < 3; ++i) in.push_back(values[i].clone().requires_grad_(subset >> i & 1));
    const auto f = [](const TensorList& t) { return conv2d(t[0], t[1], t[2], {.padding = 1}); };
    CHECK(autograd::gradcheck(f, in));
    if ((subset & 3) == 3) CHECK(autograd::gradgradcheck(f, in));
  }
}

TEST_CASE("gradients of conv2d may be expanded or transposed", "[conv]") {
  manual_seed(7);
  Tensor x = normal({2, 3, 4, 5}, true), w = normal({2, 3, 2, 2}, true);
  conv2d(x, w).sum().backward();
  const Tensor of_x = x.grad(), of_w = w.grad();
  x.set_grad({}), w.set_grad({});
  conv2d(x, w).backward(ones({2, 2, 4, 3}, float64).permute({0, 1, 3, 2}));

  CHECK(allclose(x.grad(), of_x));
  CHECK(allclose(w.grad(), of_w));
}

TEST_CASE("conv2d of a batch of no images has gradients of 0", "[conv]") {
  const Tensor x = zeros({0, 2, 4, 4}, {.dtype = float64, .requires_grad = true});
  const Tensor w = normal({3, 2, 3, 3}, true), b = normal({3}, true);
  const Tensor y = conv2d(x, w, b);
  CHECK(y.sizes() == IntSpan{0, 3, 2, 2});
  y.sum().backward();

  CHECK(x.grad().sizes() == x.sizes());
  CHECK(equal(w.grad(), zeros_like(w)));
  CHECK(equal(b.grad(), zeros({3}, float64)));
}

TEST_CASE("conv2d of no channels is its bias", "[conv]") {
  const Tensor x = zeros({1, 0, 3, 3}, {.dtype = float64, .requires_grad = true});
  const Tensor w = zeros({2, 0, 2, 2}, {.dtype = float64, .requires_grad = true});
  const Tensor b = tensor({1.0, 2.0}, {.dtype = float64, .requires_grad = true});
  const Tensor y = conv2d(x, w, b);
  CHECK(y.to_vector<double>() == std::vector<double>{1, 1, 1, 1, 2, 2, 2, 2});
  y.sum().backward();

  CHECK(b.grad().to_vector<double>() == std::vector<double>{4, 4});
}

TEST_CASE("conv2d gives shapes without memory on meta", "[conv]") {
  const Tensor x = empty({8, 3, 32, 32}, {.device = meta}), w = empty({16, 3, 3, 3}, {.device = meta});

  const Tensor y = conv2d(x, w, {}, {.stride = {2, 2}, .padding = {1, 1}});
  CHECK(y.sizes() == IntSpan{8, 16, 16, 16});
  CHECK(y.device() == meta);
}

TEST_CASE("the number of threads changes no bit of conv2d", "[conv]") {
  manual_seed(8);
  const Tensor x = randn({8, 6, 20, 20}), b = randn({8});
  Tensor w = randn({8, 6, 3, 3}).requires_grad_();
  const auto all = [&](int threads) {
    const ThreadCount guard(threads);
    w.set_grad({});
    const Tensor y = conv2d(x, w, b, {.padding = 1});
    y.square().sum().backward();
    std::vector<float> v = y.detach().to_vector<float>();
    for (const float g : w.grad().to_vector<float>()) v.push_back(g);
    return v;
  };

  CHECK(all(1) == all(3));
}

TEST_CASE("conv2d finds writes to what it saved", "[conv]") {
  const Tensor x = normal({1, 1, 3, 3}, true), w = normal({1, 1, 2, 2}, true);
  Tensor copy = x.clone();
  const Tensor y = conv2d(copy, w);
  copy.mul_(2);

  CHECK_THROWS_WITH(y.sum().backward(), Contains("conv2d") && Contains("'input'") && Contains("mul_()"));
}

TEST_CASE("wrong arguments of conv2d are refused", "[conv]") {
  const Tensor x = zeros({1, 2, 4, 4}), w = zeros({3, 2, 2, 2});

  CHECK_THROWS_WITH(conv2d(zeros({4, 4}), w), Contains("needs input [n, c, h, w] or [c, h, w]") && Contains("[4, 4]"));
  CHECK_THROWS_WITH(conv2d(x, zeros({3, 2, 2})), Contains("weight float32[3, 2, 2] on cpu"));
  CHECK_THROWS_WITH(conv2d(x, zeros({3, 1, 2, 2})),
                    Contains("input [1, 2, 4, 4] has 2 channels but weight [3, 1, 2, 2] with groups=1 expects 1"));
  CHECK_THROWS_WITH(conv2d(x, zeros({3, 1, 2, 2}), {}, {.groups = 2}),
                    Contains("3 output channels, which groups=2 does not divide"));
  CHECK_THROWS_WITH(conv2d(x, w, zeros({2})), Contains("needs a bias of [3], got [2]"));
  CHECK_THROWS_WITH(conv2d(x, zeros({3, 2, 5, 5})), Contains("covers 5 x 5") && Contains("only 4 x 4") &&
                                                        Contains("use a smaller kernel or more padding"));
  CHECK_THROWS_WITH(conv2d(x, w, {}, {.stride = 0}), Contains("stride is 0 x 0, expected 1 or more"));
  CHECK_THROWS_WITH(conv2d(x, w, {}, {.padding = {0, -1}}), Contains("padding is 0 x -1"));
  CHECK_THROWS_WITH(conv2d(x, w, {}, {.dilation = 0}), Contains("dilation"));
  CHECK_THROWS_AS(conv2d(x, w, {}, {.groups = 0}), ValueError);
  CHECK_THROWS_AS(conv2d(x, w, {}, {.padding = std::int64_t(1) << 62}), ValueError);
  CHECK_THROWS_AS(conv2d(x, w.to(float64)), DTypeError);
  CHECK_THROWS_AS(conv2d(x, w, zeros({3}, float64)), DTypeError);
  CHECK_THROWS_WITH(conv2d(x.to(int64), w.to(int64)), Contains("int64[1, 2, 4, 4] on cpu"));
  CHECK_THROWS_AS(IntPair::of("stride", {1, 2, 3}), ValueError);
  CHECK_THROWS(conv2d(x, Tensor()));
}
