#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/ops/join.h>
#include <taper/ops/view.h>

#include "rules.h"

namespace taper {
namespace {

/// Each operand's part of the result.
struct CatBackward final : Node {
  std::int64_t dim = 0;
  SmallVector<std::int64_t, 4> sizes;  // along dim; -1 for an operand that is left out
  void save(const TensorList& tensors, std::int64_t d) {
    dim = d;
    for (const Tensor& t : tensors) {
      const bool skipped = t.dim() == 1 && t.numel() == 0;
      if (!skipped && d < 0) dim = d + t.dim();
      sizes.push_back(skipped ? -1 : 0);
    }
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (sizes[i] == 0) sizes[i] = tensors[i].size(dim);
  }
  Gradients apply(Gradients g) override {
    Gradients in(sizes.size());
    std::int64_t start = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      if (wants(i)) in[i] = sizes[i] < 0 ? zeros({0}, g[0].dtype(), g[0].device()) : narrow(g[0], dim, start, sizes[i]);
      if (sizes[i] > 0) start += sizes[i];
    }
    return in;
  }
};

struct StackBackward final : Node {
  std::int64_t dim = 0;
  std::size_t count = 0;
  void save(const TensorList& tensors, std::int64_t d) { dim = d, count = tensors.size(); }
  Gradients apply(Gradients g) override {
    Gradients in(count);
    for (std::size_t i = 0; i < count; ++i)
      if (wants(i)) in[i] = select(g[0], dim, std::int64_t(i));
    return in;
  }
};

}  // namespace

void install_join_rules() {
  differentiate<CatBackward, ops::cat>();
  differentiate<StackBackward, ops::stack>();
}

}  // namespace taper
