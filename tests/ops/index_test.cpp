#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include "tests/support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {

using Floats = std::vector<float>;
using Ints = std::vector<std::int64_t>;

/// 0, 1, 2, ... in this shape.
Tensor counted(IntSpan sizes, DType d = float32) {
  return arange(SizesAndStrides::contiguous(sizes).numel(), {.dtype = d}).view(sizes);
}
Tensor positions(const TensorData& data) { return tensor(data, int64); }
Tensor mask_of(const TensorData& data) { return tensor(data, bool_); }
Tensor leaf(const TensorData& data) { return tensor(data, {.dtype = float64, .requires_grad = true}); }
Floats values(const Tensor& t) { return t.to(float32).to_vector<float>(); }

}  // namespace

TEST_CASE("numbers, slices, None and an ellipsis give views") {
  const Tensor x = counted({2, 3, 4});
  CHECK(x.index({1, 2}).strides() == IntSpan{1});
  CHECK(x.index({1, 2}).storage_offset() == 20);
  CHECK(x.index({-1, -1, -1}).item<float>() == 23);
  CHECK(x.index({Slice(), Slice(None, None, 2)}).sizes() == IntSpan{2, 2, 4});
  CHECK(x.index({"...", 0}).sizes() == IntSpan{2, 3});
  CHECK(x.index({0, Ellipsis, Slice(1, -1)}).storage_offset() == 1);
  CHECK(x.index({None, 0, None}).sizes() == IntSpan{1, 1, 3, 4});
  CHECK(x.index({Slice(1, 3), None, "...", 0}).sizes() == IntSpan{1, 1, 3});
  CHECK(x.index({}).is_view());
  CHECK_FALSE(x.index({}).is_same(x));
  CHECK(x.index({tensor(1, int64)}).is_alias_of(x));
  CHECK(x.index({tensor(1, int64)}).sizes() == IntSpan{3, 4});
  CHECK(counted({}).index({None, "..."}).sizes() == IntSpan{1});
}

TEST_CASE("an index that does not fit names what is wrong") {
  const Tensor x = counted({2, 3});
  CHECK_THROWS_AS(x.index({0, 0, 0}), IndexError);
  CHECK_THROWS_WITH(x.index({0, 0, 0}), Contains("3 dims") && Contains("has 2"));
  CHECK_THROWS_WITH(x.index({0, 3}), Contains("index 3") && Contains("dim 1") && Contains("size 3"));
  CHECK_THROWS_AS(x.index({-3}), IndexError);
  CHECK_THROWS_AS(x.index({Slice(None, None, -1)}), ValueError);
  CHECK_THROWS_AS(x.index({Slice(0, 2, 0)}), ValueError);
  CHECK_THROWS_AS(x.index({"...", "..."}), IndexError);
  CHECK_THROWS_AS(x.index({"rows"}), ValueError);
  CHECK_THROWS_WITH(x.index({positions({0, 2})}), Contains("index 2") && Contains("dim 0") && Contains("size 2"));
  CHECK_THROWS_AS(x.index({positions({-3})}), IndexError);
  CHECK_THROWS_WITH(x.index({mask_of({true, false, true})}), Contains("mask") && Contains("float32[2, 3]"));
  CHECK_THROWS_AS(x.index({positions({0, 1}), positions({0, 1, 2})}), ShapeError);
  CHECK_THROWS_AS(x.index({ones({2})}), DTypeError);
  CHECK_THROWS_WITH(x.index({ones({2}, uint8)}), Contains("bool_"));
  CHECK_THROWS_AS(x.index({Tensor()}), ValueError);
}

TEST_CASE("positions and masks give copies") {
  const Tensor x = counted({3, 4});
  const Tensor rows = x.index({positions({2, 0, -1})});
  CHECK_FALSE(rows.is_alias_of(x));
  CHECK(values(rows) == Floats{8, 9, 10, 11, 0, 1, 2, 3, 8, 9, 10, 11});

  CHECK(values(x.index({Slice(), positions({3, 0})})) == Floats{3, 0, 7, 4, 11, 8});
  CHECK(values(x.index({positions({0, 2}), positions({1, 3})})) == Floats{1, 11});
  CHECK(values(x.index({positions({{0}, {2}}), positions({1, 3})})) == Floats{1, 3, 9, 11});
  CHECK(values(x.index({mask_of({true, false, true})})) == Floats{0, 1, 2, 3, 8, 9, 10, 11});
  CHECK(values(x.index({x.gt(8.5)})) == Floats{9, 10, 11});
  CHECK(values(x.index({1, mask_of({true, false, false, true})})) == Floats{4, 7});
  CHECK(values(x.t().index({positions({1}), "..."})) == Floats{1, 5, 9});
  CHECK(values(x.index({tensor({1, 0}, int32)})) == Floats{4, 5, 6, 7, 0, 1, 2, 3});
  CHECK(x.index({empty({0}, int64)}).sizes() == IntSpan{0, 4});
  CHECK(x.index({true}).sizes() == IntSpan{1, 3, 4});
  CHECK(x.index({false}).sizes() == IntSpan{0, 3, 4});
  CHECK(x.index({mask_of({false, false, false})}).sizes() == IntSpan{0, 4});
  CHECK(zeros({0, 3}).index({empty({0}, int64), positions({1})}).sizes() == IntSpan{0});
}

TEST_CASE("positions of neighbouring dims stay in place, others come first") {
  const Tensor x = counted({2, 3, 4, 5});
  const Tensor i = positions({0, 1}), j = positions({1, 0});
  CHECK(x.index({Slice(), i, j}).sizes() == IntSpan{2, 2, 5});
  CHECK(x.index({i, Slice(), j}).sizes() == IntSpan{2, 3, 5});
  CHECK(x.index({Slice(), i, Slice(), j}).sizes() == IntSpan{2, 2, 4});
  CHECK(x.index({Slice(), Slice(), i}).sizes() == IntSpan{2, 3, 2, 5});
  CHECK(x.index({Slice(), i, None, j}).sizes() == IntSpan{2, 2, 1, 5});
  CHECK(x.index({ones({2, 3}, bool_), 1}).sizes() == IntSpan{6, 5});
  CHECK(x.index({0, Slice(), i}).sizes() == IntSpan{3, 2, 5});

  const Tensor apart = x.index({i, Slice(), j});
  for (int a = 0; a < 2; ++a)
    for (int b = 0; b < 3; ++b) CHECK(apart.index({a, b, 2}).item<float>() == x.index({a, b, 1 - a, 2}).item<float>());
}

TEST_CASE("indexing works on every dtype") {
  for (const DType d : kAllDTypes) {
    CAPTURE(name_of(d));
    Tensor x = tensor({0, 1, 0, 1}, d);
    CHECK(values(x.index({positions({1, 2, 1})})) == Floats{1, 0, 1});
    CHECK(values(x.gather(0, positions({3, 0}))) == Floats{1, 0});
    CHECK(values(x.masked_select(mask_of({true, true, false, false}))) == Floats{0, 1});
    CHECK(values(x.masked_fill(mask_of({true, true, false, false}), 1)) == Floats{1, 1, 0, 1});
    CHECK(x.nonzero().to_vector<std::int64_t>() == Ints{1, 3});
    CHECK(values(scatter_add(x, 0, positions({0, 0}), x.slice(0, 1, 3))) == Floats{1, 1, 0, 1});
    x.index_put_({positions({0, 2})}, 1);
    CHECK(values(x) == Floats{1, 1, 1, 1});
    x.index_put_({Slice(1, 3)}, 0);
    CHECK(values(x) == Floats{1, 0, 0, 1});
    Tensor y = zeros({3}, d);
    index_put_(y, {positions({1, 1, 2})}, ones({3}, d), true);
    CHECK(values(y) == Floats{0, d == bool_ ? 1.f : 2.f, 1});
  }
}

TEST_CASE("assignment through an index writes in place") {
  Tensor x = counted({3, 4});
  x.index_put_({1}, tensor({7.f, 8.f, 9.f, 10.f}));
  CHECK(values(x[1]) == Floats{7, 8, 9, 10});
  x.index_put_({Slice(), 0}, -1);
  CHECK(values(x.select(1, 0)) == Floats{-1, -1, -1});
  x.index_put_({positions({0, 2}), positions({3, 3})}, tensor({50.f, 60.f}));
  CHECK(x.index({0, 3}).item<float>() == 50);
  CHECK(x.index({2, 3}).item<float>() == 60);
  x.index_put_({mask_of({false, true, false})}, 0);
  CHECK(values(x[1]) == Floats{0, 0, 0, 0});
  x.index_put_({x.gt(40)}, tensor(1));
  CHECK(x.index({2, 3}).item<float>() == 1);
  x.index_put_({Slice(), positions({1, 2})}, tensor({{1.f}, {2.f}, {3.f}}));
  CHECK(values(x.index({Slice(), 2})) == Floats{1, 2, 3});
  x.index_put_({0}, full({1, 1, 4}, 5.f));
  CHECK(values(x[0]) == Floats{5, 5, 5, 5});
  x.index_put_({"..."}, 9);
  CHECK(values(x[2]) == Floats{9, 9, 9, 9});
  x.index_put_({true}, 3);
  CHECK(values(x[2]) == Floats{3, 3, 3, 3});
}

TEST_CASE("assignment refuses what does not fit and changes nothing") {
  Tensor x = counted({2, 3});
  CHECK_THROWS_AS(x.index_put_({0}, zeros({4})), ShapeError);
  CHECK_THROWS_AS(x.index_put_({5}, 1), IndexError);
  CHECK_THROWS_AS(x.index_put_({positions({0, 5})}, 1), IndexError);
  CHECK_THROWS_AS(x.index_put_({positions({0, 1})}, zeros({2, 4})), ShapeError);
  CHECK_THROWS_WITH(x.index_put_({positions({0, 1})}, zeros({2, 3}, float64)), Contains("to(taper::float32)"));
  Tensor wide = zeros({1}).expand(4);
  CHECK_THROWS_AS(wide.index_put_({positions({0})}, 1), ShapeError);
  CHECK(values(x) == Floats{0, 1, 2, 3, 4, 5});
  CHECK(x.version() == 0);
}

TEST_CASE("values that share memory with the destination are read first") {
  Tensor x = counted({4});
  x.index_put_({positions({3, 2, 1, 0})}, x);
  CHECK(values(x) == Floats{3, 2, 1, 0});
  x.index_put_({positions({1, 2, 3})}, x.slice(0, 0, 3));
  CHECK(values(x) == Floats{3, 3, 2, 1});
  x.index_put_({Slice(1, 4)}, x.slice(0, 0, 3));
  CHECK(values(x) == Floats{3, 3, 3, 2});
  Tensor order = tensor({2, 0, 1}, int64);
  order.index_put_({order}, tensor({10, 11, 12}, int64));
  CHECK(order.to_vector<std::int64_t>() == Ints{11, 12, 10});
}

TEST_CASE("scatter into out reads index and src before it writes", "[B3]") {
  Tensor src = tensor({10., 20., 30., 40.});
  scatter_out(src, zeros({4}), 0, positions({1, 0, 3, 2}), src);
  CHECK(values(src) == Floats{20, 10, 40, 30});
  scatter_add_out(src, ones({4}), 0, positions({1, 0, 3, 2}), src);
  CHECK(values(src) == Floats{11, 21, 31, 41});
  Tensor index = positions({1, 0, 3, 2});
  scatter_out(index, zeros({4}, int64), 0, index, tensor({5, 6, 7, 8}));
  CHECK(index.to_vector<std::int64_t>() == Ints{6, 5, 8, 7});
}

TEST_CASE("repeated positions: the last write remains, sums add up", "[B18]") {
  Tensor x = zeros({3});
  index_put_(x, {positions({1, 1})}, tensor({2.f, 3.f}));
  CHECK(values(x) == Floats{0, 3, 0});
  x.zero_();
  index_put_(x, {positions({1, 1})}, tensor({2.f, 3.f}), true);
  CHECK(values(x) == Floats{0, 5, 0});

  Tensor a = leaf({1, 2, 3}), v = leaf({5, 6});
  index_put(a, {positions({1, 1})}, v).sum().backward();
  CHECK(values(a.grad()) == Floats{1, 0, 1});
  CHECK(values(v.grad()) == Floats{0, 1});

  Tensor s = leaf({5, 6});
  scatter(zeros({3}, float64), 0, positions({2, 2}), s).sum().backward();
  CHECK(values(s.grad()) == Floats{0, 1});
}

TEST_CASE("an entry read twice gets both gradients", "[B18]") {
  Tensor x = leaf({1, 2});
  const Tensor d = x.index({positions({0, 0})});
  d[0].backward({}, true);
  CHECK(values(x.grad()) == Floats{1, 0});
  x.zero_grad();
  d.sum().backward();
  CHECK(values(x.grad()) == Floats{2, 0});
}

TEST_CASE("index_fill hands its gradient on once for a row named twice", "[B18]") {
  Tensor value = leaf(3.0);
  const Tensor y = index_fill(zeros({5, 5}, float64), 0, positions({2, -3}), value);
  CHECK(values(y[2]) == Floats{3, 3, 3, 3, 3});
  y.sum().backward();
  CHECK(value.grad().item<double>() == 5);
}

TEST_CASE("gradients follow an assignment to an index", "[B8]") {
  SECTION("a row from another row") {
    Tensor x = leaf({{1, 2}, {3, 4}});
    Tensor y = x.clone();
    y.index_put_({0}, y[1] * 5);
    y.sum().backward();
    CHECK(values(x.grad()) == Floats{0, 0, 6, 6});
  }
  SECTION("a slice from another leaf") {
    Tensor x = leaf({1, 2, 3, 4}), w = leaf({10, 20});
    Tensor y = x.clone();
    y.index_put_({Slice(1, 3)}, w);
    (y * tensor({1, 2, 3, 4}, float64)).sum().backward();
    CHECK(values(x.grad()) == Floats{1, 0, 0, 4});
    CHECK(values(w.grad()) == Floats{2, 3});
  }
  SECTION("a mask") {
    Tensor x = leaf({1, 2, 3, 4});
    Tensor y = x.clone();
    y.index_put_({mask_of({true, false, true, false})}, 0);
    y.sum().backward();
    CHECK(values(x.grad()) == Floats{0, 1, 0, 1});
  }
  SECTION("positions, into a tensor that had no gradient") {
    Tensor w = leaf({10, 20});
    Tensor y = zeros({3}, float64);
    y.index_put_({positions({2, 0})}, w);
    (y * tensor({1, 2, 3}, float64)).sum().backward();
    CHECK(values(w.grad()) == Floats{3, 1});
  }
  SECTION("positions within a view") {
    Tensor x = leaf({1, 2, 3, 4}), w = leaf({10, 20});
    Tensor y = x * 1.0;
    y.index_put_({None, positions({1, 3})}, w);
    (y * tensor({1, 2, 3, 4}, float64)).sum().backward();
    CHECK(values(x.grad()) == Floats{1, 0, 3, 0});
    CHECK(values(w.grad()) == Floats{2, 4});
  }
}

TEST_CASE("index_select and its writing relatives work along one dim") {
  const Tensor x = counted({3, 4});
  CHECK(values(x.index_select(1, positions({3, 0}))) == Floats{3, 0, 7, 4, 11, 8});
  CHECK(values(x.index_select(-2, tensor({2}, int32))) == Floats{8, 9, 10, 11});
  CHECK(counted({}).index_select(0, positions({0})).dim() == 0);
  CHECK(x.index_select(0, empty({0}, int64)).sizes() == IntSpan{0, 4});
  CHECK_THROWS_WITH(x.index_select(0, positions({3})), Contains("index_select") && Contains("index 3"));
  CHECK_THROWS_WITH(x.index_select(0, positions({-1})), Contains("do not count from the end"));
  CHECK_THROWS_AS(x.index_select(2, positions({0})), IndexError);
  CHECK_THROWS_AS(x.index_select(0, positions({{0}})), ShapeError);

  CHECK(values(index_add(zeros({3}), 0, positions({1, 1}), tensor({2.f, 3.f}), 2)) == Floats{0, 10, 0});
  CHECK(values(index_copy(zeros({2, 2}), 1, positions({1}), tensor({{2.f}, {3.f}}))) == Floats{0, 2, 0, 3});
  CHECK(values(index_fill(zeros({2, 2}), -1, positions({-1}), 4)) == Floats{0, 4, 0, 4});
  Tensor scalar = zeros({});
  index_add_(scalar, 0, positions({0}), ones({}));
  CHECK(scalar.item<float>() == 1);
  CHECK_THROWS_AS(index_add(zeros({3}), 0, positions({0, 1}), zeros({2}, float64)), DTypeError);
  CHECK_THROWS_AS(index_copy(zeros({3, 4}), 0, positions({0, 1}), zeros({3, 4})), ShapeError);
  CHECK_THROWS_AS(index_fill(zeros({3}), 0, positions({0}), zeros({2})), ShapeError);
}

TEST_CASE("gather reads and scatter writes a position per element") {
  const Tensor x = counted({3, 4});
  CHECK(values(x.gather(1, positions({{3, 0}, {1, 1}}))) == Floats{3, 0, 5, 5});
  CHECK(values(x.t().gather(1, positions({{2}, {0}}))) == Floats{8, 1});
  CHECK(counted({}).gather(0, positions(0)).dim() == 0);
  CHECK(x.gather(1, empty({0, 2}, int64)).sizes() == IntSpan{0, 2});
  CHECK_THROWS_WITH(x.gather(1, positions({{4}})), Contains("index 4") && Contains("dim 1") && Contains("size 4"));
  CHECK_THROWS_AS(x.gather(1, positions({{-1}})), IndexError);
  CHECK_THROWS_AS(x.gather(1, positions({0})), ShapeError);
  CHECK_THROWS_AS(x.gather(1, positions({{0}, {0}, {0}, {0}})), ShapeError);
  CHECK_THROWS_AS(x.gather(1, tensor({{0}}, int32)), DTypeError);

  CHECK(values(scatter(zeros({2, 3}), 1, positions({{2}, {0}}), tensor({{5.f}, {6.f}}))) == Floats{0, 0, 5, 6, 0, 0});
  CHECK(values(scatter(zeros({3}), 0, positions({1}), 7)) == Floats{0, 7, 0});
  Tensor y = zeros({3});
  scatter_add_(y, 0, positions({1, 1, 0}), tensor({1.f, 2.f, 3.f, 99.f}));
  CHECK(values(y) == Floats{3, 3, 0});
  CHECK_THROWS_AS(scatter(zeros({3}), 0, positions({1, 1}), ones({1})), ShapeError);
  CHECK_THROWS_AS(scatter(zeros({3}), 0, positions({1}), ones({1}, float64)), DTypeError);
  CHECK(values(take_along_dim(x, positions({{0, 3}}), 1)) == Floats{0, 3, 4, 7, 8, 11});
  CHECK(values(take(x.t(), positions({1, -1}))) == Floats{4, 11});
  CHECK(values(put(zeros({2, 2}), positions({3, 0}), tensor({1.f, 2.f}))) == Floats{2, 0, 0, 1});
  CHECK(one_hot(positions({2, 0})).to_vector<std::int64_t>() == Ints{0, 0, 1, 1, 0, 0});
  CHECK_THROWS_AS(one_hot(positions({3}), 3), IndexError);
  CHECK_THROWS_AS(one_hot(empty({0}, int64)), ValueError);
}

TEST_CASE("masked_fill broadcasts its mask") {
  const Tensor x = counted({2, 3});
  CHECK(values(x.masked_fill(mask_of({true, false, true}), -1)) == Floats{-1, 1, -1, -1, 4, -1});
  CHECK(values(x.t().masked_fill(mask_of({true, false}), 9)) == Floats{9, 3, 9, 4, 9, 5});
  CHECK(counted({3}).masked_fill(ones({2, 3}, bool_), 0).sizes() == IntSpan{2, 3});
  CHECK(values(x.masked_fill(tensor(true), tensor(2))) == Floats{2, 2, 2, 2, 2, 2});
  Tensor y = counted({3});
  CHECK_THROWS_AS(y.masked_fill_(ones({2, 3}, bool_), 1), ShapeError);
  CHECK_THROWS_AS(y.masked_fill(ones({3}, int64), 1), DTypeError);
  CHECK_THROWS_AS(y.masked_fill(ones({3}, bool_), zeros({1})), ShapeError);
  CHECK_THROWS_AS(counted({3}, int64).masked_fill(ones({3}, bool_), 1e300), ValueError);
  y.masked_fill_(y.lt(1.5), y[2]);
  CHECK(values(y) == Floats{2, 2, 2});
}

TEST_CASE("masked_select, masked_scatter and nonzero go in row-major order") {
  const Tensor x = counted({2, 3});
  CHECK(values(x.masked_select(x.gt(2))) == Floats{3, 4, 5});
  CHECK(values(x.masked_select(mask_of({true, false, false}))) == Floats{0, 3});
  CHECK(values(counted({}).masked_select(ones({2, 2}, bool_))) == Floats{0, 0, 0, 0});
  CHECK(x.t().nonzero().to_vector<std::int64_t>() == Ints{0, 1, 1, 0, 1, 1, 2, 0, 2, 1});
  CHECK(counted({}).nonzero().sizes() == IntSpan{0, 0});
  CHECK(ones({}).nonzero().sizes() == IntSpan{1, 0});
  CHECK(values(masked_scatter(x, x.gt(3), tensor({7.f, 8.f, 9.f}))) == Floats{0, 1, 2, 3, 7, 8});
  CHECK_THROWS_AS(masked_scatter(x, x.gt(-1), tensor({7.f})), ShapeError);
  CHECK_THROWS_AS(x.masked_select(ones({4}, bool_)), ShapeError);
}

TEST_CASE("a meta tensor tells the shape, unless that depends on values") {
  const Tensor m = empty({3, 4}, float32, meta);
  CHECK(m.index({Slice(), 1}).sizes() == IntSpan{3});
  CHECK(m.index({empty({5}, int64, meta)}).sizes() == IntSpan{5, 4});
  CHECK(m.gather(1, empty({3, 2}, int64, meta)).sizes() == IntSpan{3, 2});
  CHECK(m.masked_fill(empty({4}, bool_, meta), 1).sizes() == IntSpan{3, 4});
  CHECK_THROWS_WITH(m.nonzero(), Contains("depends on the values"));
  CHECK_THROWS_WITH(m.masked_select(empty({4}, bool_, meta)), Contains("depends on the values"));
  CHECK_THROWS_AS(m.index({empty({3}, bool_, meta)}), DeviceError);
}

TEST_CASE("gradients of indexing are right to second order") {
  const Tensor i = positions({{0, 2}, {-1, 0}}), j = positions({1, 1});
  const auto check_both = [](const std::function<Tensor(const TensorList&)>& f, const TensorList& in) {
    CHECK(autograd::gradcheck(f, in));
    CHECK(autograd::gradgradcheck(f, in));
  };
  const auto input = [](IntSpan sizes) {
    return (counted(sizes, float64) * 0.37 - 1.0).sin().detach().requires_grad_();
  };
  const Tensor x = input({3, 2, 4}), v = input({2, 2, 2}), w = input({3, 2, 4});
  const Tensor m = x.detach().gt(0.1);

  check_both([&](const TensorList& t) { return t[0].index({i, Slice(), positions({1, 3})}).square(); }, {x});
  check_both([&](const TensorList& t) { return t[0].index({"...", None, i}).square(); }, {x});
  check_both([&](const TensorList& t) { return t[0].index({Slice(1, None), 1}).square(); }, {x});
  check_both([&](const TensorList& t) { return t[0].index({m}).square(); }, {x});
  check_both([&](const TensorList& t) { return t[0].masked_select(m[0]).square(); }, {x});
  check_both(
      [&](const TensorList& t) {
        return index_put(t[0], {i, j}, t[1].select(2, 0).unsqueeze(-1)).square();
      },
      {x, v});
  check_both([&](const TensorList& t) { return index_put(t[0], {i, j}, t[1][0][0][0], true).square(); }, {x, v});
  check_both(
      [&](const TensorList& t) {
        Tensor y = t[0].square();
        y.index_put_({0, Slice(), positions({2, 0})}, t[1][0]);
        y.index_put_({m}, t[1].flatten()[0]);
        return y.square();
      },
      {x, v});
  check_both([&](const TensorList& t) { return t[0].index_select(1, positions({1, 1, 0})).square(); }, {x});
  const Tensor at = positions({{{0, 1}, {1, 1}}, {{1, 0}, {0, 0}}});
  check_both([&](const TensorList& t) { return t[0].gather(1, at).square(); }, {x});
  check_both([&](const TensorList& t) { return scatter(t[0], 1, at, t[1]).square(); }, {x, w});
  check_both([&](const TensorList& t) { return scatter_add(t[0], 1, at, t[1]).square(); }, {x, w});
  check_both([&](const TensorList& t) { return t[0].masked_fill(m, t[1][0][0][0]).square(); }, {x, v});
  check_both([&](const TensorList& t) { return masked_scatter(t[0], m, t[1]).square(); }, {x, w});
  check_both(
      [&](const TensorList& t) {
        return index_fill(t[0], -1, positions({0, 0}), t[1][0][0][0]).square();
      },
      {x, v});
  check_both([&](const TensorList& t) { return index_add(t[0], 0, positions({2}), t[1].slice(0, 0, 1), 3).square(); },
             {x, w});
  check_both(
      [&](const TensorList& t) {
        return put(t[0].transpose(0, 2), positions({1, 5}), t[1][0][0]).square();
      },
      {x, v});
}
