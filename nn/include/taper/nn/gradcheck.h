#pragma once
#include <taper/autograd/gradcheck.h>
#include <taper/nn/module.h>

namespace taper::nn {

/// autograd::gradcheck of a module: the gradients of the input, if it requires grad, and of all parameters that do.
///
/// The module must be float64, `module.to(taper::float64)`, and is left as it was: buffers that forward() changes, such
/// as running statistics, are set back. A module that draws random numbers is checked in eval mode, or by the form
/// below with a function that seeds them. options.parameters are checked as well.
bool gradcheck(Module& module, const Tensor& x, const autograd::GradcheckOptions& options = {});
/// The same for second derivatives.
bool gradgradcheck(Module& module, const Tensor& x, const autograd::GradcheckOptions& options = {});

/// For modules with another forward(): `fn` calls it.
///
///   nn::gradcheck(attention, [&](const TensorList& in) { return attention.forward(in[0], in[1]); }, {query, key});
bool gradcheck(Module& module, const std::function<TensorList(const TensorList&)>& fn, const TensorList& inputs,
               const autograd::GradcheckOptions& options = {});
bool gradcheck(Module& module, const std::function<Tensor(const TensorList&)>& fn, const TensorList& inputs,
               const autograd::GradcheckOptions& options = {});
bool gradgradcheck(Module& module, const std::function<TensorList(const TensorList&)>& fn, const TensorList& inputs,
                   const autograd::GradcheckOptions& options = {});
bool gradgradcheck(Module& module, const std::function<Tensor(const TensorList&)>& fn, const TensorList& inputs,
                   const autograd::GradcheckOptions& options = {});

}  // namespace taper::nn
