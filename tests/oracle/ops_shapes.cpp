#include <taper/ops/diagonals.h>
#include <taper/ops/join.h>
#include <taper/ops/pad.h>
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
  t.add("rot90", [](const Args& a) {
    return a.tensor("input").rot90(a.integer("k", 1), a.has("dims") ? a.ints("dims") : taper::IntVec{0, 1});
  });
  t.add("repeat_interleave", [](const Args& a) {
    const Tensor x = a.tensor("input");
    return a.is_tensor("repeats") ? x.repeat_interleave(a.tensor("repeats"), a.optional_integer("dim"))
                                  : x.repeat_interleave(a.integer("repeats"), a.optional_integer("dim"));
  });
  t.add("select_scatter", [](const Args& a) {
    return taper::select_scatter(a.tensor("input"), a.tensor("src"), a.integer("dim"), a.integer("index"));
  });
  t.add("slice_scatter", [](const Args& a) {
    return taper::slice_scatter(a.tensor("input"), a.tensor("src"), a.integer("dim", 0), a.optional_integer("start"),
                                a.optional_integer("end"), a.integer("step", 1));
  });
  t.add("diagonal_scatter", [](const Args& a) {
    return taper::diagonal_scatter(a.tensor("input"), a.tensor("src"), a.integer("offset", 0), a.integer("dim1", 0),
                                   a.integer("dim2", 1));
  });
  t.add("broadcast_tensors", [](const Args& a) { return taper::broadcast_tensors(a.tensors("tensors")); });
  t.add("meshgrid", [](const Args& a) { return taper::meshgrid(a.tensors("tensors"), a.text("indexing", "ij")); });
  t.add("cartesian_prod", [](const Args& a) { return taper::cartesian_prod(a.tensors("tensors")); });
  t.add("block_diag", [](const Args& a) { return taper::block_diag(a.tensors("tensors")); });

  for (const bool lower : {true, false}) {
    const std::string name = lower ? "tril" : "triu";
    t.add(name, [lower](const Args& a) {
      const Tensor x = a.tensor("input");
      return lower ? x.tril(a.integer("diagonal", 0)) : x.triu(a.integer("diagonal", 0));
    });
    t.add(name + "_", [lower](const Args& a) {
      Tensor x = a.tensor("input");
      return lower ? x.tril_(a.integer("diagonal", 0)) : x.triu_(a.integer("diagonal", 0));
    });
    t.add(name + "_indices", [lower](const Args& a) {
      return (lower ? taper::tril_indices : taper::triu_indices)(a.integer("row"), a.integer("col"),
                                                                 a.integer("offset", 0));
    });
  }
  t.add("diag", [](const Args& a) { return a.tensor("input").diag(a.integer("diagonal", 0)); });
  t.add("diag_embed", [](const Args& a) {
    return a.tensor("input").diag_embed(a.integer("offset", 0), a.integer("dim1", -2), a.integer("dim2", -1));
  });
  t.add("diagflat", [](const Args& a) { return a.tensor("input").diagflat(a.integer("offset", 0)); });
  t.unary("trace", [](const Tensor& x) { return x.trace(); });
  t.add("pad", [](const Args& a) {
    const bool filled = a.has("value");
    return taper::pad(a.tensor("input"), a.ints("pad"), a.text("mode", "constant"),
                      filled ? std::optional<Scalar>(a.number("value")) : std::nullopt);
  });
}

}  // namespace oracle
