#include <taper/autograd/autograd_meta.h>
#include <taper/autograd/hooks.h>

#include "diagnostics/graph.h"
#include "diagnostics/remedy.h"
#include "diagnostics/watch.h"
#include "packed_tensor.h"

namespace taper {

void Saved::operator=(const Tensor& input) {
  if (input.is_inference()) [[unlikely]]
    raise<AutogradError>(owner_->name(), ": '", what_, "' (", input.spec(),
                         ") is an inference tensor, made in InferenceMode, and cannot be kept for the backward pass",
                         "; pass a clone() of it");
  alias_ = Tensor(input.impl()->shallow_copy_and_detach(false));
  edge_ = gradient_edge(input);
  version_ = input.version();
  if (autograd::SavedTensorHooks::active()) [[unlikely]]
    pack();
}

void Saved::keep_output(const Tensor& output) {
  alias_ = Tensor(output.impl()->shallow_copy_and_detach(false));
  is_result_ = true;
  version_ = output.version();
  const AutogradMeta* m = meta_of(output);
  if (m && m->grad_fn) {  // indices and masks have no history to come back with
    is_output_ = true;
    // After a write through a view the owner is inside the wrapper, as its only output.
    slot_ = owner_->num_outputs() == 1 ? 0 : m->slot;
  }
  if (autograd::SavedTensorHooks::active()) [[unlikely]]
    pack();
}

Tensor Saved::get() const {
  if (!alias_.defined()) [[unlikely]] {
    if (released_) raise_freed();
    if (!packed_) return {};
    return GradMode::is_enabled() ? with_own_history(unpacked()) : unpacked();
  }
  if (alias_.version() != version_) [[unlikely]]
    raise_conflict(alias_, version_);
  return GradMode::is_enabled() ? with_own_history(alias_) : alias_;
}

Tensor Saved::with_own_history(const Tensor& alias) const {
  // A recorded backward pass must see where the value came from.
  const Edge edge = is_output_ ? Edge{IntrusivePtr<Node>(owner_), slot_} : edge_;
  return edge ? with_history(alias.detach(), edge) : alias;
}

void Saved::pack() {
  owner_->ensure_hooks()->packed.emplace_back(this, alias_);
  packed_ = true;
  check<AutogradError>(alias_.version() == version_, "saved tensor hooks of ", owner_->name(),
                       ": the pack hook wrote to '", what_, "' (", alias_.spec(),
                       "), which the program still uses; write to a clone()");
  alias_ = {};
}

Tensor Saved::unpacked() const {
  const autograd::PackedTensor& packed = owner_->hooks()->packed_for(*this);
  const autograd::Unpacked got = packed.unpack(owner_->name());
  // Hooks that keep the memory itself must not lose the check of its version.
  const bool same_memory = got.value.storage()->id() == packed.storage_id();
  const std::uint32_t version = got.version.value_or(same_memory ? version_ : got.value.version());
  if (got.value.version() != version) raise_conflict(got.value, version);
  return got.value.detach();
}

void Saved::raise_freed() const {
  raise<AutogradError>("backward of ", owner_->name(), ": its saved '", what_,
                       "' was freed by an earlier backward(); pass retain_graph = true to that call to go through the "
                       "graph again: y.backward({}, /*retain_graph=*/true)");
}

void Saved::raise_conflict(const Tensor& alias, std::uint32_t version) const {
  const StorageImpl& memory = *alias.storage();
  const char* writer = memory.last_writer();
  const ViewPath* through = memory.last_writer_path();
  const MutationLog::Write* write = last_write(memory);
  const std::string saved_at = owner_->trace() ? owner_->trace()->recorded_at.str() : "";
  const std::string modified_at = write ? write->at.str() : "";
  const std::string remedy = remedy_for(writer, is_memory_of_leaf(alias.storage(), *this));

  std::string message;
  const auto say = [&](const auto&... parts) { (append_to(message, parts), ...); };
  say("backward of ", owner_->name(), " needs its ", is_result_ ? "output '" : "input '", what_, "' (", alias.spec(),
      ") as the forward pass left it, at version ", version);
  if (!saved_at.empty()) say(" (called at ", saved_at, ")");
  say(", but ", writer ? writer : "a write", "()");
  if (through) say(" through ", through);
  say(" changed its memory, now at version ", memory.version());
  if (!modified_at.empty()) say(" (called at ", modified_at, ")");
  say("; ", remedy);
  if (!Watch::of_this_thread().log)
    say("; inside a DetectAnomaly scope around both calls this error names their lines");
  else if (!owner_->trace() || !write)
    say("; to name the lines of both calls the DetectAnomaly scope must enclose them: begin it before the forward "
        "pass");

  InplaceConflictError error(message);
  error.saved_by = owner_->name();
  error.saved_as = what_;
  error.saved_output = is_result_;
  error.modified_by = writer ? writer : "";
  error.modified_through = names_of(through);
  error.saved_version = version;
  error.current_version = memory.version();
  error.remedy = remedy;
  error.saved_at = saved_at;
  error.modified_at = modified_at;
  throw error;
}

}  // namespace taper
