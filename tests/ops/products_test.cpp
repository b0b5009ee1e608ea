#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/matmul.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
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
Tensor counting(IntSpan sizes) {
  return arange(SizesAndStrides::contiguous(sizes).numel(), {.dtype = float64}).reshape(sizes);
}

}  // namespace

TEST_CASE("einsum says products, sums, diagonals and transposes") {
  const Tensor a = counting({2, 3}), b = counting({3, 4}), v = counting({3});
  CHECK(einsum("ij,jk->ik", {a, b}).equal(a.matmul(b)));
  CHECK(einsum("ij,jk", {a, b}).equal(a.matmul(b)));
  CHECK(einsum("ji", {a}).equal(a.t()));
  CHECK(einsum("ij->", {a}).item<double>() == 15);
  CHECK(einsum("ij->j", {a}).equal(a.sum({0})));
  CHECK(einsum("i,j->ij", {v, v}).equal(outer(v, v)));
  CHECK(einsum("ii->i", {counting({3, 3})}).equal(counting({3, 3}).diagonal()));
  CHECK(einsum("ii", {counting({3, 3})}).item<double>() == 12);
  CHECK(einsum("ij,j,kj->ik", {a, v, a}).equal((a * v).matmul(a.t())));
  const Tensor batch = counting({2, 2, 3});
  CHECK(einsum("bij,bkj->bik", {batch, batch}).equal(batch.matmul(batch.transpose(1, 2))));
  CHECK(einsum("...ij,...jk->...ik", {batch, b}).equal(batch.matmul(b)));
  CHECK(einsum("i...->...", {a}).equal(a.sum({0})));
  CHECK(einsum("ij,ij->i", {a, ones({2, 1}, float64)}).equal(a.sum({1})));  // a size of 1 meets all of the other
}

TEST_CASE("einsum names what does not fit") {
  const Tensor a = counting({2, 3});
  CHECK_THROWS_WITH(einsum("ij,jk->ik", {a}), Contains("is about 2 operands, got 1"));
  CHECK_THROWS_WITH(einsum("ijk", {a}), Contains("names 3 dims"));
  CHECK_THROWS_WITH(einsum("ij,jk", {a, a}), Contains("one name stands for sizes 3 and 2"));
  CHECK_THROWS_AS(einsum("i1", {a}), ValueError);
  CHECK_THROWS_AS(einsum("ij->ii", {a}), ValueError);
  CHECK_THROWS_AS(einsum("ij->k", {a}), ValueError);
  CHECK_THROWS_AS(einsum("ij.", {a}), ValueError);
}

TEST_CASE("einsum has first and second derivatives") {
  manual_seed(1);
  const auto f = [](const TensorList& t) { return TensorList{einsum("bij,jk,ik->bk", t)}; };
  TensorList in{randn({2, 2, 3}, float64), randn({3, 2}, float64), randn({2, 2}, float64)};
  for (Tensor& t : in) t.requires_grad_();
  CHECK(autograd::gradcheck(f, in));
  CHECK(autograd::gradgradcheck(f, in));
}

TEST_CASE("sums over chosen dims, Kronecker's product, and sums with a product") {
  const Tensor a = counting({2, 3}), b = counting({3, 2});
  CHECK(inner(a, a).equal(a.matmul(a.t())));
  CHECK(inner(a, tensor(2., float64)).equal(a.mul(2)));
  CHECK(tensordot(a, b, 1).equal(a.matmul(b)));
  CHECK(tensordot(a, b, {0, 1}, {1, 0}).item<double>() == a.mul(b.t()).sum().item<double>());
  CHECK(values(kron(tensor({1., 2.}), tensor({{1., 10.}}))) == Values{1, 10, 2, 20});
  const Tensor one = ones({2, 2}, float64);
  CHECK(addbmm(one, counting({2, 2, 1}), counting({2, 1, 2})).sizes() == IntSpan{2, 2});
  CHECK(values(addmv(tensor({1., 1.}, float64), one, tensor({1., 2.}, float64), 2, 3)) == Values{11, 11});
  CHECK(values(addr(zeros({2, 2}, float64), tensor({1., 2.}, float64), tensor({3., 4.}, float64))) ==
        Values{3, 4, 6, 8});
  Tensor self = tensor({1., 1.}, float64);
  CHECK_THROWS_AS(self.addmm_(one, one), ShapeError);
  CHECK(values(bilinear(tensor({1., 2.}), tensor({3.}), ones({1, 2, 1}), tensor({0.5}))) == Values{9.5});
}

TEST_CASE("values that meet are combined as asked, with or without what was there") {
  const Tensor self = tensor({10., 20., 30.}, float64), at = tensor({0, 0, 2}), src = tensor({2., 5., 7.}, float64);
  const auto combined = [&](const char* how, bool with_self) {
    return values(scatter_reduce(self, 0, at, src, how, with_self));
  };
  CHECK(combined("sum", true) == Values{17, 20, 37});
  CHECK(combined("sum", false) == Values{7, 20, 7});
  CHECK(combined("prod", false) == Values{10, 20, 7});
  CHECK(combined("mean", true) == Values{17. / 3, 20, 18.5});
  CHECK(combined("mean", false) == Values{3.5, 20, 7});
  CHECK(combined("amax", true) == Values{10, 20, 30});
  CHECK(combined("amin", false) == Values{2, 20, 7});
  CHECK_THROWS_WITH(scatter_reduce(self, 0, at, src, "median"), Contains("reduce is 'median'"));
  CHECK(values(scatter_reduce(tensor({0}), 0, tensor({0, 0}), tensor({-3, 0}), "mean", false)) == Values{-2});
}

TEST_CASE("products that meet zeros have gradients without division by them") {
  for (const Values& v : {Values{2, 0, 3}, Values{0, 0, 3}, Values{2, 4, 3}}) {
    const Tensor self = tensor({1.5, 2.}, float64).requires_grad_(), src = from_vector(Values(v)).requires_grad_();
    const Tensor at = tensor({0, 0, 1});
    const auto f = [&](const TensorList& t) { return TensorList{scatter_reduce(t[0], 0, at, t[1], "prod")}; };
    CHECK(autograd::gradcheck(f, {self, src}));
  }
}

TEST_CASE("sums and means pass over NaN") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor x = tensor({{1., nan}, {nan, nan}}, float64).requires_grad_();
  CHECK(values(x.nansum(1)) == Values{1, 0});
  CHECK(values(x.nanmean(1))[0] == 1);
  CHECK(std::isnan(values(x.nanmean(1))[1]));
  x.nansum().backward();
  CHECK(values(x.grad()) == Values{1, 0, 0, 0});
  CHECK(nansum(tensor({1, 2}, int32)).dtype() == int64);
  const auto [least, most] = tensor({3., 1., 2.}, float64).aminmax();
  CHECK(least.item<double>() == 1);
  CHECK(most.item<double>() == 3);
}
