#include <taper/factory.h>
#include <taper/ops/copy.h>
#include <taper/ops/index.h>
#include <taper/ops/pad.h>
#include <taper/ops/view.h>

#include <algorithm>

#include "constant_on.h"
#include "image_order.h"

namespace taper {
namespace {

struct Ends {
  std::int64_t before, after;
};
Ends ends_of(IntSpan pad, std::size_t k) { return {pad[2 * k], pad[2 * k + 1]}; }

Tensor constant_pad(const Tensor& self, IntSpan pad, Scalar value) {
  const ImageOrder order(self);
  Tensor inside = order.in_memory(self);
  IntVec sizes = inside.sizes().vec();
  const std::int64_t rank = self.dim();
  for (std::size_t k = 0; k < pad.size() / 2; ++k) {
    const auto [before, after] = ends_of(pad, k);
    const std::int64_t d = rank - 1 - std::int64_t(k), at = order.dim(d);
    const std::int64_t cut_before = std::max<std::int64_t>(-before, 0), cut_after = std::max<std::int64_t>(-after, 0);
    const std::int64_t left = inside.size(at) - cut_before - cut_after;
    check<ShapeError>(left >= 0, "pad: ", pad, " takes ", cut_before + cut_after, " entries from dim ", d, " of ", self,
                      ", which has ", inside.size(at));
    inside = inside.narrow(at, cut_before, left);
    sizes[std::size_t(at)] += before + after;
  }
  const Tensor out = full(sizes, value, self.dtype(), self.device());
  Tensor middle = out;
  for (std::size_t k = 0; k < pad.size() / 2; ++k) {
    const std::int64_t at = order.dim(rank - 1 - std::int64_t(k));
    middle = middle.narrow(at, std::max<std::int64_t>(pad[2 * k], 0), inside.size(at));
  }
  middle.copy_(inside);
  return order.back(out);
}

enum class Edge : std::uint8_t { reflect, replicate, circular };

/// The entry of a dim of n that shows at place i, which may be outside.
std::int64_t shown_at(std::int64_t i, std::int64_t n, Edge edge) {
  switch (edge) {
    case Edge::reflect:
      i = i < 0 ? -i : i;
      return i >= n ? 2 * (n - 1) - i : i;
    case Edge::replicate:
      return std::clamp<std::int64_t>(i, 0, n - 1);
    default:
      return (i % n + n) % n;
  }
}

void check_ends(const Tensor& self, std::int64_t d, Ends ends, Edge edge, IntSpan pad) {
  const std::int64_t n = self.size(d), most = std::max(ends.before, ends.after);
  check<ShapeError>(n + ends.before + ends.after > 0, "pad: ", pad, " leaves nothing of dim ", d, " of ", self);
  check<ShapeError>(n > 0, "pad: dim ", d, " of ", self, " has no entries to continue with");
  check<ShapeError>(edge != Edge::reflect || most < n, "pad: reflect needs pads below the size of the dim, got ", pad,
                    " for dim ", d, " of ", self);
  check<ShapeError>(edge != Edge::circular || most <= n, "pad: circular needs pads up to the size of the dim, got ",
                    pad, " for dim ", d, " of ", self);
}

}  // namespace

Tensor pad(const Tensor& self, IntSpan pad, std::string_view mode, std::optional<Scalar> value) {
  check<ValueError>(pad.size() % 2 == 0, "pad: pad ", pad, " must have two numbers for each dim");
  check<ShapeError>(pad.size() / 2 <= std::size_t(self.dim()), "pad: pad ", pad, " is for ", pad.size() / 2,
                    " dims but self is ", self);
  if (mode == "constant") return constant_pad(self, pad, value.value_or(0));
  check<ValueError>(mode == "reflect" || mode == "replicate" || mode == "circular", "pad: mode is '", mode,
                    "', expected \"constant\", \"reflect\", \"replicate\" or \"circular\"");
  check<ValueError>(!value || value->is_zero(), "pad: mode ", mode, " takes no value, got ", value.value_or(0));
  const Edge edge = mode == "reflect" ? Edge::reflect : mode == "replicate" ? Edge::replicate : Edge::circular;
  const auto dim_of = [&](std::size_t k) { return std::int64_t(self.dim()) - 1 - std::int64_t(k); };
  for (std::size_t k = 0; k < pad.size() / 2; ++k) check_ends(self, dim_of(k), ends_of(pad, k), edge, pad);
  const ImageOrder order(self);
  Tensor out = order.in_memory(self);
  for (std::size_t k = 0; k < pad.size() / 2; ++k) {
    const Ends ends = ends_of(pad, k);
    if (ends.before == 0 && ends.after == 0) continue;
    const std::int64_t n = self.size(dim_of(k));
    std::vector<std::int64_t> from;
    for (std::int64_t i = -ends.before; i < n + ends.after; ++i) from.push_back(shown_at(i, n, edge));
    out = index_select(out, order.dim(dim_of(k)), constant_on(self.device(), from_vector(std::move(from))));
  }
  out = order.back(out);
  return out.is_alias_of(self) ? self.clone() : out;
}

}  // namespace taper
