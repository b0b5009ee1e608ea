#include <taper/ops/index.h>

#include "array.h"
#include "op_table.h"

namespace oracle {
namespace {

taper::TensorIndex entry(const Args& a, const Value& v) {
  if (v.is<None>()) return taper::None;
  if (v.is<bool>()) return v.get<bool>();
  if (v.is<std::int64_t>()) return v.get<std::int64_t>();
  if (v.is<Ellipsis>()) return taper::Ellipsis;
  if (v.is<Tensor>()) return v.get<Tensor>();
  if (v.is<SliceValue>()) {
    const SliceValue& s = v.get<SliceValue>();
    return taper::Slice(s.start, s.stop, s.step);
  }
  if (!v.is<List>()) a.unsupported("an index of this kind");
  Array positions{.dtype = "int64", .shape = {std::int64_t(v.get<List>().size())}};
  for (const Value& i : v.get<List>()) {
    if (!i.is<std::int64_t>()) a.unsupported("a list of something but integers as index");
    positions.integers.push_back(i.get<std::int64_t>());
  }
  return make_tensor(positions);
}

std::vector<taper::TensorIndex> indices(const Args& a) {
  if (!a.is_list("index")) return {entry(a, a.value("index"))};
  std::vector<taper::TensorIndex> out;
  for (const Value& v : a.value("index").get<List>()) out.push_back(entry(a, v));
  return out;
}

/// Tensors, with None as an undefined one.
TensorList positions(const Args& a) {
  TensorList out;
  for (const Value& v : a.value("indices").get<List>()) out.push_back(v.is<Tensor>() ? v.get<Tensor>() : Tensor());
  return out;
}

Tensor setitem(const Args& a) {
  Tensor x = a.tensor("input");
  return a.is_tensor("value") ? x.index_put_(indices(a), a.tensor("value"))
                              : x.index_put_(indices(a), a.number("value"));
}

/// f(input, dim, index, source)
template <class F>
void along(OpTable& t, const std::string& name, F f, const char* source) {
  t.add(name, [f, source](const Args& a) -> Outputs {
    const Tensor x = a.tensor("input"), index = a.tensor("index");
    const std::int64_t dim = a.integer("dim");
    return a.is_tensor(source) ? f(x, dim, index, a.tensor(source)) : f(x, dim, index, a.number(source));
  });
}
template <class F>
void along_tensor(OpTable& t, const std::string& name, F f, const char* source) {
  t.add(name, [f, source](const Args& a) -> Outputs {
    return f(a.tensor("input"), a.integer("dim"), a.tensor("index"), a.tensor(source));
  });
}

}  // namespace

void add_indexing(OpTable& t) {
  t.add("getitem", [](const Args& a) { return a.tensor("input").index(indices(a)); });
  t.add("setitem", setitem);
  t.add("index_select",
        [](const Args& a) { return a.tensor("input").index_select(a.integer("dim"), a.tensor("index")); });
  t.add("index_add", [](const Args& a) {
    return taper::index_add(a.tensor("input"), a.integer("dim"), a.tensor("index"), a.tensor("source"),
                            a.number("alpha", 1));
  });
  t.add("index_add_", [](const Args& a) {
    Tensor x = a.tensor("input");
    return taper::index_add_(x, a.integer("dim"), a.tensor("index"), a.tensor("source"), a.number("alpha", 1));
  });
  along_tensor(
      t, "index_copy", [](auto... a) { return taper::index_copy(a...); }, "source");
  along_tensor(
      t, "index_copy_", [](Tensor x, auto... a) { return taper::index_copy_(x, a...); }, "source");
  along(
      t, "index_fill", [](auto... a) { return taper::index_fill(a...); }, "value");
  along(
      t, "index_fill_", [](Tensor x, auto... a) { return taper::index_fill_(x, a...); }, "value");
  along(
      t, "scatter", [](auto... a) { return taper::scatter(a...); }, "src");
  along(
      t, "scatter_", [](Tensor x, auto... a) { return taper::scatter_(x, a...); }, "src");
  along_tensor(
      t, "scatter_add", [](auto... a) { return taper::scatter_add(a...); }, "src");
  along_tensor(
      t, "scatter_add_", [](Tensor x, auto... a) { return taper::scatter_add_(x, a...); }, "src");
  for (const bool in_place : {false, true})
    t.add(in_place ? "scatter_reduce_" : "scatter_reduce", [in_place](const Args& a) {
      Tensor x = a.tensor("input");
      const std::int64_t dim = a.integer("dim");
      const Tensor index = a.tensor("index"), src = a.tensor("src");
      const std::string reduce = a.text("reduce", "");
      const bool include_self = a.flag("include_self", true);
      return in_place ? x.scatter_reduce_(dim, index, src, reduce, include_self)
                      : x.scatter_reduce(dim, index, src, reduce, include_self);
    });
  t.add("gather", [](const Args& a) { return a.tensor("input").gather(a.integer("dim"), a.tensor("index")); });
  t.add("take_along_dim", [](const Args& a) {
    return taper::take_along_dim(a.tensor("input"), a.tensor("indices"), a.optional_integer("dim"));
  });
  t.add("take", [](const Args& a) { return taper::take(a.tensor("input"), a.tensor("index")); });
  t.add("put", [](const Args& a) {
    return taper::put(a.tensor("input"), a.tensor("index"), a.tensor("source"), a.flag("accumulate", false));
  });
  t.add("put_", [](const Args& a) {
    Tensor x = a.tensor("input");
    return taper::put_(x, a.tensor("index"), a.tensor("source"), a.flag("accumulate", false));
  });
  t.add("one_hot", [](const Args& a) { return taper::one_hot(a.tensor("input"), a.integer("num_classes", -1)); });
  t.add("index_put", [](const Args& a) {
    return taper::index_put(a.tensor("input"), positions(a), a.tensor("values"), a.flag("accumulate", false));
  });
  t.add("index_put_", [](const Args& a) {
    Tensor x = a.tensor("input");
    return taper::index_put_(x, positions(a), a.tensor("values"), a.flag("accumulate", false));
  });

  t.add("masked_fill", [](const Args& a) {
    const Tensor x = a.tensor("input"), mask = a.tensor("mask");
    return a.is_tensor("value") ? x.masked_fill(mask, a.tensor("value")) : x.masked_fill(mask, a.number("value"));
  });
  t.add("masked_fill_", [](const Args& a) {
    Tensor x = a.tensor("input");
    const Tensor mask = a.tensor("mask");
    return a.is_tensor("value") ? x.masked_fill_(mask, a.tensor("value")) : x.masked_fill_(mask, a.number("value"));
  });
  t.add("masked_select", [](const Args& a) { return a.tensor("input").masked_select(a.tensor("mask")); });
  t.add("masked_scatter",
        [](const Args& a) { return taper::masked_scatter(a.tensor("input"), a.tensor("mask"), a.tensor("source")); });
  t.add("masked_scatter_", [](const Args& a) {
    Tensor x = a.tensor("input");
    return taper::masked_scatter_(x, a.tensor("mask"), a.tensor("source"));
  });
  t.unary("nonzero", [](const Tensor& x) { return x.nonzero(); });
}

}  // namespace oracle
