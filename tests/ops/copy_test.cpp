#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/ops/copy.h>
#include <taper/ops/pointwise.h>

#include <limits>

#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;

namespace {
using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }
}  // namespace

TEST_CASE("to converts from every dtype to every dtype", "[S89][S115][S121]") {
  for (DType from : kAllDTypes)
    for (DType to : kAllDTypes) {
      INFO(name_of(from) << " to " << name_of(to));
      const Tensor x = tensor({0, 1, 1, 0, 1}, from);
      const Tensor y = x.to(to);
      CHECK(y.dtype() == to);
      CHECK(values(y) == Values{0, 1, 1, 0, 1});
      CHECK(y.is_same(x) == (from == to));
      CHECK_FALSE(x.to(to, true).is_alias_of(x));
    }
}

TEST_CASE("conversions truncate, wrap and saturate without undefined behaviour") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(values(tensor({1.9, -1.9, 0.5, -0.0}, float64).to(int64)) == Values{1, -1, 0, 0});
  CHECK(values(tensor({0.0, -0.0, 0.1, nan, inf}, float64).to(bool_)) == Values{0, 0, 1, 1, 1});
  CHECK(values(tensor({257, -1, 2}, int64).to(uint8)) == Values{1, 255, 2});
  CHECK(values(tensor({257.5, -1.0}, float32).to(uint8)) == Values{1, 255});
  CHECK(values(tensor({256, 0}, int64).to(bool_)) == Values{1, 0});
  CHECK(tensor({nan}, float32).to(int64).item<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(tensor({1e30}, float32).to(int32).item<std::int32_t>() == std::numeric_limits<std::int32_t>::min());
  CHECK(tensor({9.3e18}, float64).to(int64).item<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(values(tensor({inf, -inf}, float64).to(float32)) == Values{inf, -inf});
}

TEST_CASE("copy_ broadcasts, converts and writes through any layout", "[S80]") {
  Tensor x = zeros({2, 3}, int64);
  x.copy_(tensor({1.5, 2.5, 3.5}));
  CHECK(values(x) == Values{1, 2, 3, 1, 2, 3});

  Tensor memory = zeros({12});
  Tensor view = memory.as_strided({2, 3}, {1, 4}, 1);
  view.copy_(tensor({{1, 2, 3}, {4, 5, 6}}));
  CHECK(values(memory) == Values{0, 1, 4, 0, 0, 2, 5, 0, 0, 3, 6, 0});

  x.copy_(tensor(7));
  CHECK(values(x) == Values(6, 7.0));
  CHECK_THROWS_WITH(x.copy_(ones({2})),
                    Contains("copy_: src float32[2] on cpu does not broadcast to self, int64[2, 3] on cpu"));
  CHECK_THROWS_AS(x.copy_(ones({1, 2, 3})), ShapeError);
}

TEST_CASE("copy_ from memory it overwrites copies first") {
  Tensor x = arange(5, {.dtype = float32});
  Tensor(x.as_strided({4}, {1}, 1)).copy_(x.as_strided({4}, {1}, 0));
  CHECK(values(x) == Values{0, 0, 1, 2, 3});
  Tensor square = arange(9, {.dtype = float32}).as_strided({3, 3}, {3, 1});
  square.copy_(square.as_strided({3, 3}, {1, 3}));
  CHECK(values(square) == Values{0, 3, 6, 1, 4, 7, 2, 5, 8});
}

TEST_CASE("a transposed copy of any size is right", "[S80]") {
  for (DType d : {float32, float64, uint8}) {
    for (auto [rows, columns] : {std::pair{3, 5}, {17, 33}, {64, 64}, {300, 7}, {350, 350}}) {
      const Tensor x = arange(rows * columns).to(d);
      const Tensor y = x.as_strided({columns, rows}, {1, columns}).contiguous();
      const std::vector<double> v = values(y), from = values(x);
      bool same = true;
      for (int c = 0; c < columns; ++c)
        for (int r = 0; r < rows; ++r) same &= v[std::size_t(c * rows + r)] == from[std::size_t(r * columns + c)];
      INFO(name_of(d) << " " << rows << "x" << columns);
      CHECK(same);
    }
  }
}

TEST_CASE("fill_ and zero_ overwrite with a number or a 0-dim tensor", "[S99]") {
  Tensor x = empty({3}, float32), i = empty({2}, int64), mask = empty({2}, bool_);
  CHECK(&x.fill_(1.5) == &x);
  CHECK(values(x) == Values{1.5, 1.5, 1.5});
  CHECK(values(x.zero_()) == Values{0, 0, 0});
  CHECK(values(i.fill_(2.9)) == Values{2, 2});
  CHECK(values(mask.fill_(3)) == Values{1, 1});
  CHECK(values(x.fill_(tensor(4))) == Values{4, 4, 4});
  CHECK_THROWS_WITH(x.fill_(ones({2})), Contains("fill_: value must have no dimensions"));
  Tensor memory = zeros({6});
  Tensor(memory.as_strided({3}, {2})).fill_(1);
  CHECK(values(memory) == Values{1, 0, 1, 0, 1, 0});
}

TEST_CASE("clone keeps dense layouts and owns its memory") {
  const Tensor t = arange(6).as_strided({2, 3}, {1, 2});
  CHECK(t.clone().strides() == IntSpan{1, 2});
  CHECK(values(t.clone()) == values(t));
  CHECK_FALSE(t.clone().is_alias_of(t));
  CHECK(zeros({3}).as_strided({2, 3}, {0, 1}).clone().strides() == IntSpan{3, 1});
  CHECK(t.contiguous().strides() == IntSpan{3, 1});
  CHECK(values(t.contiguous()) == values(t));
  const Tensor dense = zeros({2, 3});
  CHECK(dense.contiguous().is_same(dense));
  CHECK(t.to(float64).strides() == IntSpan{1, 2});
}

TEST_CASE("gradients pass through copies and conversions between floating dtypes") {
  Tensor x = tensor({1.0, 2.0, 3.0}, float64);
  x.requires_grad_();
  const auto chain = [](const TensorList& in) {
    Tensor y = zeros({2, 3}, float64);
    y.copy_(in[0] * in[0]);
    return y.clone().contiguous() * 3;
  };
  CHECK(autograd::gradcheck(chain, {x}));

  x.to(float32).mul(2).backward(ones({3}, float32));
  CHECK(x.grad().dtype() == float64);
  CHECK(values(x.grad()) == Values{2, 2, 2});

  Tensor value = tensor(5.0, float64);
  value.requires_grad_();
  Tensor y = zeros({2, 2}, float64);
  y.fill_(value).backward(ones({2, 2}, float64));
  CHECK(values(value.grad()) == Values{4});
  CHECK_FALSE(x.to(int64).requires_grad());
}

TEST_CASE("what was overwritten gets a gradient of zero") {
  Tensor x = tensor({1.0, 2.0}, float64);
  x.requires_grad_();
  Tensor y = x * 2;
  y.zero_();
  y.backward(ones({2}, float64));
  CHECK(values(x.grad()) == Values{0, 0});
}

TEST_CASE("a meta tensor has no values to copy out") {
  const Tensor m = empty({2}, float32, meta);
  CHECK(ones({2}).to(meta).device() == meta);
  CHECK_THROWS_WITH(m.to(cpu), Contains("it has no values"));
  CHECK(m.clone().device() == meta);
}
