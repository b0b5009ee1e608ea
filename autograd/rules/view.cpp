// Derivatives of views: each puts the gradient back where the view looked.
#include <taper/autograd/record.h>
#include <taper/ops/view.h>

namespace taper {
void install_view_rules();
namespace {

struct PlaceViewBackward final : Node {
  ViewPlacement placement;
  void save(const Tensor&, const ViewPlacement& p) { placement = p; }
  Gradients apply(Gradients g) override { return {ops::read_view(g[0], placement)}; }
};
struct ReadViewBackward final : Node {
  ViewPlacement placement;
  void save(const Tensor&, const ViewPlacement& p) { placement = p; }
  Gradients apply(Gradients g) override { return {ops::place_view(g[0], placement)}; }
};

/// The one view whose elements can share memory in any way, so the place in memory decides.
struct AsStridedBackward final : Node {
  ViewPlacement placement;
  void save(const Tensor& self, IntSpan sizes, IntSpan strides, const std::optional<std::int64_t>& storage_offset) {
    const std::int64_t own = self.storage_offset();
    placement = {self.spec(), SizesAndStrides(sizes, strides), storage_offset.value_or(own) - own};
  }
  Gradients apply(Gradients g) override { return {ops::place_view(g[0], placement)}; }
};

}  // namespace

void install_view_rules() {
  differentiate<PlaceViewBackward, ops::place_view>();
  differentiate<ReadViewBackward, ops::read_view>();
  differentiate<AsStridedBackward, ops::as_strided>();
}

}  // namespace taper
