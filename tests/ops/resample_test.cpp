#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/resample.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include <cmath>
#include <limits>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }

}  // namespace

TEST_CASE("a line is resampled by neighbours, straight lines and averages") {
  const Tensor x = tensor({{{1., 2., 3., 4.}}}, float64);
  CHECK(values(interpolate(x, {.size = {2}})) == Values{1, 3});
  CHECK_THROWS_WITH(interpolate(x, {.scale_factor = {1e18}}), Contains("too large in dim 2"));
  CHECK_THROWS_AS(interpolate(x, {.scale_factor = {std::nan("")}}), ValueError);
  CHECK_THROWS_AS(interpolate(x, {.scale_factor = {-1e300}}), ValueError);
  CHECK_THROWS_AS(interpolate(x, {.scale_factor = {-1}}), ShapeError);
  CHECK(values(interpolate(x, {.size = {2}, .mode = "nearest-exact"})) == Values{2, 4});
  CHECK(values(interpolate(x, {.scale_factor = {2}})) == Values{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(values(interpolate(x, {.size = {2}, .mode = "linear"})) == Values{1.5, 3.5});
  CHECK(values(interpolate(x, {.size = {7}, .mode = "linear", .align_corners = true})) ==
        Values{1, 1.5, 2, 2.5, 3, 3.5, 4});
  CHECK(values(interpolate(x, {.size = {3}, .mode = "area"})) == Values{1.5, 2.5, 3.5});
}

TEST_CASE("an infinity between samples stays where it is") {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor x = tensor({{{1., inf, 2.}}}, float64);
  CHECK(values(interpolate(x, {.size = {3}, .mode = "linear"})) == Values{1, inf, 2});
  CHECK(values(interpolate(x, {.size = {5}, .mode = "linear", .align_corners = true})) == Values{1, inf, inf, inf, 2});
  CHECK(values(interpolate(x, {.scale_factor = {1.2}, .mode = "linear"})) == Values{1, inf, 2});
  const Tensor ends = tensor({{{inf, 1., 2., 4.}}}, float64);  // mostly between samples
  CHECK(values(interpolate(ends, {.size = {8}, .mode = "linear"})) == Values{inf, inf, inf, 1.25, 1.75, 2.5, 3.5, 4});
}

TEST_CASE("every mode leaves an image of one colour as it is, and the original size the image") {
  manual_seed(2);
  const Tensor flat = full({1, 2, 4, 5}, 3, float64), x = randn({1, 2, 4, 5}, float64);
  for (const char* mode : {"nearest", "nearest-exact", "bilinear", "bicubic", "area"}) {
    INFO(mode);
    CHECK(interpolate(flat, {.size = {7, 3}, .mode = mode}).allclose(full({1, 2, 7, 3}, 3, float64)));
    CHECK(interpolate(x, {.size = {4, 5}, .mode = mode}).allclose(x));
  }
  for (const char* mode : {"bilinear", "bicubic"})
    CHECK(
        interpolate(flat, {.size = {2, 3}, .mode = mode, .antialias = true}).allclose(full({1, 2, 2, 3}, 3, float64)));
}

TEST_CASE("sizes and options that contradict each other are refused") {
  const Tensor x = zeros({1, 1, 4, 4});
  CHECK_THROWS_AS(interpolate(x, {}), ValueError);
  CHECK_THROWS_AS(interpolate(x, {.size = {2, 2}, .scale_factor = {2}}), ValueError);
  CHECK_THROWS_AS(interpolate(x, {.size = {2}}), ShapeError);
  CHECK_THROWS_AS(interpolate(x, {.size = {0, 2}}), ShapeError);
  CHECK_THROWS_AS(interpolate(x, {.size = {2, 2}, .mode = "linear"}), ShapeError);
  CHECK_THROWS_WITH(interpolate(x, {.size = {2, 2}, .align_corners = true}), Contains("align_corners has no meaning"));
  CHECK_THROWS_WITH(interpolate(x, {.size = {2, 2}, .mode = "cubist"}), Contains("mode is 'cubist'"));
}

TEST_CASE("channels become pixels and pixels channels") {
  const Tensor x = arange(8).reshape({1, 8, 1, 1});
  const Tensor y = pixel_shuffle(x, 2);
  CHECK(y.sizes() == IntSpan{1, 2, 2, 2});
  CHECK(values(y) == Values{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(pixel_unshuffle(y, 2).equal(x));
  CHECK_THROWS_AS(pixel_shuffle(x, 3), ShapeError);
  CHECK_THROWS_AS(pixel_unshuffle(y, 3), ShapeError);
}

TEST_CASE("the unmoved grid gives the image back, and points outside give what padding_mode says") {
  manual_seed(4);
  const Tensor x = randn({1, 2, 3, 4}, float64);
  const Tensor identity = tensor({{{1., 0., 0.}, {0., 1., 0.}}}, float64);
  for (const bool align : {false, true}) {
    const Tensor grid = affine_grid(identity, x.sizes(), align);
    for (const char* mode : {"bilinear", "nearest", "bicubic"})
      CHECK(grid_sample(x, grid, mode, "zeros", align).allclose(x));
  }
  const Tensor line = tensor({{{{1., 2., 3.}}}}, float64), right = tensor({{{{5., 0.}}}}, float64);
  CHECK(values(grid_sample(line, right, "nearest")) == Values{0});
  CHECK(values(grid_sample(line, right, "bilinear", "border")) == Values{3});
  CHECK(values(grid_sample(line, tensor({{{{2. - 1. / 3, 0.}}}}, float64), "nearest", "reflection")) == Values{3});
  CHECK_THROWS_AS(grid_sample(line, zeros({2, 1, 1, 2}, float64)), ShapeError);
  CHECK_THROWS_AS(grid_sample(line, right, "linear"), ValueError);
  CHECK_THROWS_AS(affine_grid(zeros({1, 2, 2}), {1, 1, 2, 2}), ShapeError);
}

TEST_CASE("sampling has derivatives by the image and by the grid") {
  manual_seed(5);
  const Tensor x = randn({1, 1, 3, 3}, float64).requires_grad_();
  const Tensor grid = (rand({1, 2, 2, 2}, float64) * 1.2 - 0.6).detach().requires_grad_();
  for (const char* mode : {"bilinear", "bicubic"})
    CHECK(autograd::gradcheck(
        [&](const TensorList& t) { return TensorList{grid_sample(t[0], t[1], mode, "zeros", true)}; }, {x, grid}));
}
