#include <taper/factory.h>
#include <taper/ops/compare.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include "support/catch.h"

using namespace taper;

TEST_CASE("channels-last is a matter of strides", "[memory_format][S67]") {
  const Tensor x = arange(24, {.dtype = float32}).view({2, 3, 2, 2});
  const Tensor y = x.contiguous(MemoryFormat::channels_last);

  CHECK(y.sizes() == x.sizes());
  CHECK(y.strides() == IntSpan{12, 1, 6, 3});
  CHECK(y.is_contiguous(MemoryFormat::channels_last));
  CHECK(!y.is_contiguous());
  CHECK(!x.is_contiguous(MemoryFormat::channels_last));
  CHECK(equal(x, y));
  CHECK(y.contiguous(MemoryFormat::channels_last).is_same(y));
  CHECK(x.contiguous(MemoryFormat::contiguous).is_same(x));
  CHECK(equal(y.contiguous(), x));
  CHECK(arange(6).view({1, 2, 3}).contiguous(MemoryFormat::channels_last).strides() == IntSpan{6, 1, 2});
  CHECK_THROWS_AS(zeros({2, 3}).contiguous(MemoryFormat::channels_last), ShapeError);
  CHECK(!zeros({2, 3}).is_contiguous(MemoryFormat::channels_last));
}

TEST_CASE("changing the order in memory is differentiable", "[memory_format]") {
  const Tensor x = ones({1, 2, 2, 2}, {.requires_grad = true});
  x.contiguous(MemoryFormat::channels_last).sum().backward();

  CHECK(equal(x.grad(), ones({1, 2, 2, 2})));
}

TEST_CASE("strides suggest the order of results", "[memory_format]") {
  const auto suggested = [](IntSpan sizes, IntSpan strides) {
    return suggested_memory_format(empty_strided(sizes, strides));
  };

  CHECK(suggested({2, 3, 4, 5}, {60, 20, 5, 1}) == MemoryFormat::contiguous);
  CHECK(suggested({2, 3, 4, 5}, {60, 1, 15, 3}) == MemoryFormat::channels_last);
  CHECK(suggested({2, 3, 4, 5}, {120, 1, 30, 6}) == MemoryFormat::channels_last);  // with gaps
  CHECK(suggested({2, 1, 4, 5}, {20, 20, 5, 1}) == MemoryFormat::contiguous);
  CHECK(suggested({2, 1, 4, 5}, {20, 1, 5, 1}) == MemoryFormat::channels_last);
  CHECK(suggested({2, 3, 1, 1}, {3, 1, 1, 1}) == MemoryFormat::contiguous);
  CHECK(suggested({2, 3, 1, 1}, {3, 1, 3, 3}) == MemoryFormat::channels_last);
  CHECK(suggested({1, 1, 1, 1}, {1, 1, 1, 1}) == MemoryFormat::contiguous);
  CHECK(suggested({2, 3}, {1, 2}) == MemoryFormat::contiguous);
}
