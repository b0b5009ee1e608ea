#include <taper/autograd/record.h>
#include <taper/ops/norm.h>
#include <taper/ops/norm_samples.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/reduce.h>

#include "rules.h"

namespace taper {
namespace {

/// The gradients as functions of grad, x and weight made of differentiable operators, for passes that are recorded.
/// With xhat = (x - mean) invstd: dbias = sum g, dweight = sum g xhat, and dx = weight invstd g, in training less what
/// mean and variance pass on: weight invstd (g - mean g - xhat mean(g xhat)). Ioffe, Szegedy 2015, section 3.
Gradients recorded_gradients(const Tensor& g, const Tensor& x, const Tensor& weight, const Tensor& mean,
                             const Tensor& invstd, const BatchNormOptions& o, std::array<bool, 3> wanted) {
  IntVec all_but_channels = {0}, column = {1, x.size(1)};
  for (std::int64_t d = 2; d < x.dim(); ++d) all_but_channels.push_back(d), column.push_back(1);
  const auto average = [&](const Tensor& t) { return t.mean(all_but_channels, true); };
  const Tensor centered = x - (o.training ? average(x) : mean.view(column));
  const Tensor scale = o.training ? (average(centered.square()) + o.eps).rsqrt() : invstd.view(column);
  const Tensor xhat = centered * scale;

  Gradients out(5);
  if (wanted[0]) {
    Tensor dx = o.training ? g - average(g) - xhat * average(g * xhat) : g;
    dx = dx * scale;
    out[0] = weight.defined() ? dx * weight.view(column) : dx;
  }
  if (wanted[1]) out[1] = (g * xhat).sum(all_but_channels);
  if (wanted[2]) out[2] = g.sum(all_but_channels);
  return out;
}

/// What rules of normalizations keep.
struct NormBackward : Node {
  Saved input{this, "x"}, weight{this, "weight"}, mean{this, "mean"}, invstd{this, "invstd"};
  void keep(const Tensor& x, const std::optional<Tensor>& w) {
    input = x;
    if (w) weight = *w;
  }
  void save_output(const std::array<Tensor, 3>& y) {
    // They are for this rule alone. Without history, also because a node must not hold what leads back to it.
    Tensor(y[1]).detach_();
    Tensor(y[2]).detach_();
    mean = y[1];
    invstd = y[2];
  }

 protected:
  std::array<bool, 3> wanted() const { return {wants(0), wants(1), wants(2)}; }
  /// For `count` arguments, the gradients that an operator computes in one pass, of those wanted.
  template <class Options>
  Gradients from(const StructuredOp<std::array<Tensor, 3>(Tensor, Tensor, std::optional<Tensor>, Tensor, Tensor,
                                                          Options, std::array<bool, 3>)>& backward,
                 std::size_t count, const Tensor& g, const Tensor& x, const Tensor& w, const Options& options) {
    const NoGradGuard guard;
    const std::array<Tensor, 3> all = backward(g, x, w.defined() ? std::optional<Tensor>(w) : std::nullopt, mean.get(),
                                               invstd.get(), options, wanted());
    Gradients out(count);
    for (std::size_t i = 0; i < 3; ++i)
      if (wanted()[i]) out[i] = all[i];
    return out;
  }
};

struct BatchNormBackward final : NormBackward {
  BatchNormOptions options;
  void save(const Tensor& x, const std::optional<Tensor>& w, const std::optional<Tensor>&, const std::optional<Tensor>&,
            const std::optional<Tensor>&, const BatchNormOptions& o) {
    options = o;
    keep(x, w);
  }
  Gradients apply(Gradients g) override {
    const Tensor x = input.get(), w = weight.get();
    if (GradMode::is_enabled() && x.numel() > 0)
      return recorded_gradients(g[0], x, w, mean.get(), invstd.get(), options, wanted());
    return from(ops::batch_norm_backward, 5, g[0], x, w, options);
  }
};

/// As recorded_gradients, along lines.
Gradients recorded_line_gradients(const Tensor& g, const Tensor& x, const Tensor& weight, const LayerNormOptions& o,
                                  std::array<bool, 3> wanted) {
  IntVec lines, along;
  for (std::int64_t d = 0; d < x.dim(); ++d) (d < x.dim() - o.dims ? lines : along).push_back(d);
  const auto average = [&](const Tensor& t) { return along.empty() ? t : t.mean(along, true); };
  const auto sum_of_lines = [&](const Tensor& t) { return lines.empty() ? t : t.sum(lines); };
  const Tensor centered = o.centered ? x - average(x) : x, scale = (average(centered.square()) + o.eps).rsqrt();
  const Tensor xhat = centered * scale;

  Gradients out(3);
  if (wanted[0]) {
    const Tensor weighted = weight.defined() ? g * weight : g;
    const Tensor dx = weighted - xhat * average(weighted * xhat);
    out[0] = (o.centered ? dx - average(weighted) : dx) * scale;
  }
  if (wanted[1]) out[1] = sum_of_lines(g * xhat);
  if (wanted[2]) out[2] = sum_of_lines(g);
  return out;
}

struct LayerNormBackward final : NormBackward {
  LayerNormOptions options;
  void save(const Tensor& x, const std::optional<Tensor>& w, const std::optional<Tensor>&, const LayerNormOptions& o) {
    options = o;
    keep(x, w);
  }
  Gradients apply(Gradients g) override {
    const Tensor x = input.get(), w = weight.get();
    if (GradMode::is_enabled() && x.numel() > 0) return recorded_line_gradients(g[0], x, w, options, wanted());
    return from(ops::layer_norm_backward, 3, g[0], x, w, options);
  }
};

}  // namespace

void install_norm_rules() {
  differentiate<BatchNormBackward, ops::batch_norm>();
  differentiate<LayerNormBackward, ops::layer_norm>();
}

}  // namespace taper
