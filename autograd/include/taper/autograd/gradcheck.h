#pragma once
#include <taper/tensor.h>

#include <functional>

namespace taper::autograd {

struct GradcheckOptions {
  double eps = 1e-6;   ///< half of the difference step
  double atol = 1e-5;  ///< |analytic - numeric| <= atol + rtol * |numeric|
  double rtol = 1e-3;
  /// Tensors the function uses besides its arguments, such as a module's parameters; checked as the inputs are.
  TensorList parameters = {};
};

/// Compares the gradients of `fn` with central differences, element by element, and throws AutogradError naming the
/// worst one. Returns true, so that a test can assert it.
///
/// Every input and parameter that requires grad is checked and must be float64 and not overlap itself. A check in which
/// nothing is checked (no input requires grad, no floating output, every derivative zero) throws as well.
bool gradcheck(const std::function<TensorList(const TensorList&)>& fn, const TensorList& inputs,
               const GradcheckOptions& options = {});
bool gradcheck(const std::function<Tensor(const TensorList&)>& fn, const TensorList& inputs,
               const GradcheckOptions& options = {});

/// The same for second derivatives: checks the gradients that `fn`'s backward pass with create_graph computes.
bool gradgradcheck(const std::function<TensorList(const TensorList&)>& fn, const TensorList& inputs,
                   const GradcheckOptions& options = {});
bool gradgradcheck(const std::function<Tensor(const TensorList&)>& fn, const TensorList& inputs,
                   const GradcheckOptions& options = {});

}  // namespace taper::autograd
