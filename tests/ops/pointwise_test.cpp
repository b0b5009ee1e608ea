#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/operator.h>
#include <taper/ops/pointwise.h>
#include <taper/promotion.h>

#include <cmath>
#include <limits>

#include "support/catch.h"

using namespace taper;
using Catch::Matchers::Contains;
using taper::autograd::gradcheck;
using taper::autograd::gradgradcheck;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

using Values = std::vector<double>;
Values values(const Tensor& t) { return t.to(float64).to_vector<double>(); }

void check_close(const Tensor& got, const Values& want, double tolerance = 0) {
  const Values v = values(got);
  REQUIRE(v.size() == want.size());
  for (std::size_t i = 0; i < v.size(); ++i) {
    INFO("element " << i << ": got " << v[i] << ", want " << want[i]);
    if (std::isnan(want[i]))
      CHECK(std::isnan(v[i]));
    else if (std::isinf(want[i]) || tolerance == 0)
      CHECK(v[i] == want[i]);
    else
      CHECK(std::abs(v[i] - want[i]) <= tolerance * std::max(1.0, std::abs(want[i])));
  }
}

Tensor leaf(const TensorData& data) {
  Tensor t = tensor(data, float64);
  t.requires_grad_();
  return t;
}

/// The values of t in other clothes: transposed memory, gaps between elements, an offset. Expanded is for reading only.
std::vector<std::pair<const char*, Tensor>> disguises(const Tensor& t) {
  std::vector<std::pair<const char*, Tensor>> out{{"contiguous", t}};
  const std::int64_t rows = t.size(0), columns = t.size(1);
  const auto place = [&](const char* name, IntVec strides, std::int64_t offset, std::int64_t memory) {
    Tensor view = full({memory}, 99, t.dtype()).as_strided(t.sizes(), strides, offset);
    view.copy_(t);
    out.emplace_back(name, view);
  };
  place("transposed", {1, rows}, 0, rows * columns);
  place("every second column", {2 * columns, 2}, 0, 2 * rows * columns);
  place("offset", {columns, 1}, 5, rows * columns + 5);
  place("transposed with gaps and an offset", {3, 3 * rows + 1}, 7, 7 + 3 * rows * columns + columns);
  return out;
}

struct UnaryCase {
  const char* name;
  StructuredOp<Tensor(Tensor)>* op;
  double (*reference)(double);
  Values inside;  // where it is defined and smooth
};
const std::vector<UnaryCase>& unary_cases() {
  static const std::vector<UnaryCase> cases{
      {"abs", &ops::abs, [](double x) { return std::abs(x); }, {-1.5, -0.25, 0.5, 2, 3, -4}},
      {"neg", &ops::neg, [](double x) { return -x; }, {-1.5, -0.25, 0.5, 2, 3, -4}},
      {"exp", &ops::exp, [](double x) { return std::exp(x); }, {-1.5, -0.25, 0.5, 2, 3, -4}},
      {"log", &ops::log, [](double x) { return std::log(x); }, {0.1, 0.5, 1, 2, 3, 40}},
      {"sqrt", &ops::sqrt, [](double x) { return std::sqrt(x); }, {0.1, 0.5, 1, 2, 3, 40}},
      {"rsqrt", &ops::rsqrt, [](double x) { return 1 / std::sqrt(x); }, {0.1, 0.5, 1, 2, 3, 40}},
      {"square", &ops::square, [](double x) { return x * x; }, {-1.5, -0.25, 0.5, 2, 3, -4}},
      {"reciprocal", &ops::reciprocal, [](double x) { return 1 / x; }, {-1.5, -0.25, 0.5, 2, 3, -4}},
      {"tanh", &ops::tanh, [](double x) { return std::tanh(x); }, {-1.5, -0.25, 0.5, 2, 0.01, -4}},
      {"sigmoid", &ops::sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, {-1.5, -0.25, 0.5, 2, 3, -4}},
      {"relu", &ops::relu, [](double x) { return x > 0 ? x : 0; }, {-1.5, -0.25, 0.5, 2, 3, -4}},
      {"sin", &ops::sin, [](double x) { return std::sin(x); }, {-1.5, -0.25, 0.5, 2, 3, -4}},
      {"cos", &ops::cos, [](double x) { return std::cos(x); }, {-1.5, -0.25, 0.5, 2, 3, -4}},
  };
  return cases;
}

struct BinaryCase {
  const char* name;
  Tensor (*call)(const Tensor&, const Tensor&);
  double (*reference)(double, double);
};
const std::vector<BinaryCase>& binary_cases() {
  static const std::vector<BinaryCase> cases{
      {"add", [](const Tensor& a, const Tensor& b) { return add(a, b); }, [](double a, double b) { return a + b; }},
      {"add alpha", [](const Tensor& a, const Tensor& b) { return add(a, b, 3); },
       [](double a, double b) { return a + 3 * b; }},
      {"sub", [](const Tensor& a, const Tensor& b) { return sub(a, b); }, [](double a, double b) { return a - b; }},
      {"sub alpha", [](const Tensor& a, const Tensor& b) { return sub(a, b, 2); },
       [](double a, double b) { return a - 2 * b; }},
      {"mul", [](const Tensor& a, const Tensor& b) { return mul(a, b); }, [](double a, double b) { return a * b; }},
      {"div", [](const Tensor& a, const Tensor& b) { return div(a, b); }, [](double a, double b) { return a / b; }},
      {"pow", [](const Tensor& a, const Tensor& b) { return pow(a, b); },
       [](double a, double b) { return std::pow(a, b); }},
      {"maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); },
       [](double a, double b) { return std::max(a, b); }},
      {"minimum", [](const Tensor& a, const Tensor& b) { return minimum(a, b); },
       [](double a, double b) { return std::min(a, b); }},
      {"where", [](const Tensor& a, const Tensor& b) { return where(a > b, a, b * 10); },
       [](double a, double b) { return a > b ? a : 10 * b; }},
  };
  return cases;
}

}  // namespace

TEST_CASE("functions of one agree with the standard library in both floating dtypes") {
  for (const UnaryCase& c : unary_cases()) {
    INFO(c.name);
    Values want;
    for (double x : c.inside) want.push_back(c.reference(x));
    for (DType d : {float64, float32}) {
      const Tensor x = from_vector(Values(c.inside)).to(d);
      const Tensor y = (*c.op)(x);
      CHECK(y.dtype() == d);
      check_close(y, want, d == float64 ? 1e-14 : 3e-7);
    }
  }
}

TEST_CASE("functions of one have the right first and second derivatives", "[S54]") {
  for (const UnaryCase& c : unary_cases()) {
    INFO(c.name);
    Tensor x = from_vector(Values(c.inside));
    x.requires_grad_();
    const auto f = [&](const TensorList& in) { return (*c.op)(in[0]); };
    CHECK(gradcheck(f, {x}));
    if (std::string_view(c.name) != "relu" && std::string_view(c.name) != "abs" && std::string_view(c.name) != "neg")
      CHECK(gradgradcheck(f, {x}));
  }
}

TEST_CASE("a function of one in place is the function, and counts as one write", "[S99]") {
  for (const UnaryCase& c : unary_cases()) {
    INFO(c.name);
    const Tensor x = from_vector(Values(c.inside));
    const Values want = values((*c.op)(x));
    Tensor y = x.clone();
    const TensorImpl* same = y.impl();
    const std::uint32_t before = y.version();

    (*c.op).inplace(y, y);

    check_close(y, want);
    CHECK(y.impl() == same);
    CHECK(y.version() == before + 1);

    Tensor out = empty(IntVec{0}, float64);
    Tensor& returned = (*c.op).out(out, x);
    check_close(out, want);
    CHECK(&returned == &out);
  }
}

TEST_CASE("functions of one give the same for every layout of the input", "[S80]") {
  for (const UnaryCase& c : unary_cases()) {
    const Tensor x = from_vector(Values(c.inside), IntVec{2, 3}).to(default_device());
    const Values want = values((*c.op)(x));
    for (const auto& [layout, view] : disguises(x)) {
      INFO(c.name << ", " << layout);
      check_close((*c.op)(view), want);
      check_close((*c.op)(view.to(float32)), want, 1e-6);
    }
  }
}

TEST_CASE("operators of two give the same for every pair of layouts", "[S80]") {
  const Tensor a = tensor({{0.5, 2, 3}, {1, 4, 0.25}}, float64), b = tensor({{2, 0.5, 3}, {-1, 1.5, 2}}, float64);
  const Values va = values(a), vb = values(b);
  for (const BinaryCase& c : binary_cases()) {
    Values want;
    for (std::size_t i = 0; i < va.size(); ++i) want.push_back(c.reference(va[i], vb[i]));
    for (const auto& [layout_a, x] : disguises(a))
      for (const auto& [layout_b, y] : disguises(b)) {
        INFO(c.name << ", " << layout_a << ", " << layout_b);
        check_close(c.call(x, y), want, 1e-14);
        check_close(c.call(x.to(float32), y.to(float32)), want, 1e-6);
      }
  }
}

TEST_CASE("operators of two broadcast like repeating the values", "[B22][S148][S152]") {
  const Tensor row = tensor({10, 20, 30}, float64), column = tensor({{1}, {2}}, float64), number = tensor(4.0, float64);
  const Tensor full_row = tensor({{10, 20, 30}, {10, 20, 30}}, float64);
  const Tensor full_column = tensor({{1, 1, 1}, {2, 2, 2}}, float64);
  const Tensor full_number = full({2, 3}, 4, float64);
  for (const BinaryCase& c : binary_cases()) {
    INFO(c.name);
    check_close(c.call(row, column), values(c.call(full_row, full_column)));
    check_close(c.call(column, row), values(c.call(full_column, full_row)));
    check_close(c.call(full_row, number), values(c.call(full_row, full_number)));
    check_close(c.call(number, full_row), values(c.call(full_number, full_row)));
    CHECK(c.call(row, column).sizes() == IntSpan{2, 3});
  }
  CHECK((zeros({2, 1, 4}) * zeros({3, 1})).sizes() == IntSpan{2, 3, 4});
  CHECK((zeros({0, 3}) + zeros({1, 3})).sizes() == IntSpan{0, 3});
}

TEST_CASE("tensors of many dimensions broadcast") {
  const Tensor a =
      arange(64, {.dtype = float64}).as_strided({2, 1, 2, 1, 2, 1, 2, 1, 4}, {32, 0, 16, 0, 8, 0, 4, 0, 1});
  const Tensor b = arange(8, {.dtype = float64}).as_strided({2, 1, 2, 1, 2, 1, 1, 1}, {4, 0, 2, 0, 1, 0, 0, 0});

  const Tensor sum = a + b;

  CHECK(sum.sizes() == IntSpan{2, 2, 2, 2, 2, 2, 2, 1, 4});
  const Values v = values(sum);
  for (int i = 0; i < 512; ++i) {
    const auto bit = [&](int k) { return i >> k & 1; };  // the nine indices, from the right: two for the last dimension
    const int from_a = 32 * bit(8) + 16 * bit(6) + 8 * bit(4) + 4 * bit(2) + i % 4;
    const int from_b = 4 * bit(7) + 2 * bit(5) + bit(3);
    REQUIRE(v[std::size_t(i)] == from_a + from_b);
  }
}

TEST_CASE("shapes that do not broadcast are refused with both shapes and the dimension", "[S150][S151][S165]") {
  CHECK_THROWS_WITH(
      zeros({2, 3}) + zeros({2, 4}),
      "add: shapes [2, 3] and [2, 4] do not broadcast: dimension 1 of the result would be both 3 and 4; sizes must be "
      "equal or 1, counted from the right\n  operands of add: self float32[2, 3] on cpu, strides [3, 1]; other "
      "float32[2, 4] on cpu, strides [4, 1]");
  CHECK_THROWS_AS(zeros({2, 3}) * zeros({3, 2}), ShapeError);
  CHECK_THROWS_AS(where(zeros({2, 3}, bool_), zeros({4}), zeros({3})), ShapeError);
}

TEST_CASE("a gradient is summed over the dimensions in which its operand was broadcast", "[B22][S153]") {
  Tensor y = leaf({1, 2, 3});
  (ones({2, 3}, float64) + y).backward(ones({2, 3}, float64));
  check_close(y.grad(), {2, 2, 2});

  Tensor mask = ones({2, 1, 4, 1}, float64);
  mask.requires_grad_();
  const Tensor x = arange(24, {.dtype = float64}).as_strided({2, 1, 4, 3}, {12, 12, 3, 1});
  (x * mask).backward(ones({2, 1, 4, 3}, float64));
  CHECK(mask.grad().sizes() == IntSpan{2, 1, 4, 1});
  check_close(mask.grad(), {3, 12, 21, 30, 39, 48, 57, 66});

  Tensor number = leaf(2.0);
  (number * ones({2, 3}, float64)).backward(ones({2, 3}, float64));
  CHECK(number.grad().dim() == 0);
  check_close(number.grad(), {6});
}

TEST_CASE("operators of two have the right first and second derivatives", "[S54]") {
  Tensor a = leaf({{0.5, 2, 3}, {1.25, 4, 0.25}}), b = leaf({2.5, 0.75, 1.5});
  for (const BinaryCase& c : binary_cases()) {
    INFO(c.name);
    const auto f = [&](const TensorList& in) { return c.call(in[0], in[1]) * in[0]; };
    CHECK(gradcheck(f, {a, b}));
    CHECK(gradgradcheck(f, {a, b}));
  }
}

TEST_CASE("operators with a number have the right derivatives") {
  Tensor x = leaf({0.5, 2, 3});
  const auto check_it = [&](Tensor (*f)(const Tensor&)) {
    const auto g = [&](const TensorList& in) { return f(in[0]) * in[0]; };
    CHECK(gradcheck(g, {x}));
    CHECK(gradgradcheck(g, {x}));
  };
  check_it([](const Tensor& t) { return t + 2; });
  check_it([](const Tensor& t) { return 2 - t; });
  check_it([](const Tensor& t) { return t - 2.5; });
  check_it([](const Tensor& t) { return t * 3; });
  check_it([](const Tensor& t) { return t / 3; });
  check_it([](const Tensor& t) { return 3 / t; });
  check_it([](const Tensor& t) { return pow(t, 3); });
  check_it([](const Tensor& t) { return pow(t, 0.5); });
  check_it([](const Tensor& t) { return pow(2, t); });
  check_it([](const Tensor& t) { return clamp(t, 1.0, 2.5); });
  check_it([](const Tensor& t) { return clamp_min(t, 1); });
  check_it([](const Tensor& t) { return clamp_max(t, 2.5); });
  check_it([](const Tensor& t) { return where(t > 1, t * t, -1.0); });
}

TEST_CASE("ties and steps route gradients as PyTorch does", "[B26]") {
  Tensor a = leaf({0, 1, 2}), b = leaf({0, 2, 1});
  maximum(a, b).backward(ones({3}, float64));
  check_close(a.grad(), {0.5, 0, 1});
  check_close(b.grad(), {0.5, 1, 0});

  Tensor c = leaf({0, 1, 2}), d = leaf({0, 2, 1});
  minimum(c, d).backward(ones({3}, float64));
  check_close(c.grad(), {0.5, 1, 0});
  check_close(d.grad(), {0.5, 0, 1});

  Tensor x = leaf({-1, 0, 1});
  relu(x).backward(ones({3}, float64));
  check_close(x.grad(), {0, 0, 1});
  x.zero_grad();
  abs(x).backward(ones({3}, float64));
  check_close(x.grad(), {-1, 0, 1});
  x.zero_grad();
  clamp(x, 0, 1).backward(ones({3}, float64));
  check_close(x.grad(), {0, 1, 1});
  x.zero_grad();
  clamp(x, -1, 0).backward(ones({3}, float64));
  check_close(x.grad(), {1, 1, 0});
  x.zero_grad();
  sign(x).backward(ones({3}, float64));
  check_close(x.grad(), {0, 0, 0});
}

TEST_CASE("the gradients of pow at 0 are its limits") {
  Tensor base = leaf({0, 0, 2}), exponent = leaf({0, 2, 3});
  pow(base, exponent).backward(ones({3}, float64));
  check_close(base.grad(), {0, 0, 12});
  check_close(exponent.grad(), {0, 0, 8 * std::log(2.0)}, 1e-14);

  Tensor x = leaf({0, 3});
  pow(x, 0).backward(ones({2}, float64));
  check_close(x.grad(), {0, 0});
  x.zero_grad();
  pow(x, 1).backward(ones({2}, float64));
  check_close(x.grad(), {1, 1});
}

TEST_CASE("infinities, NaN and extreme arguments give what the functions' limits say") {
  for (DType d : {float32, float64}) {
    const auto t = [&](const TensorData& data) { return tensor(data, d); };
    check_close(exp(t({-kInf, kInf, kNan, -1000, 1000, 0})), {0, kInf, kNan, 0, kInf, 1});
    check_close(log(t({0, -1, kInf, kNan, 1, -kInf})), {-kInf, kNan, kInf, kNan, 0, kNan});
    check_close(tanh(t({-kInf, kInf, kNan, 0, 100, -100})), {-1, 1, kNan, 0, 1, -1});
    check_close(sigmoid(t({-kInf, kInf, kNan, 0, 200, -2000})), {0, 1, kNan, 0.5, 1, 0});
    check_close(sqrt(t({-1, kInf, 0})), {kNan, kInf, 0});
    check_close(reciprocal(t({0, kInf, -kInf})), {kInf, 0, 0});
    check_close(relu(t({kNan, kInf, -kInf})), {kNan, kInf, 0});
    check_close(sign(t({kNan, kInf, -kInf})), {0, 1, -1});
    check_close(t({1, 0, -1}) / t({0, 0, 0}), {kInf, kNan, -kInf});
    check_close(maximum(t({kNan, 1, kNan}), t({1, kNan, kNan})), {kNan, kNan, kNan});
    check_close(minimum(t({kNan, 1, -kInf}), t({1, kNan, 0})), {kNan, kNan, -kInf});
    check_close(clamp(t({kNan, kInf, -kInf, 0.25}), -1.0, 1.0), {kNan, 1, -1, 0.25});
    check_close(clamp(t({0, 5}), kNan, 1.0), {kNan, kNan});
    check_close(clamp(t({0, 5}), 3, 1), {1, 1});
  }
  // sigmoid(-200) is a small number in double precision, and 0 in single.
  CHECK(values(sigmoid(tensor({-200.0}, float64)))[0] == Approx(1.3838965267367376e-87));
  CHECK(values(sigmoid(tensor({-100.0}, float32)))[0] == Approx(3.7835e-44).epsilon(0.02));
  CHECK(values(exp(tensor({-100.0}, float32)))[0] == Approx(3.7835e-44).epsilon(0.02));
}

TEST_CASE("float32 exp, log, tanh and sigmoid are right to a few units in the last place") {
  const auto worst = [](Tensor (*f)(const Tensor&), double (*reference)(double), double from, double to) {
    const Tensor x = linspace(from, to, 20001, {.dtype = float32});
    const std::vector<float> in = x.to_vector<float>(), out = f(x).to_vector<float>();
    double most = 0;
    for (std::size_t i = 0; i < in.size(); ++i) {
      const double want = reference(in[i]);
      const float unit = std::nextafter(std::abs(float(want)), 1e38f) - std::abs(float(want));
      most = std::max(most, std::abs(out[i] - want) / double(unit));
    }
    return most;
  };
  CHECK(worst(
            exp, [](double x) { return std::exp(x); }, -80, 80) < 1.5);
  CHECK(worst(
            log, [](double x) { return std::log(x); }, 1e-3, 50) < 1.5);
  CHECK(worst(
            tanh, [](double x) { return std::tanh(x); }, -10, 10) < 3);
  CHECK(worst(
            sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, -80, 80) < 3);
}

TEST_CASE("a value does not depend on where in a tensor or in which layout it stands", "[S80]") {
  // The vectorized middle, its remainder and the strided loop compute by the same steps.
  const Tensor x = linspace(-3, 3, 1003, {.dtype = float32});
  const Tensor gaps = empty({1003, 2}, float32).as_strided({1003}, {2});
  Tensor(gaps).copy_(x);
  for (Tensor (*f)(const Tensor&) : {exp, tanh, sigmoid, log, sin}) {
    const std::vector<float> all = f(x).to_vector<float>(), strided = f(gaps).to_vector<float>();
    for (std::int64_t i : {0, 7, 500, 1001, 1002}) {
      const float alone = f(x.as_strided({1}, {1}, i)).to_vector<float>()[0];
      if (std::isnan(alone)) continue;
      CHECK(all[std::size_t(i)] == alone);
      CHECK(strided[std::size_t(i)] == alone);
    }
  }
}

TEST_CASE("operators promote as torch.result_type says", "[S119][S120]") {
  const Tensor f32 = ones({2}, float32), f64 = ones({2}, float64), i32 = ones({2}, int32), i64 = ones({2}, int64);
  const Tensor u8 = ones({2}, uint8), mask = ones({2}, bool_), f64_0d = ones({}, float64), i64_0d = ones({}, int64);
  CHECK((f32 + f64).dtype() == float64);
  CHECK((i64 + 1.5).dtype() == float32);
  CHECK((i32 + 1.5).dtype() == float32);
  CHECK((f32 + f64_0d).dtype() == float32);
  CHECK((i32 + f64_0d).dtype() == float64);
  CHECK((i32 + i64_0d).dtype() == int32);
  CHECK((f64_0d + i64).dtype() == float64);
  CHECK((mask + mask).dtype() == bool_);
  CHECK((mask + 1).dtype() == int64);
  CHECK((mask + u8).dtype() == uint8);
  CHECK((mask * 1.5).dtype() == float32);
  CHECK((i64 / i64).dtype() == float32);
  CHECK((i64 / 2).dtype() == float32);
  CHECK((f64 / i64).dtype() == float64);
  CHECK(exp(i64).dtype() == float32);
  CHECK(exp(mask).dtype() == float32);
  CHECK(square(mask).dtype() == int64);
  CHECK(square(i32).dtype() == int32);
  CHECK(pow(i32, 2).dtype() == int32);
  CHECK(pow(i32, 0.5).dtype() == float32);
  CHECK(where(mask, f32, i64).dtype() == float32);
  CHECK(where(mask, f32, 0).dtype() == float32);
  CHECK(where(mask, 1, 2.5).dtype() == float32);
  CHECK(clamp(i64, 0.5, 2).dtype() == float32);
  CHECK(maximum(i32, u8).dtype() == int32);
  CHECK((i64 > 0.5).dtype() == bool_);
  CHECK(result_type({f32, i64, f64_0d}) == float32);
  static_assert(promote_types(uint8, bool_) == uint8 && promote_types(int64, float32) == float32);

  check_close(f32 * mask, {1, 1});
  check_close(tensor({1, 2}, int64) + tensor({0.5, 1.5}, float64), {1.5, 3.5});
  check_close(tensor({0.1}, float32) + tensor(0.2, float64), {double(0.1f + 0.2f)});
}

TEST_CASE("a gradient comes back in the dtype of its operand") {
  Tensor single = tensor({1, 2}, float32), twice = tensor({3, 4}, float64), zero_dim = tensor(2.0, float64);
  single.requires_grad_(), twice.requires_grad_(), zero_dim.requires_grad_();

  (single * twice * zero_dim).backward(ones({2}, float64));

  CHECK(single.grad().dtype() == float32);
  CHECK(twice.grad().dtype() == float64);
  check_close(single.grad(), {6, 8});
  check_close(twice.grad(), {2, 4});
  check_close(zero_dim.grad(), {11});
}

TEST_CASE("integers and bool compute as PyTorch's do") {
  const Tensor i = tensor({-7, 0, 3}, int64), u = tensor({250, 3}, uint8);
  const Tensor t = tensor({true, true, false}), f = tensor({true, false, false});
  check_close(u + 10, {4, 13});
  check_close(neg(u), {6, 253});
  check_close(abs(i), {7, 0, 3});
  check_close(sign(i), {-1, 0, 1});
  check_close(relu(i), {0, 0, 3});
  check_close(t + f, {1, 1, 0});
  check_close(t * f, {1, 0, 0});
  check_close(maximum(t, f), {1, 1, 0});
  check_close(sign(t), {1, 1, 0});
  check_close(i / 2, {-3.5, 0, 1.5});
  check_close(pow(tensor({2, -3, 0}, int64), tensor({10, 3, 0}, int64)), {1024, -27, 1});
  check_close(pow(tensor({2, 1, -1, -1}, int64), tensor({-1, -1, -1, -2}, int64)), {0, 1, -1, 1});
  check_close(clamp(i, -1, 2), {-1, 0, 2});
  check_close(reciprocal(tensor({0, 2}, int64)), {kInf, 0.5});
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  CHECK((tensor({most}) + 1).item<std::int64_t>() == least);
  CHECK((tensor({least}) * -1).item<std::int64_t>() == least);
  CHECK(abs(tensor({least})).item<std::int64_t>() == least);
}

TEST_CASE("what has no meaning for a dtype is refused with a way out") {
  const Tensor mask = ones({2}, bool_), i = ones({2}, int64), x = ones({2});
  CHECK_THROWS_WITH(-mask, Contains("neg: is not defined for bool") && Contains("logical_not()"));
  CHECK_THROWS_WITH(mask - mask, Contains("sub: is not defined for bool") && Contains("logical_xor()"));
  CHECK_THROWS_AS(mask - 1, DTypeError);
  CHECK_THROWS_AS(i - mask, DTypeError);
  CHECK_THROWS_AS(relu(mask), DTypeError);
  CHECK_THROWS_AS(clamp(mask, false, true), DTypeError);
  CHECK_THROWS_WITH(pow(i, -1), Contains("pow: an integer to the negative power -1") && Contains("taper::float32"));
  CHECK_THROWS_WITH(add(i, i, 1.5), Contains("alpha is 1.5") && Contains("int64"));
  CHECK_THROWS_AS(add(i, i, true), DTypeError);
  CHECK_THROWS_WITH(clamp(x), Contains("needs min, max or both"));
  CHECK_THROWS_WITH(where(x, x, x), Contains("where: condition must be bool"));
  CHECK_THROWS_WITH(x + Tensor(), Contains("add: argument 'other' is an undefined tensor"));
}

TEST_CASE("an in-place result that does not fit is refused before anything is written") {
  Tensor i = tensor({1, 2}), small = ones({3}), narrow = ones({2, 1});
  CHECK_THROWS_WITH(i.add_(1.5), Contains("add_: the result is float32") && Contains("int64[2] on cpu") &&
                                     Contains("x.to(taper::float32)"));
  CHECK_THROWS_AS(i.div_(2), DTypeError);
  CHECK_THROWS_AS(i.exp_(), DTypeError);
  CHECK_THROWS_AS(Tensor(ones({3}, bool_)).mul_(tensor({1, 2, 3})), DTypeError);
  CHECK_THROWS_AS(small.add_(ones({2, 3})), ShapeError);
  CHECK_THROWS_AS(narrow.mul_(ones({2, 3})), ShapeError);
  check_close(i, {1, 2});
  CHECK(i.version() == 0);
}

TEST_CASE("an in-place result is converted to self's dtype") {
  Tensor single = tensor({1, 2}, float32);
  single.mul_(tensor({0.5, 0.25}, float64));
  CHECK(single.dtype() == float32);
  check_close(single, {0.5, 0.5});

  Tensor i = tensor({5, 6}, int64);
  i.add_(tensor({1, 2}, int32)).mul_(true);
  CHECK(i.dtype() == int64);
  check_close(i, {6, 8});

  Tensor out = zeros({2}, float64);
  add_out(out, tensor({1, 2}, int64), tensor({0.5, 0.5}, float32));
  check_close(out, {1.5, 2.5});
}

TEST_CASE("an in-place operator writes through any layout of self", "[S80][S99]") {
  const Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}, float64), row = tensor({10, 20, 30}, float64);
  for (const auto& [layout, view] : disguises(x)) {
    INFO(layout);
    Tensor self = view;
    const Tensor whole = self.as_strided({self.storage_offset()}, {1}, 0);
    const Values before = values(whole);

    self.add_(row).mul_(2).sub_(1);

    check_close(self, {21, 43, 65, 27, 49, 71});
    check_close(whole, before);
  }
}

TEST_CASE("expanded tensors are refused as destinations", "[B2][S100]") {
  const Tensor x = tensor({2.0}, float32);
  Tensor wide = x.as_strided({3}, {0});
  CHECK_THROWS_WITH(wide.mul_(2), Contains("mul_: the tensor written to") && Contains("clone() it first"));
  CHECK_THROWS_AS(wide.cos_(), ShapeError);
  CHECK_THROWS_AS(wide.fill_(1), ShapeError);
  CHECK_THROWS_AS(wide.copy_(ones({3})), ShapeError);
  CHECK(x.item<float>() == 2);
  CHECK(x.version() == 0);
}

TEST_CASE("an operand that overlaps the destination is read as it was before the write", "[B3]") {
  Tensor a = tensor({{10, 11, 12}, {20, 21, 22}, {30, 31, 32}}, float32);
  a.sub_(a.as_strided({1, 3}, {3, 1}));
  check_close(a, {0, 0, 0, 10, 10, 10, 20, 20, 20});

  Tensor b = tensor({1, 2, 3, 4, 5}, float32);
  Tensor tail = b.as_strided({4}, {1}, 1);
  tail.add_(b.as_strided({4}, {1}, 0));
  check_close(b, {1, 3, 5, 7, 9});

  Tensor c = tensor({2, 3}, float32);
  c.mul_(c);
  check_close(c, {4, 9});
}

TEST_CASE("views of one storage see each other's writes", "[S101]") {
  Tensor x = zeros({4});
  Tensor head = x.as_strided({2}, {1}, 0), all = x.as_strided({4}, {1}, 0);

  head.add_(5);

  check_close(x, {5, 5, 0, 0});
  check_close(all, {5, 5, 0, 0});
  CHECK(x.version() == head.version());
}

TEST_CASE("a result keeps the order of dimensions of its operands") {
  const Tensor t = zeros({6}).as_strided({2, 3}, {1, 2});                    // transposed
  const Tensor last = zeros({48}).as_strided({2, 3, 2, 4}, {24, 1, 12, 3});  // channels-last
  CHECK(exp(t).strides() == IntSpan{1, 2});
  CHECK((t + t).strides() == IntSpan{1, 2});
  CHECK((t * 2).strides() == IntSpan{1, 2});
  CHECK((t + zeros({})).strides() == IntSpan{1, 2});
  CHECK((t > 0).strides() == IntSpan{1, 2});
  CHECK((t + zeros({2, 3})).strides() == IntSpan{1, 2});
  CHECK((zeros({2, 3}) + t).strides() == IntSpan{3, 1});
  CHECK(relu(last).strides() == IntSpan{24, 1, 12, 3});
  CHECK((last + zeros({3, 1, 1})).strides() == IntSpan{24, 1, 12, 3});
  CHECK((last * last).strides() == IntSpan{24, 1, 12, 3});
  // A layout with gaps gives a dense result in the same order, an expanded one a row-major result.
  CHECK(exp(zeros({12}).as_strided({2, 3}, {2, 4})).strides() == IntSpan{1, 2});
  CHECK(exp(zeros({2}).as_strided({3, 2}, {0, 1})).strides() == IntSpan{2, 1});
}

TEST_CASE("zero-size and 0-dim operands are ordinary operands") {
  CHECK(exp(zeros({0, 3})).sizes() == IntSpan{0, 3});
  CHECK((zeros({2, 0}) + zeros({2, 1})).sizes() == IntSpan{2, 0});
  CHECK((zeros({2, 0}) + zeros({}, float64)).numel() == 0);
  Tensor none = zeros({0});
  none.add_(1).mul_(none);
  CHECK(none.numel() == 0);
  const Tensor number = tensor(3.0) * tensor(2.0);
  CHECK(number.dim() == 0);
  CHECK(number.item<float>() == 6);
  CHECK(pow(2, tensor(3.0)).item<float>() == 8);
}

TEST_CASE("on the meta device operators give shapes and dtypes without values") {
  const Tensor a = empty({2, 3}, float32, meta), b = empty({3}, float64, meta);
  CHECK((a + b).dtype() == float64);
  CHECK((a + b).sizes() == IntSpan{2, 3});
  CHECK((a + b).device() == meta);
  CHECK(exp(a).device() == meta);
  CHECK((a > 0).dtype() == bool_);
  CHECK(where(a > 0, a, 0).sizes() == IntSpan{2, 3});
  CHECK((a * tensor(2.0)).device() == meta);
  Tensor c = a;
  CHECK(c.add_(1).is_same(a));
  CHECK_THROWS_AS(a + ones({2, 3}), DeviceError);
}

TEST_CASE("numbers stand on either side of the operators") {
  const Tensor x = tensor({1.0, 2.0, 4.0}, float64);
  check_close(x + 1, {2, 3, 5});
  check_close(1 + x, {2, 3, 5});
  check_close(x - 1, {0, 1, 3});
  check_close(1 - x, {0, -1, -3});
  check_close(2 * x, {2, 4, 8});
  check_close(x / 2, {0.5, 1, 2});
  check_close(2 / x, {2, 1, 0.5});
  check_close(-x, {-1, -2, -4});
  check_close(rsub(x, 1, 2), {-1, -3, -7});
  Tensor y = x.clone();
  y += 1, y *= 2, y -= x, y /= 2;
  check_close(y, {1.5, 2, 3});
}

TEST_CASE("large tensors are right whatever the number of threads", "[slow]") {
  const std::int64_t n = 1 << 18;
  const Tensor x = arange(n, {.dtype = float32});
  const Tensor matrix = x.as_strided({512, 512}, {1, 512}), row = x.as_strided({512}, {1});
  const std::vector<float> sum = (x + x).to_vector<float>(), mixed = (matrix + row).to_vector<float>();
  for (std::int64_t i = 0; i < n; i += 997) {
    CHECK(sum[std::size_t(i)] == 2 * float(i));
    CHECK(mixed[std::size_t(i)] == float(i / 512 + (i % 512) * 512) + float(i % 512));
  }
}

TEST_CASE("clamp with tensors as bounds broadcasts and sends the gradient to what decides") {
  Tensor x = leaf({{-5, 0, 3}, {1, 7, -6}}), low = leaf({-2, -2, -2}), high = leaf({{2}, {4}});

  const Tensor y = clamp(x, low, high);
  y.backward(ones({2, 3}, float64));

  check_close(y, {-2, 0, 2, 1, 4, -2});
  check_close(x.grad(), {0, 1, 0, 1, 0, 0});
  check_close(low.grad(), {1, 0, 1});
  check_close(high.grad(), {1, 1});
  check_close(clamp_min(tensor({1, 5}), tensor({3, 3})), {3, 5});
  check_close(clamp_max(tensor({1, 5}), tensor({3, 3})), {1, 3});
}

TEST_CASE("a leaf that requires grad refuses every in-place operator and keeps its value", "[B1]") {
  Tensor x = leaf({1, 2, 3});
  CHECK_THROWS_AS(x.add_(1), AutogradError);
  CHECK_THROWS_AS(x.mul_(2), AutogradError);
  CHECK_THROWS_AS(x.copy_(zeros({3}, float64)), AutogradError);
  CHECK_THROWS_AS(x.zero_(), AutogradError);
  CHECK_THROWS_AS(x.fill_(1), AutogradError);
  check_close(x.detach(), {1, 2, 3});
  CHECK(x.version() == 0);
  {
    const NoGradGuard no_grad;
    x.sub_(0.5);
  }
  check_close(x.detach(), {0.5, 1.5, 2.5});
  CHECK(x.requires_grad());
}

TEST_CASE("a saved result that is overwritten is reported at backward", "[B4]") {
  Tensor x = leaf({1, 2, 3});
  const Tensor y = sigmoid(x);
  y.detach().zero_();
  CHECK_THROWS_WITH(y.backward(ones({3}, float64)), Contains("sigmoid") && Contains("result") && Contains("zero_"));
}

TEST_CASE("in-place operators record what they replace") {
  Tensor x = leaf({1, 2, 3}), w = leaf({4, 5, 6});
  Tensor y = x * 1;
  y.mul_(w);  // keeps a copy of y's old value for w's gradient
  y.add_(w, 2).sin_().pow_(2).div_(3);
  y.backward(ones({3}, float64));

  const auto same = [](const TensorList& in) {
    const Tensor z = sin(in[0] * in[1] + in[1] * 2);
    return z * z / 3;
  };
  Tensor a = leaf({1, 2, 3}), b = leaf({4, 5, 6});
  same({a, b}).backward(ones({3}, float64));
  check_close(x.grad(), values(a.grad()), 1e-12);
  check_close(w.grad(), values(b.grad()), 1e-12);
}
