#include <taper/autograd/autograd_meta.h>

namespace taper {

void Saved::operator=(const Tensor& input) {
  alias_ = input.detach();
  edge_ = gradient_edge(input);
  version_ = input.version();
}

void Saved::keep_output(const Tensor& output) {
  alias_ = output.detach();
  version_ = output.version();
  const AutogradMeta* m = meta_of(output);
  if (!m || !m->grad_fn) return;  // indices and masks have no history to come back with
  is_output_ = true;
  // After a write through a view the owner is inside the wrapper, as its only output.
  slot_ = owner_->num_outputs() == 1 ? 0 : m->slot;
}

Tensor Saved::get() const {
  if (!alias_.defined()) [[unlikely]] {
    if (released_) raise_freed();
    return {};
  }
  if (alias_.version() != version_) [[unlikely]]
    raise_conflict();
  if (!GradMode::is_enabled()) return alias_;
  // A recorded backward pass must see where the value came from.
  const Edge edge = is_output_ ? Edge{IntrusivePtr<Node>(owner_), slot_} : edge_;
  return edge ? with_history(alias_.detach(), edge) : alias_;
}

void Saved::raise_freed() const {
  raise<AutogradError>("backward of ", owner_->name(), ": its saved '", what_,
                       "' was freed by an earlier backward(); pass retain_graph = true to that call to go through the "
                       "graph again: y.backward({}, /*retain_graph=*/true)");
}

void Saved::raise_conflict() const {
  const StorageImpl& memory = *alias_.storage();
  const char* writer = memory.last_writer();
  std::string message;
  const auto say = [&](const auto&... parts) { (append_to(message, parts), ...); };
  say("backward of ", owner_->name(), " needs '", what_, "' (", alias_.spec(),
      ") as the forward pass left it, at version ", version_, ", but ", writer ? writer : "a write",
      "() changed its memory, now at version ", memory.version(),
      "; use the form without the underscore, or clone() before writing");
  InplaceConflictError error(message);
  error.saved_by = owner_->name();
  error.saved_as = what_;
  error.modified_by = writer ? writer : "";
  error.saved_version = version_;
  error.current_version = memory.version();
  throw error;
}

}  // namespace taper
