#include <taper/autograd/record.h>
#include <taper/factory.h>
#include <taper/ops/index.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>

#include "corner.h"
#include "rules.h"

namespace taper {
namespace {

/// Elements take their shares of the result's gradient back along the positions.
struct ScatterReduceBackward final : Node {
  Saved self{this, "self"}, index{this, "index"}, src{this, "src"}, result{this, "result"};
  std::int64_t dim = 0;
  TensorSpec src_spec;
  ScatterKind kind = ScatterKind::sum;
  bool include_self = true;
  bool needs_values() const { return kind != ScatterKind::sum && kind != ScatterKind::mean; }
  bool saves_self() const { return true; }
  void save(const Tensor& x, std::int64_t d, const Tensor& i, const Tensor& s, ScatterKind k, bool with_self) {
    index = i, dim = d, src_spec = s.spec(), kind = k, include_self = with_self;
    if (needs_values()) self = x, src = s;
  }
  void save_output(const Tensor& y) {
    if (needs_values()) result.keep_output(y);
  }

  Gradients apply(Gradients grads) override {
    const Tensor at = index, g = grads[0];
    Gradients in(3);
    if (at.numel() == 0) {
      if (wants(0)) in[0] = g;
      if (wants(2)) in[2] = zeros(src_spec.sizes(), g.dtype(), g.device());
      return in;
    }
    if (kind == ScatterKind::prod)
      products(g, at, in);
    else if (needs_values())
      extremes(g, at, in);
    else
      sums(g, at, in);
    if (in[0].defined() && !include_self) in[0] = scatter(in[0], dim, at, 0);
    if (in[2].defined()) in[2] = grown(in[2], src_spec);
    return in;
  }

 private:
  void sums(const Tensor& g, const Tensor& at, Gradients& in) const {
    Tensor share = g;
    if (kind == ScatterKind::mean) {
      Tensor counts = ones(g.sizes(), g.dtype(), g.device());
      if (!include_self) scatter_(counts, dim, at, 0);
      scatter_add_(counts, dim, at, ones(at.sizes(), g.dtype(), g.device()));
      share = g / counts;
    }
    if (wants(0)) in[0] = share;
    if (wants(2)) in[2] = gather(share, dim, at);
  }

  void extremes(const Tensor& g, const Tensor& at, Gradients& in) const {
    const Tensor y = result, s = corner(src, at);
    Tensor self_ties = self.get() == y;
    if (!include_self) self_ties = scatter(self_ties, dim, at, false);
    const Tensor src_ties = s == gather(y, dim, at);
    Tensor counts = self_ties.to(g.dtype());
    scatter_add_(counts, dim, at, src_ties.to(g.dtype()));
    const Tensor share = g / clamp_min(counts, 1);
    if (wants(0)) in[0] = where(self_ties, share, 0);
    if (wants(2)) in[2] = where(src_ties, gather(share, dim, at), 0);
  }

  /// Where two factors are 0 the gradients below are 0, as they should be, but not so that they could be
  /// differentiated.
  void refuse_several_zeros(const Tensor& x, const Tensor& s, const Tensor& at) const {
    const NoGradGuard only_counted;
    Tensor met = zeros(x.sizes(), int64, x.device());
    if (include_self) met = (x == 0).to(int64);
    scatter_add_(met, dim, at, (s == 0).to(int64));
    check<AutogradError>(met.device().is_meta() || !(met > 1).any().item<bool>(),
                         "backward of scatter_reduce: the derivative of its gradient is ",
                         "not known where several factors of one product are 0; leave out create_graph");
  }

  /// The product of the others, which is the result divided by the element only if the element is not 0.
  void products(const Tensor& g, const Tensor& at, Gradients& in) const {
    const Tensor x = self, s = corner(src, at), y = result;
    if (GradMode::is_enabled()) refuse_several_zeros(x, s, at);
    if (wants(0)) {
      const Tensor nonzero = where(x == 0, 1, x);
      in[0] = g * (scatter_reduce(nonzero, dim, at, s, "prod") / nonzero);
    }
    if (!wants(2)) return;
    const Tensor zero = s == 0;
    Tensor zeros_met = zeros(x.sizes(), g.dtype(), g.device());
    if (include_self) zeros_met = (x == 0).to(g.dtype());
    scatter_add_(zeros_met, dim, at, zero.to(g.dtype()));
    const Tensor only_zero = logical_and(zero, gather(zeros_met, dim, at) == 1);
    const Tensor without = scatter_reduce(x, dim, at, where(only_zero, 1, s), "prod", include_self);
    const Tensor by_others = gather(g * y, dim, at) / where(zero, 1, s);
    in[2] = where(only_zero, gather(g * without, dim, at), by_others);
  }
};

}  // namespace

void install_scatter_reduce_rules() { differentiate<ScatterReduceBackward, ops::scatter_reduce>(); }

}  // namespace taper
