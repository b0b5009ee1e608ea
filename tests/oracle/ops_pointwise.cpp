#include <taper/operator.h>
#include <taper/ops/math.h>
#include <taper/ops/pointwise.h>

#include "op_table.h"

namespace oracle {
namespace {

/// add and sub, whose second operand is scaled.
template <class F>
void scaled(OpTable& t, const std::string& name, F f) {
  t.add(name, [f](const Args& a) -> Outputs {
    const Scalar alpha = a.number("alpha", 1);
    return a.is_tensor("other") ? f(a.tensor("input"), a.tensor("other"), alpha)
                                : f(a.tensor("input"), a.number("other"), alpha);
  });
}
template <class F>
void clamped(OpTable& t, const std::string& name, F f) {
  t.add(name, [f](const Args& a) -> Outputs {
    if (!a.is_tensor("min") && !a.is_tensor("max"))
      return f(a.tensor("input"), a.optional_number("min"), a.optional_number("max"));
    const auto bound = [&](const char* which) {
      return a.has(which) ? std::optional<Tensor>(a.tensor(which)) : std::optional<Tensor>();
    };
    return f(a.tensor("input"), bound("min"), bound("max"));
  });
}
/// The functions of <taper/ops/math.h>.
void add_math(OpTable& t) {
  using Function = taper::StructuredOp<Tensor(Tensor)>;
  for (Function* op : {&taper::ops::expm1, &taper::ops::exp2, &taper::ops::log1p, &taper::ops::log2, &taper::ops::log10,
                       &taper::ops::tan, &taper::ops::asin, &taper::ops::acos, &taper::ops::atan, &taper::ops::sinh,
                       &taper::ops::cosh, &taper::ops::asinh, &taper::ops::acosh, &taper::ops::atanh, &taper::ops::erf,
                       &taper::ops::erfc, &taper::ops::floor, &taper::ops::ceil, &taper::ops::trunc})
    t.unary(
        op->name(), [op](const Tensor& x) { return (*op)(x); }, [op](Tensor x) { return op->inplace(x, x); });
}
Tensor quotient(const Args& a, bool in_place) {
  Tensor x = a.tensor("input");
  const std::string mode = a.has("rounding_mode") ? a.text("rounding_mode", "") : "";
  const auto by = [&](const auto& y) {
    if (!a.has("rounding_mode")) return in_place ? x.div_(y) : x.div(y);
    return in_place ? x.div_(y, mode) : x.div(y, mode);
  };
  return a.is_tensor("other") ? by(a.tensor("other")) : by(a.number("other"));
}

}  // namespace

void add_pointwise(OpTable& t) {
  t.unary(
      "neg", [](const Tensor& x) { return x.neg(); }, [](Tensor x) { return x.neg_(); });
  t.unary(
      "abs", [](const Tensor& x) { return x.abs(); }, [](Tensor x) { return x.abs_(); });
  t.unary(
      "exp", [](const Tensor& x) { return x.exp(); }, [](Tensor x) { return x.exp_(); });
  t.unary(
      "log", [](const Tensor& x) { return x.log(); }, [](Tensor x) { return x.log_(); });
  t.unary(
      "sqrt", [](const Tensor& x) { return x.sqrt(); }, [](Tensor x) { return x.sqrt_(); });
  t.unary(
      "rsqrt", [](const Tensor& x) { return x.rsqrt(); }, [](Tensor x) { return x.rsqrt_(); });
  t.unary(
      "square", [](const Tensor& x) { return x.square(); }, [](Tensor x) { return x.square_(); });
  t.unary(
      "reciprocal", [](const Tensor& x) { return x.reciprocal(); }, [](Tensor x) { return x.reciprocal_(); });
  t.unary(
      "tanh", [](const Tensor& x) { return x.tanh(); }, [](Tensor x) { return x.tanh_(); });
  t.unary(
      "sigmoid", [](const Tensor& x) { return x.sigmoid(); }, [](Tensor x) { return x.sigmoid_(); });
  t.unary(
      "relu", [](const Tensor& x) { return x.relu(); }, [](Tensor x) { return x.relu_(); });
  t.unary(
      "sin", [](const Tensor& x) { return x.sin(); }, [](Tensor x) { return x.sin_(); });
  t.unary(
      "cos", [](const Tensor& x) { return x.cos(); }, [](Tensor x) { return x.cos_(); });
  t.unary(
      "sign", [](const Tensor& x) { return x.sign(); }, [](Tensor x) { return x.sign_(); });
  t.unary(
      "sgn", [](const Tensor& x) { return x.sign(); }, [](Tensor x) { return x.sign_(); });
  add_math(t);
  t.unary("isinf", [](const Tensor& x) { return x.isinf(); });
  t.unary("isnan", [](const Tensor& x) { return x.isnan(); });
  t.unary("isfinite", [](const Tensor& x) { return x.isfinite(); });
  t.unary(
      "logical_not", [](const Tensor& x) { return x.logical_not(); }, [](Tensor x) { return x.logical_not_(); });

  scaled(t, "add", [](const Tensor& x, auto y, Scalar alpha) { return x.add(y, alpha); });
  scaled(t, "add_", [](Tensor x, auto y, Scalar alpha) { return x.add_(y, alpha); });
  scaled(t, "sub", [](const Tensor& x, auto y, Scalar alpha) { return x.sub(y, alpha); });
  scaled(t, "sub_", [](Tensor x, auto y, Scalar alpha) { return x.sub_(y, alpha); });
  scaled(t, "rsub", [](const Tensor& x, auto y, Scalar alpha) { return taper::rsub(x, y, alpha); });
  t.binary(
      "mul", [](const Tensor& x, auto y) { return x.mul(y); }, [](Tensor x, auto y) { return x.mul_(y); });
  t.add("div", [](const Args& a) { return quotient(a, false); });
  t.add("div_", [](const Args& a) { return quotient(a, true); });
  t.binary(
      "pow", [](const Tensor& x, auto y) { return x.pow(y); }, [](Tensor x, auto y) { return x.pow_(y); }, "exponent");
  t.add("maximum", [](const Args& a) { return a.tensor("input").maximum(a.tensor("other")); });
  t.add("minimum", [](const Args& a) { return a.tensor("input").minimum(a.tensor("other")); });
  clamped(t, "clamp", [](const Tensor& x, const auto& min, const auto& max) { return x.clamp(min, max); });
  clamped(t, "clamp_", [](Tensor x, const auto& min, const auto& max) { return x.clamp_(min, max); });
  t.binary(
      "clamp_min", [](const Tensor& x, auto y) { return x.clamp_min(y); },
      [](Tensor x, auto y) { return x.clamp_min_(y); }, "min");
  t.binary(
      "clamp_max", [](const Tensor& x, auto y) { return x.clamp_max(y); },
      [](Tensor x, auto y) { return x.clamp_max_(y); }, "max");
  t.add("where", [](const Args& a) {
    const Tensor condition = a.tensor("condition");
    if (a.is_tensor("input"))
      return a.is_tensor("other") ? taper::where(condition, a.tensor("input"), a.tensor("other"))
                                  : taper::where(condition, a.tensor("input"), a.number("other"));
    return a.is_tensor("other") ? taper::where(condition, a.number("input"), a.tensor("other"))
                                : taper::where(condition, a.number("input"), a.number("other"));
  });

  t.binary(
      "eq", [](const Tensor& x, auto y) { return x.eq(y); }, [](Tensor x, auto y) { return x.eq_(y); });
  t.binary(
      "ne", [](const Tensor& x, auto y) { return x.ne(y); }, [](Tensor x, auto y) { return x.ne_(y); });
  t.binary(
      "lt", [](const Tensor& x, auto y) { return x.lt(y); }, [](Tensor x, auto y) { return x.lt_(y); });
  t.binary(
      "le", [](const Tensor& x, auto y) { return x.le(y); }, [](Tensor x, auto y) { return x.le_(y); });
  t.binary(
      "gt", [](const Tensor& x, auto y) { return x.gt(y); }, [](Tensor x, auto y) { return x.gt_(y); });
  t.binary(
      "ge", [](const Tensor& x, auto y) { return x.ge(y); }, [](Tensor x, auto y) { return x.ge_(y); });
  t.add("logical_and", [](const Args& a) { return a.tensor("input").logical_and(a.tensor("other")); });
  t.add("logical_and_", [](const Args& a) { return a.tensor("input").logical_and_(a.tensor("other")); });
  t.add("logical_or", [](const Args& a) { return a.tensor("input").logical_or(a.tensor("other")); });
  t.add("logical_or_", [](const Args& a) { return a.tensor("input").logical_or_(a.tensor("other")); });
  t.add("logical_xor", [](const Args& a) { return a.tensor("input").logical_xor(a.tensor("other")); });
  t.add("logical_xor_", [](const Args& a) { return a.tensor("input").logical_xor_(a.tensor("other")); });

  t.add("equal", [](const Args& a) { return a.tensor("input").equal(a.tensor("other")); });
  t.add("allclose", [](const Args& a) {
    return a.tensor("input").allclose(a.tensor("other"), a.real("rtol", 1e-5), a.real("atol", 1e-8),
                                      a.flag("equal_nan", false));
  });
}

}  // namespace oracle
