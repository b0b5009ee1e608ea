#include <taper/layout_copies.h>

namespace taper {
namespace {
thread_local constinit LayoutCopies made;
}  // namespace

LayoutCopies layout_copies() noexcept { return made; }

namespace detail {
void count_layout_copy(std::size_t bytes) noexcept {
  ++made.count;
  made.bytes += bytes;
}
}  // namespace detail

}  // namespace taper
