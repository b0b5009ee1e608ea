#include "module_state.h"

#include <taper/grad_mode.h>
#include <taper/memory_overlap.h>

#include <set>
#include <typeinfo>

#include "module_walk.h"

namespace taper::nn {

namespace {

void append_keys(std::string& s, const char* what, const std::vector<std::string>& keys) {
  if (keys.empty()) return;
  s += "; ";
  s += what;
  for (std::size_t i = 0; i < keys.size(); ++i) s += (i == 0 ? " '" : ", '") + keys[i] + '\'';
}

}  // namespace

bool is_same_kind(const Tensor& a, const Tensor& b) {
  const TensorImpl &x = *a.impl(), &y = *b.impl();
  return typeid(x) == typeid(y);
}

StatePlan::StatePlan(const Module& m, const TensorDict& state, bool strict, bool assign) : assign_(assign) {
  const NoGradGuard no_grad;
  const ModuleWalk walk(m);
  std::set<const StorageImpl*> written;
  std::set<std::string> known;
  std::string misfits;
  bool only_dtypes_misfit = true;
  for (const auto& e : walk.tensors)
    if (e.tensor->defined()) written.insert(e.tensor->storage().get());

  for (const auto& e : walk.tensors) {
    if (!e.tensor->defined() || e.kind == ModuleWalk::Kind::other_buffer) continue;
    known.insert(e.path);
    const Tensor& to = *e.tensor;
    const Tensor* from = state.find(e.path);
    if (!from) {
      result_.missing_keys.push_back(e.path);
    } else if (!from->defined()) {
      misfits += "; '" + e.path + "' is undefined";
      only_dtypes_misfit = false;
    } else if (!(from->sizes() == to.sizes())) {
      misfits += "; '" + e.path + "' is ";
      append_to(misfits, from->sizes());
      misfits += ", the module needs ";
      append_to(misfits, to.sizes());
      only_dtypes_misfit = false;
    } else if (assign && to.requires_grad() && !from->is_floating_point()) {
      misfits += "; '" + e.path + "' is ";
      append_to(misfits, *from);
      misfits += ", which cannot have the gradients that the module's requires; assign = false converts it";
    } else if (assign && !is_same_kind(*from, to)) {
      misfits += "; '" + e.path + "' is another kind of tensor than the module's; assign = false copies it";
      only_dtypes_misfit = false;
    } else if (assign) {
      writes_.push_back({e.tensor, from->detach()});
    } else if (from->device().is_meta() && !to.device().is_meta()) {
      misfits += "; '" + e.path + "' is on meta and has no values";
      only_dtypes_misfit = false;
    } else if (overlaps_itself(to)) {
      misfits += "; '" + e.path + "' cannot be written: its elements share memory";
      only_dtypes_misfit = false;
    } else if (misfits.empty()) {
      Tensor value = from->to(to.device(), to.dtype());
      // A value in memory that is itself to be written must be read first.
      if (written.count(value.storage().get()) > 0 && overlap(value, to) != Overlap::identical) value = value.clone();
      writes_.push_back({e.tensor, value});
    }
  }
  for (const auto& [name, t] : state)
    if (known.count(name) == 0) result_.unexpected_keys.push_back(name);

  if (misfits.empty() && (!strict || (result_.missing_keys.empty() && result_.unexpected_keys.empty()))) return;
  std::string text = m.type_name() + ".load_state_dict: the state does not fit";
  if (strict) {
    append_keys(text, "missing", result_.missing_keys);
    append_keys(text, "unexpected", result_.unexpected_keys);
  }
  if (misfits.empty()) raise<ValueError>(text, "; strict = false loads what has the same names");
  if (only_dtypes_misfit) raise<DTypeError>(text, misfits);
  raise<ShapeError>(text, misfits);
}

void StatePlan::carry_out() {
  const NoGradGuard no_grad;
  for (Write& w : writes_) {
    if (!assign_) {
      w.to->copy_(w.value);
      continue;
    }
    if (w.value.dtype() != w.to->dtype() || w.value.device() != w.to->device()) w.to->zero_grad();
    w.to->set_data(w.value);
  }
}

TensorDict Module::state_dict() const {
  TensorDict out;
  for (const auto& e : ModuleWalk(*this).tensors)
    if (e.tensor->defined() && e.kind != ModuleWalk::Kind::other_buffer) out.insert(e.path, e.tensor->detach());
  return out;
}

LoadResult Module::load_state_dict(const TensorDict& state, bool strict, bool assign) {
  StatePlan plan(*this, state, strict, assign);
  plan.carry_out();
  return plan.result();
}

LoadResult Module::check_state_dict(const TensorDict& state, bool strict) const {
  return StatePlan(*this, state, strict, false).result();
}

}  // namespace taper::nn
