#include <taper/autograd/engine.h>
#include <taper/autograd/gradcheck.h>
#include <taper/factory.h>
#include <taper/memory_overlap.h>

#include <cmath>

namespace taper::autograd {
namespace {

using Function = std::function<TensorList(const TensorList&)>;

Function listed(const std::function<Tensor(const TensorList&)>& fn) {
  return [fn](const TensorList& in) { return TensorList{fn(in)}; };
}

/// Where element `i` (row-major) of t lies, from its first element.
std::int64_t offset_of(const Tensor& t, std::int64_t i) {
  std::int64_t offset = 0;
  for (int d = t.dim(); d-- > 0;) {
    offset += i % t.size(d) * t.stride(d);
    i /= t.size(d);
  }
  return offset;
}

/// The values of the outputs that have gradients, one after the other.
std::vector<double> values(const TensorList& outputs) {
  std::vector<double> all;
  for (const Tensor& t : outputs) {
    if (!is_floating(t.dtype())) continue;
    const auto v = t.detach().to(float64).to_vector<double>();
    all.insert(all.end(), v.begin(), v.end());
  }
  return all;
}

std::vector<double> evaluate(const Function& fn, const TensorList& inputs) {
  const NoGradGuard no_grad;
  return values(fn(inputs));
}

struct Worst {
  double excess = 0, analytic = 0, numeric = 0;
  std::size_t input = 0;
  std::int64_t element = 0, output = 0;
};

/// rows[o][i]: the gradient of output element o with respect to element i of `wrt`.
std::vector<std::vector<double>> analytic_jacobian(const TensorList& outputs, const TensorList& wrt,
                                                   std::size_t which) {
  std::vector<std::vector<double>> rows;
  for (const Tensor& y : outputs) {
    if (!is_floating(y.dtype())) continue;
    for (std::int64_t o = 0; o < y.numel(); ++o) {
      std::vector<double> row(std::size_t(wrt[which].numel()), 0.0);
      if (y.requires_grad()) {
        Tensor seed = zeros(y.sizes(), TensorOptions{y.dtype()});
        dispatch_floating(y.dtype(), "gradcheck", [&]<class T>(Type<T>) { seed.mutable_data<T>()[o] = T(1); });
        const TensorList g = grad({y}, {wrt[which]}, {seed}, {.retain_graph = true, .allow_unused = true});
        if (g[0].defined()) row = g[0].detach().to_vector<double>();
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

}  // namespace

bool gradcheck(const Function& fn, const TensorList& inputs, const GradcheckOptions& options) {
  TensorList checked;
  for (const TensorList* list : {&inputs, &options.parameters})
    for (const Tensor& t : *list)
      if (t.defined() && t.requires_grad()) checked.push_back(t);
  check<AutogradError>(!checked.empty(),
                       "gradcheck: no input requires grad, so there is nothing to check; call "
                       "requires_grad_() on one");
  for (const Tensor& t : checked) {
    check<DTypeError>(t.dtype() == float64, "gradcheck: inputs must be float64, got ", t.spec(),
                      ": differences of float32 are too coarse; convert with x.to(taper::float64)");
    check<AutogradError>(t.is_leaf(), "gradcheck: inputs must be leaves, got the result of an operation (", t.spec(),
                         ")");
    check<ValueError>(!overlaps_itself(t),
                      "gradcheck: an input shows one memory location as several elements; clone() it");
  }

  const TensorList outputs = fn(inputs);
  const std::size_t rows = values(outputs).size();
  check<AutogradError>(rows > 0,
                       "gradcheck: the function has no floating output element, so there is nothing to check");

  // All gradients first: shifting an input writes to what the graph has saved.
  std::vector<std::vector<std::vector<double>>> gradients;
  for (std::size_t k = 0; k < checked.size(); ++k) gradients.push_back(analytic_jacobian(outputs, checked, k));

  Worst worst;
  bool any_nonzero = false;
  for (std::size_t k = 0; k < checked.size(); ++k) {
    Tensor& x = checked[k];
    const auto& analytic = gradients[k];
    for (std::int64_t i = 0; i < x.numel(); ++i) {
      const std::int64_t at = offset_of(x, i);
      const auto shifted = [&](double by) {
        double* p = x.mutable_data<double>() + at;
        const double before = *p;
        *p = before + by;
        std::vector<double> y = evaluate(fn, inputs);
        *(x.mutable_data<double>() + at) = before;
        return y;
      };
      const auto up = shifted(options.eps), down = shifted(-options.eps);
      check<AutogradError>(up.size() == rows && down.size() == rows,
                           "gradcheck: the function's results change shape "
                           "with its input");
      for (std::size_t o = 0; o < rows; ++o) {
        const double numeric = (up[o] - down[o]) / (2 * options.eps), a = analytic[o][std::size_t(i)];
        any_nonzero |= numeric != 0 || a != 0;
        const double excess = std::abs(a - numeric) - (options.atol + options.rtol * std::abs(numeric));
        if (excess > worst.excess || std::isnan(excess))
          worst = {std::isnan(excess) ? HUGE_VAL : excess, a, numeric, k, i, std::int64_t(o)};
      }
    }
  }
  check<AutogradError>(worst.excess == 0, "gradcheck: the gradient of output element ", worst.output,
                       " with respect to element ", worst.element, " of input ", std::int64_t(worst.input), " (",
                       checked[worst.input].spec(), ") is ", worst.analytic, " but differences say ", worst.numeric);
  check<AutogradError>(any_nonzero,
                       "gradcheck: every derivative is zero, which proves nothing; choose inputs that the "
                       "result depends on");
  return true;
}

bool gradcheck(const std::function<Tensor(const TensorList&)>& fn, const TensorList& inputs,
               const GradcheckOptions& options) {
  return gradcheck(listed(fn), inputs, options);
}

bool gradgradcheck(const Function& fn, const TensorList& inputs, const GradcheckOptions& options) {
  // The function checked is (inputs, seeds) -> gradients; seeds are fixed numbers of varied size and sign.
  TensorList all = inputs;
  for (const Tensor& y : fn(inputs)) {
    Tensor seed = zeros(y.sizes(), float64);
    double* p = seed.mutable_data<double>();
    for (std::int64_t i = 0; i < seed.numel(); ++i) p[i] = std::cos(1.0 + 1.7 * double(i));
    all.push_back(seed.requires_grad_());
  }
  const std::size_t n = inputs.size();
  const Function second = [&](const TensorList& in) {
    const EnableGradGuard record;
    const TensorList outs = fn(TensorList(in.begin(), in.begin() + std::ptrdiff_t(n)));
    TensorList wrt, roots, seeds, result;
    for (const TensorList* list : {&inputs, &options.parameters})
      for (const Tensor& t : *list)
        if (t.defined() && t.requires_grad()) wrt.push_back(t);
    for (std::size_t o = 0; o < outs.size(); ++o)
      if (is_floating(outs[o].dtype()) && outs[o].requires_grad()) {
        roots.push_back(outs[o]);
        seeds.push_back(in[n + o].to(outs[o].dtype()));
      }
    for (const Tensor& g : grad(roots, wrt, seeds, {.create_graph = true, .allow_unused = true}))
      if (g.defined()) result.push_back(g);
    return result;
  };
  return gradcheck(second, all, options);
}

bool gradgradcheck(const std::function<Tensor(const TensorList&)>& fn, const TensorList& inputs,
                   const GradcheckOptions& options) {
  return gradgradcheck(listed(fn), inputs, options);
}

}  // namespace taper::autograd
