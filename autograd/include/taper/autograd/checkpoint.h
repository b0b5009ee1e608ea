#pragma once
// Activation checkpointing: memory for time. Chen, Xu, Zhang, Guestrin 2016, "Training Deep Nets with Sublinear Memory
// Cost".
#include <taper/autograd/callback.h>
#include <taper/tensor.h>

namespace taper::autograd {

namespace detail {
TensorList checkpoint(Callback<TensorList(const TensorList&)> fn, const TensorList& inputs);
}  // namespace detail

/// fn(inputs), of whose operations nothing is kept for the backward pass but the inputs: when the pass needs the first
/// of their saved tensors, fn is called again and the tensors of that call are used.
///
///   Tensor y = autograd::checkpoint([&](const Tensor& t) { return block.forward(t); }, x);
///
/// fn takes the inputs, a TensorList, and returns a Tensor or a TensorList; or takes and returns a Tensor. It is kept,
/// with what it captured by value; what it captured by reference, such as modules, must still be there and be as it was
/// (same train() or eval()). Gradients reach the inputs and all else that fn uses, such as parameters; regions nest,
/// and create_graph works. The second call draws the random numbers of the first from default_generator(), whose state
/// it leaves alone, and batch_norm does not update its running statistics again; other modules that count their calls
/// can ask Recomputation::is_active(). With retain_graph the recomputed tensors stay until the graph is freed. The
/// backward pass throws InplaceConflictError if an input, or whatever else fn read, was written to since, and
/// AutogradError if the second time fn does other operations, gets other shapes, reads other tensors or draws
/// other random numbers, as from a generator of its own.
template <class F>
requires std::is_invocable_v<F&, const TensorList&>
auto checkpoint(F fn, const TensorList& inputs) {
  if constexpr (std::is_convertible_v<std::invoke_result_t<F&, const TensorList&>, Tensor>)
    return detail::checkpoint([fn = std::move(fn)](const TensorList& in) mutable { return TensorList{fn(in)}; },
                              inputs)[0];
  else
    return detail::checkpoint(std::move(fn), inputs);
}
template <class F>
requires std::is_invocable_r_v<Tensor, F&, const Tensor&> Tensor checkpoint(F fn, const Tensor& input) {
  return detail::checkpoint([fn = std::move(fn)](const TensorList& in) mutable { return TensorList{fn(in[0])}; },
                            {input})[0];
}

}  // namespace taper::autograd
