#include <taper/autograd/engine.h>
#include <taper/factory.h>
#include <taper/ops/compare.h>

#include "checks.h"

namespace op_table {
namespace {

bool alike(const Tensor& a, const Tensor& b) {
  if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return false;
  return a.to(float64).allclose(b.to(float64), 1e-12, 1e-12, true);
}

/// Results of every layout are those of contiguous operands, and only what may be written is.
void check_layout(Report& report, const Sample& sample, const TensorList& reference, Layout layout) {
  const TensorList in = operands_of(sample, layout), fresh = operands_of(sample, layout);
  const TensorList out = sample.call(in);
  report.require(out.size() == reference.size(), "another number of results");
  if (layout != Layout::expanded)
    for (std::size_t i = 0; i < out.size() && i < reference.size(); ++i)
      report.require(alike(out[i], reference[i]),
                     "result " + std::to_string(i) + " differs from that of contiguous operands");
  for (std::size_t k = 0; k < in.size(); ++k)
    if (in[k].defined() && sample.operands[k].kind != Operand::Kind::state)
      report.require(alike(in[k], fresh[k]), "operand " + std::to_string(k) + " was changed");
}

/// The meta device knows shape, dtype and strides of every result.
void check_meta(Report& report, const Sample& sample, const TensorList& reference) {
  TensorList in = operands_of(sample);
  for (Tensor& t : in)
    if (t.defined()) t = empty_strided(t.sizes(), t.strides(), {.dtype = t.dtype(), .device = meta});
  const TensorList out = sample.call(in);
  for (std::size_t i = 0; i < out.size(); ++i)
    report.require(out[i].device().is_meta() && out[i].sizes() == reference[i].sizes() &&
                       out[i].strides() == reference[i].strides() && out[i].dtype() == reference[i].dtype(),
                   "on meta result " + std::to_string(i) + " is another");
}

void check_out(Report& report, const OpSamples& op, const Sample& sample, const Tensor& reference, Layout layout) {
  const TensorList in = operands_of(sample, layout);
  const auto into = [&](Tensor out, const char* what) {
    const std::uint32_t version = out.version();
    sample.out(out, operands_of(sample, layout));
    report.require(alike(out, reference), std::string("the result written into ") + what + " differs");
    report.require(out.version() > version, std::string("writing into ") + what + " was not counted");
  };
  into(empty_like(reference), "a tensor");
  into(with_steps(zeros(reference.sizes(), reference.dtype())), "a tensor with steps");
  into(empty({0}, reference.dtype()), "a tensor without elements");
  if (layout != Layout::contiguous || !is_floating(reference.dtype())) return;

  Tensor tracked = zeros(reference.sizes(), reference.dtype()).requires_grad_();
  report.must_refuse("out that requires grad", *op.op, [&] { sample.out(tracked, in); });
  for (std::size_t k = 0; k < in.size(); ++k)
    if (sample.operands[k].is_floating() && !op.op->is_declared_non_differentiable()) {
      TensorList operands = operands_of(sample);
      operands[k].requires_grad_();
      Tensor out = empty_like(reference);
      report.must_refuse("operand " + std::to_string(k) + " that requires grad, with out", *op.op,
                         [&] { sample.out(out, operands); });
    }
}

void check_inplace(Report& report, const OpSamples& op, const Sample& sample, const Tensor& reference, Layout layout) {
  TensorList in = operands_of(sample, layout);
  Tensor self = in[0];
  if (reference.sizes() != self.sizes() || !can_cast(reference.dtype(), self.dtype())) return;
  const Tensor same = self;
  const std::uint32_t version = self.version();
  sample.inplace(self, in);
  report.require(self.is_same(same) && alike(self, reference.to(self.dtype())), "in place, the result differs");
  report.require(self.version() > version, "in place, the write was not counted");

  // Refused before anything is written: a leaf that requires grad, and memory shown twice.
  if (layout != Layout::contiguous) return;
  if (is_floating(self.dtype())) {
    Tensor leaf = operands_of(sample)[0].requires_grad_();
    report.must_refuse("a leaf, in place,", *op.op, [&] { sample.inplace(leaf, operands_of(sample)); });
    report.require(alike(leaf.detach(), operands_of(sample)[0]), "a refused leaf was written to");
  }
  if (self.numel() > 1 && self.dim() > 0) {
    Tensor shared = zeros({1}, self.dtype()).expand(self.sizes());
    try {
      sample.inplace(shared, operands_of(sample));
      report.fail("in place on memory shown twice was not refused");
    } catch (const ShapeError&) {
    }
    report.require(!shared.to(float64).any().item<bool>(), "refused memory was written to");
  }
}

}  // namespace

void check_forms(Report& report, const OpSamples& op) {
  for (std::size_t i = 0; i < op.samples.size(); ++i) {
    const Sample& sample = op.samples[i];
    for (const Layout layout : kLayouts) {
      if (!has_layout(sample, layout) || (!op.any_layout && layout != Layout::contiguous)) continue;
      report.enter(op, i, layout);
      report.run("call", [&] {
        const TensorList reference = sample.call(operands_of(sample));
        check_layout(report, sample, reference, layout);
        if (layout == Layout::contiguous && op.on_meta) check_meta(report, sample, reference);
        if (layout == Layout::expanded) return;
        if (sample.out) check_out(report, op, sample, reference[0], layout);
        if (sample.inplace) check_inplace(report, op, sample, reference[0], layout);
      });
    }
  }
}

}  // namespace op_table
