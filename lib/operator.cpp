#include <taper/new_tensor_hook.h>
#include <taper/operator.h>
#include <taper/ops/copy.h>

#include <mutex>

#include "ops/write_out.h"

namespace taper {

void ensure_kernels() {
  static constinit std::atomic<bool> ready{false};
  if (ready.load(std::memory_order_acquire)) [[likely]]
    return;
  static std::once_flag once;
  std::call_once(once, [] {
    install_kernels();
    ready.store(true, std::memory_order_release);
  });
}

namespace {
constexpr std::string_view kOperands = "\n  operands of ";
}

std::string OpEntry::argument_name(std::size_t i) const {
  const std::string_view arguments = arguments_;
  std::size_t begin = 0;
  for (; i > 0; --i) {
    const std::size_t comma = arguments.find(',', begin);
    if (comma == std::string_view::npos) break;
    begin = comma + 2;
  }
  return std::string(arguments.substr(begin, arguments.find(',', begin) - begin));
}

std::string OpEntry::tensor_argument_name(std::size_t i) const {
  std::size_t at = 0;
  for (;; ++at)
    if (at >= 32 || (!(plain_arguments_ >> at & 1) && i-- == 0)) break;
  return argument_name(at);
}

void OpEntry::raise_no_kernel(Device device) const {
  raise<NotImplementedError>(name(), ": no kernel for ", device, " in this build");
}

namespace {
/// copy_ is how values get from one device to another.
bool crosses_devices(const OpEntry& op) { return &op == &ops::copy; }
}  // namespace

void OpEntry::check_operands(const std::vector<Operand>& operands) const {
  for (const auto& [argument, t] : operands)
    check<ValueError>(t.defined(), name(), ": argument '", argument_name(argument),
                      "' is an undefined tensor; give it a value, for example taper::zeros({2, 3})");
  const Tensor* first = nullptr;  // whose device decides: not a 0-dim cpu tensor
  for (const auto& [argument, t] : operands)
    if (!first && !(t.device().is_cpu() && t.dim() == 0)) first = &t;
  if (!first || crosses_devices(*this)) return;
  for (const auto& [argument, t] : operands)
    check<DeviceError>(t.device() == first->device() || (t.device().is_cpu() && t.dim() == 0), name(), ": argument '",
                       argument_name(argument), "' is on ", t.device(), " but the others are on ", first->device(),
                       "; move it with x.to(other.device())");
}

void OpEntry::append_operands(Error& e, const std::vector<Operand>& operands) const {
  if (std::string_view(e.what()).find(kOperands) != std::string_view::npos)
    return;  // of an operator that this one uses
  std::string text;
  for (const auto& [argument, t] : operands) {
    if (!t.defined()) continue;
    text += text.empty() ? ": " : "; ";
    text += argument_name(argument) + ' ';
    if (t.impl()->is_wrapped_number()) {
      text += "a number";
    } else {
      append_to(text, t);
      text += ", strides ";
      append_to(text, t.strides());
    }
  }
  if (!text.empty()) e.append(std::string(kOperands) + name() + text);
}

void OpEntry::refuse_if_tracked(const Tensor& t) const {
  if (!detail::requires_grad_hook || !t.impl()->keys().has(DispatchKey::Autograd) || !detail::requires_grad_hook(t))
    return;
  raise<AutogradError>(name(), ": has no derivative in this form, but an argument (", t.spec(),
                       ") requires grad; call it on x.detach() or inside a NoGradGuard");
}

Tensor wrapped_number(Scalar value) {
  Tensor t = empty(TensorSpec{{}, value.dtype(), cpu});
  void* p = t.impl()->data();
  switch (value.dtype()) {
    case DType::bool_:
      *static_cast<bool*>(p) = value.to<bool>();
      break;
    case DType::int64:
      *static_cast<std::int64_t*>(p) = value.to<std::int64_t>();
      break;
    default:
      *static_cast<double*>(p) = value.to<double>();
  }
  t.impl()->set_wrapped_number();
  return t;
}

namespace detail {

bool (*requires_grad_hook)(const Tensor& t) = nullptr;
std::string (*describe_gradient_hook)(const Tensor& t) = nullptr;
const WatchedCall::Watcher* WatchedCall::watcher = nullptr;

void check_destination(const char* op, const char* functional, const TensorSpec& want, const Tensor& self) {
  if (self.is_inference() && !InferenceMode::is_enabled()) [[unlikely]]
    raise<AutogradError>(op, ": the tensor written to (", self.spec(),
                         ") is an inference tensor, made in InferenceMode, which may be written only there",
                         "; write to a clone() of it");
  check<ShapeError>(want.sizes() == self.sizes(), op, ": the result has shape ", want.sizes(),
                    " but the tensor written to is ", self.spec(), "; ", functional,
                    "() without the underscore returns a new tensor");
  check<DTypeError>(can_cast(want.dtype, self.dtype()), op, ": the result is ", want.dtype,
                    ", which cannot be stored in the ", self.spec(),
                    " written to; convert with x.to(taper::", want.dtype, ") first, or use ", functional,
                    "() without the underscore");
  check<ShapeError>(!overlaps_itself(self), op, ": the tensor written to (", self.spec(), " with strides ",
                    self.strides(), ") shows one memory location as several elements; clone() it first");
}

void check_out(const char* op, const TensorSpec& want, const Tensor& out) {
  check<DeviceError>(out.device() == want.device, op, ": out is on ", out.device(), " but the result is on ",
                     want.device, "; make out there with empty(sizes, {.device = ...})");
  if (out.numel() == 0 && out.sizes() != want.sizes())  // which will be resized
    return check_destination(op, op, {out.impl()->geometry(), want.dtype, want.device}, out);
  check<ShapeError>(out.sizes() == want.sizes(), op, ": out is ", out.spec(), " but the result has shape ",
                    want.sizes(), "; pass an empty tensor to have it resized");
  check_destination(op, op, want, out);
}

void prepare_out(const char* op, const TensorSpec& want, Tensor& out) {
  check_out(op, want, out);
  if (out.sizes() != want.sizes()) out.resize_(want.sizes());
}

void copy_into(Tensor& dst, const Tensor& src) { ops::copy.compute(dst, dst, src); }
Tensor private_copy(const Tensor& t) { return ops::clone.below_autograd(t); }

Tensor make_view(const Tensor& self, Geometry g, bool several, const char* op) {
  const TensorImpl& from = *self.impl();
  const bool unrecorded = !GradMode::is_enabled() || InferenceMode::is_enabled();
  ViewOrigin origin = unrecorded ? ViewOrigin::no_grad : several ? ViewOrigin::multi_output : ViewOrigin::grad_mode;
  if (from.base() && origin == ViewOrigin::grad_mode)
    origin = from.view_origin();  // a view of a view inherits the mark
  const auto& base = from.base() ? from.base() : self.impl_ptr();
  Tensor view(
      make_intrusive<TensorImpl>(base, origin, std::move(g.shape), g.offset, ViewPath::extend(from.view_path(), op)));
  if (ExcludedKeys::watching()) [[unlikely]]
    new_tensor_hook(view, op);
  return view;
}

}  // namespace detail
}  // namespace taper
