#include <taper/ops/view.h>

#include "op_table.h"

namespace oracle {

void add_views(OpTable& t) {
  t.add("view", [](const Args& a) { return a.tensor("input").view(a.ints("size")); });
  t.add("view_as", [](const Args& a) { return a.tensor("input").view_as(a.tensor("other")); });
  t.add("reshape", [](const Args& a) { return a.tensor("input").reshape(a.ints("shape")); });
  t.add("reshape_as", [](const Args& a) { return reshape_as(a.tensor("input"), a.tensor("other")); });
  t.add("flatten",
        [](const Args& a) { return a.tensor("input").flatten(a.integer("start_dim", 0), a.integer("end_dim", -1)); });
  t.add("unflatten", [](const Args& a) { return unflatten(a.tensor("input"), a.integer("dim"), a.ints("sizes")); });
  t.unary("ravel", [](const Tensor& x) { return ravel(x); });
  t.unary("atleast_1d", [](const Tensor& x) { return atleast_1d(x); });
  t.unary("atleast_2d", [](const Tensor& x) { return atleast_2d(x); });
  t.unary("atleast_3d", [](const Tensor& x) { return atleast_3d(x); });

  t.add("transpose", [](const Args& a) { return a.tensor("input").transpose(a.integer("dim0"), a.integer("dim1")); });
  t.add("transpose_", [](const Args& a) { return a.tensor("input").transpose_(a.integer("dim0"), a.integer("dim1")); });
  t.add("permute", [](const Args& a) { return a.tensor("input").permute(a.ints("dims")); });
  t.unary(
      "t", [](const Tensor& x) { return x.t(); }, [](Tensor x) { return x.t_(); });
  t.unary("T", [](const Tensor& x) { return numpy_T(x); });
  t.unary("mT", [](const Tensor& x) { return mT(x); });
  t.add("movedim", [](const Args& a) { return movedim(a.tensor("input"), a.ints("source"), a.ints("destination")); });
  t.add("unsqueeze", [](const Args& a) { return a.tensor("input").unsqueeze(a.integer("dim")); });
  t.add("unsqueeze_", [](const Args& a) { return a.tensor("input").unsqueeze_(a.integer("dim")); });
  t.add("squeeze", [](const Args& a) {
    return a.has("dim") ? a.tensor("input").squeeze(a.integer("dim")) : a.tensor("input").squeeze();
  });
  t.add("squeeze_", [](const Args& a) {
    return a.has("dim") ? a.tensor("input").squeeze_(a.integer("dim")) : a.tensor("input").squeeze_();
  });
  t.add("expand", [](const Args& a) { return a.tensor("input").expand(a.ints("size")); });
  t.add("broadcast_to", [](const Args& a) { return broadcast_to(a.tensor("input"), a.ints("size")); });
  t.add("expand_as", [](const Args& a) { return a.tensor("input").expand_as(a.tensor("other")); });

  t.add("narrow", [](const Args& a) {
    return a.tensor("input").narrow(a.integer("dim"), a.integer("start"), a.integer("length"));
  });
  t.add("select", [](const Args& a) { return a.tensor("input").select(a.integer("dim"), a.integer("index")); });
  t.add("slice", [](const Args& a) {
    return a.tensor("input").slice(a.integer("dim", 0), a.optional_integer("start"), a.optional_integer("end"),
                                   a.integer("step", 1));
  });
  t.add("as_strided", [](const Args& a) {
    return a.tensor("input").as_strided(a.ints("size"), a.ints("stride"), a.optional_integer("storage_offset"));
  });
  t.add("unfold", [](const Args& a) {
    return a.tensor("input").unfold(a.integer("dimension"), a.integer("size"), a.integer("step"));
  });
  t.add("diagonal", [](const Args& a) {
    return a.tensor("input").diagonal(a.integer("offset", 0), a.integer("dim1", 0), a.integer("dim2", 1));
  });

  t.add("chunk", [](const Args& a) { return a.tensor("input").chunk(a.integer("chunks"), a.integer("dim", 0)); });
  t.add("split", [](const Args& a) {
    const char* const sizes = "split_size_or_sections";
    const Tensor x = a.tensor("input");
    const std::int64_t dim = a.integer("dim", 0);
    return a.is_list(sizes) ? x.split_with_sizes(a.ints(sizes), dim) : x.split(a.integer(sizes), dim);
  });
  t.add("split_with_sizes",
        [](const Args& a) { return a.tensor("input").split_with_sizes(a.ints("split_sizes"), a.integer("dim", 0)); });
  t.add("tensor_split", [](const Args& a) {
    const char* const where = "indices_or_sections";
    const Tensor x = a.tensor("input");
    const std::int64_t dim = a.integer("dim", 0);
    return a.is_list(where) ? tensor_split(x, a.ints(where), dim) : tensor_split(x, a.integer(where), dim);
  });
  t.add("unbind", [](const Args& a) { return a.tensor("input").unbind(a.integer("dim", 0)); });
}

}  // namespace oracle
