#include <taper/taper.h>

#include <limits>

#include "support/catch.h"
#include "support/values.h"

using namespace taper;
using Catch::Matchers::Contains;

TEST_CASE("isin looks each element up, in the dtype that both have in common") {
  const Tensor x = tensor({1, 2, 3, 4});
  CHECK(values(isin(x, tensor({2, 4, 9}))) == Values{0, 1, 0, 1});
  CHECK(isin(x, tensor({2, 4, 9})).dtype() == bool_);
  CHECK(values(isin(x, tensor({2.0, 4.5}), false, true)) == Values{1, 0, 1, 1});
  CHECK(values(isin(x.view({2, 2}), tensor({{9}, {1}}))) == Values{1, 0, 0, 0});
  CHECK(values(isin(x, 3)) == Values{0, 0, 1, 0});
  CHECK(values(isin(3, x)) == Values{1});
  CHECK(values(isin(x, zeros({0}, int64))) == Values{0, 0, 0, 0});
  CHECK(values(isin(x, zeros({0}, int64), false, true)) == Values{1, 1, 1, 1});
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(values(isin(tensor({1., nan}), tensor({nan, 1.}))) == Values{1, 0});
  CHECK(values(isin(tensor({true, false}), tensor({true}))) == Values{1, 0});
  CHECK(isin(empty({2}, {.device = meta}), empty({3}, {.device = meta})).sizes() == IntSpan{2});
  Tensor out = empty({0}, bool_);
  CHECK(values(isin_out(out, x, tensor({2, 4}))) == Values{0, 1, 0, 1});
}

TEST_CASE("unique_consecutive keeps the first of each run") {
  const auto [u, inverse, counts] = unique_consecutive(tensor({1, 1, 2, 2, 2, 1, 3}), true, true);
  CHECK(values(u) == Values{1, 2, 1, 3});
  CHECK(values(inverse) == Values{0, 0, 1, 1, 1, 2, 3});
  CHECK(values(counts) == Values{2, 3, 1, 1});
  const auto [rows, of, n] = unique_consecutive(tensor({{1, 2}, {1, 2}, {2, 1}}), true, true, 0);
  CHECK(values(rows) == Values{1, 2, 2, 1});
  CHECK(values(of) == Values{0, 0, 1});
  CHECK(values(n) == Values{2, 1});
  CHECK_FALSE(std::get<1>(unique_consecutive(tensor({1}))).defined());
  CHECK(std::get<0>(unique_consecutive(zeros({0}))).numel() == 0);
}

TEST_CASE("unique_dim sorts slices as words are sorted") {
  const auto [rows, inverse, counts] = unique_dim(tensor({{2, 1}, {0, 3}, {2, 1}, {0, 1}}), 0, true, true);
  CHECK(values(rows) == Values{0, 1, 0, 3, 2, 1});
  CHECK(values(inverse) == Values{2, 1, 2, 0});
  CHECK(values(counts) == Values{1, 1, 2});
  const auto [columns, of, n] = unique_dim(tensor({{2, 1, 2}, {0, 3, 0}}), 1, true, true);
  CHECK(values(columns) == Values{1, 2, 3, 0});
  CHECK(values(of) == Values{1, 0, 1});
  CHECK(values(n) == Values{1, 2});
  CHECK_THROWS_WITH(unique_dim(ones({2, 2}, {.requires_grad = true}), 0), Contains("unique_dim: has no derivative"));
  CHECK_THROWS_AS(unique_dim(ones({2, 2}), 2), IndexError);
  CHECK_THROWS_AS(unique_dim(empty({2, 2}, {.device = meta}), 0), DeviceError);
}

TEST_CASE("combinations are rows in order, with and without repetition") {
  CHECK(values(combinations(tensor({1, 2, 3, 4}), 3)) == Values{1, 2, 3, 1, 2, 4, 1, 3, 4, 2, 3, 4});
  CHECK(values(combinations(tensor({1, 2, 3}), 2, true)) == Values{1, 1, 1, 2, 1, 3, 2, 2, 2, 3, 3, 3});
  CHECK(combinations(tensor({1, 2}), 3).sizes() == IntSpan{0, 3});
  CHECK(combinations(zeros({0}), 2, true).sizes() == IntSpan{0, 2});
  CHECK(combinations(tensor({1, 2}), 0).numel() == 0);
  Tensor x = tensor({1., 2., 3.}).requires_grad_();
  combinations(x).sum().backward();
  CHECK(values(x.grad()) == Values{2, 2, 2});
  CHECK_THROWS_AS(combinations(ones({2, 2})), ShapeError);
  CHECK_THROWS_AS(combinations(ones({2}), -1), ValueError);
}

TEST_CASE("splits by columns, rows and depth") {
  const Tensor x = arange(12).view({3, 4});
  CHECK(values(x.hsplit(2)[1]) == Values{2, 3, 6, 7, 10, 11});
  CHECK(values(x.vsplit(IntSpan{1})[1]) == Values{4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(arange(6).hsplit(3).size() == 3);
  CHECK(arange(24).view({2, 3, 4}).dsplit(2)[0].sizes() == IntSpan{2, 3, 2});
  CHECK_THROWS_WITH(x.hsplit(3), Contains("hsplit: dim 1"));
  CHECK_THROWS_AS(arange(3).vsplit(1), ShapeError);
  CHECK_THROWS_AS(x.dsplit(1), ShapeError);
  CHECK_THROWS_AS(x.hsplit(0), ValueError);
}

TEST_CASE("fill_diagonal_ writes the main diagonal, and with wrap those below it") {
  Tensor x = zeros({7, 3});
  CHECK(values(x.fill_diagonal_(5)) == Values{5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK(values(x.fill_diagonal_(5, true)) == Values{5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5, 0, 0, 0, 5});
  CHECK(values(zeros({2, 2, 2}).fill_diagonal_(1)) == Values{1, 0, 0, 0, 0, 0, 0, 1});
  CHECK(values(zeros({2, 3}).t().fill_diagonal_(1)) == Values{1, 0, 0, 1, 0, 0});
  CHECK_THROWS_AS(zeros({3}).fill_diagonal_(1), ShapeError);
  CHECK_THROWS_AS(zeros({2, 2, 3}).fill_diagonal_(1), ShapeError);
  Tensor y = ones({2, 2}).requires_grad_();
  (y * 2).fill_diagonal_(0).sum().backward();
  CHECK(values(y.grad()) == Values{0, 2, 2, 0});
}

TEST_CASE("heaviside, float_power and ldexp") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(values(tensor({-1., 0., 2., nan}).heaviside(tensor({7., 8., 9., 1.}))) == Values{0, 8, 1, 0});
  CHECK_THROWS_AS(heaviside(tensor({1.}), tensor({1})), DTypeError);
  const Tensor p = float_power(tensor({2, 3}), tensor({-1, 2}));
  CHECK(values(p) == Values{0.5, 9});
  CHECK(p.dtype() == float64);
  CHECK(values(float_power(2, tensor({3}))) == Values{8});
  Tensor x = tensor({4., 9.}, float64);
  CHECK(values(x.float_power_(0.5)) == Values{2, 3});
  Tensor narrow = tensor({4.f});
  CHECK_THROWS_AS(narrow.float_power_(2), DTypeError);
  CHECK(values(tensor({1.5, 3.}).ldexp(tensor({2, -1}))) == Values{6, 1.5});
  Tensor y = tensor({1.5, 3.});
  CHECK(values(y.ldexp_(tensor({1, 2}))) == Values{3, 12});
}

TEST_CASE("methods and functions have PyTorch's names, also its second ones") {
  const Tensor x = tensor({{0.5, -1., 2.}, {3., -4., 0.25}});
  const auto same = [](const Tensor& a, const Tensor& b) { return values(a) == values(b) && a.sizes() == b.sizes(); };
  CHECK(same(x.swapaxes(0, 1), x.t()));
  CHECK(same(x.numpy_T(), x.t()));
  CHECK(same(x.movedim(0, 1), x.t()));
  CHECK(same(x.adjoint(), x.t()));
  CHECK(same(x.ravel(), x.view(-1)));
  CHECK(same(x.ravel().reshape_as(x), x));
  CHECK(same(x.unflatten(1, {3, 1}), x.view({2, 3, 1})));
  CHECK(same(x.select(0, 0).broadcast_to({2, 3}), x.select(0, 0).expand({2, 3})));
  CHECK(same(x.clip(-1, 1), x.clamp(-1, 1)));
  CHECK(same(x.std(1), taper::std(x, 1)));
  CHECK(same(x.std(), taper::std(x)));
  CHECK(same(x.sum_to_size({1, 3}), x.sum(0, true)));
  CHECK(same(x.where(x.gt(0), 0), x.relu()));
  CHECK(same(x.where(x.gt(0), zeros({1})), x.relu()));
  CHECK(same(x.select_scatter(zeros({3}), 0, 1), select_scatter(x, zeros({3}), 0, 1)));
  CHECK(same(x.slice_scatter(zeros({1, 3}), 0, 0, 1), slice_scatter(x, zeros({1, 3}), 0, 0, 1)));
  CHECK(same(x.diagonal_scatter(zeros({2})), diagonal_scatter(x, zeros({2}))));
  CHECK(same(x.tensor_split(2, 1)[1], x.narrow(1, 2, 1)));
  CHECK(same(x.msort(), std::get<0>(x.sort(0))));
  CHECK(same(x.argwhere(), x.nonzero()));
  CHECK(same(x.polygamma(1), polygamma(1, x)));
  CHECK(same(max(x, -x), x.abs()));
  CHECK(same(min(x, -x), -x.abs()));
  CHECK(same(concat({x, x}, 1), cat({x, x}, 1)));
  CHECK(same(arcsin(x * 0.1), asin(x * 0.1)));
  CHECK(same(subtract(x, x, 2), -x));
  CHECK(same(multiply(x, 2), x * 2));
  CHECK(same(divide(x, 2), x / 2));
  CHECK(same(greater(x, 0), x > 0));
  CHECK(same(row_stack({x, x}), vstack({x, x})));
  CHECK(x.type_as(ones({1}, float64)).dtype() == float64);
  CHECK(x.is_same_size(-x));
  CHECK(x.new_empty_strided({2, 2}, {1, 2}).strides() == IntSpan{1, 2});
  Tensor y = x.clone();
  CHECK(same(y.absolute_(), x.abs()));
  CHECK(same(clamp_(y, 0, 1), x.abs().clamp(0, 1)));
  CHECK(same(fill_(y, 2), full({2, 3}, 2.)));
  CHECK(y.swapdims_(0, 1).sizes() == IntSpan{3, 2});
  CHECK(y.resize_as_(ones({2})).sizes() == IntSpan{2});
  Tensor out = empty({0});
  CHECK(same(max_out(out, x, -x), x.abs()));
}

TEST_CASE("what makes tensors writes into out, of out's dtype") {
  Tensor out = empty({0}, int32);
  CHECK(values(arange_out(out, 3)) == Values{0, 1, 2});
  CHECK(out.dtype() == int32);
  CHECK(values(arange_out(out, 1, 7, 2)) == Values{1, 3, 5});
  CHECK(values(full_out(out, {3}, 4)) == Values{4, 4, 4});
  CHECK(values(ones_out(out, {3})) == Values{1, 1, 1});
  CHECK(values(zeros_out(out, {3})) == Values{0, 0, 0});
  CHECK(randint_out(out, 5, 6, {3}).eq(5).all().item<bool>());
  CHECK_THROWS_AS(ones_out(out, {2, 2}), ShapeError);
  CHECK(values(ones_like_out(out, ones({3}))) == Values{1, 1, 1});
  CHECK(values(full_like_out(out, ones({3}), 2)) == Values{2, 2, 2});
  CHECK(values(zeros_like_out(out, ones({3}))) == Values{0, 0, 0});
  Tensor places = empty({0}, int64);
  CHECK(values(tril_indices_out(places, 2, 2)) == Values{0, 1, 1, 0, 0, 1});
  CHECK(values(triu_indices_out(places, 2, 2)) == Values{0, 0, 1, 0, 1, 1});
  Tensor square = zeros({2, 4}).slice(1, 0, 4, 2);
  CHECK(values(eye_out(square, 2)) == Values{1, 0, 0, 1});
  Tensor line = empty({0}, float64);
  CHECK(values(linspace_out(line, 0, 1, 3)) == Values{0, 0.5, 1});
  CHECK(values(logspace_out(line, 0, 2, 3)) == Values{1, 10, 100});
  CHECK(values(randperm_out(line, 3).sum()) == Values{3});
  Tensor half = empty({0}, float16);
  CHECK(rand_out(half, {20}).lt(1).all().item<bool>());
  CHECK(randn_out(half, {20}).dtype() == float16);
  Tensor undefined;
  CHECK_THROWS_AS(ones_out(undefined, {1}), ValueError);
}
