#pragma once
// Comparison, logic and choice by a mask.
#include <taper/operator.h>
#include <taper/ops/fn.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/promotion.h>

#include "operands.h"

namespace taper::pointwise {

template <class On>
struct Compare {
  static constexpr int kCheap = 1;

  /// swapped: a > b is b < a, so four loops serve six operators.
  template <class F, bool swapped = false>
  static void pair(Tensor& out, const Tensor& a, const Tensor& b) {
    const DType d = On::wide(result_type(a, b));
    const Operand left{&a, d}, right{&b, d};
    On::elementwise(out, bool_, {swapped ? right : left, swapped ? left : right}, mask_loop<On, F, 2>(d), nullptr,
                    kCheap);
  }
  template <class F, bool swapped = false>
  static void with_number(Tensor& out, const Tensor& a, const Scalar& b) {
    const DType d = On::wide(result_type(a, b));
    const Number number(b, d);
    const Operand left{&a, d}, right = number.operand();
    On::elementwise(out, bool_, {swapped ? right : left, swapped ? left : right}, mask_loop<On, F, 2>(d), nullptr,
                    kCheap);
  }

  static void where(Tensor& out, const Tensor& condition, const Tensor& a, const Tensor& b) {
    const DType d = On::wide(result_type(a, b));
    On::elementwise(out, d, {{&condition, bool_}, {&a, d}, {&b, d}}, choice_loop<On, fn::Where>(d), nullptr, kCheap);
  }

  static void masked_fill(Tensor& out, const Tensor& self, const Tensor& mask, const Tensor& value) {
    const DType d = On::wide(self.dtype());
    const auto fill = [&](const Operand& with) {
      On::elementwise(out, d, {{&mask, bool_}, with, {&self, d}}, choice_loop<On, fn::Where>(d), nullptr, kCheap);
    };
    if (value.device().is_cpu()) return fill(Number(value.scalar(), d).operand());
    fill({&value, d});
  }

  static void clamp_tensor(Tensor& out, const Tensor& self, const std::optional<Tensor>& min,
                           const std::optional<Tensor>& max) {
    const bool has_min = min && min->defined(), has_max = max && max->defined();
    TensorList operands{self};
    if (has_min) operands.push_back(*min);
    if (has_max) operands.push_back(*max);
    const DType d = On::wide(result_type(operands));
    const auto limit = [&](const Tensor& to, const Tensor& x, const Tensor& bound, bool below) {
      On::elementwise(to, d, {{&x, d}, {&bound, d}},
                      below ? number_loop<On, fn::Maximum, 2>(d, "clamp") : number_loop<On, fn::Minimum, 2>(d, "clamp"),
                      nullptr, kCheap);
    };
    if (!has_max) return limit(out, self, *min, true);
    if (!has_min) return limit(out, self, *max, false);
    const Tensor raised = empty(TensorSpec::contiguous(out.sizes(), d, out.device()));
    limit(raised, self, *min, true);
    limit(out, raised, *max, false);
  }

  static void install() {
    ops::eq.set_kernel(On::key, pair<fn::Eq>);
    ops::ne.set_kernel(On::key, pair<fn::Ne>);
    ops::lt.set_kernel(On::key, pair<fn::Lt>);
    ops::le.set_kernel(On::key, pair<fn::Le>);
    ops::gt.set_kernel(On::key, pair<fn::Lt, true>);
    ops::ge.set_kernel(On::key, pair<fn::Le, true>);
    ops::eq_scalar.set_kernel(On::key, with_number<fn::Eq>);
    ops::ne_scalar.set_kernel(On::key, with_number<fn::Ne>);
    ops::lt_scalar.set_kernel(On::key, with_number<fn::Lt>);
    ops::le_scalar.set_kernel(On::key, with_number<fn::Le>);
    ops::gt_scalar.set_kernel(On::key, with_number<fn::Lt, true>);
    ops::ge_scalar.set_kernel(On::key, with_number<fn::Le, true>);
    ops::logical_and.set_kernel(On::key, pair<fn::LogicalAnd>);
    ops::logical_or.set_kernel(On::key, pair<fn::LogicalOr>);
    ops::logical_xor.set_kernel(On::key, pair<fn::LogicalXor>);
    ops::where.set_kernel(On::key, where);
    ops::masked_fill.set_kernel(On::key, masked_fill);
    ops::clamp_tensor.set_kernel(On::key, clamp_tensor);
  }
};

}  // namespace taper::pointwise
