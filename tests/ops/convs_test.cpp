#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/convs.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }
Tensor counting(IntSpan sizes) {
  return arange(SizesAndStrides::contiguous(sizes).numel(), {.dtype = float64}).reshape(sizes);
}

}  // namespace

TEST_CASE("a line is convolved with stride, dilation, padding and groups, and what is left over has no gradient",
          "[B48][B50]") {
  Tensor x = counting({1, 1, 11}).clone().requires_grad_();
  const Tensor w = tensor({{{1., 10., 100., 1000.}}}, float64);
  const Tensor y = conv1d(x, w, {}, {.stride = 4});
  CHECK(values(y) == Values{3210, 7654});
  y.sum().backward();
  CHECK(values(x.grad()) == Values{1, 10, 100, 1000, 1, 10, 100, 1000, 0, 0, 0});

  const Tensor five = tensor({{{1., 2., 3., 4., 5.}}}, float64), three = tensor({{{1., 2., 3.}}}, float64);
  CHECK(values(conv1d(five, three, {}, {.dilation = 2})) == Values{22});
  CHECK(values(conv1d(five, three, {}, {.padding = 1})) == Values{8, 14, 20, 26, 14});
  CHECK(values(conv1d(five, ones({1, 1, 2}, float64), {}, {.padding = "same"})) == Values{3, 5, 7, 9, 5});
  const Tensor groups = tensor({{{1.}, {0.}}, {{0.}, {1.}}}, float64);
  CHECK(values(conv1d(counting({4, 2}).add(1), groups, {}, {.groups = 2})) == Values{1, 2, 7, 8});
  CHECK_THROWS_AS(conv1d(five, three, {}, {.groups = 2}), ShapeError);
  CHECK_THROWS_AS(conv1d(five, three, {}, {.stride = 2, .padding = "same"}), ValueError);
}

TEST_CASE("a transposed convolution spreads each element", "[B50]") {
  const Tensor x = tensor({{{1., 2.}}}, float64), w = ones({1, 1, 3}, float64);
  CHECK(values(conv_transpose1d(x, w, {}, {.stride = 2})) == Values{1, 1, 3, 2, 2});
  CHECK(values(conv_transpose1d(x, w, {}, {.stride = 2, .output_padding = 1})) == Values{1, 1, 3, 2, 2, 0});
  CHECK(values(conv_transpose1d(x, w, {}, {.stride = 2, .padding = 1, .output_padding = 1})) == Values{1, 3, 2, 2});
  CHECK(values(conv_transpose1d(x, w, tensor({10.}, float64), {.stride = 2})) == Values{11, 11, 13, 12, 12});
  CHECK_THROWS_WITH(conv_transpose1d(x, w, {}, {.output_padding = 1}), Contains("output_padding 1 must be smaller"));
  CHECK_THROWS_AS(conv_transpose1d(zeros({1, 2, 2}), zeros({3, 1, 3})), ShapeError);
}

TEST_CASE("the transposed convolution is the adjoint of the convolution, in every number of dims") {
  manual_seed(1);
  {
    const Tensor x = randn({2, 4, 9}, float64), w = randn({6, 2, 3}, float64);
    const Tensor y = conv1d(x, w, {}, {.stride = 2, .padding = 1, .groups = 2}), g = randn(y.sizes(), float64);
    const Tensor back = conv_transpose1d(g, w, {}, {.stride = 2, .padding = 1, .groups = 2});
    CHECK((y * g).sum().item<double>() == Approx((x * back).sum().item<double>()));
  }
  {
    const Tensor x = randn({2, 2, 5, 4, 5}, float64), w = randn({3, 2, 2, 2, 3}, float64);
    const Conv3dOptions o{.stride = {2, 1, 2}, .padding = {1, 0, 1}, .dilation = {1, 2, 1}};
    const Tensor y = conv3d(x, w, {}, o), g = randn(y.sizes(), float64);
    const Tensor back = conv_transpose3d(
        g, w, {}, {.stride = o.stride, .padding = o.padding, .output_padding = {1, 0, 0}, .dilation = o.dilation});
    CHECK(back.sizes() == x.sizes());
    CHECK((y * g).sum().item<double>() == Approx((x * back).sum().item<double>()));
  }
}

TEST_CASE("windows become columns and columns add up to images") {
  const Tensor x = counting({1, 1, 3, 3});
  CHECK(values(im2col(x, 2)) == Values{0, 1, 3, 4, 1, 2, 4, 5, 3, 4, 6, 7, 4, 5, 7, 8});
  CHECK(values(col2im(im2col(x, 2), 3, 2)) == Values{0, 2, 2, 6, 16, 10, 6, 14, 8});
  CHECK(im2col(x.squeeze(0), {2, 1}, {.padding = {1, 0}}).sizes() == IntSpan{2, 12});
  CHECK_THROWS_AS(im2col(zeros({2, 3}), 2), ShapeError);
  CHECK_THROWS_AS(col2im(zeros({1, 7, 4}), 3, 2), ShapeError);
  CHECK_THROWS_AS(col2im(zeros({1, 4, 5}), 3, 2), ShapeError);
}

TEST_CASE("the further convolutions have first and second derivatives") {
  manual_seed(2);
  const auto check = [](const auto& f, TensorList in) {
    for (Tensor& t : in) t.requires_grad_();
    CHECK(autograd::gradcheck(f, in));
    CHECK(autograd::gradgradcheck(f, in));
  };
  check([](const TensorList& t) { return TensorList{conv1d(t[0], t[1], t[2], {.padding = 1})}; },
        {randn({1, 2, 4}, float64), randn({2, 2, 3}, float64), randn({2}, float64)});
  check([](const TensorList& t) { return TensorList{conv_transpose2d(t[0], t[1], t[2], {.stride = 2})}; },
        {randn({1, 2, 2, 2}, float64), randn({2, 1, 2, 2}, float64), randn({1}, float64)});
  check([](const TensorList& t) { return TensorList{conv3d(t[0], t[1], t[2])}; },
        {randn({1, 1, 3, 2, 2}, float64), randn({1, 1, 2, 2, 2}, float64), randn({1}, float64)});
  check([](const TensorList& t) { return TensorList{conv_transpose3d(t[0], t[1], t[2])}; },
        {randn({1, 1, 2, 2, 1}, float64), randn({1, 1, 2, 1, 2}, float64), randn({1}, float64)});
}
