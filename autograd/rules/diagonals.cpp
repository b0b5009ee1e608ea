#include <taper/autograd/record.h>
#include <taper/ops/diagonals.h>

#include "rules.h"

namespace taper {
namespace {

template <auto& Op>
struct TriangleBackward final : Node {
  std::int64_t diagonal = 0;
  void save(const Tensor&, std::int64_t d) { diagonal = d; }
  Gradients apply(Gradients g) override { return {Op(g[0], diagonal)}; }
};

}  // namespace

void install_diagonal_rules() {
  differentiate<TriangleBackward<ops::tril>, ops::tril>();
  differentiate<TriangleBackward<ops::triu>, ops::triu>();
}

}  // namespace taper
