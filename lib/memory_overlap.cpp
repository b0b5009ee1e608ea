#include <taper/memory_overlap.h>
#include <taper/tensor.h>

#include <algorithm>
#include <vector>

namespace taper {
namespace {

/// One past the last element, less the first: 0 where there is none.
std::int64_t extent(const SizesAndStrides& g) {
  std::int64_t last = 0;
  for (int d = 0; d < g.rank(); ++d) {
    const std::int64_t size = g.sizes()[std::size_t(d)];
    if (size == 0) return 0;
    last += (size - 1) * g.strides()[std::size_t(d)];
  }
  return last + 1;
}
std::int64_t extent(const TensorImpl& t) { return extent(t.geometry()); }

/// Whether two tensors step through memory alike; the stride of a dimension of size 1 does not matter.
bool same_steps(const TensorImpl& a, const TensorImpl& b) {
  const auto sa = a.geometry().sizes(), sb = b.geometry().sizes();
  if (!(sa == sb)) return false;
  for (std::size_t d = 0; d < sa.size(); ++d)
    if (sa[d] > 1 && a.geometry().strides()[d] != b.geometry().strides()[d]) return false;
  return true;
}

std::vector<std::int64_t> addresses(const SizesAndStrides& g, std::int64_t offset) {
  std::vector<std::int64_t> all{offset};
  all.reserve(std::size_t(g.numel()));
  const auto sizes = g.sizes(), strides = g.strides();
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const std::size_t before = all.size();
    for (std::int64_t i = 1; i < sizes[d]; ++i)
      for (std::size_t k = 0; k < before; ++k) all.push_back(all[k] + i * strides[d]);
  }
  std::sort(all.begin(), all.end());
  return all;
}
std::vector<std::int64_t> addresses(const TensorImpl& t) { return addresses(t.geometry(), t.offset()); }

/// Every step is longer than all the smaller steps together can reach.
bool obviously_distinct(const TensorImpl& t) {
  const auto sizes = t.geometry().sizes(), strides = t.geometry().strides();
  std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride, size
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1) dims.emplace_back(strides[d], sizes[d]);
  std::sort(dims.begin(), dims.end());
  std::int64_t reach = 0;
  for (const auto& [stride, size] : dims) {
    if (stride <= reach) return false;
    reach += stride * (size - 1);
  }
  return true;
}

}  // namespace

bool overlaps_itself(const Tensor& t) {
  const TensorImpl& impl = *t.impl();
  if (impl.is_contiguous()) return false;
  const auto sizes = impl.geometry().sizes(), strides = impl.geometry().strides();
  if (impl.numel() == 0) return false;
  for (std::size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1 && strides[d] == 0) return true;
  if (obviously_distinct(impl)) return false;
  const auto all = addresses(impl);
  return std::adjacent_find(all.begin(), all.end()) != all.end();
}

bool covers(const Tensor& whole, const SizesAndStrides& part, std::int64_t offset) {
  const TensorImpl& impl = *whole.impl();
  const std::int64_t length = extent(part);
  if (length == 0) return true;
  if (offset < impl.offset() || offset + length > impl.offset() + extent(impl)) return false;
  // Without gaps, what lies between the first and the last element is all there.
  if (impl.is_contiguous() || (extent(impl) == impl.numel() && obviously_distinct(impl))) return true;
  auto all = addresses(impl), wanted = addresses(part, offset);
  wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
  return std::includes(all.begin(), all.end(), wanted.begin(), wanted.end());
}

Overlap overlap(const Tensor& ta, const Tensor& tb) {
  const TensorImpl &a = *ta.impl(), &b = *tb.impl();
  if (a.storage() != b.storage() && (a.device() != b.device() || !a.data())) return Overlap::none;
  if (&a == &b) return Overlap::identical;
  // Two storages can wrap the same outside memory, so addresses decide, in bytes.
  const auto* first_a = static_cast<const std::byte*>(a.data());
  const auto* first_b = static_cast<const std::byte*>(b.data());
  const std::int64_t item_a = std::int64_t(itemsize(a.dtype())), item_b = std::int64_t(itemsize(b.dtype()));
  const std::int64_t begin_a = first_a ? 0 : a.offset() * item_a;
  const std::int64_t begin_b = first_a ? first_b - first_a : b.offset() * item_b;
  const std::int64_t end_a = begin_a + extent(a) * item_a, end_b = begin_b + extent(b) * item_b;
  if (end_a == begin_a || end_b == begin_b || end_a <= begin_b || end_b <= begin_a) return Overlap::none;
  if (begin_a == begin_b && a.dtype() == b.dtype() && same_steps(a, b)) return Overlap::identical;
  // Interleaved columns share a range and no element: look at the elements when both step alike.
  if (a.storage() == b.storage() && a.dtype() == b.dtype() && a.numel() + b.numel() <= (1 << 16)) {
    const auto in_a = addresses(a), in_b = addresses(b);
    std::vector<std::int64_t> both;
    std::set_intersection(in_a.begin(), in_a.end(), in_b.begin(), in_b.end(), std::back_inserter(both));
    if (both.empty()) return Overlap::none;
  }
  return Overlap::partial;
}

}  // namespace taper
