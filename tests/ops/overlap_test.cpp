// A destination that overlaps a source in any way gives exactly the out-of-place result.
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/math.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/view.h>
#include <taper/tensor_index.h>

#include "tests/support/catch.h"
#include "tests/support/values.h"

using namespace taper;

TEST_CASE("every in-place operator gives the out-of-place result when a source overlaps its destination", "[B3]") {
  using Write = Tensor& (*)(Tensor & self, const Tensor& other);
  const std::pair<const char*, Write> writes[] = {
      {"add_", [](Tensor& x, const Tensor& y) -> Tensor& { return x.add_(y, 2); }},
      {"sub_", [](Tensor& x, const Tensor& y) -> Tensor& { return x.sub_(y); }},
      {"mul_", [](Tensor& x, const Tensor& y) -> Tensor& { return x.mul_(y); }},
      {"div_", [](Tensor& x, const Tensor& y) -> Tensor& { return x.div_(y); }},
      {"pow_", [](Tensor& x, const Tensor& y) -> Tensor& { return x.pow_(y); }},
      {"copy_", [](Tensor& x, const Tensor& y) -> Tensor& { return x.copy_(y); }},
      {"clamp_min_", [](Tensor& x, const Tensor& y) -> Tensor& { return x.clamp_min_(y); }},
      {"clamp_max_", [](Tensor& x, const Tensor& y) -> Tensor& { return x.clamp_max_(y); }},
      {"ge_", [](Tensor& x, const Tensor& y) -> Tensor& { return x.ge_(y); }},
      {"logical_and_", [](Tensor& x, const Tensor& y) -> Tensor& { return x.logical_and_(y); }},
      {"index_put_",
       [](Tensor& x, const Tensor& y) -> Tensor& {
         return x.index_put_({tensor({2, 0, 1})}, y);
       }},
      {"index_put_ of a range", [](Tensor& x, const Tensor& y) -> Tensor& { return x.index_put_({Slice(0, 3)}, y); }},
      {"index_add_",
       [](Tensor& x, const Tensor& y) -> Tensor& {
         return index_add_(x, 0, tensor({2, 0, 0}), y);
       }},
      {"index_copy_",
       [](Tensor& x, const Tensor& y) -> Tensor& {
         return index_copy_(x, 0, tensor({1, 2, 0}), y);
       }},
      {"scatter_",
       [](Tensor& x, const Tensor& y) -> Tensor& {
         return scatter_(x, 0, tensor({{0, 1, 2}, {1, 2, 0}, {2, 0, 1}}), y);
       }},
      {"scatter_add_",
       [](Tensor& x, const Tensor& y) -> Tensor& {
         return scatter_add_(x, 1, tensor({{0, 0, 2}, {1, 1, 0}, {2, 0, 1}}), y);
       }},
      {"put_",
       [](Tensor& x, const Tensor& y) -> Tensor& {
         return put_(x, tensor({8, 6, 4, 2, 0, 1, 3, 5, 7}), y);
       }},
      {"masked_scatter_",
       [](Tensor& x, const Tensor& y) -> Tensor& {
         return masked_scatter_(x, tensor({{false, true, true}, {true, false, true}, {true, true, false}}), y);
       }},
  };
  using Part = Tensor (*)(const Tensor& memory);  // memory [4, 4]
  const std::pair<const char*, Part> parts[] = {
      {"itself", [](const Tensor& m) { return m.slice(0, 0, 3).slice(1, 0, 3); }},
      {"its transpose", [](const Tensor& m) { return m.slice(0, 0, 3).slice(1, 0, 3).t(); }},
      {"one row further", [](const Tensor& m) { return m.slice(0, 1, 4).slice(1, 0, 3); }},
      {"one column further", [](const Tensor& m) { return m.slice(0, 0, 3).slice(1, 1, 4); }},
      {"its last row, repeated",
       [](const Tensor& m) {
         return m.select(0, 2).slice(0, 0, 3).expand({3, 3});
       }},
      {"one element, repeated",
       [](const Tensor& m) {
         return m.select(0, 1).slice(0, 1, 2).expand({3, 3});
       }},
  };
  for (const auto& [write_name, write] : writes)
    for (const auto& [part_name, part] : parts) {
      INFO(write_name << " of " << part_name);
      const Tensor memory = ((arange(16, {.dtype = float64}) * 0.7).sin() + 1.5).view({4, 4}).clone();
      Tensor expected = parts[0].second(memory.clone());
      write(expected, part(memory.clone()).clone());

      Tensor self = parts[0].second(memory);
      write(self, part(memory));
      CHECK(values(self) == values(expected));
    }
}
