#include "write_out.h"

#include <taper/operator.h>

namespace taper {
namespace {

void refuse_gradient(const char* op, const char* what, const Tensor& t) {
  check<AutogradError>(!detail::requires_grad_hook || !GradMode::is_enabled() || !detail::requires_grad_hook(t), op,
                       ": has no derivative in this form, but ", what, " (", t.spec(),
                       ") requires grad; call it on x.detach() or inside a NoGradGuard");
}

void check_destination(const char* op, const Tensor& out, const Tensor& result) {
  if (!result.defined()) return;
  check<ValueError>(out.defined(), op, ": out is an undefined tensor; make it with empty({0}, dtype)");
  refuse_gradient(op, "out", out);
  refuse_gradient(op, "the result", result);
  detail::check_out(op, result.spec(), out);
}

void write(const char* op, Tensor& out, const Tensor& result) {
  if (!result.defined()) return;
  detail::prepare_out(op, result.spec(), out);
  const Tensor from = overlap(out, result) == Overlap::none ? result : detail::private_copy(result);
  out.impl()->count_write(op);
  detail::copy_into(out, from);
}

void check_apart(const char* op, const Tensor& a, const Tensor& b) {
  if (!a.defined() || !b.defined()) return;
  check<ValueError>(overlap(a, b) == Overlap::none, op, ": two of the tensors written to (", a.spec(), " and ",
                    b.spec(), ") share memory; give each result its own");
}

}  // namespace

Tensor& write_out(const char* op, Tensor& out, const Tensor& result) {
  check_destination(op, out, result);
  write(op, out, result);
  return out;
}

std::tuple<Tensor&, Tensor&> write_out(const char* op, Tensor& out0, Tensor& out1,
                                       const std::tuple<Tensor, Tensor>& results) {
  const auto& [r0, r1] = results;
  check_destination(op, out0, r0);
  check_destination(op, out1, r1);
  check_apart(op, out0, out1);
  write(op, out0, r0);
  write(op, out1, r1);
  return {out0, out1};
}

std::tuple<Tensor&, Tensor&, Tensor&> write_out(const char* op, Tensor& out0, Tensor& out1, Tensor& out2,
                                                const std::tuple<Tensor, Tensor, Tensor>& results) {
  const auto& [r0, r1, r2] = results;
  check_destination(op, out0, r0);
  check_destination(op, out1, r1);
  check_destination(op, out2, r2);
  check_apart(op, out0, out1);
  check_apart(op, out0, out2);
  check_apart(op, out1, out2);
  write(op, out0, r0);
  write(op, out1, r1);
  write(op, out2, r2);
  return {out0, out1, out2};
}

}  // namespace taper
