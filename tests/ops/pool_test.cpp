#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/compare.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/pool.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include <algorithm>
#include <cmath>

#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

Tensor normal(IntSpan sizes, bool requires_grad = false) {
  return randn(sizes, {.dtype = float64, .requires_grad = requires_grad});
}
/// 0, 1, 2, ... row by row in one image of one channel.
Tensor counted(std::int64_t h, std::int64_t w) { return arange(h * w, {.dtype = float32}).view({1, 1, h, w}); }

/// Distinct numbers in random order, so that no maximum is near another element.
Tensor distinct(IntSpan sizes) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return randperm(n, {.dtype = float64}).view(sizes);
}

}  // namespace

TEST_CASE("max_pool2d takes the largest under each window", "[pool]") {
  const Tensor x = counted(4, 4);

  CHECK(max_pool2d(x, 2).to_vector<float>() == std::vector<float>{5, 7, 13, 15});
  CHECK(max_pool2d(x, {1, 3}, {.stride = 1}).to_vector<float>() == std::vector<float>{2, 3, 6, 7, 10, 11, 14, 15});
  CHECK(max_pool2d(x, 2, {.stride = 2, .padding = 1}).to_vector<float>() ==
        std::vector<float>{0, 2, 3, 8, 10, 11, 12, 14, 15});
  CHECK(max_pool2d(x, 2, {.stride = 1, .dilation = 3}).to_vector<float>() == std::vector<float>{15});
  CHECK(max_pool2d(x, 3).to_vector<float>() == std::vector<float>{10});
  CHECK(max_pool2d(x, 3, {.ceil_mode = true}).to_vector<float>() == std::vector<float>{10, 11, 14, 15});
  CHECK(max_pool2d(neg(x) - 1, 3, {.stride = {3, 3}, .padding = {1, 1}}).to_vector<float>() ==
        std::vector<float>{-1, -3, -9, -11});
}

TEST_CASE("max_pool2d tells where the maxima are", "[pool]") {
  const Tensor x = neg(counted(4, 5));
  const auto [y, places] = max_pool2d_with_indices(x, 2, {.padding = 1});

  CHECK(places.dtype() == int64);
  CHECK(y.to_vector<float>() == std::vector<float>{0, -1, -3, -5, -6, -8, -15, -16, -18});
  CHECK(places.to_vector<std::int64_t>() == std::vector<std::int64_t>{0, 1, 3, 5, 6, 8, 15, 16, 18});
  CHECK(!max_pool2d_with_indices(ones({1, 1, 2, 2}, {.requires_grad = true}), 2).second.requires_grad());
}

TEST_CASE("max_pool2d finds NaN and, of equal elements, the first", "[pool]") {
  const Tensor x = tensor({{{{1.0, NAN, 2.0, 2.0}, {5.0, 3.0, 2.0, 2.0}}}}, {.requires_grad = true});
  const Tensor y = max_pool2d(x, 2);

  CHECK(std::isnan(y.detach().to_vector<float>()[0]));
  CHECK(y.detach().to_vector<float>()[1] == 2);
  y.sum().backward();
  CHECK(x.grad().to_vector<float>() == std::vector<float>{0, 1, 1, 0, 0, 0, 0, 0});
}

TEST_CASE("pooling keeps the order in memory and takes any strides", "[pool]") {
  manual_seed(1);
  const Tensor x = normal({2, 3, 6, 7});
  const Tensor last = x.contiguous(MemoryFormat::channels_last);
  const Tensor gaps = normal({3, 14, 2, 6}).permute({2, 0, 3, 1}).slice(3, 0, 14, 2);  // [2, 3, 6, 7]

  CHECK(max_pool2d(last, 3, {.stride = 2}).is_contiguous(MemoryFormat::channels_last));
  CHECK(avg_pool2d(last, 3, {.stride = 2}).is_contiguous(MemoryFormat::channels_last));
  for (const std::int64_t k : {2, 3}) {
    CHECK(equal(max_pool2d(last, k, {.padding = 1}), max_pool2d(x, k, {.padding = 1})));
    CHECK(equal(max_pool2d_with_indices(last, k, {.padding = 1}).second,
                max_pool2d_with_indices(x, k, {.padding = 1}).second));
    CHECK(allclose(avg_pool2d(last, k, {.padding = 1}), avg_pool2d(x, k, {.padding = 1})));
    CHECK(equal(max_pool2d(gaps, k), max_pool2d(gaps.contiguous(), k)));
    CHECK(allclose(avg_pool2d(gaps, k), avg_pool2d(gaps.contiguous(), k)));
    CHECK(equal(max_pool2d(x.to(float32), k), max_pool2d(x, k).to(float32)));
  }
}

TEST_CASE("max_pool2d has first and second derivatives", "[pool]") {
  manual_seed(2);
  for (const bool is_last : {false, true})
    for (const MaxPool2dOptions& o : {MaxPool2dOptions{}, MaxPool2dOptions{.stride = 1, .padding = 1},
                                      MaxPool2dOptions{.stride = {2, 1}, .dilation = {1, 2}, .ceil_mode = true}}) {
      Tensor x = distinct({2, 2, 5, 6});
      if (is_last) x = x.contiguous(MemoryFormat::channels_last);
      x.requires_grad_();
      const auto plain = [&](const TensorList& in) { return max_pool2d(in[0], {2, 3}, o); };
      const auto with_places = [&](const TensorList& in) { return max_pool2d_with_indices(in[0], {2, 3}, o).first; };
      CHECK(autograd::gradcheck(plain, {x}));
      CHECK(autograd::gradcheck(with_places, {x}));
      // A product makes the gradient depend on x again.
      CHECK(autograd::gradgradcheck([&](const TensorList& in) { return plain(in).square(); }, {x}));
      CHECK(autograd::gradgradcheck([&](const TensorList& in) { return with_places(in).square(); }, {x}));
    }
}

TEST_CASE("windows of more than 256 elements pool too", "[pool]") {
  manual_seed(3);
  const Tensor x = distinct({1, 2, 18, 20}).requires_grad_();
  const Tensor y = max_pool2d(x, {17, 18}, {.stride = 1});
  CHECK(y.sizes() == IntSpan{1, 2, 2, 3});
  y.sum().backward();

  CHECK(x.grad().sum().item<double>() == 12);
}

TEST_CASE("a window that sees only padding has no gradient", "[pool]") {
  const Tensor x = ones({1, 1, 3, 3}, {.dtype = float64, .requires_grad = true});
  const Tensor y = max_pool2d(x, 2, {.stride = 1, .padding = 1, .dilation = 4});
  CHECK(y.sizes() == IntSpan{1, 1, 1, 1});
  CHECK(y.item<double>() == -INFINITY);
  y.sum().backward();

  CHECK(equal(x.grad(), zeros_like(x)));
}

TEST_CASE("avg_pool2d averages what is under each window", "[pool]") {
  const Tensor x = counted(4, 4);

  CHECK(avg_pool2d(x, 2).to_vector<float>() == std::vector<float>{2.5, 4.5, 10.5, 12.5});
  CHECK(avg_pool2d(x, 2, {.padding = 1}).to_vector<float>() ==
        std::vector<float>{0, 0.75, 0.75, 3, 7.5, 4.5, 3, 6.75, 3.75});
  CHECK(avg_pool2d(x, 2, {.padding = 1, .count_include_pad = false}).to_vector<float>() ==
        std::vector<float>{0, 1.5, 3, 6, 7.5, 9, 12, 13.5, 15});
  CHECK(avg_pool2d(x, 2, {.divisor_override = 2}).to_vector<float>() == std::vector<float>{5, 9, 21, 25});
  CHECK(avg_pool2d(x, 2, {.divisor_override = -2}).to_vector<float>() == std::vector<float>{-5, -9, -21, -25});
  CHECK(avg_pool2d(x, 3, {.ceil_mode = true}).to_vector<float>() == std::vector<float>{5, 7, 13, 15});
}

TEST_CASE("avg_pool2d has first and second derivatives", "[pool]") {
  manual_seed(4);
  for (const bool is_last : {false, true})
    for (const AvgPool2dOptions& o :
         {AvgPool2dOptions{}, AvgPool2dOptions{.stride = 1, .padding = 1},
          AvgPool2dOptions{.stride = {2, 1}, .padding = {1, 0}, .ceil_mode = true, .count_include_pad = false},
          AvgPool2dOptions{.divisor_override = 3}}) {
      Tensor x = normal({2, 2, 5, 6});
      if (is_last) x = x.contiguous(MemoryFormat::channels_last);
      x.requires_grad_();
      const auto f = [&](const TensorList& in) { return avg_pool2d(in[0], {2, 3}, o); };
      CHECK(autograd::gradcheck(f, {x}));
      CHECK(autograd::gradgradcheck([&](const TensorList& in) { return f(in).square(); }, {x}));
    }
}

TEST_CASE("pooling takes one image, no images and meta", "[pool]") {
  const Tensor x = ones({2, 4, 4}, {.requires_grad = true});
  max_pool2d(x, 2).sum().backward();
  CHECK(x.grad().sum().item<float>() == 8);
  CHECK(max_pool2d_with_indices(x, 2).second.sizes() == IntSpan{2, 2, 2});
  CHECK(avg_pool2d(x, 2).sizes() == IntSpan{2, 2, 2});

  const Tensor none = zeros({0, 2, 4, 4}, {.requires_grad = true});
  CHECK(avg_pool2d(none, 2).sizes() == IntSpan{0, 2, 2, 2});
  max_pool2d(none, 2).sum().backward();
  CHECK(none.grad().sizes() == none.sizes());
  CHECK(max_pool2d(empty({1, 2, 4, 4}, {.device = meta}), 2).sizes() == IntSpan{1, 2, 2, 2});
}

TEST_CASE("wrong arguments of pooling are refused", "[pool]") {
  const Tensor x = zeros({1, 1, 4, 4});

  CHECK_THROWS_WITH(max_pool2d(zeros({4, 4}), 2),
                    Contains("max_pool2d: needs x [n, c, h, w] or [c, h, w], got float32[4, 4]"));
  CHECK_THROWS_WITH(max_pool2d(x, 5), Contains("kernel_size 5 x 5") && Contains("does not fit into x [1, 1, 4, 4]"));
  CHECK_THROWS_WITH(max_pool2d(x, 2, {.padding = 2}), Contains("padding 2 x 2 is more than half of kernel_size 2 x 2"));
  CHECK_THROWS_WITH(max_pool2d(x, 2, {.padding = -1}), Contains("padding is -1 x -1, expected 0 or more"));
  CHECK_THROWS_WITH(max_pool2d(x, 2, {.stride = 0}), Contains("stride is 0 x 0, expected 1 or more"));
  CHECK_THROWS_WITH(max_pool2d(x, 2, {.dilation = 0}), Contains("dilation"));
  CHECK_THROWS_WITH(avg_pool2d(x, 0), Contains("avg_pool2d: kernel_size is 0 x 0"));
  CHECK_THROWS_WITH(avg_pool2d(x, 2, {.divisor_override = 0}), Contains("divisor_override is 0"));
  CHECK_THROWS_AS(avg_pool2d(x, {3, 2}, {.padding = 2}), ValueError);
  CHECK_THROWS_AS(max_pool2d(zeros({1, 0, 10}), 1), ShapeError);
  CHECK_THROWS_AS(max_pool2d(x.to(bool_), 2), DTypeError);
  CHECK_THROWS_AS(avg_pool2d(x.to(int64), 2), DTypeError);
  CHECK_THROWS_AS(max_pool2d(x, std::int64_t(1) << 40), ValueError);
  CHECK_THROWS(max_pool2d(Tensor(), 2));
}
