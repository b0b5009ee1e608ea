#include <taper/factory.h>
#include <taper/promotion.h>

#include "op_table.h"

namespace oracle {
namespace {

taper::TensorOptions options(const Args& a) { return {.dtype = a.dtype()}; }

Tensor result_type(const Args& a) {
  if (!a.is_tensor("a") || !a.is_tensor("b")) {
    const char* const tensor = a.is_tensor("a") ? "a" : "b";
    const char* const number = a.is_tensor("a") ? "b" : "a";
    return taper::zeros({}, taper::result_type(a.tensor(tensor), a.number(number)));
  }
  return taper::zeros({}, taper::result_type(a.tensor("a"), a.tensor("b")));
}

}  // namespace

void add_creation(OpTable& t) {
  t.add("arange", [](const Args& a) {
    return taper::arange(a.number("start", 0), a.number("end"), a.number("step", 1), options(a));
  });
  t.add("linspace", [](const Args& a) {
    return taper::linspace(a.number("start"), a.number("end"), a.integer("steps"), options(a));
  });
  t.add("logspace", [](const Args& a) {
    return taper::logspace(a.number("start"), a.number("end"), a.integer("steps"), a.real("base", 10), options(a));
  });
  t.add("new_zeros", [](const Args& a) { return a.tensor("input").new_zeros(a.ints("size"), a.dtype()); });
  t.add("new_full",
        [](const Args& a) { return a.tensor("input").new_full(a.ints("size"), a.number("fill_value"), a.dtype()); });
  t.add("full", [](const Args& a) { return taper::full(a.ints("size"), a.number("fill_value"), options(a)); });
  t.add("zeros", [](const Args& a) { return taper::zeros(a.ints("size"), options(a)); });
  t.add("ones", [](const Args& a) { return taper::ones(a.ints("size"), options(a)); });
  t.add("eye", [](const Args& a) { return taper::eye(a.integer("n"), a.optional_integer("m"), options(a)); });
  t.add("zeros_like", [](const Args& a) { return taper::zeros_like(a.tensor("input"), a.dtype()); });
  t.add("ones_like", [](const Args& a) { return taper::ones_like(a.tensor("input"), a.dtype()); });
  t.add("full_like",
        [](const Args& a) { return taper::full_like(a.tensor("input"), a.number("fill_value"), a.dtype()); });
  t.add("result_type", result_type);

  t.unary("clone", [](const Tensor& x) { return x.clone(); });
  t.unary("contiguous", [](const Tensor& x) { return x.contiguous(); });
  t.add("copy_", [](const Args& a) { return a.tensor("input").copy_(a.tensor("src")); });
  t.unary("item", [](const Tensor& x) { return Outputs(x.item()); });
  t.unary("to_bool", [](const Tensor& x) { return x.item<bool>(); });
  t.add("fill_", [](const Args& a) {
    Tensor x = a.tensor("input");
    return a.is_tensor("value") ? x.fill_(a.tensor("value")) : x.fill_(a.number("value"));
  });
  t.add("set_", [](const Args& a) { return a.tensor("input").set_(a.tensor("source")); });
  t.unary("zero_", [](Tensor x) { return x.zero_(); });
  t.add("to", [](const Args& a) { return a.tensor("input").to(*a.dtype()); });
}

}  // namespace oracle
