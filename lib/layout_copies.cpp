#include <taper/error.h>
#include <taper/layout_copies.h>
#include <taper/tensor.h>

#include <algorithm>
#include <cstring>

namespace taper {
namespace {
thread_local constinit LayoutCopies made;
thread_local std::vector<CopyStats> by_operator;
thread_local constinit int forbidden = 0;

void add(LayoutCopies& to, std::size_t bytes) {
  ++to.count;
  to.bytes += bytes;
}
}  // namespace

LayoutCopies layout_copies() noexcept { return made; }

std::vector<CopyStats> copy_stats() {
  std::vector<CopyStats> all = by_operator;
  std::stable_sort(all.begin(), all.end(), [](const CopyStats& a, const CopyStats& b) { return a.bytes > b.bytes; });
  return all;
}
void reset_copy_stats() noexcept { by_operator.clear(); }

ForbidImplicitCopies::ForbidImplicitCopies() noexcept { ++forbidden; }
ForbidImplicitCopies::~ForbidImplicitCopies() { --forbidden; }

namespace detail {
void count_layout_copy(const char* op, const Tensor& t) {
  const std::size_t bytes = t.nbytes();
  const auto of_op =
      std::find_if(by_operator.begin(), by_operator.end(), [&](const CopyStats& s) { return !std::strcmp(s.op, op); });
  if (of_op == by_operator.end()) {
    by_operator.push_back({{1, bytes}, op});
  } else {
    add(*of_op, bytes);
  }
  add(made, bytes);
}

void count_implicit_copy(const char* op, const Tensor& t) {
  check<ValueError>(forbidden == 0, op, ": would copy ", t, " with strides ", t.strides(),
                    ", and ForbidImplicitCopies is on; copy it yourself with x.contiguous()");
  count_layout_copy(op, t);
}
}  // namespace detail

}  // namespace taper
