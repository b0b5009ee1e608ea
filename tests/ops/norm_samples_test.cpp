#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/compare.h>
#include <taper/ops/norm_samples.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/parallel.h>
#include <taper/random.h>

#include <cmath>
#include <limits>

#include "support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }
Tensor by_hand(const Tensor& x, IntSpan dims) {
  return (x - x.mean(dims, true)) / (x.var(dims, 0, true) + 1e-5).sqrt();
}

}  // namespace

TEST_CASE("layers, groups and instances are normalized over what belongs together") {
  manual_seed(1);
  const Tensor x = randn({2, 4, 3}, float64), w = randn({4}, float64), b = randn({4}, float64);
  const Tensor per_channel = w.view({4, 1}), shift = b.view({4, 1});
  CHECK(layer_norm(x, 3).allclose(by_hand(x, 2)));
  CHECK(layer_norm(x, {4, 3}).allclose(by_hand(x, {1, 2})));
  CHECK(layer_norm(x.transpose(1, 2), 4, w, b).allclose(by_hand(x.transpose(1, 2), 2) * w + b));
  CHECK(group_norm(x, 2).allclose(by_hand(x.view({2, 2, 6}), 2).view({2, 4, 3})));
  CHECK(group_norm(x, 4, w, b).allclose(by_hand(x, 2) * per_channel + shift));
  CHECK(instance_norm(x, {}, {}, w, b).allclose(by_hand(x, 2) * per_channel + shift));
  CHECK(values(layer_norm(tensor({{5.}}, float64), 1)) == Values{0});
  CHECK(layer_norm(zeros({0, 3}), 3).sizes() == IntSpan{0, 3});
}

TEST_CASE(
    "layer_norm of long lines in float32 is right to single precision, with its gradients, for any number of threads") {
  manual_seed(5);
  const auto run = [](DType d, const TensorList& in) {
    TensorList leaves;
    for (const Tensor& t : in) leaves.push_back(t.to(d, true).requires_grad_());
    const Tensor y = layer_norm(leaves[0], leaves[0].size(1), leaves[1], leaves[2]);
    y.backward(in[3].to(d));
    return TensorList{y.detach(), leaves[0].grad(), leaves[1].grad(), leaves[2].grad()};
  };
  const TensorList in{randn({203, 301}) + 3, randn({301}), randn({301}), randn({203, 301})};
  const TensorList want = run(float64, in), one = (set_num_threads(1), run(float32, in)),
                   three = (set_num_threads(3), run(float32, in)), half = run(bfloat16, in);
  set_num_threads(1);
  for (std::size_t i = 0; i < want.size(); ++i) {
    CHECK(one[i].to(float64).allclose(want[i], 1e-4, 1e-4));
    CHECK(one[i].equal(three[i]));
    CHECK(half[i].to(float64).allclose(want[i], 0.1, 0.6));
  }
}

TEST_CASE("rms_norm divides by the root of the mean square and has derivatives") {
  const Tensor x = tensor({{3., 4.}, {6., 8.}}, float64), w = tensor({1., 2.}, float64);
  const Values y = values(rms_norm(x, 2, w, 0.));
  CHECK(y[0] == Approx(3 / std::sqrt(12.5)));
  CHECK(y[3] == Approx(2 * 8 / std::sqrt(50.)));
  CHECK(rms_norm(x, 2).allclose(rms_norm(x, 2, {}, std::numeric_limits<double>::epsilon())));
  TensorList in{x.clone().requires_grad_(), w.clone().requires_grad_()};
  const auto norms = [](const TensorList& t) { return TensorList{rms_norm(t[0], 2, t[1])}; };
  CHECK(autograd::gradcheck(norms, in));
  CHECK(autograd::gradgradcheck(norms, in));
  CHECK_THROWS_WITH(rms_norm(x, 3), Contains("rms_norm: x [2, 2] does not end in the shape [3]"));
}

TEST_CASE("running statistics of instances move by the mean over the samples, and are used as they are") {
  const Tensor x = tensor({{{1., 3.}}, {{5., 7.}}}, float64);
  const Tensor mean = zeros({1}, float64), var = ones({1}, float64);
  instance_norm(x, mean, var);
  CHECK(values(mean)[0] == Approx(0.4));
  CHECK(values(var)[0] == Approx(0.9 + 0.2));
  const Tensor y = instance_norm(x, tensor({1.}, float64), tensor({4.}, float64), {}, {}, false, 0.1, 0);
  CHECK(values(y) == Values{0, 1, 2, 3});
}

TEST_CASE("a channel is divided by its neighbours") {
  const Tensor x = tensor({{{1.}, {2.}, {3.}}}, float64);
  const Values y = values(local_response_norm(x, 2, 2, 1, 0));
  CHECK(y[0] == Approx(1.));
  CHECK(y[1] == Approx(2. / 5));
  CHECK(y[2] == Approx(3. / 13));
}

TEST_CASE("normalizations within samples have first and second derivatives") {
  manual_seed(3);
  TensorList in{randn({2, 4, 3}, float64), randn({4}, float64), randn({4}, float64)};
  for (Tensor& t : in) t.requires_grad_();
  const auto groups = [](const TensorList& t) { return TensorList{group_norm(t[0], 2, t[1], t[2])}; };
  const auto layers = [](const TensorList& t) { return TensorList{layer_norm(t[0].transpose(1, 2), 4, t[1], t[2])}; };
  const auto responses = [](const TensorList& t) { return TensorList{local_response_norm(t[0], 3, 0.5)}; };
  CHECK(autograd::gradcheck(groups, in));
  CHECK(autograd::gradgradcheck(groups, in));
  CHECK(autograd::gradcheck(layers, in));
  CHECK(autograd::gradgradcheck(layers, in));
  CHECK(autograd::gradcheck(responses, {in[0]}));
  CHECK(autograd::gradgradcheck(responses, {in[0]}));
}

TEST_CASE("normalizations refuse shapes that do not go together") {
  const Tensor x = zeros({2, 4, 3});
  CHECK_THROWS_WITH(layer_norm(x, 4), Contains("does not end in the shape [4]"));
  CHECK_THROWS_AS(layer_norm(x, IntSpan{}), ShapeError);
  CHECK_THROWS_AS(layer_norm(x, 3, zeros({4})), ShapeError);
  CHECK_THROWS_AS(layer_norm(x.to(int64), 3), DTypeError);
  CHECK_THROWS_WITH(group_norm(x, 3), Contains("3 groups do not divide the 4 channels"));
  CHECK_THROWS_AS(group_norm(x, 2, zeros({3})), ShapeError);
  CHECK_THROWS_AS(instance_norm(zeros({2, 4, 1})), ValueError);
  CHECK_THROWS_AS(instance_norm(x, {}, {}, {}, {}, false), ValueError);
}
