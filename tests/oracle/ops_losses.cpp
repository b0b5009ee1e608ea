#include <taper/ops/loss.h>
#include <taper/ops/loss_ctc.h>
#include <taper/ops/loss_elementwise.h>
#include <taper/ops/loss_margin.h>
#include <taper/ops/softmax.h>

#include "op_table.h"
#include "reduction.h"

namespace oracle {

void add_losses(OpTable& t) {
  t.add("softmax", [](const Args& a) { return taper::softmax(a.tensor("input"), a.integer("dim"), a.dtype()); });
  t.add("log_softmax",
        [](const Args& a) { return taper::log_softmax(a.tensor("input"), a.integer("dim"), a.dtype()); });
  t.add("cross_entropy", [](const Args& a) {
    return taper::cross_entropy(a.tensor("input"), a.tensor("target"), cross_entropy_options(a));
  });
  t.add("nll_loss", [](const Args& a) {
    return taper::nll_loss(a.tensor("input"), a.tensor("target"),
                           {.weight = a.optional_tensor("weight"),
                            .ignore_index = a.integer("ignore_index", -100),
                            .reduction = reduction(a)});
  });
  t.add("mse_loss", [](const Args& a) { return taper::mse_loss(a.tensor("input"), a.tensor("target"), reduction(a)); });
  t.add("l1_loss", [](const Args& a) { return taper::l1_loss(a.tensor("input"), a.tensor("target"), reduction(a)); });
  t.add("smooth_l1_loss", [](const Args& a) {
    return taper::smooth_l1_loss(a.tensor("input"), a.tensor("target"), reduction(a), a.real("beta", 1));
  });
  t.add("huber_loss", [](const Args& a) {
    return taper::huber_loss(a.tensor("input"), a.tensor("target"), reduction(a), a.real("delta", 1));
  });
  t.add("binary_cross_entropy", [](const Args& a) {
    return taper::binary_cross_entropy(a.tensor("input"), a.tensor("target"), a.optional_tensor("weight"),
                                       reduction(a));
  });
  t.add("binary_cross_entropy_with_logits", [](const Args& a) {
    return taper::binary_cross_entropy_with_logits(a.tensor("input"), a.tensor("target"), a.optional_tensor("weight"),
                                                   reduction(a), a.optional_tensor("pos_weight"));
  });
  t.add("kl_div", [](const Args& a) {
    using taper::KlReduction;
    const bool batchmean = a.text("reduction", "mean") == "batchmean";
    KlReduction how = KlReduction::batchmean;
    if (!batchmean) how = KlReduction(reduction(a));
    return taper::kl_div(a.tensor("input"), a.tensor("target"), how, a.flag("log_target", false));
  });
  t.add("soft_margin_loss",
        [](const Args& a) { return taper::soft_margin_loss(a.tensor("input"), a.tensor("target"), reduction(a)); });
  t.add("hinge_embedding_loss", [](const Args& a) {
    return taper::hinge_embedding_loss(a.tensor("input"), a.tensor("target"), a.real("margin", 1), reduction(a));
  });
  t.add("poisson_nll_loss", [](const Args& a) {
    return taper::poisson_nll_loss(a.tensor("input"), a.tensor("target"),
                                   {.log_input = a.flag("log_input", true),
                                    .full = a.flag("full", false),
                                    .eps = a.real("eps", 1e-8),
                                    .reduction = reduction(a)});
  });
  t.add("gaussian_nll_loss", [](const Args& a) {
    return taper::gaussian_nll_loss(
        a.tensor("input"), a.tensor("target"), a.tensor("var"),
        {.full = a.flag("full", false), .eps = a.real("eps", 1e-6), .reduction = reduction(a)});
  });
  t.add("margin_ranking_loss", [](const Args& a) {
    return taper::margin_ranking_loss(a.tensor("input1"), a.tensor("input2"), a.tensor("target"), a.real("margin", 0),
                                      reduction(a));
  });
  t.add("cosine_embedding_loss", [](const Args& a) {
    return taper::cosine_embedding_loss(a.tensor("input1"), a.tensor("input2"), a.tensor("target"), a.real("margin", 0),
                                        reduction(a));
  });
  t.add("triplet_margin_loss", [](const Args& a) {
    return taper::triplet_margin_loss(a.tensor("anchor"), a.tensor("positive"), a.tensor("negative"),
                                      {.margin = a.real("margin", 1),
                                       .p = a.real("p", 2),
                                       .eps = a.real("eps", 1e-6),
                                       .swap = a.flag("swap", false),
                                       .reduction = reduction(a)});
  });
  t.add("multi_margin_loss", [](const Args& a) {
    return taper::multi_margin_loss(a.tensor("input"), a.tensor("target"),
                                    {.p = int(a.integer("p", 1)),
                                     .margin = a.real("margin", 1),
                                     .weight = a.optional_tensor("weight"),
                                     .reduction = reduction(a)});
  });
  t.add("multilabel_margin_loss", [](const Args& a) {
    return taper::multilabel_margin_loss(a.tensor("input"), a.tensor("target"), reduction(a));
  });
  t.add("multilabel_soft_margin_loss", [](const Args& a) {
    return taper::multilabel_soft_margin_loss(a.tensor("input"), a.tensor("target"), a.optional_tensor("weight"),
                                              reduction(a));
  });
  t.add("ctc_loss", [](const Args& a) {
    return taper::ctc_loss(
        a.tensor("log_probs"), a.tensor("targets"), a.tensor("input_lengths"), a.tensor("target_lengths"),
        {.blank = a.integer("blank", 0), .reduction = reduction(a), .zero_infinity = a.flag("zero_infinity", false)});
  });
}

}  // namespace oracle
