#include <taper/ops/join.h>
#include <taper/ops/rearrange.h>

#include "op_table.h"

namespace oracle {

void add_shapes(OpTable& t) {
  t.add("cat", [](const Args& a) { return taper::cat(a.tensors("tensors"), a.integer("dim", 0)); });
  t.add("stack", [](const Args& a) { return taper::stack(a.tensors("tensors"), a.integer("dim", 0)); });
  t.add("hstack", [](const Args& a) { return taper::hstack(a.tensors("tensors")); });
  t.add("vstack", [](const Args& a) { return taper::vstack(a.tensors("tensors")); });
  t.add("dstack", [](const Args& a) { return taper::dstack(a.tensors("tensors")); });
  t.add("column_stack", [](const Args& a) { return taper::column_stack(a.tensors("tensors")); });

  t.add("repeat", [](const Args& a) { return taper::repeat(a.tensor("input"), a.ints("repeats")); });
  t.add("tile", [](const Args& a) { return taper::tile(a.tensor("input"), a.ints("dims")); });
  t.add("flip", [](const Args& a) { return taper::flip(a.tensor("input"), a.ints("dims")); });
  t.add("roll", [](const Args& a) {
    return taper::roll(a.tensor("input"), a.ints("shifts"), a.has("dims") ? a.ints("dims") : taper::IntVec{});
  });
  t.add("fliplr", [](const Args& a) { return taper::fliplr(a.tensor("input")); });
  t.add("flipud", [](const Args& a) { return taper::flipud(a.tensor("input")); });
}

}  // namespace oracle
