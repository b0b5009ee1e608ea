#include <fmt/format.h>
#include <taper/error.h>
#include <taper/explain.h>
#include <taper/operator.h>

#include <cstddef>

namespace taper {
namespace {

/// Where the elements lie, as addresses.
struct Range {
  const std::byte *begin = nullptr, *end = nullptr;
  explicit Range(const Tensor& t) {
    if (t.device().is_meta() || t.numel() == 0) return;
    begin = end = static_cast<const std::byte*>(t.impl()->data());
    std::int64_t last = 0;
    for (int d = 0; d < t.dim(); ++d) last += (t.size(d) - 1) * t.stride(d);
    end += (last + 1) * std::int64_t(t.element_size());
  }
  bool meets(const Range& o) const { return begin && o.begin && begin < o.end && o.begin < end; }
};

std::string text(const auto& v) {
  std::string s;
  append_to(s, v);
  return s;
}
bool requires_grad(const Tensor& t) { return detail::requires_grad_hook && detail::requires_grad_hook(t); }

}  // namespace

std::string explain(const Tensor& result, const Tensor& source) {
  check<ValueError>(result.defined() && source.defined(), "explain: needs two tensors, got an undefined one");
  const bool same_storage = result.is_alias_of(source), same_device = result.device() == source.device();
  const bool shared = same_storage || (same_device && Range(result).meets(Range(source)));
  const std::string moved = same_device ? "no" : text(source.device()) + " -> " + text(result.device());
  const std::string held = same_storage ? fmt::format("{} bytes of the source", source.storage()->bytes())
                                        : fmt::format("{} bytes of its own", shared ? 0 : result.storage()->bytes());
  const std::string strides =
      result.strides() == source.strides() ? "same" : text(source.strides()) + " -> " + text(result.strides());
  const char* gradient = requires_grad(result) ? "recorded" : requires_grad(source) ? "cut" : "none";
  return fmt::format(
      "new storage: {}; copied: {} bytes; moved: {}; keeps alive: {}; strides: {}; shares memory: {}; gradient: {}; "
      "kernels: {}",
      same_storage ? "no" : "yes", shared ? 0 : result.nbytes(), moved, held, strides, shared ? "yes" : "no", gradient,
      result.is_contiguous() ? "dense" : "by strides");
}

}  // namespace taper
