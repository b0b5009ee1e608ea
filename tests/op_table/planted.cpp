// Operators with mistakes, which the checks must find.
#include <taper/autograd/record.h>
#include <taper/ops/pointwise.h>

#include <cstdio>

#include "checks.h"

namespace op_table {
namespace {

TensorSpec infer_same(const Tensor& x) { return TensorSpec::contiguous(x.sizes(), x.dtype(), x.device()); }
constinit StructuredOp<Tensor(Tensor)> wrong_gradient{"wrong_gradient", "x", infer_same};
constinit StructuredOp<Tensor(Tensor)> no_second_gradient{"no_second_gradient", "x", infer_same};
constinit StructuredOp<Tensor(Tensor)> no_gradient{"no_gradient", "x", infer_same};
constinit StructuredOp<Tensor(Tensor)> only_contiguous{"only_contiguous", "x", infer_same, "only_contiguous_"};

void square(Tensor& out, const Tensor& x) { ops::square.compute(out, x); }
/// Takes the elements to lie one after the other, as far as there is memory.
void square_in_a_row(Tensor& out, const Tensor& x) {
  const std::int64_t there = std::int64_t(x.storage()->bytes() / sizeof(double)) - x.storage_offset();
  const double* from = x.data<double>();
  auto* to = static_cast<double*>(out.impl()->data());
  for (std::int64_t i = 0; i < x.numel(); ++i) to[i] = from[i % there] * from[i % there];
}

template <int factor, bool cut>
struct SquareBackward final : Node {
  Saved x{this, "x"};
  void save(const Tensor& t) { x = t; }
  Gradients apply(Gradients g) override { return {g[0] * (cut ? x.get().detach() : x.get()) * factor}; }
};

template <auto& Op>
OpSamples sampled() {
  std::vector<OpSamples> table;
  samples::Row<Op>(table).with({samples::real({3, 4})});
  return table[0];
}

/// Returns whether the check finds something, as it must.
bool finds(const char* what, void (*check)(Report&, const OpSamples&), const OpSamples& op) {
  Report report(Report::quiet);
  check(report, op);
  if (report.failures() == 0) std::printf("FAILED to find %s\n", what);
  return report.failures() > 0;
}

}  // namespace

bool finds_planted_errors() {
  wrong_gradient.set_kernel(DispatchKey::CPU, square);
  no_second_gradient.set_kernel(DispatchKey::CPU, square);
  no_gradient.set_kernel(DispatchKey::CPU, square);
  only_contiguous.set_kernel(DispatchKey::CPU, square_in_a_row);
  differentiate<SquareBackward<3, false>, wrong_gradient>();
  differentiate<SquareBackward<2, true>, no_second_gradient>();

  bool all = finds("a wrong gradient", check_gradients, sampled<wrong_gradient>());
  all &= finds("a gradient that cannot be differentiated", check_gradients, sampled<no_second_gradient>());
  all &= finds("a kernel that takes its operand to be contiguous", check_forms, sampled<only_contiguous>());
  // An operator without a rule refuses, which is right as long as it is in the table.
  Report refusal(Report::quiet), registry(Report::quiet);
  check_gradients(refusal, sampled<no_gradient>());
  all &= refusal.failures() == 0;
  check_registry(registry);
  if (registry.failures() != 4) std::printf("FAILED to find four operators without samples\n");
  return all && registry.failures() == 4;
}

}  // namespace op_table
