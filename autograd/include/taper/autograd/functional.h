#pragma once
// Derivatives of functions, rather than of tensors: f maps a Tensor or a TensorList to a Tensor or a TensorList, and
// the result has the structure that f and its inputs have. As torch.autograd.functional.
#include <taper/autograd/callback.h>
#include <taper/tensor.h>

namespace taper::autograd::functional {

struct Options {
  /// Record everything, so that the result can be differentiated again, by whatever the inputs depend on too. Otherwise
  /// results have no history.
  bool create_graph = false;
  /// Throw AutogradError where an output does not depend on an input, instead of returning zeros.
  bool strict = false;
};

namespace detail {

using ListFunction = Callback<TensorList(const TensorList&)>;
using Matrix = std::vector<TensorList>;  // [output][input]
struct OutputAndProduct {
  TensorList output, product;
};
Matrix jacobian(const ListFunction& f, const TensorList& inputs, const Options& options);
Matrix hessian(const ListFunction& f, const TensorList& inputs, const Options& options);
OutputAndProduct vjp(const ListFunction& f, const TensorList& inputs, const TensorList& v, const Options& options);
OutputAndProduct jvp(const ListFunction& f, const TensorList& inputs, const TensorList& v, const Options& options);

inline TensorList list(Tensor t) { return {std::move(t)}; }
inline TensorList list(TensorList ts) { return ts; }
template <class F>
ListFunction of_one(const F& f) {
  return [&f](const TensorList& in) { return list(f(in[0])); };
}
template <class F>
ListFunction of_many(const F& f) {
  return [&f](const TensorList& in) { return list(f(in)); };
}

template <class F, class Input>
using Output =
    std::conditional_t<std::is_convertible_v<std::invoke_result_t<const F&, const Input&>, Tensor>, Tensor, TensorList>;
/// A list in the structure T: the list, or its only element.
template <class T>
T as(TensorList ts) {
  if constexpr (std::is_same_v<T, Tensor>)
    return std::move(ts[0]);
  else
    return ts;
}

}  // namespace detail

template <class F>
concept FunctionOfTensor = std::is_invocable_v<const F&, const Tensor&>;
template <class F>
concept FunctionOfList = std::is_invocable_v<const F&, const TensorList&>;

/// All first derivatives: d output[i...] / d input[j...] in a tensor of shape [i..., j...].
/// One Tensor for one output and one input; a TensorList over the outputs or over the inputs, if there are several of
/// either; J[output][input] for several of both.
template <FunctionOfTensor F>
auto jacobian(const F& f, const Tensor& input, const Options& options = {}) {
  const detail::Matrix j = detail::jacobian(detail::of_one(f), {input}, options);
  TensorList column;
  for (const TensorList& row : j) column.push_back(row[0]);
  return detail::as<detail::Output<F, Tensor>>(std::move(column));
}
template <FunctionOfList F>
auto jacobian(const F& f, const TensorList& inputs, const Options& options = {}) {
  detail::Matrix j = detail::jacobian(detail::of_many(f), inputs, options);
  if constexpr (std::is_same_v<detail::Output<F, TensorList>, Tensor>)
    return TensorList(std::move(j[0]));
  else
    return j;
}

/// All second derivatives of a function with a one-element result, in the shape [input..., input...]; for several
/// inputs H[i][j], of shape [input i..., input j...].
template <FunctionOfTensor F>
Tensor hessian(const F& f, const Tensor& input, const Options& options = {}) {
  return detail::hessian(detail::of_one(f), {input}, options)[0][0];
}
template <FunctionOfList F>
std::vector<TensorList> hessian(const F& f, const TensorList& inputs, const Options& options = {}) {
  return detail::hessian(detail::of_many(f), inputs, options);
}

/// f(inputs) and v^T J, which has the shapes of the inputs. v has those of the outputs; it may be left out for one
/// output of one element, and is then 1.
template <FunctionOfTensor F, class Out = detail::Output<F, Tensor>>
std::pair<Out, Tensor> vjp(const F& f, const Tensor& input, const std::type_identity_t<Out>& v = {},
                           const Options& options = {}) {
  auto r = detail::vjp(detail::of_one(f), {input}, detail::list(v), options);
  return {detail::as<Out>(std::move(r.output)), std::move(r.product[0])};
}
template <FunctionOfList F, class Out = detail::Output<F, TensorList>>
std::pair<Out, TensorList> vjp(const F& f, const TensorList& inputs, const std::type_identity_t<Out>& v = {},
                               const Options& options = {}) {
  auto r = detail::vjp(detail::of_many(f), inputs, detail::list(v), options);
  return {detail::as<Out>(std::move(r.output)), std::move(r.product)};
}

/// f(inputs) and J v, which has the shapes of the outputs. v has those of the inputs; it may be left out for one input
/// of one element, and is then 1. Computed as the derivative of v^T J by v, so f must be differentiable twice.
template <FunctionOfTensor F, class Out = detail::Output<F, Tensor>>
std::pair<Out, Out> jvp(const F& f, const Tensor& input, const Tensor& v = {}, const Options& options = {}) {
  auto r = detail::jvp(detail::of_one(f), {input}, {v}, options);
  return {detail::as<Out>(std::move(r.output)), detail::as<Out>(std::move(r.product))};
}
template <FunctionOfList F, class Out = detail::Output<F, TensorList>>
std::pair<Out, Out> jvp(const F& f, const TensorList& inputs, const TensorList& v = {}, const Options& options = {}) {
  auto r = detail::jvp(detail::of_many(f), inputs, v, options);
  return {detail::as<Out>(std::move(r.output)), detail::as<Out>(std::move(r.product))};
}

}  // namespace taper::autograd::functional
