#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/message.h"

using namespace taper;

namespace {

/// Numbers between -1 and 1 that do not repeat soon.
Tensor wave(IntSpan sizes, DType dtype = float64, double phase = 0) {
  std::int64_t n = 1;
  for (const std::int64_t s : sizes) n *= s;
  return arange(n, {.dtype = float64}).mul(0.7).add(phase).sin().to(dtype).reshape(sizes);
}
Tensor leaf(IntSpan sizes, double phase = 0) { return wave(sizes, float64, phase).requires_grad_(); }

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }

/// The product by its definition, from the broadcast operands' elements.
Tensor by_definition(const Tensor& a, const Tensor& b) { return a.unsqueeze(-1).mul(b.unsqueeze(-3)).sum(-2); }

}  // namespace

TEST_CASE("matmul takes every pair of ranks") {
  const Tensor m = tensor({{1, 2, 3}, {4, 5, 6}}, float64), v = tensor({1, 0, -1}, float64);

  CHECK(values(v.matmul(v)) == Values{2});
  CHECK(v.matmul(v).dim() == 0);
  CHECK(values(m.matmul(v)) == Values{-2, -2});
  CHECK(values(v.matmul(m.t())) == Values{-2, -2});
  CHECK(values(m.matmul(m.t())) == Values{14, 32, 32, 77});
  CHECK(m.reshape({1, 2, 3}).matmul(v).sizes() == IntSpan{1, 2});
  CHECK(v.matmul(wave({4, 5, 3, 2})).sizes() == IntSpan{4, 5, 2});
  CHECK(m.matmul(wave({4, 3, 2})).sizes() == IntSpan{4, 2, 2});
  CHECK(wave({4, 1, 2, 3}).matmul(wave({5, 3, 2})).sizes() == IntSpan{4, 5, 2, 2});
}

TEST_CASE("matmul broadcasts and reads any strides") {
  const auto agrees = [](const Tensor& a, const Tensor& b) {
    const Tensor got = matmul(a, b), want = by_definition(a, b);
    REQUIRE(got.sizes() == want.sizes());
    CHECK(got.sub(want).abs().max().item<double>() < 1e-12);
  };
  const Tensor a = wave({4, 1, 3, 5}), b = wave({2, 5, 6});

  agrees(a, b);
  agrees(wave({5, 3}).t(), b);
  agrees(wave({6, 5, 2}).transpose(0, 2), wave({6, 7}));             // rows of a do not lie evenly
  agrees(wave({2, 3, 10}).slice(2, 0, 10, 2), b);                    // no stride of 1
  agrees(wave({1, 5}).expand({3, 5}), wave({5, 1}).expand({5, 4}));  // strides of 0
  agrees(wave({2, 3, 5}), wave({1, 5, 6}).expand({2, 5, 6}));
  agrees(wave({3, 2, 4, 5}).transpose(0, 1), wave({3, 5, 6}));
  agrees(wave({1, 5}), wave({5, 1}));
  agrees(wave({70, 5}), wave({5, 130}));
}

TEST_CASE("products of zero-size operands are zero or empty") {
  CHECK(values(matmul(empty({2, 0}), empty({0, 2}))) == Values{0, 0, 0, 0});
  CHECK(matmul(empty({0, 3}), empty({3, 2})).sizes() == IntSpan{0, 2});
  CHECK(matmul(empty({0, 2, 3}), empty({3, 2})).sizes() == IntSpan{0, 2, 2});
  CHECK(values(dot(empty({0}), empty({0}))) == Values{0});
  CHECK(values(linear(empty({2, 0}), empty({3, 0}), tensor({1.0, 2.0, 3.0}))) == Values{1, 2, 3, 1, 2, 3});
}

TEST_CASE("integers multiply and wrap around; bool and mixed dtypes are refused") {
  const Tensor i = tensor({{1, 2}, {3, 4}});

  CHECK(matmul(i, i).to_vector<std::int64_t>() == std::vector<std::int64_t>{7, 10, 15, 22});
  CHECK(matmul(i.to(int32), i.to(int32)).dtype() == int32);
  CHECK(dot(tensor({100, 100}, uint8), tensor({2, 1}, uint8)).item<int>() == 44);
  CHECK(message_of<DTypeError>([&] { matmul(i.to(float32), i.to(float64)); }) ==
        "matmul: a is float32 but b is float64; convert one of them with to()");
  CHECK_THROWS_AS(matmul(i.to(bool_), i.to(bool_)), DTypeError);
  CHECK(outer(tensor({true, false}), tensor({true, true})).dtype() == bool_);
}

TEST_CASE("the dot product of many float32 numbers is summed in double") {
  const Tensor x = ones({20'000'000}, float32);

  CHECK(dot(x, x).item<float>() == 20'000'000);
}

TEST_CASE("shapes that do not fit are explained") {
  const Tensor a = empty({32, 784}), b = empty({128, 10});

  CHECK(message_of<ShapeError>([&] { matmul(a, b); }) ==
        "matmul: inner sizes differ: a [32, 784] x b [128, 10] (784 columns against 128 rows); transposing b would not "
        "fit either");
  CHECK(message_of<ShapeError>([&] {
          matmul(a, empty({10, 784}));
        }) ==
        "matmul: inner sizes differ: a [32, 784] x b [10, 784] (784 columns against 10 rows); b.transpose(-2, -1) "
        "would fit");
  CHECK(message_of<ShapeError>([&] {
          matmul(a, empty({32, 10}));
        }) ==
        "matmul: inner sizes differ: a [32, 784] x b [32, 10] (784 columns against 32 rows); a.transpose(-2, -1) "
        "would fit");
  CHECK(message_of<ShapeError>([&] {
          matmul(empty({2, 2, 3}), empty({3, 3, 2}));
        }) ==
        "matmul: the leading dimensions of a [2, 2, 3] and b [3, 3, 2] do not broadcast: dimension 0 of the result "
        "would be both 2 and 3");
  CHECK_THROWS_AS(matmul(empty(IntSpan()), b), ShapeError);
  CHECK_THROWS_AS(mm(empty({3}), empty({3, 2})), ShapeError);
  CHECK_THROWS_AS(bmm(empty({2, 2, 3}), empty({3, 3, 2})), ShapeError);
  CHECK_THROWS_AS(mv(empty({3}), empty({3})), ShapeError);
  CHECK_THROWS_AS(dot(empty({2, 2}), empty({2})), ShapeError);
  CHECK_THROWS_AS(outer(empty({2, 2}), empty({2})), ShapeError);
  CHECK(message_of<ShapeError>([&] {
          linear(a, empty({784, 128}));
        }) ==
        "linear: x [32, 784] has 784 features but weight [784, 128] takes 128; a weight is [out, in], weight.t() would "
        "fit");
  CHECK(message_of<ShapeError>([&] {
          linear(a, empty({128, 784}), empty({10}));
        }) == "linear: bias must be [128] to go with weight [128, 784], got [10]");
}

TEST_CASE("linear is x times the transposed weight plus bias for x of any rank") {
  const Tensor x = wave({2, 4, 3}), weight = wave({5, 3}, float64, 1), bias = wave({5}, float64, 2);
  const auto agrees = [&](const Tensor& in, const Tensor& w, const Tensor& b) {
    const Tensor want = matmul(in, w.t()).add(b);
    CHECK(linear(in, w, b).sub(want).abs().max().item<double>() < 1e-12);
  };

  agrees(x, weight, bias);
  agrees(x[0], weight, bias);
  agrees(x[0][0], weight, bias);
  agrees(x.transpose(0, 1), weight, bias);
  agrees(wave({3, 4}).t(), wave({3, 5}).t(), wave({10}).slice(0, 0, 10, 2));
  agrees(x, weight, tensor({2.0}, float64).expand({5}));
  CHECK(linear(x, weight).sub(matmul(x, weight.t())).abs().max().item<double>() < 1e-12);
  CHECK(linear(x, wave({3})).sizes() == IntSpan{2, 4});
  CHECK(linear(tensor({{1, 2}}), tensor({{3, 4}}), tensor({5})).item<std::int64_t>() == 16);
}

TEST_CASE("gradients of matmul are right for every pair of ranks", "[gradcheck]") {
  const std::pair<IntVec, IntVec> shapes[] = {{{3}, {3}},
                                              {{2, 3}, {3}},
                                              {{3}, {3, 2}},
                                              {{2, 3}, {3, 4}},
                                              {{2, 2, 3}, {3}},
                                              {{3}, {2, 3, 2}},
                                              {{2, 2, 3}, {3, 4}},
                                              {{2, 3}, {2, 3, 2}},
                                              {{2, 2, 3}, {2, 3, 2}},
                                              {{2, 3}, {3, 0}},
                                              {{2, 1, 2, 3}, {3, 3, 2}}};
  for (const auto& [sa, sb] : shapes) {
    const TensorList inputs = {leaf(sa), leaf(sb, 1)};
    const auto f = [](const TensorList& t) { return matmul(t[0], t[1]); };
    if (matmul(inputs[0], inputs[1]).numel() == 0) continue;
    CHECK(autograd::gradcheck(f, inputs));
    CHECK(autograd::gradgradcheck(f, inputs));
  }
}

TEST_CASE("gradients of linear are right", "[gradcheck]") {
  const auto f = [](const TensorList& t) { return linear(t[0], t[1], t[2]); };

  for (const IntVec& shape : {IntVec{3}, IntVec{2, 3}, IntVec{2, 2, 3}}) {
    const TensorList inputs = {leaf(shape), leaf({4, 3}, 1), leaf({4}, 2)};
    CHECK(autograd::gradcheck(f, inputs));
    CHECK(autograd::gradgradcheck(f, inputs));
  }
}

TEST_CASE("addmm scales, broadcasts and ignores self for beta 0") {
  const Tensor a = tensor({{1, 2}, {3, 4}}, float64), nan = full({2}, std::nan(""), float64);

  CHECK(values(addmm(tensor({1, 2}, float64), a, a, 2, 0.5)) == Values{5.5, 9, 9.5, 15});
  CHECK(values(addmm(nan, a, a, 0)) == Values{7, 10, 15, 22});
  CHECK(values(baddbmm(ones({1, 1}, float64), a.unsqueeze(0), a.unsqueeze(0))) == Values{8, 11, 16, 23});
  CHECK_THROWS_AS(addmm(zeros({1, 2, 4}), zeros({2, 3}), zeros({3, 4})), ShapeError);
  CHECK_THROWS_AS(addmm(zeros({2, 4}), zeros({2, 3}), zeros({2, 4})), ShapeError);
}

TEST_CASE("addmm with beta 0 ignores what self holds and gives it a gradient of zero") {
  const Tensor self = tensor({{NAN, 1.0}}).requires_grad_();
  const Tensor a = tensor({{1.0, 2.0}}), b = tensor({{1.0, 0.0}, {0.0, 1.0}});

  const Tensor y = addmm(self, a, b, 0);
  y.sum().backward();

  CHECK(y.to_vector<float>() == std::vector<float>{1, 2});
  CHECK(self.grad().to_vector<float>() == std::vector<float>{0, 0});
}
