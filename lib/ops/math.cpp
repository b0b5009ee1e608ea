#include <taper/operator.h>
#include <taper/ops/math.h>
#include <taper/promotion.h>

#include "elementwise.h"
#include "op_names.h"

namespace taper {
namespace {

template <OpName op>
TensorSpec infer_floating(const Tensor& self) {
  return elementwise_spec(op.text, floating_of(self.dtype()), self);
}
template <OpName op>
TensorSpec infer_number(const Tensor& self) {
  check<DTypeError>(self.dtype() != bool_, op.text, ": is not defined for bool, got ", self,
                    "; convert with x.to(taper::int64) first");
  return elementwise_spec(op.text, self.dtype(), self);
}

}  // namespace

namespace ops {
// clang-format off
constinit StructuredOp<Tensor(Tensor)> expm1{"expm1", "self", infer_floating<"expm1">, "expm1_"};
constinit StructuredOp<Tensor(Tensor)> exp2{"exp2", "self", infer_floating<"exp2">, "exp2_"};
constinit StructuredOp<Tensor(Tensor)> log1p{"log1p", "self", infer_floating<"log1p">, "log1p_"};
constinit StructuredOp<Tensor(Tensor)> log2{"log2", "self", infer_floating<"log2">, "log2_"};
constinit StructuredOp<Tensor(Tensor)> log10{"log10", "self", infer_floating<"log10">, "log10_"};
constinit StructuredOp<Tensor(Tensor)> tan{"tan", "self", infer_floating<"tan">, "tan_"};
constinit StructuredOp<Tensor(Tensor)> asin{"asin", "self", infer_floating<"asin">, "asin_"};
constinit StructuredOp<Tensor(Tensor)> acos{"acos", "self", infer_floating<"acos">, "acos_"};
constinit StructuredOp<Tensor(Tensor)> atan{"atan", "self", infer_floating<"atan">, "atan_"};
constinit StructuredOp<Tensor(Tensor)> sinh{"sinh", "self", infer_floating<"sinh">, "sinh_"};
constinit StructuredOp<Tensor(Tensor)> cosh{"cosh", "self", infer_floating<"cosh">, "cosh_"};
constinit StructuredOp<Tensor(Tensor)> asinh{"asinh", "self", infer_floating<"asinh">, "asinh_"};
constinit StructuredOp<Tensor(Tensor)> acosh{"acosh", "self", infer_floating<"acosh">, "acosh_"};
constinit StructuredOp<Tensor(Tensor)> atanh{"atanh", "self", infer_floating<"atanh">, "atanh_"};
constinit StructuredOp<Tensor(Tensor)> erf{"erf", "self", infer_floating<"erf">, "erf_"};
constinit StructuredOp<Tensor(Tensor)> erfc{"erfc", "self", infer_floating<"erfc">, "erfc_"};
constinit StructuredOp<Tensor(Tensor)> floor{"floor", "self", infer_number<"floor">, "floor_"};
constinit StructuredOp<Tensor(Tensor)> ceil{"ceil", "self", infer_number<"ceil">, "ceil_"};
constinit StructuredOp<Tensor(Tensor)> trunc{"trunc", "self", infer_number<"trunc">, "trunc_"};
constinit StructuredOp<Tensor(Tensor)> round{"round", "self", infer_number<"round">, "round_"};
// clang-format on
}  // namespace ops

// clang-format off
Tensor expm1(const Tensor& self) { return ops::expm1(self); }
Tensor& expm1_out(Tensor& out, const Tensor& self) { return ops::expm1.out(out, self); }
Tensor Tensor::expm1() const { return ops::expm1(*this); }
Tensor& Tensor::expm1_() { return ops::expm1.inplace(*this, *this); }
Tensor exp2(const Tensor& self) { return ops::exp2(self); }
Tensor& exp2_out(Tensor& out, const Tensor& self) { return ops::exp2.out(out, self); }
Tensor Tensor::exp2() const { return ops::exp2(*this); }
Tensor& Tensor::exp2_() { return ops::exp2.inplace(*this, *this); }
Tensor log1p(const Tensor& self) { return ops::log1p(self); }
Tensor& log1p_out(Tensor& out, const Tensor& self) { return ops::log1p.out(out, self); }
Tensor Tensor::log1p() const { return ops::log1p(*this); }
Tensor& Tensor::log1p_() { return ops::log1p.inplace(*this, *this); }
Tensor log2(const Tensor& self) { return ops::log2(self); }
Tensor& log2_out(Tensor& out, const Tensor& self) { return ops::log2.out(out, self); }
Tensor Tensor::log2() const { return ops::log2(*this); }
Tensor& Tensor::log2_() { return ops::log2.inplace(*this, *this); }
Tensor log10(const Tensor& self) { return ops::log10(self); }
Tensor& log10_out(Tensor& out, const Tensor& self) { return ops::log10.out(out, self); }
Tensor Tensor::log10() const { return ops::log10(*this); }
Tensor& Tensor::log10_() { return ops::log10.inplace(*this, *this); }
Tensor tan(const Tensor& self) { return ops::tan(self); }
Tensor& tan_out(Tensor& out, const Tensor& self) { return ops::tan.out(out, self); }
Tensor Tensor::tan() const { return ops::tan(*this); }
Tensor& Tensor::tan_() { return ops::tan.inplace(*this, *this); }
Tensor asin(const Tensor& self) { return ops::asin(self); }
Tensor& asin_out(Tensor& out, const Tensor& self) { return ops::asin.out(out, self); }
Tensor Tensor::asin() const { return ops::asin(*this); }
Tensor& Tensor::asin_() { return ops::asin.inplace(*this, *this); }
Tensor acos(const Tensor& self) { return ops::acos(self); }
Tensor& acos_out(Tensor& out, const Tensor& self) { return ops::acos.out(out, self); }
Tensor Tensor::acos() const { return ops::acos(*this); }
Tensor& Tensor::acos_() { return ops::acos.inplace(*this, *this); }
Tensor atan(const Tensor& self) { return ops::atan(self); }
Tensor& atan_out(Tensor& out, const Tensor& self) { return ops::atan.out(out, self); }
Tensor Tensor::atan() const { return ops::atan(*this); }
Tensor& Tensor::atan_() { return ops::atan.inplace(*this, *this); }
Tensor sinh(const Tensor& self) { return ops::sinh(self); }
Tensor& sinh_out(Tensor& out, const Tensor& self) { return ops::sinh.out(out, self); }
Tensor Tensor::sinh() const { return ops::sinh(*this); }
Tensor& Tensor::sinh_() { return ops::sinh.inplace(*this, *this); }
Tensor cosh(const Tensor& self) { return ops::cosh(self); }
Tensor& cosh_out(Tensor& out, const Tensor& self) { return ops::cosh.out(out, self); }
Tensor Tensor::cosh() const { return ops::cosh(*this); }
Tensor& Tensor::cosh_() { return ops::cosh.inplace(*this, *this); }
Tensor asinh(const Tensor& self) { return ops::asinh(self); }
Tensor& asinh_out(Tensor& out, const Tensor& self) { return ops::asinh.out(out, self); }
Tensor Tensor::asinh() const { return ops::asinh(*this); }
Tensor& Tensor::asinh_() { return ops::asinh.inplace(*this, *this); }
Tensor acosh(const Tensor& self) { return ops::acosh(self); }
Tensor& acosh_out(Tensor& out, const Tensor& self) { return ops::acosh.out(out, self); }
Tensor Tensor::acosh() const { return ops::acosh(*this); }
Tensor& Tensor::acosh_() { return ops::acosh.inplace(*this, *this); }
Tensor atanh(const Tensor& self) { return ops::atanh(self); }
Tensor& atanh_out(Tensor& out, const Tensor& self) { return ops::atanh.out(out, self); }
Tensor Tensor::atanh() const { return ops::atanh(*this); }
Tensor& Tensor::atanh_() { return ops::atanh.inplace(*this, *this); }
Tensor erf(const Tensor& self) { return ops::erf(self); }
Tensor& erf_out(Tensor& out, const Tensor& self) { return ops::erf.out(out, self); }
Tensor Tensor::erf() const { return ops::erf(*this); }
Tensor& Tensor::erf_() { return ops::erf.inplace(*this, *this); }
Tensor erfc(const Tensor& self) { return ops::erfc(self); }
Tensor& erfc_out(Tensor& out, const Tensor& self) { return ops::erfc.out(out, self); }
Tensor Tensor::erfc() const { return ops::erfc(*this); }
Tensor& Tensor::erfc_() { return ops::erfc.inplace(*this, *this); }
Tensor floor(const Tensor& self) { return ops::floor(self); }
Tensor& floor_out(Tensor& out, const Tensor& self) { return ops::floor.out(out, self); }
Tensor Tensor::floor() const { return ops::floor(*this); }
Tensor& Tensor::floor_() { return ops::floor.inplace(*this, *this); }
Tensor ceil(const Tensor& self) { return ops::ceil(self); }
Tensor& ceil_out(Tensor& out, const Tensor& self) { return ops::ceil.out(out, self); }
Tensor Tensor::ceil() const { return ops::ceil(*this); }
Tensor& Tensor::ceil_() { return ops::ceil.inplace(*this, *this); }
Tensor trunc(const Tensor& self) { return ops::trunc(self); }
Tensor& trunc_out(Tensor& out, const Tensor& self) { return ops::trunc.out(out, self); }
Tensor Tensor::trunc() const { return ops::trunc(*this); }
Tensor& Tensor::trunc_() { return ops::trunc.inplace(*this, *this); }
Tensor round(const Tensor& self) { return ops::round(self); }
Tensor& round_out(Tensor& out, const Tensor& self) { return ops::round.out(out, self); }
Tensor Tensor::round() const { return ops::round(*this); }
Tensor& Tensor::round_() { return ops::round.inplace(*this, *this); }
// clang-format on

}  // namespace taper
