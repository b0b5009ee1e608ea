#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/join.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/view.h>

#include "tests/support/catch.h"

using namespace taper;
using Catch::Contains;

namespace {
using Floats = std::vector<float>;
Tensor counted(IntSpan sizes, DType d = float32) {
  return arange(SizesAndStrides::contiguous(sizes).numel(), {.dtype = d}).view(sizes);
}
Floats values(const Tensor& t) { return t.to(float32).to_vector<float>(); }
}  // namespace

TEST_CASE("cat makes new memory with the sizes of one dim added up", "[S85]") {
  const Tensor a = counted({2, 2}), b = counted({2, 1});
  const Tensor c = cat({a, b}, 1);
  CHECK(values(c) == Floats{0, 1, 0, 2, 3, 1});
  CHECK_FALSE(c.is_alias_of(a));
  CHECK(values(cat({a.t(), a}, 0)) == Floats{0, 2, 1, 3, 0, 1, 2, 3});
  CHECK(cat({a.t(), a.t()}, -1).is_contiguous());
  CHECK(values(cat({a, a.t()}, -1)) == Floats{0, 1, 0, 2, 2, 3, 1, 3});
  CHECK(cat({a}).storage()->bytes() == 16);
}

TEST_CASE("cat names the tensor and the dim that do not fit", "[S85]") {
  CHECK_THROWS_WITH(cat({counted({2, 3}), counted({2, 3}), counted({2, 4})}, 0),
                    Contains("tensor 2") && Contains("float32[2, 4]") && Contains("dim 1"));
  CHECK_THROWS_WITH(cat({counted({2, 3}), counted({2})}), Contains("tensor 1") && Contains("numbers of dims"));
  CHECK_THROWS_WITH(cat({counted({}), counted({})}), Contains("tensor 0 is 0-dim") && Contains("stack"));
  CHECK_THROWS_AS(cat({}), ValueError);
  CHECK_THROWS_AS(cat({counted({2})}, 1), IndexError);
  CHECK_THROWS_AS(cat({counted({2, 3}), counted({0, 2})}), ShapeError);
}

TEST_CASE("cat leaves out vectors without elements and promotes dtypes") {
  CHECK(values(cat({zeros({0}), counted({2, 2})}, 1)) == Floats{0, 1, 2, 3});
  CHECK(cat({zeros({0}), zeros({0})}).sizes() == IntSpan{0});
  CHECK(cat({counted({0, 3}), counted({2, 3})}).sizes() == IntSpan{2, 3});
  CHECK(cat({ones({1}, bool_), ones({1}, int64)}).dtype() == int64);
  CHECK(cat({ones({1}, int64), ones({1}, float32)}).dtype() == float32);
  CHECK(values(cat({ones({1}, uint8), full({1}, 0.5, float64)})) == Floats{1, 0.5});
  for (const DType d : kAllDTypes) CHECK(values(cat({ones({2}, d), zeros({1}, d)})) == Floats{1, 1, 0});
}

TEST_CASE("cat keeps channels-last operands channels-last") {
  const Tensor x = counted({2, 4, 5, 3}).permute({0, 3, 1, 2});  // [2, 3, 4, 5]
  const Tensor y = cat({x, x}, 1);
  CHECK(y.strides() == IntSpan{120, 1, 30, 6});
  CHECK(values(y.narrow(1, 3, 3)) == values(x));
  CHECK(cat({x, x.contiguous()}, 1).is_contiguous());
}

TEST_CASE("stack adds a dim", "[S86]") {
  const Tensor a = tensor({1.f, 2.f}), b = tensor({3.f, 4.f});
  CHECK(values(stack({a, b})) == Floats{1, 2, 3, 4});
  CHECK(values(stack({a, b}, 1)) == Floats{1, 3, 2, 4});
  CHECK(values(stack({a, b}, -1)) == Floats{1, 3, 2, 4});
  CHECK(stack({a, b}).nbytes() == cat({a, b}).nbytes());
  CHECK(stack({a[0], b[0]}).sizes() == IntSpan{2});
  CHECK(values(stack({counted({2, 2}).t(), counted({2, 2})}, 1)) == Floats{0, 2, 0, 1, 1, 3, 2, 3});
  CHECK(stack({zeros({0}), zeros({0})}).sizes() == IntSpan{2, 0});
  CHECK_THROWS_WITH(stack({zeros({2}), zeros({3})}), Contains("tensor 1") && Contains("[3]") && Contains("[2]"));
  CHECK_THROWS_AS(stack({}), ValueError);
  CHECK_THROWS_AS(stack({a, b}, 2), IndexError);
}

TEST_CASE("the stacking relatives follow their axes") {
  const Tensor a = counted({2}), b = counted({2});
  CHECK(hstack({a, b}).sizes() == IntSpan{4});
  CHECK(vstack({a, b}).sizes() == IntSpan{2, 2});
  CHECK(dstack({a, b}).sizes() == IntSpan{1, 2, 2});
  CHECK(column_stack({a, counted({2, 3})}).sizes() == IntSpan{2, 4});
  CHECK(hstack({counted({2, 1}), counted({2, 3})}).sizes() == IntSpan{2, 4});
  CHECK_THROWS_AS(hstack({}), ValueError);
}

TEST_CASE("joins work on meta and across ranks") {
  const Tensor m = empty({2, 3}, float32, meta);
  CHECK(cat({m, m}).sizes() == IntSpan{4, 3});
  CHECK(stack({m, m}, 2).sizes() == IntSpan{2, 3, 2});
  CHECK(cat({counted({1, 1, 1, 1, 1, 2}), counted({1, 1, 1, 1, 1, 2})}, 5).numel() == 4);
}

TEST_CASE("gradients of joins go to each operand") {
  const auto f = [](const TensorList& t) {
    return cat({t[0], t[1].t(), t[0]}, 0).square().add(stack({t[0], t[0]}, 1).sum());
  };
  const TensorList in{(counted({2, 3}, float64) * 0.3).requires_grad_(),
                      (counted({3, 1}, float64) - 1).requires_grad_()};
  CHECK(autograd::gradcheck(f, in));
  CHECK(autograd::gradgradcheck(f, in));

  Tensor nothing = zeros({0}, {.dtype = float64, .requires_grad = true}), x = in[0];
  cat({nothing, x}).sum().backward();
  CHECK(nothing.grad().sizes() == IntSpan{0});
  CHECK(values(x.grad()) == Floats(6, 1));
}
