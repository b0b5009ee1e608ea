#include "differences.h"

#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/memory_overlap.h>
#include <taper/ops/copy.h>
#include <taper/ops/view.h>

namespace taper::autograd {

IntVec place(IntSpan sizes, std::int64_t i) {
  IntVec at(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0;) {
    at[d] = i % sizes[d];
    i /= sizes[d];
  }
  return at;
}

void Differences::check_variable(const Tensor& t, const std::string& name, const char* owner) const {
  check<DTypeError>(t.dtype() == float64, op_, ": ", name, " must be float64, got ", t.spec(),
                    ": differences of float32 are too coarse; convert with ", owner, ".to(taper::float64)");
  check<DeviceError>(!t.device().is_meta(), op_, ": ", name, " must have values, got ", t.spec());
  for (const Variable& v : variables_)
    check<ValueError>(!v.tensor.is_same(t), op_, ": ", name, " is ", v.name, " as well; pass it once");
}

bool Differences::moves(const Tensor& t) const {
  for (const Variable& v : variables_)
    if (overlap(v.moved, t) != Overlap::none) return true;
  return false;
}

void Differences::add(const Tensor& t, Tensor moved, std::string name) {
  std::vector<std::int64_t> offsets(std::size_t(t.numel()));
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const IntVec at = place(t.sizes(), std::int64_t(i));
    for (std::size_t d = 0; d < at.size(); ++d) offsets[i] += at[d] * moved.strides()[d];
  }
  variables_.push_back({t, std::move(moved), std::move(name), std::move(offsets)});
}

void Differences::add_argument(std::size_t i, std::string name) {
  const Tensor t = inputs_[i];
  check_variable(t, name, "x");
  if (overlaps_itself(t) || !t.is_leaf() || moves(t)) inputs_[i] = t.detach().clone().requires_grad_();
  add(t, inputs_[i], std::move(name));
}

void Differences::add_parameter(const Tensor& t, std::string name) {
  check_variable(t, name, "module");
  check<ValueError>(!overlaps_itself(t) && t.is_leaf() && !moves(t), op_, ": ", name, " (", t.spec(),
                    ") must be a leaf whose memory no other input or parameter shows; clone() it");
  add(t, t, std::move(name));
}

const Numbers& Differences::start() {
  for (Tensor& t : inputs_)
    if (t.defined() && !t.requires_grad() && moves(t)) t = t.clone();
  return base_ = evaluate();
}

Numbers Differences::evaluate() const {
  const NoGradGuard no_grad;
  Numbers all;
  for (const Tensor& y : fn_(inputs_)) {
    if (!y.defined() || !is_floating(y.dtype())) continue;
    const Numbers v = y.detach().to(float64).to_vector<double>();
    all.insert(all.end(), v.begin(), v.end());
  }
  check<AutogradError>(base_.empty() || all.size() == base_.size(), op_,
                       ": the results change their number of elements with the input's values");
  return all;
}

Numbers Differences::evaluate_beside(Variable& v, std::size_t first, const Numbers& direction, double by) const {
  // A cpu tensor's elements are written in place; elsewhere all of them are sent there and back.
  if (!v.moved.device().is_cpu()) {
    struct RestoreAll {
      Tensor to;
      Numbers before;
      void write(const Numbers& values) {
        const NoGradGuard no_grad;
        to.copy_(from_span(std::span(values)).view(to.sizes()));
      }
      ~RestoreAll() { write(before); }
    } restore{v.moved.detach(), v.moved.to_vector<double>()};
    Numbers values = restore.before;
    for (std::size_t i = 0; i < direction.size(); ++i) values[first + i] += by * direction[i];
    restore.write(values);
    return evaluate();
  }
  struct Restore {
    Variable& v;
    std::size_t first;
    Numbers before;
    ~Restore() {
      double* p = v.moved.mutable_data<double>();
      for (std::size_t i = 0; i < before.size(); ++i) p[v.offsets[first + i]] = before[i];
    }
  } restore{v, first, {}};
  double* p = v.moved.mutable_data<double>();
  for (std::size_t i = 0; i < direction.size(); ++i) {
    double& x = p[v.offsets[first + i]];
    restore.before.push_back(x);
    x += by * direction[i];
  }
  return evaluate();
}

Slopes Differences::slopes(Variable& v, std::size_t first, const Numbers& direction, double h) const {
  const Numbers up = evaluate_beside(v, first, direction, h), down = evaluate_beside(v, first, direction, -h);
  Slopes s{Numbers(up.size()), Numbers(up.size()), Numbers(up.size())};
  for (std::size_t o = 0; o < up.size(); ++o) {
    s.both[o] = (up[o] - down[o]) / (2 * h);
    s.left[o] = (base_[o] - down[o]) / h;
    s.right[o] = (up[o] - base_[o]) / h;
  }
  return s;
}

}  // namespace taper::autograd
