#pragma once
#include <taper/autograd/node.h>

namespace taper {

struct BackwardOptions {
  /// Keep saved tensors for another pass; absent: as create_graph.
  std::optional<bool> retain_graph = {};
  /// Record the backward pass itself, for second derivatives.
  bool create_graph = false;
  /// Accumulate into these tensors only, which from then on retain_grad(); empty: into every leaf that is reached.
  TensorList inputs = {};
};

struct GradOptions {
  std::optional<bool> retain_graph = {};
  bool create_graph = false;
  /// An input that the outputs do not depend on gives an undefined tensor instead of an error.
  bool allow_unused = false;
};

namespace autograd {

/// Accumulates d(sum_i tensors[i] . grad_tensors[i]) / d(leaf) into every leaf's grad().
///
/// grad_tensors may be shorter than tensors; a missing or undefined one stands for 1 and needs a one-element tensor.
/// Throws AutogradError if a tensor does not require grad, if saved values were written to or already freed.
void backward(const TensorList& tensors, const TensorList& grad_tensors = {}, const BackwardOptions& options = {});

/// The gradients of sum_i outputs[i] . grad_outputs[i] with respect to `inputs`; leaves' grad() stay as they are.
TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs = {},
                const GradOptions& options = {});

}  // namespace autograd
}  // namespace taper
