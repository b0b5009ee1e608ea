#include <taper/factory.h>
#include <taper/nn/batchnorm.h>
#include <taper/nn/conv.h>
#include <taper/nn/loss.h>
#include <taper/nn/pooling.h>
#include <taper/random.h>

#include <algorithm>
#include <cmath>

#include "support/catch.h"
#include "support/values.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {

void check_close(const Tensor& got, const std::vector<double>& want, double tolerance = 1e-6) {
  const auto v = got.to(float64).to_vector<double>();
  REQUIRE(v.size() == want.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    INFO(i << ": " << v[i] << " against " << want[i]);
    CHECK(std::abs(v[i] - want[i]) <= tolerance);
  }
}

Tensor column(std::initializer_list<double> values) {
  return from_vector(std::vector<double>(values)).to(float32).view({-1, 1});
}

}  // namespace

TEST_CASE(
    "batch normalization gives the batch mean 0 and deviation 1 and "
    "keeps running statistics",
    "[B46]") {
  nn::BatchNorm1d norm(1);
  check_close(norm(column({1, 2, 3, 6})), {-1.069043, -.534522, 0, 1.603565}, 1e-5);
  check_close(norm.running_mean, {.3});
  check_close(norm.running_var, {1.366667});
  CHECK(norm.num_batches_tracked.item<std::int64_t>() == 1);

  norm.eval();
  check_close(norm(column({.3})), {0});
  CHECK(norm.num_batches_tracked.item<std::int64_t>() == 1);
  norm.reset_running_stats();
  check_close(norm.running_var, {1});
  CHECK(norm.num_batches_tracked.item<std::int64_t>() == 0);
}

TEST_CASE("without momentum the running statistics are the mean over all batches", "[B46]") {
  nn::BatchNorm1d norm(1, {.momentum = {}});
  norm(column({1, 3})), norm(column({5, 9}));
  check_close(norm.running_mean, {4.5});
  check_close(norm.running_var, {5});
}

TEST_CASE("batch normalization of one image counts its pixels", "[B46]") {
  nn::BatchNorm2d norm(1);
  norm(tensor({1, 2, 3, 4}, float32).view({1, 1, 2, 2}));
  check_close(norm.running_mean, {.25});
  check_close(norm.running_var, {1.066667});
}

TEST_CASE("the gradient of batch normalization goes through mean and deviation", "[B46]") {
  nn::BatchNorm1d norm(1);
  Tensor x = column({1, 2, 4}).requires_grad_();
  norm(x)[0].sum().backward();
  check_close(x.grad(), {.229082, -.343620, .114538}, 1e-5);
}

TEST_CASE("running statistics are saved and loaded exactly", "[B46]") {
  manual_seed(1);
  nn::BatchNorm2d a(3), b(3);
  a(randn({4, 3, 2, 2}));
  const TensorDict state = a.state_dict();
  std::string names;
  for (const auto& [name, t] : state) names += name + ' ';
  CHECK(names == "weight bias running_mean running_var num_batches_tracked ");
  b.load_state_dict(state);
  CHECK(b.running_mean.to_vector<float>() == a.running_mean.to_vector<float>());
  CHECK(b.running_var.to_vector<float>() == a.running_var.to_vector<float>());
  CHECK(b.num_batches_tracked.item<std::int64_t>() == 1);
  nn::BatchNorm2d c = nn::clone(a);
  CHECK(c.running_var.to_vector<float>() == a.running_var.to_vector<float>());
  c(randn({4, 3, 2, 2}));
  CHECK(a.num_batches_tracked.item<std::int64_t>() == 1);
}

TEST_CASE(
    "batch normalization without running statistics uses the batch in "
    "evaluation too") {
  nn::BatchNorm1d norm(1, {.affine = false, .track_running_stats = false});
  CHECK(norm.state_dict().empty());
  norm.eval();
  check_close(norm(column({1, 2, 3, 6})), {-1.069043, -.534522, 0, 1.603565}, 1e-5);
}

TEST_CASE("batch normalization refuses inputs of another rank and changes nothing") {
  nn::BatchNorm1d one(3);
  nn::BatchNorm2d two(3);
  CHECK_THROWS_WITH(one(ones({3})), Contains("BatchNorm1d: x must be [n, 3]"));
  CHECK_THROWS_WITH(two(ones({2, 3})), Contains("BatchNorm2d: x must be [n, 3, h, w], got float32[2, 3]"));
  CHECK_THROWS_AS(two(ones({2, 4, 5, 5})), ShapeError);
  CHECK(two.num_batches_tracked.item<std::int64_t>() == 0);
  CHECK_THROWS_AS(nn::BatchNorm1d(0), ValueError);
}

TEST_CASE("convolutions have PyTorch's shapes, options and start values") {
  manual_seed(1);
  nn::Conv2d conv(4, 64, {3, 5}, {.stride = 2, .padding = {1, 2}, .groups = 2});
  CHECK(conv.weight.sizes() == IntSpan{64, 2, 3, 5});
  CHECK(conv.bias.sizes() == IntSpan{64});
  CHECK(conv(ones({2, 4, 9, 9})).sizes() == IntSpan{2, 64, 5, 5});
  const auto w = conv.weight.to_vector<float>();
  const float bound = 1 / std::sqrt(30.f);
  CHECK(*std::max_element(w.begin(), w.end()) <= bound);
  CHECK(*std::max_element(w.begin(), w.end()) > 0.98f * bound);
  CHECK(*std::min_element(w.begin(), w.end()) < -0.98f * bound);

  CHECK(nn::Conv2d(1, 1, 4, {.padding = "same"})(ones({1, 1, 7, 6})).sizes() == IntSpan{1, 1, 7, 6});
  CHECK(nn::Conv2d(1, 1, 4, {.padding = "valid"})(ones({1, 7, 6})).sizes() == IntSpan{1, 4, 3});
  CHECK(nn::clone(conv).weight.to_vector<float>() == w);

  CHECK_THROWS_AS(nn::Conv2d(3, 4, 3, {.groups = 2}), ValueError);
  CHECK_THROWS_AS(nn::Conv2d(0, 4, 3), ValueError);
  CHECK_THROWS_AS(nn::Conv2d(1, 4, 0), ValueError);
  CHECK_THROWS_WITH(nn::Conv2d(1, 4, 3, {.stride = 2, .padding = "same"}), Contains("needs stride 1"));
}

TEST_CASE("a convolution continues what is at the edges as padding_mode says") {
  const Tensor x = tensor({{{1.0, 2.0, 3.0, 4.0}}}, float32);
  const auto sums = [&](nn::PaddingMode mode, const Conv1dPadding& padding) {
    nn::Conv1d conv(1, 1, 3, {.padding = padding, .bias = false, .padding_mode = mode});
    const NoGradGuard no_grad;
    conv.weight.fill_(1);
    return values(conv(x));
  };
  using enum nn::PaddingMode;
  CHECK(sums(zeros, 1) == std::vector<double>{3, 6, 9, 7});
  CHECK(sums(reflect, 1) == std::vector<double>{5, 6, 9, 10});
  CHECK(sums(replicate, 1) == std::vector<double>{4, 6, 9, 11});
  CHECK(sums(circular, "same") == std::vector<double>{7, 6, 9, 8});

  nn::Conv2d square(1, 1, 2, {.padding = "same", .bias = false, .padding_mode = circular});
  const NoGradGuard no_grad;
  square.weight.fill_(1);
  // "same" with an even kernel adds the odd row and column behind.
  CHECK(values(square(tensor({{{{1.0, 2.0}, {3.0, 4.0}}}}, float32))) == std::vector<double>(4, 10));
}

TEST_CASE("a convolution adds products under its window") {
  nn::Conv2d conv(1, 1, 2);
  conv.load_state_dict(
      {{"weight", tensor({1, 10, 100, 1000}, float32).view({1, 1, 2, 2})}, {"bias", tensor({0.5}, float32)}});
  check_close(conv(tensor({{1, 2, 3}, {4, 5, 6}}, float32).view({1, 1, 2, 3})), {5421.5, 6532.5});
}

TEST_CASE("pooling layers reduce windows") {
  const Tensor x = arange(16, {.dtype = float32}).view({1, 1, 4, 4});
  check_close(nn::MaxPool2d(2)(x), {5, 7, 13, 15});
  check_close(nn::MaxPool2d(3, {.stride = 1})(x), {10, 11, 14, 15});
  check_close(nn::AvgPool2d(2)(x), {2.5, 4.5, 10.5, 12.5});
  check_close(nn::AvgPool2d({1, 4})(x), {1.5, 5.5, 9.5, 13.5});
}

TEST_CASE("losses are modules with two inputs") {
  const Tensor logits = tensor({{1, 2, 3}, {1, 2, 3}}, float32), target = tensor({2, -100});
  check_close(nn::CrossEntropyLoss()(logits, target), {.407606});
  check_close(nn::CrossEntropyLoss({.reduction = Reduction::sum})(logits, tensor({2, 2})), {.815212});
  nn::CrossEntropyLoss weighted({.weight = tensor({0, 0, 2}, float32), .reduction = Reduction::sum});
  check_close(weighted(logits, target), {.815212});
  CHECK(weighted.state_dict().contains("weight"));
  CHECK(nn::clone(weighted).weight.to_vector<float>() == std::vector<float>{0, 0, 2});
  weighted.to(float64);
  CHECK(weighted.weight.dtype() == float64);

  const Tensor a = tensor({1, 2}, float32), b = tensor({1, 4}, float32);
  check_close(nn::MSELoss()(a, b), {2});
  check_close(nn::MSELoss({.reduction = Reduction::none})(a, b), {0, 4});
  CHECK_THROWS_AS(nn::MSELoss()(a, b.view({2, 1})), ShapeError);
}

TEST_CASE("layers print as PyTorch prints them") {
  CHECK(nn::to_string(nn::Conv1d(1, 6, 5, {.padding = 2, .padding_mode = nn::PaddingMode::circular})) ==
        "Conv1d(1, 6, kernel_size=(5,), stride=(1,), padding=(2,), padding_mode=circular)");
  CHECK(nn::to_string(nn::Conv2d(1, 6, 5, {.padding = 2})) ==
        "Conv2d(1, 6, kernel_size=(5, 5), stride=(1, 1), padding=(2, 2))");
  CHECK(nn::to_string(nn::Conv2d(4, 6, {1, 2}, {.padding = "same", .dilation = 2, .groups = 2, .bias = false})) ==
        "Conv2d(4, 6, kernel_size=(1, 2), stride=(1, 1), padding=same, "
        "dilation=(2, 2), groups=2, bias=False)");
  CHECK(nn::to_string(nn::MaxPool2d(2)) ==
        "MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, "
        "ceil_mode=False)");
  CHECK(nn::to_string(nn::AvgPool2d({2, 3}, {.stride = 1})) == "AvgPool2d(kernel_size=(2, 3), stride=1, padding=0)");
  CHECK(nn::to_string(nn::BatchNorm2d(6)) ==
        "BatchNorm2d(6, eps=1e-05, momentum=0.1, affine=True, "
        "track_running_stats=True)");
  CHECK(nn::to_string(nn::BatchNorm1d(6, {.momentum = {}, .affine = false})) ==
        "BatchNorm1d(6, eps=1e-05, momentum=None, affine=False, "
        "track_running_stats=True)");
  CHECK(nn::to_string(nn::CrossEntropyLoss()) == "CrossEntropyLoss()");
  CHECK(nn::to_string(nn::MSELoss()) == "MSELoss()");
}
