#include <taper/ops/matmul.h>

#include "op_table.h"

namespace oracle {
namespace {

using Sum = Tensor (Tensor::*)(const Tensor&, const Tensor&, Scalar, Scalar) const;
using SumInplace = Tensor& (Tensor::*)(const Tensor&, const Tensor&, Scalar, Scalar);

void sum_with_product(OpTable& t, const std::string& name, const char* left, const char* right, Sum f, SumInplace f_) {
  t.add(name, [=](const Args& a) {
    return (a.tensor("input").*f)(a.tensor(left), a.tensor(right), a.number("beta", 1), a.number("alpha", 1));
  });
  t.add(name + "_", [=](const Args& a) {
    return (a.tensor("input").*f_)(a.tensor(left), a.tensor(right), a.number("beta", 1), a.number("alpha", 1));
  });
}

}  // namespace

void add_products(OpTable& t) {
  t.add("matmul", [](const Args& a) { return a.tensor("input").matmul(a.tensor("other")); });
  t.add("mm", [](const Args& a) { return a.tensor("input").mm(a.tensor("mat2")); });
  t.add("bmm", [](const Args& a) { return a.tensor("input").bmm(a.tensor("mat2")); });
  t.add("mv", [](const Args& a) { return a.tensor("input").mv(a.tensor("vec")); });
  t.add("dot", [](const Args& a) { return a.tensor("input").dot(a.tensor("other")); });
  t.add("outer", [](const Args& a) { return taper::outer(a.tensor("input"), a.tensor("vec2")); });
  t.add("linear",
        [](const Args& a) { return taper::linear(a.tensor("input"), a.tensor("weight"), a.optional_tensor("bias")); });
  sum_with_product(t, "addmm", "mat1", "mat2", &Tensor::addmm, &Tensor::addmm_);
  sum_with_product(t, "baddbmm", "batch1", "batch2", &Tensor::baddbmm, &Tensor::baddbmm_);
  sum_with_product(t, "addbmm", "batch1", "batch2", &Tensor::addbmm, &Tensor::addbmm_);
  sum_with_product(t, "addmv", "mat", "vec", &Tensor::addmv, &Tensor::addmv_);
  sum_with_product(t, "addr", "vec1", "vec2", &Tensor::addr, &Tensor::addr_);
  t.add("inner", [](const Args& a) { return a.tensor("input").inner(a.tensor("other")); });
  t.add("kron", [](const Args& a) { return a.tensor("input").kron(a.tensor("other")); });
  t.add("tensordot", [](const Args& a) {
    if (!a.has("dims") || !a.is_list("dims"))
      return taper::tensordot(a.tensor("a"), a.tensor("b"), a.integer("dims", 2));
    const List& dims = a.value("dims").get<List>();
    const auto ints = [](const Value& v) {
      taper::IntVec out;
      for (const Value& i : v.get<List>()) out.push_back(i.get<std::int64_t>());
      return out;
    };
    return taper::tensordot(a.tensor("a"), a.tensor("b"), ints(dims.at(0)), ints(dims.at(1)));
  });
  t.add("einsum", [](const Args& a) { return taper::einsum(a.text("equation", ""), a.tensors("operands")); });
  t.add("bilinear", [](const Args& a) {
    return taper::bilinear(a.tensor("input1"), a.tensor("input2"), a.tensor("weight"), a.optional_tensor("bias"));
  });
}

}  // namespace oracle
