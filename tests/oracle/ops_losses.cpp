#include <taper/ops/loss.h>
#include <taper/ops/softmax.h>

#include "op_table.h"

namespace oracle {
namespace {

taper::Reduction reduction(const Args& a) {
  const std::string name = a.text("reduction", "mean");
  if (name == "none") return taper::Reduction::none;
  if (name == "mean") return taper::Reduction::mean;
  if (name == "sum") return taper::Reduction::sum;
  a.unsupported("reduction '" + name + "': an enumeration has no other values");
}

}  // namespace

void add_losses(OpTable& t) {
  t.add("softmax", [](const Args& a) { return taper::softmax(a.tensor("input"), a.integer("dim"), a.dtype()); });
  t.add("log_softmax",
        [](const Args& a) { return taper::log_softmax(a.tensor("input"), a.integer("dim"), a.dtype()); });
  t.add("cross_entropy", [](const Args& a) {
    return taper::cross_entropy(a.tensor("input"), a.tensor("target"),
                                {.weight = a.optional_tensor("weight"),
                                 .ignore_index = a.integer("ignore_index", -100),
                                 .reduction = reduction(a),
                                 .label_smoothing = a.real("label_smoothing", 0)});
  });
  t.add("nll_loss", [](const Args& a) {
    return taper::nll_loss(a.tensor("input"), a.tensor("target"),
                           {.weight = a.optional_tensor("weight"),
                            .ignore_index = a.integer("ignore_index", -100),
                            .reduction = reduction(a)});
  });
  t.add("mse_loss", [](const Args& a) { return taper::mse_loss(a.tensor("input"), a.tensor("target"), reduction(a)); });
  t.add("l1_loss", [](const Args& a) { return taper::l1_loss(a.tensor("input"), a.tensor("target"), reduction(a)); });
}

}  // namespace oracle
