// docs/ops.md: what every operator can do for every dtype, found out by doing it.
#include <taper/autograd/engine.h>
#include <taper/factory.h>

#include <algorithm>
#include <map>

#include "checks.h"

namespace op_table {
namespace {

using Kind = Operand::Kind;

bool runs(const auto& f) {
  try {
    return f();
  } catch (const Error&) {
    return false;
  }
}

/// "f", "fb" or "fbd": forward, backward, and backward of a recorded backward pass. Empty: nothing.
std::string abilities(const OpSamples& op, const Sample& sample, DType dtype) {
  const bool any_floating =
      std::any_of(sample.operands.begin(), sample.operands.end(), [](const Operand& o) { return o.is_floating(); });
  if (!any_floating && operands_of(sample)[0].dtype() != dtype) return "";
  if (!runs([&] { return sample.call(operands_of(sample, Layout::contiguous, dtype)), true; })) return "";
  if (!is_floating(dtype) || derivative_of(op) != Derivative::rule) return "f";

  std::string able = "f";
  TensorList in = operands_of(sample, Layout::contiguous, dtype);
  TensorList wrt = track(sample, in);
  runs([&] {
    TensorList results, seeds;
    for (const Tensor& y : differentiable(op, sample.call(in)))
      if (y.requires_grad()) results.push_back(y), seeds.push_back(ones_like(y));
    if (results.empty()) return false;
    autograd::grad(results, wrt, seeds, {.retain_graph = true, .allow_unused = true});
    able = "fb";
    for (Tensor& s : seeds) s.requires_grad_();
    TensorList first, ones;
    for (const Tensor& g : autograd::grad(results, wrt, seeds, {.create_graph = true, .allow_unused = true}))
      if (g.defined() && g.requires_grad()) first.push_back(g), ones.push_back(ones_like(g));
    wrt.insert(wrt.end(), seeds.begin(), seeds.end());
    if (!first.empty()) autograd::grad(first, wrt, ones, {.allow_unused = true});
    able = "fbd";
    return true;
  });
  return able;
}
std::string abilities(const OpSamples& op, DType dtype) {
  std::string best;
  for (const Sample& s : op.samples)
    if (const std::string able = abilities(op, s, dtype); able.size() > best.size()) best = able;
  return best;
}

std::string argument(const OpEntry& op, std::size_t place) {
  std::string text = op.arguments();
  for (; place > 0; --place) text.erase(0, text.find(", ") + 2);
  return text.substr(0, text.find(','));
}

std::string derivative_column(const OpSamples& op) {
  switch (derivative_of(op)) {
    case Derivative::none:
      return "none";
    case Derivative::refused:
      return "refused";
    default:
      break;
  }
  bool any_real = false;
  std::vector<std::string> refused;
  for (const Sample& s : op.samples)
    for (std::size_t k = 0; k < s.operands.size(); ++k) {
      any_real |= s.operands[k].kind == Kind::real;
      if (s.operands[k].kind != Kind::constant) continue;
      if (std::string name = argument(*op.op, k); std::find(refused.begin(), refused.end(), name) == refused.end())
        refused.push_back(std::move(name));
    }
  std::string text = any_real ? "yes" : "zero";
  for (const std::string& name : refused) text += (&name == &refused.front() ? ", but not by " : ", ") + name;
  return text;
}

}  // namespace

std::string written_table() {
  std::map<std::string, std::string> rows;
  for (const OpSamples& op : samples::all()) {
    const bool has_inplace =
        std::any_of(op.samples.begin(), op.samples.end(), [](const Sample& s) { return bool(s.inplace); });
    std::string row = "| `" + op.name + "` | " + op.op->arguments() + " | ";
    row += (has_inplace ? '`' + std::string(op.op->inplace_name()) + '`' : "") + " | " + derivative_column(op) + " |";
    for (const DType d : kAllDTypes) row += ' ' + abilities(op, d) + " |";
    rows[op.name] = row;
  }

  std::string text =
      "# Operators\n"
      "\n"
      "What the operators in namespace `taper::ops` can do. Functions and methods are made of them: `x + 2` is\n"
      "`ops::add_scalar`, `x + y` is `ops::add`, `x.max(1)` is `ops::max_dim`; those whose names end in `_grad` or\n"
      "`_backward` are derivatives of others.\n"
      "\n"
      "This page is written by `op_table --write docs/ops.md`, which calls every operator with the samples in\n"
      "`tests/ops/samples.cpp`; a test fails when it is out of date.\n"
      "\n"
      "**derivative**: *zero*, it exists and is 0; *none*, results have no history; *refused*, calling it with a "
      "tensor\n"
      "that requires grad throws. Every derivative is compared with differences, and so is the derivative of that.\n"
      "\n"
      "**dtypes**: `f` forward, `b` backward, `d` double backward: backward through a backward pass recorded with\n"
      "`create_graph`.\n"
      "\n"
      "| operator | arguments | in place | derivative |";
  for (const DType d : kAllDTypes) text += std::string(" ") + taper::name_of(d) + " |";
  text += "\n| --- | --- | --- | --- |";
  for ([[maybe_unused]] const DType d : kAllDTypes) text += " --- |";
  text += '\n';
  for (const auto& [name, row] : rows) text += row + '\n';
  return text;
}

}  // namespace op_table
