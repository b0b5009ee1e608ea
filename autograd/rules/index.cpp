// Derivatives of reading and writing at positions: one is the other's adjoint.
#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/view.h>

#include "corner.h"
#include "rules.h"
#include "saved_list.h"

namespace taper {
namespace {

struct IndexBackward final : Node {
  SavedList positions{this};
  IntVec dims;
  TensorSpec self;
  void save(const Tensor& x, const TensorList& indices, IntSpan along) {
    self = x.spec(), dims = along.vec();
    positions.save("indices", indices);
  }
  Gradients apply(Gradients g) override {
    Gradients in(1 + positions.size());
    in[0] = zeros(self.sizes(), self.dtype, self.device);
    ops::index_put.inplace(in[0], in[0], positions.get(), g[0], dims, true);
    return in;
  }
};

/// 0 where a later write went to the same element, g elsewhere: what does not reach the result gets no gradient.
/// `found` is what is read back after each position wrote its number.
Tensor only_last(const Tensor& g, const Tensor& numbers, const Tensor& found) {
  const Tensor lost = found.ne(numbers);
  // Elsewhere than on the cpu, looking would mean to wait.
  return !g.device().is_cpu() || lost.any().item<bool>() ? g.masked_fill(lost, 0) : g;
}

Tensor numbered(IntSpan sizes, Device device) {
  return arange(SizesAndStrides::contiguous(sizes).numel(), {.dtype = int64, .device = device}).view(sizes);
}

struct IndexPutBackward final : Node {
  SavedList positions{this};
  IntVec dims, sizes;
  bool accumulate = false;
  void save(const Tensor& self, const TensorList& indices, const Tensor&, IntSpan along, bool acc) {
    positions.save("indices", indices);
    dims = along.vec(), sizes = self.sizes().vec();
    accumulate = acc;
  }
  Gradients apply(Gradients g) override {
    const std::size_t values = 1 + positions.size();
    const TensorList indices = positions.get();
    Gradients in(values + 1);
    if (wants(0)) {
      const auto nothing = [&] { return zeros(IntSpan{}, g[0].dtype(), g[0].device()); };
      in[0] = accumulate ? g[0] : ops::index_put(g[0], indices, nothing(), dims, false);
    }
    if (wants(values)) {
      in[values] = ops::index(g[0], indices, dims);
      if (!accumulate) in[values] = only_last_written(in[values], indices);
    }
    return in;
  }

 private:
  /// The order of writes is that of the positions, so it is enough to look at the indexed dims.
  Tensor only_last_written(const Tensor& g, const TensorList& indices) const {
    IntVec indexed, own;
    for (std::size_t k = 0; k < dims.size(); ++k) {
      indexed.push_back(sizes[std::size_t(dims[k])]);
      own.push_back(std::int64_t(k));
    }
    Tensor owner = full(indexed, -1, int64, g.device());
    const Tensor any = ops::index(owner, indices, own);
    if (any.numel() <= 1) return g;
    const Tensor numbers = numbered(any.sizes(), g.device());
    ops::index_put.inplace(owner, owner, indices, numbers, own, false);
    // Aligned with the positions' dims in g, which the dims of the blocks follow.
    const bool neighbours = dims.back() - dims.front() + 1 == std::int64_t(dims.size());
    const std::size_t blocks = neighbours ? sizes.size() - 1 - std::size_t(dims.back()) : sizes.size() - dims.size();
    IntVec shape = any.sizes().vec();
    shape.insert(shape.end(), blocks, 1);
    return only_last(g, numbers.view(shape), ops::index(owner, indices, own).view(shape));
  }
};

struct GatherBackward final : Node {
  Saved index{this, "index"};
  std::int64_t dim = 0;
  TensorSpec self;
  void save(const Tensor& x, std::int64_t d, const Tensor& i) { index = i, dim = d, self = x.spec(); }
  Gradients apply(Gradients g) override {
    Tensor whole = zeros(self.sizes(), self.dtype, self.device);
    scatter_add_(whole, dim, index, g[0]);
    return {whole, Tensor()};
  }
};

struct ScatterBackward final : Node {
  Saved index{this, "index"};
  std::int64_t dim = 0;
  TensorSpec src;
  void save(const Tensor&, std::int64_t d, const Tensor& i, const Tensor& s) { index = i, dim = d, src = s.spec(); }
  Gradients apply(Gradients g) override {
    const Tensor at = index;
    Gradients in(3);
    if (wants(0)) in[0] = scatter(g[0], dim, at, 0);
    if (wants(2)) in[2] = grown(only_last_written(g[0], at), src);
    return in;
  }

 private:
  Tensor only_last_written(const Tensor& g, const Tensor& at) const {
    const Tensor part = gather(g, dim, at);
    if (at.numel() <= 1) return part;
    const Tensor numbers = numbered(at.sizes(), g.device());
    Tensor owner = full(g.sizes(), -1, int64, g.device());
    return only_last(part, numbers, gather(scatter_(owner, dim, at, numbers), dim, at));
  }
};

struct ScatterAddBackward final : Node {
  Saved index{this, "index"};
  std::int64_t dim = 0;
  TensorSpec src;
  void save(const Tensor&, std::int64_t d, const Tensor& i, const Tensor& s) {
    dim = d, src = s.spec();
    if (wants(2)) index = i;
  }
  Gradients apply(Gradients g) override {
    Gradients in(3);
    if (wants(0)) in[0] = g[0];
    if (wants(2)) in[2] = grown(gather(g[0], dim, index), src);
    return in;
  }
};

struct MaskedFillBackward final : Node {
  Saved mask{this, "mask"};
  void save(const Tensor&, const Tensor& m, const Tensor&) { mask = m; }
  Gradients apply(Gradients g) override {
    const Tensor m = mask;
    Gradients in(3);
    if (wants(0)) in[0] = g[0].masked_fill(m, 0);
    if (wants(2)) in[2] = g[0].masked_fill(m.logical_not(), 0).sum();
    return in;
  }
};

}  // namespace

void install_index_rules() {
  differentiate<IndexBackward, ops::index>();
  differentiate<IndexPutBackward, ops::index_put>();
  differentiate<GatherBackward, ops::gather>();
  differentiate<ScatterBackward, ops::scatter>();
  differentiate<ScatterAddBackward, ops::scatter_add>();
  differentiate<MaskedFillBackward, ops::masked_fill>();
  ops::nonzero.declare_non_differentiable();
}

}  // namespace taper
