#include <cxxabi.h>
#include <taper/grad_mode.h>
#include <taper/nn/module.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <set>
#include <typeinfo>

#include "module_state.h"
#include "module_walk.h"

namespace taper::nn {

namespace {

/// The same memory as a leaf of its own. Unlike that of detach() its shape may change, for conversions.
Tensor leaf_with_memory_of(const Tensor& t) {
  return t.defined() ? Tensor(t.impl()->shallow_copy_and_detach(true)) : t;
}

}  // namespace

Parameter::Parameter(const Tensor& t, bool requires_grad) : Member(leaf_with_memory_of(t)) {
  if (defined()) requires_grad_(requires_grad);
}

void MemberVisitor::module(std::string_view name, Module& child, detail::AssignClone assign_clone) {
  children_.push_back({std::string(name), &child, assign_clone});
}
void MemberVisitor::parameter(std::string_view name, Tensor& t) {
  parameters_.push_back({std::string(name), &t, true});
}
void MemberVisitor::buffer(std::string_view name, Tensor& t, bool persistent) {
  buffers_.push_back({std::string(name), &t, persistent});
}
void MemberVisitor::skip(Module& child, detail::AssignClone assign_clone) {
  skipped_modules_.push_back({{}, &child, assign_clone});
}

// ---- Hooks ----

struct HookHandle::Slot {
  std::unique_ptr<Module::Hook> hook;  // null once removed
};

struct Module::Hooks {
  std::vector<std::shared_ptr<HookHandle::Slot>> slots;
};

void HookHandle::remove() {
  if (const std::shared_ptr<Slot> slot = slot_.lock()) slot->hook.reset();
}

HookHandle Module::add_hook(std::unique_ptr<Hook> hook) {
  if (!hooks_) hooks_ = std::make_unique<Hooks>();
  std::erase_if(hooks_->slots, [](const auto& slot) { return !slot->hook; });
  auto slot = std::make_shared<HookHandle::Slot>();
  slot->hook = std::move(hook);
  hooks_->slots.push_back(slot);
  return HookHandle(slot);
}

Tensor Module::call_with_hooks(const Tensor& x) {
  // A copy: a hook may add hooks, or remove itself or others.
  const std::vector<std::shared_ptr<HookHandle::Slot>> slots = hooks_->slots;
  Tensor input = x;
  for (const auto& slot : slots)
    if (slot->hook)
      if (Tensor changed = slot->hook->before(*this, input); changed.defined()) input = std::move(changed);
  Tensor output = forward(input);
  for (const auto& slot : slots)
    if (slot->hook)
      if (Tensor changed = slot->hook->after(*this, input, output); changed.defined()) output = std::move(changed);
  return output;
}

bool ModuleWalk::assign_clone(const ModuleEntry& from, Module& to) {
  if (!from.assign_clone) return false;
  std::unique_ptr<Module::Hooks> hooks = std::move(to.hooks_);
  const bool done = from.assign_clone(*from.module, to);
  to.hooks_ = std::move(hooks);
  return done;
}

// ---- Life ----

Module::Module() { detail::note_member(this, detail::MemberKind::module); }
Module::Module(Module&& o) : hooks_(std::move(o.hooks_)), training_(o.training_) {
  detail::note_member(this, detail::MemberKind::module);
}
Module& Module::operator=(Module&&) noexcept = default;
Module::~Module() { detail::forget_member(this); }

Tensor Module::forward(const Tensor&) {
  raise<NotImplementedError>(type_name(), ": has no forward() that makes one tensor from one; call the one it has");
}

// ---- Lists ----

std::vector<std::pair<std::string, Tensor>> Module::named_parameters() const {
  std::vector<std::pair<std::string, Tensor>> out;
  std::set<const TensorImpl*> seen;
  for (const auto& e : ModuleWalk(*this).tensors)
    if (e.kind == ModuleWalk::Kind::parameter && e.tensor->defined() && seen.insert(e.tensor->impl()).second)
      out.emplace_back(e.path, *e.tensor);
  return out;
}

std::vector<std::pair<std::string, Tensor>> Module::named_buffers() const {
  std::vector<std::pair<std::string, Tensor>> out;
  std::set<const TensorImpl*> seen;
  for (const auto& e : ModuleWalk(*this).tensors)
    if (e.kind != ModuleWalk::Kind::parameter && e.tensor->defined() && seen.insert(e.tensor->impl()).second)
      out.emplace_back(e.path, *e.tensor);
  return out;
}

TensorList Module::parameters() const {
  TensorList out;
  for (auto& [name, t] : named_parameters()) out.push_back(std::move(t));
  return out;
}

TensorList Module::buffers() const {
  TensorList out;
  for (auto& [name, t] : named_buffers()) out.push_back(std::move(t));
  return out;
}

std::vector<std::pair<std::string, Module*>> Module::named_modules() {
  std::vector<std::pair<std::string, Module*>> out;
  std::set<const Module*> seen;
  for (const auto& e : ModuleWalk(*this).modules)
    if (seen.insert(e.module).second) out.emplace_back(e.path, e.module);
  return out;
}

std::vector<std::pair<std::string, Module*>> Module::named_children() {
  std::vector<std::pair<std::string, Module*>> out;
  for (const auto& e : ModuleWalk::members(*this).children) out.emplace_back(e.path, e.module);
  return out;
}

// ---- Changes to all ----

Module& Module::train(bool on) {
  for (const auto& e : ModuleWalk(*this).modules) e.module->training_ = on;
  return *this;
}

void Module::zero_grad(bool set_to_none) {
  for (Tensor& t : parameters()) t.zero_grad(set_to_none);
}

Module& Module::requires_grad_(bool on) {
  for (Tensor& t : parameters()) t.requires_grad_(on);
  return *this;
}

namespace {

/// The tensors of a module, each once, converted; they keep their identity.
template <class F>
void convert(Module& m, F target) {
  struct Conversion {
    Tensor tensor, value, grad;
  };
  const NoGradGuard no_grad;
  std::vector<Conversion> conversions;
  std::set<const TensorImpl*> seen;
  for (const auto& e : ModuleWalk(m).tensors) {
    const Tensor& t = *e.tensor;
    if (!t.defined() || !seen.insert(t.impl()).second) continue;
    const Tensor value = target(t.detach()), grad = t.grad();
    if (value.is_alias_of(t)) continue;
    check<ValueError>(is_same_kind(t, value), "Module.to: '", e.path,
                      "' is a tensor of a class of its own, which conversion does not keep; convert it by set_data()");
    conversions.push_back({t, value, grad.defined() ? target(grad) : grad});
  }
  for (Conversion& c : conversions) {
    c.tensor.set_data(c.value);
    if (c.grad.defined()) c.tensor.set_grad(c.grad);
  }
}

void convert(Module& m, std::optional<Device> device, std::optional<DType> dtype) {
  convert(m, [&](const Tensor& from) {
    return from.to(device.value_or(from.device()), dtype && from.is_floating_point() ? *dtype : from.dtype());
  });
}

void check_floating(DType dtype) {
  check<DTypeError>(is_floating(dtype), "Module.to: a module can be converted to a floating dtype only, got ", dtype);
}

}  // namespace

Module& Module::to(DType dtype) {
  check_floating(dtype);
  convert(*this, {}, dtype);
  return *this;
}
Module& Module::to(Device device) {
  convert(*this, device, {});
  return *this;
}
Module& Module::to(Device device, DType dtype) {
  check_floating(dtype);
  convert(*this, device, dtype);
  return *this;
}
Module& Module::to(MemoryFormat format) {
  convert(*this,
          [&](const Tensor& from) { return from.dim() == 4 || from.dim() == 5 ? from.contiguous(format) : from; });
  return *this;
}

// ---- Text ----

std::string Module::device_report() const {
  std::vector<Device> devices;  // by their first tensor
  const ModuleWalk walk(*this);
  for (const auto& e : walk.tensors)
    if (e.tensor->defined() && std::find(devices.begin(), devices.end(), e.tensor->device()) == devices.end())
      devices.push_back(e.tensor->device());
  std::string text;
  for (const Device device : devices) {
    std::string lines;
    std::size_t parameters = 0, buffers = 0;
    for (const auto& e : walk.tensors) {
      if (!e.tensor->defined() || e.tensor->device() != device) continue;
      const bool is_parameter = e.kind == ModuleWalk::Kind::parameter;
      ++(is_parameter ? parameters : buffers);
      lines += is_parameter ? "  parameter " : "  buffer ";
      lines += e.path + ": ";
      append_to(lines, e.tensor->dtype());
      append_to(lines, e.tensor->sizes());
      lines += '\n';
    }
    text += device.str() + ": " + std::to_string(parameters) + " parameters, " + std::to_string(buffers) + " buffers\n";
    text += lines;
  }
  return text;
}

std::string Module::type_name() const {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> demangled(
      abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status), std::free);
  const std::string full = status == 0 ? demangled.get() : typeid(*this).name();
  std::size_t start = 0;
  int depth = 0;  // of template and function arguments
  for (std::size_t i = 0; i < full.size(); ++i) {
    if (full[i] == '<' || full[i] == '(') ++depth;
    if (full[i] == '>' || full[i] == ')') --depth;
    if (depth == 0 && full[i] == ':') start = i + 1;
  }
  return full.substr(start);
}

std::string to_string(const Module& m) {
  std::string s = m.type_name() + '(';
  const std::string extra = m.extra_repr();
  const auto children = ModuleWalk::members(m).children;
  if (children.empty()) return s + extra + ')';
  if (!extra.empty()) s += "\n  " + extra;
  for (const auto& child : children) {
    s += "\n  (" + child.path + "): ";
    for (const char c : to_string(*child.module)) {
      s += c;
      if (c == '\n') s += "  ";
    }
  }
  return s + "\n)";
}

std::ostream& operator<<(std::ostream& os, const Module& m) { return os << to_string(m); }

}  // namespace taper::nn
