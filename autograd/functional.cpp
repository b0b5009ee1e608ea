#include <taper/autograd/engine.h>
#include <taper/autograd/functional.h>
#include <taper/factory.h>
#include <taper/grad_mode.h>
#include <taper/ops/join.h>

namespace taper::autograd::functional {
namespace {

using detail::ListFunction;
using detail::Matrix;

Tensor zeros_for(const Tensor& t) { return zeros(t.sizes(), TensorOptions{t.dtype(), t.device()}); }

/// The inputs as tensors that f's graph starts from: aliases within the caller's graph, or leaves of their own.
TensorList starts(const char* op, const TensorList& inputs, bool create_graph) {
  check<AutogradError>(!InferenceMode::is_enabled(), op, ": nothing is recorded in InferenceMode; leave it first");
  check<ValueError>(!inputs.empty(), op, ": inputs is empty");
  TensorList out;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Tensor& t = inputs[i];
    check<ValueError>(t.defined(), op, ": input ", i, " is undefined");
    check<AutogradError>(t.is_floating_point(), op, ": input ", i, " (", t.spec(),
                         ") has no derivatives, only floating tensors have; convert it with to(taper::float32)");
    out.push_back(create_graph && t.requires_grad() ? t.view_as(t) : t.detach().requires_grad_());
  }
  return out;
}

TensorList call(const char* op, const ListFunction& f, const TensorList& in) {
  TensorList out = f(in);
  check<ValueError>(!out.empty(), op, ": the function returned no tensor");
  for (std::size_t i = 0; i < out.size(); ++i)
    check<ValueError>(out[i].defined(), op, ": the function returned an undefined tensor as output ", i);
  return out;
}

/// Zeros in place of a gradient that is not there.
void fill_absent(const char* op, TensorList& grads, const TensorList& inputs, const Options& o) {
  for (std::size_t j = 0; j < grads.size(); ++j) {
    if (grads[j].defined()) continue;
    check<AutogradError>(!o.strict, op, ": the result does not depend on input ", j,
                         "; without strict its derivative is zero");
    grads[j] = zeros_for(inputs[j]);
  }
}

/// grad() of those outputs that have a history; what they do not depend on is undefined.
TensorList grad_of(const TensorList& outputs, const TensorList& inputs, const TensorList& weights, bool create_graph) {
  TensorList roots, root_weights;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].defined() || !outputs[i].requires_grad()) continue;
    roots.push_back(outputs[i]);
    root_weights.push_back(weights[i]);
  }
  if (roots.empty()) return TensorList(inputs.size());
  return grad(roots, inputs, root_weights, {.retain_graph = true, .create_graph = create_graph, .allow_unused = true});
}

/// v, or 1 if it was left out where that says enough.
TensorList checked(const char* op, const TensorList& v, const TensorList& like, const char* of) {
  const bool absent = v.empty() || (v.size() == 1 && !v[0].defined());
  if (absent) {
    check<ValueError>(like.size() == 1 && like[0].numel() == 1, op, ": v can be left out only for a single ", of,
                      " of one element; here there ",
                      like.size() == 1 ? "is one of shape " : "are several, the first of shape ", like[0].sizes());
    return {ones(like[0].sizes(), TensorOptions{like[0].dtype(), like[0].device()})};
  }
  check<ValueError>(v.size() == like.size(), op, ": v has ", v.size(), " tensors for ", like.size(), " ", of, "s");
  for (std::size_t i = 0; i < v.size(); ++i) {
    check<ValueError>(v[i].defined(), op, ": v[", i, "] is undefined");
    check<ShapeError>(v[i].sizes() == like[i].sizes(), op, ": v[", i, "] is ", v[i].spec(), " but the ", of, " is ",
                      like[i].spec());
  }
  return v;
}

void detach_all(TensorList& ts) {
  for (Tensor& t : ts) t = t.detach();
}

}  // namespace

Matrix detail::jacobian(const ListFunction& f, const TensorList& inputs, const Options& o) {
  const EnableGradGuard record;
  const TensorList in = starts("jacobian", inputs, o.create_graph);
  Matrix out;
  for (const Tensor& y : call("jacobian", f, in)) {
    // Row by row: the gradient of one element after another.
    std::vector<TensorList> rows(in.size());
    for (std::int64_t k = 0; k < y.numel(); ++k) {
      Tensor one_hot = zeros({y.numel()}, TensorOptions{y.dtype(), y.device()});
      one_hot.select(0, k).fill_(1);
      TensorList row = grad_of({y}, in, {one_hot.view(y.sizes())}, o.create_graph);
      fill_absent("jacobian", row, in, o);
      for (std::size_t j = 0; j < in.size(); ++j) rows[j].push_back(row[j]);
    }
    TensorList blocks;
    for (std::size_t j = 0; j < in.size(); ++j) {
      IntVec sizes = y.sizes().vec();
      for (const std::int64_t s : in[j].sizes()) sizes.push_back(s);
      blocks.push_back(rows[j].empty() ? zeros(sizes, TensorOptions{in[j].dtype(), in[j].device()})
                                       : stack(rows[j]).reshape(sizes));
    }
    if (!o.create_graph) detach_all(blocks);
    out.push_back(std::move(blocks));
  }
  return out;
}

Matrix detail::hessian(const ListFunction& f, const TensorList& inputs, const Options& o) {
  const ListFunction gradient = [&](const TensorList& in) {
    const TensorList y = call("hessian", f, in);
    check<ShapeError>(y.size() == 1 && y[0].numel() == 1,
                      "hessian: the function must return one tensor of one element, ", "it returned ", y.size(),
                      ", the first of ", y[0].spec(), "; reduce it first: sum()");
    TensorList g = grad_of(y, in, {Tensor()}, true);
    fill_absent("hessian", g, in, o);
    return g;
  };
  return jacobian(gradient, inputs, o);
}

detail::OutputAndProduct detail::vjp(const ListFunction& f, const TensorList& inputs, const TensorList& v,
                                     const Options& o) {
  const EnableGradGuard record;
  const TensorList in = starts("vjp", inputs, o.create_graph);
  TensorList y = call("vjp", f, in);
  TensorList product = grad_of(y, in, checked("vjp", v, y, "output"), o.create_graph);
  fill_absent("vjp", product, in, o);
  if (!o.create_graph) detach_all(y), detach_all(product);
  return {std::move(y), std::move(product)};
}

detail::OutputAndProduct detail::jvp(const ListFunction& f, const TensorList& inputs, const TensorList& v,
                                     const Options& o) {
  const EnableGradGuard record;
  const TensorList direction = checked("jvp", v, inputs, "input");
  const TensorList in = starts("jvp", inputs, o.create_graph);
  TensorList y = call("jvp", f, in);
  // u -> u^T J is linear, and its derivative by u in the direction v is J v; the value of u does not matter.
  TensorList u;
  for (const Tensor& t : y) u.push_back(zeros_for(t).requires_grad_(t.is_floating_point()));
  const TensorList by_input = grad_of(y, in, u, true);
  TensorList wanted;
  for (const Tensor& t : u)
    if (t.requires_grad()) wanted.push_back(t);
  TensorList found = wanted.empty() ? wanted : grad_of(by_input, wanted, direction, o.create_graph);
  TensorList product;
  std::size_t next = 0;
  for (const Tensor& t : u) product.push_back(t.requires_grad() ? found[next++] : Tensor());
  for (std::size_t i = 0; i < product.size(); ++i) {
    if (product[i].defined()) continue;
    check<AutogradError>(!o.strict, "jvp: output ", i, " does not depend on the inputs; without strict its derivative ",
                         "is zero");
    product[i] = zeros_for(y[i]);
  }
  if (!o.create_graph) detach_all(y), detach_all(product);
  return {std::move(y), std::move(product)};
}

}  // namespace taper::autograd::functional
