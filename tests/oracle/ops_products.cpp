#include <taper/ops/matmul.h>

#include "op_table.h"

namespace oracle {

void add_products(OpTable& t) {
  t.add("matmul", [](const Args& a) { return a.tensor("input").matmul(a.tensor("other")); });
  t.add("mm", [](const Args& a) { return a.tensor("input").mm(a.tensor("mat2")); });
  t.add("bmm", [](const Args& a) { return a.tensor("input").bmm(a.tensor("mat2")); });
  t.add("mv", [](const Args& a) { return a.tensor("input").mv(a.tensor("vec")); });
  t.add("dot", [](const Args& a) { return a.tensor("input").dot(a.tensor("other")); });
  t.add("outer", [](const Args& a) { return taper::outer(a.tensor("input"), a.tensor("vec2")); });
  t.add("linear",
        [](const Args& a) { return taper::linear(a.tensor("input"), a.tensor("weight"), a.optional_tensor("bias")); });
  t.add("addmm", [](const Args& a) {
    return taper::addmm(a.tensor("input"), a.tensor("mat1"), a.tensor("mat2"), a.number("beta", 1),
                        a.number("alpha", 1));
  });
  t.add("baddbmm", [](const Args& a) {
    return taper::baddbmm(a.tensor("input"), a.tensor("batch1"), a.tensor("batch2"), a.number("beta", 1),
                          a.number("alpha", 1));
  });
}

}  // namespace oracle
