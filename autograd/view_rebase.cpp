#include "view_rebase.h"

#include <taper/factory.h>
#include <taper/operator.h>

namespace taper {

std::mutex& rebuild_mutex(const TensorImpl* t) {
  static std::mutex mutexes[16];
  return mutexes[(reinterpret_cast<std::uintptr_t>(t) >> 6) % 16];
}

ViewPlacement placement(const Tensor& base, const Tensor& view) {
  // Where nothing is shown, the place does not matter and may be past the end.
  const std::int64_t shift = view.numel() > 0 ? view.storage_offset() - base.storage_offset() : 0;
  return {base.spec(), view.impl()->geometry(), shift};
}

WriteThroughView::WriteThroughView(const Tensor& base, const Tensor& view, IntrusivePtr<Node> writer,
                                   std::size_t written)
    : place_(placement(base, view)), writer_(std::move(writer)), written_(written) {
  set_name(writer_->name());
  // The writer keeps its own edge to what the view was before, though no gradient goes there any more: by that edge its
  // rule knows that the gradient of the overwritten value is wanted (wants()), which here goes on to the base.
  for (std::size_t i = 0; i < writer_->edges().size(); ++i)
    add_edge(i == written_ ? gradient_edge(base) : writer_->edges()[i]);  // the base as it was before the write
}

Gradients WriteThroughView::apply(Gradients grads) {
  // A tensor laid out like the base, and the same view of it, so that writing to the part writes to the whole.
  Tensor whole = empty(place_.base);
  whole.copy_(grads[0]);
  Tensor part = whole.as_strided(place_.view.sizes(), place_.view.strides(), place_.shift);
  Gradients in = writer_->apply({part.clone()});
  in.resize(edges().size());
  if (in[written_].defined())
    part.copy_(in[written_]);
  else
    part.zero_();
  in[written_] = wants(written_) ? whole : Tensor();
  return in;
}

ViewOfBase::ViewOfBase(const Tensor& base, const Tensor& view) : place_(placement(base, view)) {
  set_name("view");
  connect(base);
}

Gradients ViewOfBase::apply(Gradients grads) { return {ops::place_view(grads[0], place_)}; }

}  // namespace taper
