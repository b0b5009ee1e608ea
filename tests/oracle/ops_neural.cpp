#include <taper/ops/attention.h>
#include <taper/ops/distance.h>
#include <taper/ops/dropout.h>
#include <taper/ops/embedding.h>
#include <taper/ops/norm_samples.h>
#include <taper/ops/resample.h>

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

Tensor interpolate(const Args& a) {
  const std::string mode = a.text("mode", "nearest");
  taper::InterpolateOptions options;
  if (a.has("size")) options.size = a.ints_n("size", std::size_t(a.tensor("input").dim() - 2), 0);
  if (a.has("scale_factor") && a.is_list("scale_factor"))
    for (const Value& v : a.value("scale_factor").get<List>()) {
      if (v.is<None>()) a.unsupported("None in a list");
      options.scale_factor.push_back(v.is<double>() ? v.get<double>() : double(v.get<std::int64_t>()));
    }
  else if (a.has("scale_factor"))
    options.scale_factor.push_back(a.real("scale_factor"));
  options.mode = mode;
  if (a.has("align_corners")) options.align_corners = a.flag("align_corners", false);
  if (a.has("recompute_scale_factor")) options.recompute_scale_factor = a.flag("recompute_scale_factor", false);
  options.antialias = a.flag("antialias", false);
  return taper::interpolate(a.tensor("input"), options);
}

}  // namespace

void add_neural(OpTable& t) {
  dropout(t, "dropout", [](const Tensor& x, double p, bool training) { return taper::dropout(x, p, training); });
  dropout(t, "dropout1d", [](const Tensor& x, double p, bool training) { return taper::dropout1d(x, p, training); });
  dropout(t, "dropout2d", [](const Tensor& x, double p, bool training) { return taper::dropout2d(x, p, training); });
  dropout(t, "dropout3d", [](const Tensor& x, double p, bool training) { return taper::dropout3d(x, p, training); });
  t.add("embedding", embedding);
  t.add("embedding_bag", embedding_bag);
  dropout(t, "alpha_dropout",
          [](const Tensor& x, double p, bool training) { return taper::alpha_dropout(x, p, training); });
  t.add("interpolate", interpolate);
  t.add("pixel_shuffle",
        [](const Args& a) { return taper::pixel_shuffle(a.tensor("input"), a.integer("upscale_factor")); });
  t.add("pixel_unshuffle",
        [](const Args& a) { return taper::pixel_unshuffle(a.tensor("input"), a.integer("downscale_factor")); });
  t.add("grid_sample", [](const Args& a) {
    return taper::grid_sample(a.tensor("input"), a.tensor("grid"), a.text("mode", "bilinear"),
                              a.text("padding_mode", "zeros"), a.flag("align_corners", false));
  });
  t.add("affine_grid", [](const Args& a) {
    return taper::affine_grid(a.tensor("theta"), a.ints("size"), a.flag("align_corners", false));
  });
  t.add("scaled_dot_product_attention", [](const Args& a) {
    return taper::scaled_dot_product_attention(a.tensor("query"), a.tensor("key"), a.tensor("value"),
                                               a.optional_tensor("attn_mask"), a.real("dropout_p", 0),
                                               a.flag("is_causal", false));
  });

  t.add("layer_norm", [](const Args& a) {
    return taper::layer_norm(a.tensor("input"), a.ints("normalized_shape"), a.optional_tensor("weight"),
                             a.optional_tensor("bias"), a.real("eps", 1e-5));
  });
  t.add("group_norm", [](const Args& a) {
    return taper::group_norm(a.tensor("input"), a.integer("num_groups"), a.optional_tensor("weight"),
                             a.optional_tensor("bias"), a.real("eps", 1e-5));
  });
  t.add("instance_norm", [](const Args& a) {
    return taper::instance_norm(a.tensor("input"), a.optional_tensor("running_mean"), a.optional_tensor("running_var"),
                                a.optional_tensor("weight"), a.optional_tensor("bias"), a.flag("use_input_stats", true),
                                a.real("momentum", 0.1), a.real("eps", 1e-5));
  });
  t.add("local_response_norm", [](const Args& a) {
    return taper::local_response_norm(a.tensor("input"), a.integer("size"), a.real("alpha", 1e-4), a.real("beta", 0.75),
                                      a.real("k", 1));
  });
  t.add("normalize", [](const Args& a) {
    return taper::normalize(a.tensor("input"), a.real("p", 2), a.integer("dim", 1), a.real("eps", 1e-12));
  });
  t.add("renorm",
        [](const Args& a) { return a.tensor("input").renorm(a.real("p"), a.integer("dim"), a.real("maxnorm")); });
  t.add("renorm_",
        [](const Args& a) { return a.tensor("input").renorm_(a.real("p"), a.integer("dim"), a.real("maxnorm")); });
  t.add("cosine_similarity", [](const Args& a) {
    return taper::cosine_similarity(a.tensor("x1"), a.tensor("x2"), a.integer("dim", 1), a.real("eps", 1e-8));
  });
  t.add("pairwise_distance", [](const Args& a) {
    return taper::pairwise_distance(a.tensor("x1"), a.tensor("x2"), a.real("p", 2), a.real("eps", 1e-6),
                                    a.flag("keepdim", false));
  });
  t.add("cdist", [](const Args& a) { return taper::cdist(a.tensor("x1"), a.tensor("x2"), a.real("p", 2)); });
}

}  // namespace oracle
