#include <taper/ops/dropout.h>
#include <taper/ops/embedding.h>

#include "op_table.h"

namespace oracle {
namespace {

/// Dropout whose result does not depend on chance, as the records have it.
template <class F>
void dropout(OpTable& t, const std::string& name, F f) {
  t.add(name,
        [f](const Args& a) -> Outputs { return f(a.tensor("input"), a.real("p", 0.5), a.flag("training", true)); });
}

/// The rows in use are first shortened, in the given table, if max_norm asks for it.
Tensor renormed(const Args& a) {
  Tensor weight = a.tensor("weight");
  if (a.has("max_norm"))
    taper::embedding_renorm_(weight, a.tensor("input"), a.real("max_norm"), a.real("norm_type", 2));
  else
    a.real("norm_type", 2);
  if (a.flag("sparse", false)) a.unsupported("sparse");
  return weight;
}
Tensor embedding(const Args& a) {
  return taper::embedding(renormed(a), a.tensor("input"), a.optional_integer("padding_idx"),
                          a.flag("scale_grad_by_freq", false));
}
Tensor embedding_bag(const Args& a) {
  const std::string mode = a.text("mode", "mean");
  if (mode != "sum" && mode != "mean" && mode != "max")
    a.unsupported("mode '" + mode + "': an enumeration has no other");
  taper::EmbeddingBagOptions options;
  options.mode = mode == "sum" ? taper::BagMode::sum : mode == "mean" ? taper::BagMode::mean : taper::BagMode::max;
  options.scale_grad_by_freq = a.flag("scale_grad_by_freq", false);
  options.include_last_offset = a.flag("include_last_offset", false);
  options.padding_idx = a.optional_integer("padding_idx");
  return taper::embedding_bag(renormed(a), a.tensor("input"), a.optional_tensor("offsets"), options,
                              a.optional_tensor("per_sample_weights"));
}

}  // namespace

void add_neural(OpTable& t) {
  dropout(t, "dropout", [](const Tensor& x, double p, bool training) { return taper::dropout(x, p, training); });
  dropout(t, "dropout1d", [](const Tensor& x, double p, bool training) { return taper::dropout1d(x, p, training); });
  dropout(t, "dropout2d", [](const Tensor& x, double p, bool training) { return taper::dropout2d(x, p, training); });
  dropout(t, "dropout3d", [](const Tensor& x, double p, bool training) { return taper::dropout3d(x, p, training); });
  t.add("embedding", embedding);
  t.add("embedding_bag", embedding_bag);
}

}  // namespace oracle
