#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/ops/embedding.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/view.h>

#include "rules.h"

namespace taper {
namespace {

struct EmbeddingBackward final : Node {
  Saved indices{this, "indices"};
  std::int64_t entries = 0;
  std::optional<std::int64_t> padding;
  bool by_frequency = false;
  void save(const Tensor& weight, const Tensor& i, const std::optional<std::int64_t>& padding_idx, bool scale) {
    indices = i, entries = weight.size(0), by_frequency = scale;
    if (padding_idx) padding = *padding_idx < 0 ? *padding_idx + entries : *padding_idx;
  }
  Gradients apply(Gradients grads) override {
    const std::int64_t width = grads[0].size(-1);
    const Tensor at = indices.get().reshape(-1);
    Tensor g = grads[0].reshape({at.numel(), width});
    if (padding) g = g.masked_fill(at.eq(*padding).unsqueeze(1), 0);
    if (by_frequency) {
      Tensor counts = zeros({entries}, g.dtype(), g.device());
      index_add_(counts, 0, at, ones(at.sizes(), g.dtype(), g.device()));
      g = g.div(index_select(counts, 0, at).unsqueeze(1));
    }
    Tensor whole = zeros({entries, width}, g.dtype(), g.device());
    if (at.numel() > 0) index_add_(whole, 0, at, g);
    return {whole, Tensor()};
  }
};

}  // namespace

void install_embedding_rules() { differentiate<EmbeddingBackward, ops::embedding>(); }

}  // namespace taper
