#include "operands.h"

#include <taper/factory.h>

#include <algorithm>
#include <cmath>

namespace op_table {
namespace {

/// Element i of operand `position`: spread over [low, high), no two alike, none at a round number.
double value(const Operand& o, std::size_t position, std::int64_t i, DType dtype) {
  const std::int64_t limit = std::max<std::int64_t>(1, std::int64_t(o.high));
  if (o.kind == Operand::Kind::index) return double((7 * i + 2 * std::int64_t(position)) % limit);
  if (o.kind == Operand::Kind::mask) return double(i % 3 != 1);
  if (o.kind == Operand::Kind::bytes) return double((37 * i + 5) % limit);
  if (dtype == bool_) return 1;
  if (!is_floating(dtype)) return double(1 + (i + std::int64_t(position)) % 3);
  const double golden = 0.6180339887498949 * double(i + 1) + 0.4142135623730951 * double(position);
  return o.low + (o.high - o.low) * (golden - std::floor(golden));
}

DType dtype_of(const Operand& o, DType floating) {
  switch (o.kind) {
    case Operand::Kind::index:
      return int64;
    case Operand::Kind::mask:
      return bool_;
    case Operand::Kind::bytes:
      return uint8;
    default:
      return floating;
  }
}

Tensor laid_out(const Tensor& t, Layout layout) {
  if (t.dim() == 0) return t;
  switch (layout) {
    case Layout::transposed: {
      IntVec reversed, back;
      for (int d = t.dim(); d-- > 0;) reversed.push_back(t.size(d)), back.push_back(d);
      Tensor out = empty(reversed, t.dtype()).permute(back);
      out.copy_(t);
      return out;
    }
    case Layout::stepped:
      return with_steps(t);
    case Layout::expanded:
      return t.size(0) > 1 ? t.narrow(0, 0, 1).clone().expand(t.sizes()) : t;
    default:
      return t;
  }
}

}  // namespace

const char* name_of(Layout layout) {
  switch (layout) {
    case Layout::transposed:
      return "transposed";
    case Layout::stepped:
      return "stepped";
    case Layout::expanded:
      return "expanded";
    default:
      return "contiguous";
  }
}

Tensor with_steps(const Tensor& t) {
  IntVec sizes = t.sizes().vec();
  if (sizes.empty()) {
    Tensor out = empty({3}, t.dtype()).select(0, 1);
    out.copy_(t);
    return out;
  }
  sizes.back() = 2 * sizes.back() + 1;
  Tensor out = empty(sizes, t.dtype()).slice(-1, 1, sizes.back(), 2);
  out.copy_(t);
  return out;
}

TensorList operands_of(const Sample& sample, Layout layout, DType dtype) {
  TensorList out;
  for (std::size_t k = 0; k < sample.operands.size(); ++k) {
    const Operand& o = sample.operands[k];
    if (o.kind == Operand::Kind::absent) {
      out.emplace_back();
      continue;
    }
    Tensor t = empty(o.shape, float64);
    double* p = t.mutable_data<double>();
    const DType own = dtype_of(o, dtype);
    for (std::int64_t i = 0; i < t.numel(); ++i) p[i] = value(o, k, i, own);
    const bool stays = o.kind == Operand::Kind::made || (o.kind == Operand::Kind::state && layout == Layout::expanded);
    out.push_back(stays ? t.to(own) : laid_out(t.to(own), layout));
  }
  return out;
}

TensorList track(const Sample& sample, TensorList& operands) {
  TensorList tracked;
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (sample.operands[k].kind <= Operand::Kind::flat) tracked.push_back(operands[k].requires_grad_());
  return tracked;
}

bool has_layout(const Sample& sample, Layout layout) {
  if (layout == Layout::contiguous) return true;
  for (const Operand& o : sample.operands)
    if (o.kind != Operand::Kind::absent && o.shape.size() >= (layout == Layout::transposed ? 2u : 1u)) return true;
  return false;
}

bool has(const Sample& sample, Operand::Kind kind) {
  return std::any_of(sample.operands.begin(), sample.operands.end(), [&](const Operand& o) { return o.kind == kind; });
}

bool is_empty(const OpSamples& op, const Sample& sample) {
  std::int64_t elements = 0, results = 0;
  const TensorList in = operands_of(sample);
  for (std::size_t k = 0; k < in.size(); ++k)
    if (sample.operands[k].kind <= Operand::Kind::flat) elements += in[k].numel();
  for (const Tensor& y : differentiable(op, sample.call(in))) results += y.numel();
  return elements == 0 || results == 0;
}

TensorList differentiable(const OpSamples& op, const TensorList& results) {
  return TensorList(results.begin(), results.begin() + std::ptrdiff_t(std::min(op.results, results.size())));
}

}  // namespace op_table
