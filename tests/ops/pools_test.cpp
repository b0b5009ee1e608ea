#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/compare.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/pools.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }
Tensor line(std::initializer_list<TensorData> v) { return tensor(TensorData(v), float64).view({1, 1, -1}); }

}  // namespace

TEST_CASE("pools of lines: padding never wins, ceil_mode, and the places of the maxima", "[B51]") {
  CHECK(values(avg_pool1d(ones({1, 1, 4}), 3, {.stride = 1, .padding = 1})) ==
        values(tensor({2. / 3, 1., 1., 2. / 3}, float32)));
  CHECK(values(avg_pool1d(ones({1, 1, 4}), 3, {.stride = 1, .padding = 1, .count_include_pad = false})) ==
        Values{1, 1, 1, 1});
  const Values ceiled = values(avg_pool1d(ones({1, 1, 4}, float64), 3, {.stride = 2, .padding = 1, .ceil_mode = true}));
  CHECK(ceiled[0] == Approx(2. / 3));
  CHECK(ceiled[1] == Approx(1));
  CHECK(ceiled[2] == Approx(0.5));
  CHECK(values(max_pool1d(line({-5., -6.}), 2, {.stride = 1, .padding = 1})) == Values{-5, -5, -6});
  Tensor x = line({1., 5., 2.}).requires_grad_();
  max_pool1d(x, 2, {.stride = 1}).sum().backward();
  CHECK(values(x.grad()) == Values{0, 2, 0});
  CHECK(values(max_pool1d_with_indices(line({1., 5., 2., 7.}), 2).second) == Values{1, 3});
  CHECK(max_pool1d(zeros({2, 6}), 3).sizes() == IntSpan{2, 2});
  CHECK_THROWS_AS(max_pool1d(zeros({1, 1, 4}), 2, {.padding = 2}), ValueError);
  CHECK_THROWS_AS(max_pool1d(zeros({0, 10}), 1), ShapeError);
  CHECK_THROWS_AS(avg_pool1d(zeros({1, 1, 4}), 6), ShapeError);
}

TEST_CASE("volumes are pooled as their planes would be, and places count through the volume") {
  manual_seed(1);
  const Tensor x = randn({2, 3, 4, 5, 6}, float64);
  const auto [y, at] = max_pool3d_with_indices(x, 2, {.stride = 2, .padding = 1, .ceil_mode = true});
  CHECK(y.equal(take_along_dim(x.flatten(2), at.flatten(2), 2).view(y.sizes())));
  // A window of depth 1 leaves the planes apart.
  const Tensor planes = x.transpose(1, 2).flatten(0, 1);
  const auto volume = [](const Tensor& t) { return unflatten(t, 0, {2, 4}).transpose(1, 2); };
  CHECK(max_pool3d(x, {1, 3, 2}, {.padding = {0, 1, 1}, .dilation = {1, 1, 2}})
            .equal(volume(max_pool2d(planes, {3, 2}, {.padding = 1, .dilation = {1, 2}}))));
  for (const bool include : {false, true})
    CHECK(avg_pool3d(x, {1, 3, 2}, {.padding = {0, 1, 1}, .ceil_mode = true, .count_include_pad = include})
              .allclose(
                  volume(avg_pool2d(planes, {3, 2}, {.padding = 1, .ceil_mode = true, .count_include_pad = include}))));
  CHECK(values(avg_pool3d(ones({1, 2, 2, 2}), 2, {.divisor_override = 4})) == Values{2});
  CHECK_THROWS_AS(avg_pool3d(ones({1, 2, 2, 2}), 2, {.divisor_override = 0}), ValueError);
  CHECK_THROWS_AS(max_pool3d(ones({1, 2, 2, 2}), 3), ShapeError);
  CHECK_THROWS_AS(max_pool3d(ones({1, 2, 2, 2}), 2, {.padding = 2}), ValueError);
}

TEST_CASE("the mean of a large picture keeps its digits, in both orders of memory") {
  const Tensor exact = randn({1, 3, 224, 224}, float64).add(100);
  const Tensor x = exact.to(float32), last = x.contiguous(MemoryFormat::channels_last);
  const Tensor want = x.to(float64).mean({2, 3}, true);
  CHECK(adaptive_avg_pool2d(x, {1}).to(float64).sub(want).abs().max().item<double>() < 3e-5);
  CHECK(adaptive_avg_pool2d(last, {1}).equal(adaptive_avg_pool2d(x, {1})));
  const Tensor line = x.reshape({1, 3, -1});
  CHECK(adaptive_avg_pool1d(line, {1}).to(float64).sub(want.squeeze(3)).abs().max().item<double>() < 3e-5);
}

TEST_CASE("pools to a given size take parts of nearly equal size") {
  const Tensor x = line({1., 2., 3., 4., 5.});
  CHECK(allclose(adaptive_avg_pool1d(x, {2}), line({2., 4.})));
  CHECK(values(adaptive_avg_pool1d(x, {std::nullopt})) == Values{1, 2, 3, 4, 5});
  const auto [best, at] = adaptive_max_pool1d_with_indices(x, {2});
  CHECK(values(best) == Values{3, 5});
  CHECK(values(at) == Values{2, 4});
  const Tensor image = arange(12, {.dtype = float64}).view({1, 1, 3, 4});
  CHECK(values(adaptive_avg_pool2d(image, {1})) == Values{5.5});
  CHECK(values(adaptive_max_pool2d_with_indices(image, {{1}, {2}}).second) == Values{9, 11});
  CHECK(adaptive_avg_pool3d(zeros({2, 3, 4, 5}), {2}).sizes() == IntSpan{2, 2, 2, 2});
  CHECK_THROWS_AS(adaptive_avg_pool2d(zeros({4, 4}), {2}), ShapeError);
}

TEST_CASE("maxima go back to where they were, and norms of windows are norms") {
  const Tensor x = tensor({{{1., 5.}, {2., 7.}}}, float64);
  const auto [best, at] = max_pool2d_with_indices(x, 2);
  CHECK(values(max_unpool2d(best, at, 2)) == Values{0, 0, 0, 7});
  CHECK(max_unpool2d(best, at, 2, {}, 0, {3, 2}).sizes() == IntSpan{1, 3, 2});
  CHECK_THROWS_AS(max_unpool2d(best, at.add(4), 2), IndexError);
  const auto [peaks, places] = max_pool1d_with_indices(line({1., 5., 2., 7.}), 2);
  CHECK(values(max_unpool1d(peaks, places, 2)) == Values{0, 5, 0, 7});
  CHECK(values(lp_pool1d(line({3., 4.}), 2, 2))[0] == Approx(5));
  CHECK(values(lp_pool2d(tensor({{{1., 2.}, {2., 4.}}}, float64), 2, 2))[0] == Approx(5));
}

TEST_CASE("the further pools have derivatives") {
  manual_seed(2);
  const Tensor x = randn({1, 2, 3, 4, 4}, float64).requires_grad_();
  const auto f = [](const TensorList& t) {
    return TensorList{max_pool3d(t[0], 2, {.stride = 1}), avg_pool3d(t[0], 2, {.padding = 1}),
                      adaptive_avg_pool3d(t[0], {2}), adaptive_max_pool2d(t[0].squeeze(0), {{2}, {3}}),
                      lp_pool2d(t[0].squeeze(0).abs() + 1, 3, 2)};
  };
  CHECK(autograd::gradcheck(f, {x}));
  CHECK(autograd::gradgradcheck(f, {x}));
}
