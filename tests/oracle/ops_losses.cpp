#include <taper/ops/loss.h>
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
}

}  // namespace oracle
