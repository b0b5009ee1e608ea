#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/math.h>
#include <taper/ops/pointwise.h>

#include <cmath>

#include "support/catch.h"

using namespace taper;
using taper::autograd::gradcheck;
using taper::autograd::gradgradcheck;

namespace {

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }

struct Function {
  const char* name;
  StructuredOp<Tensor(Tensor)>* op;
  double (*reference)(double);
  Values inside;  // where it is defined and smooth
};
const std::vector<Function>& functions() {
  static const Values any{-1.5, -0.25, 0.5, 2, 0.01, -3}, positive{0.1, 0.5, 1, 2, 3, 40};
  static const Values inside_one{-0.75, -0.25, 0.5, 0.9, 0.01, 0.125}, above_one{1.5, 2, 3, 1.01, 10, 5};
  static const std::vector<Function> all{
      {"expm1", &ops::expm1, [](double x) { return std::expm1(x); }, any},
      {"exp2", &ops::exp2, [](double x) { return std::exp2(x); }, any},
      {"log1p", &ops::log1p, [](double x) { return std::log1p(x); }, inside_one},
      {"log2", &ops::log2, [](double x) { return std::log2(x); }, positive},
      {"log10", &ops::log10, [](double x) { return std::log10(x); }, positive},
      {"tan", &ops::tan, [](double x) { return std::tan(x); }, inside_one},
      {"asin", &ops::asin, [](double x) { return std::asin(x); }, inside_one},
      {"acos", &ops::acos, [](double x) { return std::acos(x); }, inside_one},
      {"atan", &ops::atan, [](double x) { return std::atan(x); }, any},
      {"sinh", &ops::sinh, [](double x) { return std::sinh(x); }, any},
      {"cosh", &ops::cosh, [](double x) { return std::cosh(x); }, any},
      {"asinh", &ops::asinh, [](double x) { return std::asinh(x); }, any},
      {"acosh", &ops::acosh, [](double x) { return std::acosh(x); }, above_one},
      {"atanh", &ops::atanh, [](double x) { return std::atanh(x); }, inside_one},
      {"erf", &ops::erf, [](double x) { return std::erf(x); }, any},
      {"erfc", &ops::erfc, [](double x) { return std::erfc(x); }, any},
  };
  return all;
}

}  // namespace

TEST_CASE("the further functions agree with the standard library in both floating dtypes and every form") {
  for (const Function& f : functions()) {
    INFO(f.name);
    Values want;
    for (double x : f.inside) want.push_back(f.reference(x));
    for (DType d : {float64, float32}) {
      const Tensor x = from_vector(Values(f.inside)).to(d);
      const Tensor y = (*f.op)(x);
      CHECK(y.dtype() == d);
      const Values v = values(y);
      for (std::size_t i = 0; i < v.size(); ++i) CHECK(v[i] == Approx(want[i]).epsilon(d == float64 ? 1e-14 : 1e-6));
      Tensor in_place = x.clone();
      CHECK(f.op->inplace(in_place, in_place).equal(y));
      CHECK((*f.op)(x.as_strided({3, 2}, {1, 3})).equal(y.as_strided({3, 2}, {1, 3})));
    }
    CHECK((*f.op)(tensor({1})).dtype() == float32);
    CHECK((*f.op)(empty({0, 2}, float64)).sizes() == IntSpan{0, 2});
    CHECK((*f.op)(empty({2}, float32, meta)).device() == meta);
  }
}

TEST_CASE("the further functions have the right first and second derivatives", "[S54]") {
  for (const Function& f : functions()) {
    INFO(f.name);
    Tensor x = from_vector(Values(f.inside));
    x.requires_grad_();
    const auto call = [&](const TensorList& in) { return (*f.op)(in[0]); };
    CHECK(gradcheck(call, {x}));
    CHECK(gradgradcheck(call, {x}));
  }
}

TEST_CASE("rounding keeps dtypes, leaves integers alone and has gradient 0") {
  const Tensor x = tensor({-1.5, -0.5, 0.5, 1.5, 2.5, 2.75}, float32);
  CHECK(values(floor(x)) == Values{-2, -1, 0, 1, 2, 2});
  CHECK(values(ceil(x)) == Values{-1, 0, 1, 2, 3, 3});
  CHECK(values(trunc(x)) == Values{-1, 0, 0, 1, 2, 2});
  CHECK(values(round(x)) == Values{-2, 0, 0, 2, 2, 3});
  CHECK(floor(tensor({3, -4})).equal(tensor({3, -4})));
  CHECK_THROWS_AS(floor(tensor({true})), DTypeError);

  Tensor leaf = tensor({0.25, 1.75}, float64);
  leaf.requires_grad_();
  round(leaf).backward(ones({2}, float64));
  CHECK(values(leaf.grad()) == Values{0, 0});
}

TEST_CASE("a mask written over recorded numbers cuts their history") {
  Tensor x = tensor({1.0, 2.0, 3.0}, float64);
  x.requires_grad_();
  Tensor y = x * 2;
  y.gt_(3);
  CHECK(y.dtype() == float64);
  CHECK(values(y.detach()) == Values{0, 1, 1});
  y.backward(ones({3}, float64));
  CHECK(values(x.grad()) == Values{0, 0, 0});

  Tensor z = tensor({0.0, 2.0});
  z.logical_not_();
  CHECK(values(z) == Values{1, 0});
  z.logical_or_(tensor({false, true})).eq_(1);
  CHECK(values(z) == Values{1, 1});
  CHECK(values(tensor({-2.0, 3.0}).sign_()) == Values{-1, 1});
}
