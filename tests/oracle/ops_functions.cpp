// Elementwise functions beyond the arithmetic of ops_pointwise.cpp.
#include <taper/operator.h>
#include <taper/ops/compare.h>
#include <taper/ops/math_binary.h>
#include <taper/ops/special.h>

#include "op_table.h"

namespace oracle {
namespace {

void add_of_two(OpTable& t) {
  t.binary(
      "remainder", [](const Tensor& x, auto y) { return x.remainder(y); },
      [](Tensor x, auto y) { return x.remainder_(y); });
  t.binary(
      "fmod", [](const Tensor& x, auto y) { return x.fmod(y); }, [](Tensor x, auto y) { return x.fmod_(y); });
  t.binary(
      "floor_divide", [](const Tensor& x, auto y) { return x.floor_divide(y); },
      [](Tensor x, auto y) { return x.floor_divide_(y); });
  t.binary(
      "copysign", [](const Tensor& x, auto y) { return x.copysign(y); },
      [](Tensor x, auto y) { return x.copysign_(y); });
  for (const bool in_place : {false, true})
    t.add(in_place ? "xlogy_" : "xlogy", [in_place](const Args& a) -> Outputs {
      if (!a.is_tensor("input")) return taper::xlogy(a.number("input"), a.tensor("other"));
      Tensor x = a.tensor("input");
      if (!a.is_tensor("other")) return in_place ? x.xlogy_(a.number("other")) : x.xlogy(a.number("other"));
      return in_place ? x.xlogy_(a.tensor("other")) : x.xlogy(a.tensor("other"));
    });
  t.add("atan2", [](const Args& a) { return a.tensor("input").atan2(a.tensor("other")); });
  t.add("atan2_", [](const Args& a) { return a.tensor("input").atan2_(a.tensor("other")); });
  t.add("hypot", [](const Args& a) { return a.tensor("input").hypot(a.tensor("other")); });
  t.add("hypot_", [](const Args& a) { return a.tensor("input").hypot_(a.tensor("other")); });
  t.add("fmax", [](const Args& a) { return a.tensor("input").fmax(a.tensor("other")); });
  t.add("fmin", [](const Args& a) { return a.tensor("input").fmin(a.tensor("other")); });
  t.add("logaddexp", [](const Args& a) { return a.tensor("input").logaddexp(a.tensor("other")); });
  t.add("logaddexp2", [](const Args& a) { return a.tensor("input").logaddexp2(a.tensor("other")); });
  t.add("isclose", [](const Args& a) {
    return a.tensor("input").isclose(a.tensor("other"), a.real("rtol", 1e-5), a.real("atol", 1e-8),
                                     a.flag("equal_nan", false));
  });
}

void add_of_three(OpTable& t) {
  for (const bool in_place : {false, true}) {
    const char* const end = in_place ? "_" : "";
    t.add(std::string("lerp") + end, [in_place](const Args& a) -> Outputs {
      Tensor x = a.tensor("input");
      const Tensor to = a.tensor("end");
      if (!a.is_tensor("weight")) return in_place ? x.lerp_(to, a.number("weight")) : x.lerp(to, a.number("weight"));
      return in_place ? x.lerp_(to, a.tensor("weight")) : x.lerp(to, a.tensor("weight"));
    });
    t.add(std::string("addcmul") + end, [in_place](const Args& a) -> Outputs {
      Tensor x = a.tensor("input");
      const Tensor y = a.tensor("tensor1"), z = a.tensor("tensor2");
      return in_place ? x.addcmul_(y, z, a.number("value", 1)) : x.addcmul(y, z, a.number("value", 1));
    });
    t.add(std::string("addcdiv") + end, [in_place](const Args& a) -> Outputs {
      Tensor x = a.tensor("input");
      const Tensor y = a.tensor("tensor1"), z = a.tensor("tensor2");
      return in_place ? x.addcdiv_(y, z, a.number("value", 1)) : x.addcdiv(y, z, a.number("value", 1));
    });
  }
}

void add_bits(OpTable& t) {
  t.unary(
      "bitwise_not", [](const Tensor& x) { return x.bitwise_not(); }, [](Tensor x) { return x.bitwise_not_(); });
  t.binary(
      "bitwise_and", [](const Tensor& x, auto y) { return x.bitwise_and(y); },
      [](Tensor x, auto y) { return x.bitwise_and_(y); });
  t.binary(
      "bitwise_or", [](const Tensor& x, auto y) { return x.bitwise_or(y); },
      [](Tensor x, auto y) { return x.bitwise_or_(y); });
  t.binary(
      "bitwise_xor", [](const Tensor& x, auto y) { return x.bitwise_xor(y); },
      [](Tensor x, auto y) { return x.bitwise_xor_(y); });
  t.binary(
      "bitwise_left_shift", [](const Tensor& x, auto y) { return x.bitwise_left_shift(y); },
      [](Tensor x, auto y) { return x.bitwise_left_shift_(y); });
  t.binary(
      "bitwise_right_shift", [](const Tensor& x, auto y) { return x.bitwise_right_shift(y); },
      [](Tensor x, auto y) { return x.bitwise_right_shift_(y); });
}

void add_special(OpTable& t) {
  t.unary(
      "sinc", [](const Tensor& x) { return x.sinc(); }, [](Tensor x) { return x.sinc_(); });
  t.unary(
      "erfinv", [](const Tensor& x) { return x.erfinv(); }, [](Tensor x) { return x.erfinv_(); });
  t.unary(
      "lgamma", [](const Tensor& x) { return x.lgamma(); }, [](Tensor x) { return x.lgamma_(); });
  t.unary(
      "digamma", [](const Tensor& x) { return x.digamma(); }, [](Tensor x) { return x.digamma_(); });
  t.unary(
      "frac", [](const Tensor& x) { return x.frac(); }, [](Tensor x) { return x.frac_(); });
  t.unary(
      "deg2rad", [](const Tensor& x) { return x.deg2rad(); }, [](Tensor x) { return x.deg2rad_(); });
  t.unary(
      "rad2deg", [](const Tensor& x) { return x.rad2deg(); }, [](Tensor x) { return x.rad2deg_(); });
  t.unary("positive", [](const Tensor& x) { return x.positive(); });
  t.unary("signbit", [](const Tensor& x) { return x.signbit(); });
  t.unary("isposinf", [](const Tensor& x) { return x.isposinf(); });
  t.unary("isneginf", [](const Tensor& x) { return x.isneginf(); });
  const auto given = [](const Args& a, const char* name) {
    return a.has(name) ? std::optional<double>(a.real(name)) : std::nullopt;
  };
  for (const bool in_place : {false, true}) {
    const char* const end = in_place ? "_" : "";
    t.add(std::string("logit") + end, [in_place, given](const Args& a) -> Outputs {
      Tensor x = a.tensor("input");
      return in_place ? x.logit_(given(a, "eps")) : x.logit(given(a, "eps"));
    });
    t.add(std::string("nan_to_num") + end, [in_place, given](const Args& a) -> Outputs {
      Tensor x = a.tensor("input");
      const double nan = a.real("nan", 0);
      return in_place ? x.nan_to_num_(nan, given(a, "posinf"), given(a, "neginf"))
                      : x.nan_to_num(nan, given(a, "posinf"), given(a, "neginf"));
    });
    t.add(std::string("round") + end, [in_place](const Args& a) -> Outputs {
      Tensor x = a.tensor("input");
      return in_place ? x.round_(a.integer("decimals", 0)) : x.round(a.integer("decimals", 0));
    });
  }
}

}  // namespace

void add_functions(OpTable& t) {
  add_of_two(t);
  add_of_three(t);
  add_bits(t);
  add_special(t);
}

}  // namespace oracle
