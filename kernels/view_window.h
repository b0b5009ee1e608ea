#pragma once
// The memory that a base and a view of it look at together: what the adjoint operators of views work on.
#include <taper/operator.h>
#include <taper/ops/view.h>
#include <taper/small_vector.h>

#include <algorithm>

namespace taper::view_window {

/// Elements of memory that a shape with strides reaches, counted from its first element to its last.
inline std::int64_t extent(const SizesAndStrides& g) {
  std::int64_t last = 0;
  for (int d = 0; d < g.rank(); ++d) {
    if (g.sizes()[std::size_t(d)] == 0) return 0;
    last += (g.sizes()[std::size_t(d)] - 1) * g.strides()[std::size_t(d)];
  }
  return last + 1;
}

inline bool is_row_major(const SizesAndStrides& g) {
  std::int64_t step = 1;
  for (std::size_t d = g.sizes().size(); d-- > 0;) {
    if (g.sizes()[d] != 1 && g.strides()[d] != step) return false;
    step *= g.sizes()[d];
  }
  return true;
}

/// False only if no two elements share memory.
inline bool may_overlap(const SizesAndStrides& g) {
  SmallVector<std::pair<std::int64_t, std::int64_t>, 6> dims;  // stride, size
  for (std::size_t d = 0; d < g.sizes().size(); ++d)
    if (g.sizes()[d] > 1) dims.push_back({g.strides()[d], g.sizes()[d]});
  std::sort(dims.begin(), dims.end());
  std::int64_t reached = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reached) return true;
    reached += (size - 1) * stride;
  }
  return false;
}

/// Whether the view reads nothing but elements of a row-major base, so that the base itself is the window.
inline bool base_is_window(const ViewPlacement& p) {
  return is_row_major(p.base.geometry) && p.shift >= 0 && p.shift + extent(p.view) <= p.base.geometry.numel();
}

/// Where the window begins and ends, in elements from the base's first.
inline std::int64_t begin_of(const ViewPlacement& p) { return std::min<std::int64_t>(0, p.shift); }
inline std::int64_t end_of(const ViewPlacement& p) {
  return std::max(extent(p.base.geometry), p.shift + extent(p.view));
}

/// The kernel of reshape where no view will do, on any device.
inline void reshape_copy(Tensor& out, const Tensor& self, const IntSpan&) {
  Tensor like_self =
      detail::make_view(out, {SizesAndStrides::contiguous(self.sizes()), out.storage_offset()}, false, "view");
  detail::copy_into(like_self, self);
}

}  // namespace taper::view_window
