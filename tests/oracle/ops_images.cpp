#include <taper/ops/norm.h>

#include "image_args.h"
#include "op_table.h"

namespace oracle {
namespace {

Outputs max_pool2d(const Args& a) {
  const Tensor x = a.tensor("input");
  const taper::IntPair kernel = pair(a, "kernel_size", 1);
  const taper::MaxPool2dOptions options = max_pool_options(a);
  if (!a.flag("return_indices", false)) return taper::max_pool2d(x, kernel, options);
  const auto [values, indices] = taper::max_pool2d_with_indices(x, kernel, options);
  return TensorList{values, indices};
}

}  // namespace

void add_images(OpTable& t) {
  t.add("conv2d", [](const Args& a) {
    return taper::conv2d(a.tensor("input"), a.tensor("weight"), a.optional_tensor("bias"),
                         {.stride = pair(a, "stride", 1),
                          .padding = conv_padding(a),
                          .dilation = pair(a, "dilation", 1),
                          .groups = a.integer("groups", 1)});
  });
  t.add("max_pool2d", max_pool2d);
  t.add("avg_pool2d", [](const Args& a) {
    return taper::avg_pool2d(a.tensor("input"), pair(a, "kernel_size", 1), avg_pool_options(a));
  });
  t.add("batch_norm", [](const Args& a) {
    return taper::batch_norm(a.tensor("input"), a.optional_tensor("weight"), a.optional_tensor("bias"),
                             a.optional_tensor("running_mean"), a.optional_tensor("running_var"),
                             a.flag("training", false), a.real("momentum", 0.1), a.real("eps", 1e-5));
  });
}

}  // namespace oracle
