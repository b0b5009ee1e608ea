// What docs/ops.md leaves empty is an error that names the operator and the dtype; op_table finds where that is.
#include <taper/taper.h>

#include "support/catch.h"
#include "support/message.h"

using namespace taper;

TEST_CASE("an operator refuses a dtype that it has no kernel for, naming both", "[S123]") {
  using Call = Tensor (*)(const Tensor& x);
  struct Row {
    const char* name;
    Call call;
    std::vector<DType> dtypes;
  };
  const std::vector<DType> whole = {bool_, uint8, int8, int16, int32, int64};
  const std::vector<DType> floating = {float16, bfloat16, float32, float64};
  const Row rows[] = {
      {"gelu", [](const Tensor& x) { return gelu(x); }, whole},
      {"mean", [](const Tensor& x) { return x.mean(); }, whole},
      {"softmax", [](const Tensor& x) { return x.softmax(0); }, whole},
      {"norm", [](const Tensor& x) { return x.norm(); }, whole},
      {"mse_loss", [](const Tensor& x) { return mse_loss(x, x); }, whole},
      {"conv2d",
       [](const Tensor& x) {
         return conv2d(x.view({1, 1, 2, 2}), x.view({1, 1, 2, 2}));
       },
       whole},
      {"dropout", [](const Tensor& x) { return dropout(x, 0.5); }, whole},
      {"cholesky", [](const Tensor& x) { return linalg::cholesky(x); }, {int32, float16, bfloat16}},
      {"neg", [](const Tensor& x) { return x.neg(); }, {bool_}},
      {"sub", [](const Tensor& x) { return x.sub(x); }, {bool_}},
      {"matmul", [](const Tensor& x) { return matmul(x, x); }, {bool_}},
      {"bitwise_and", [](const Tensor& x) { return bitwise_and(x, x); }, floating},
      {"quantile", [](const Tensor& x) { return x.quantile(0.5); }, {int64, float16, bfloat16}},
  };
  for (const Row& row : rows)
    for (const DType d : row.dtypes) {
      INFO(row.name << " of " << name_of(d));
      const std::string text = full_message_of<DTypeError>([&] { row.call(ones({2, 2}, d)); });
      CHECK(contains(text, row.name));
      CHECK(contains(text, std::string(name_of(d))));
    }
}
