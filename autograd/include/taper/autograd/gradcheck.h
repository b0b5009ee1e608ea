#pragma once
#include <taper/tensor.h>

#include <functional>
#include <string>

namespace taper {

/// gradcheck found a gradient that is not the slope of the function.
struct GradcheckError : AutogradError {
  explicit GradcheckError(const std::string& message) : AutogradError(message) {}
  std::string input;               ///< "input 1", "parameter fc.weight"
  std::string output;              ///< "output 0"; of gradgradcheck, "the gradient of input 0"
  IntVec element, output_element;  ///< the places in the two
  double analytic = 0;             ///< what backward computed
  double numeric = 0;              ///< what differences say
  bool at_kink = false;            ///< the slopes to both sides differ: there is no derivative here
};

namespace autograd {

/// What to do at a point where the slope to the left is not the slope to the right, as of abs(x) at 0.
enum class AtKink : std::uint8_t {
  refuse,         ///< throw: whatever backward computes there is a choice, which differences cannot judge
  accept_between  ///< accept every gradient from the one slope to the other, and at a jump any
};

struct GradcheckOptions {
  double eps = 1e-6;   ///< half of the difference step
  double atol = 1e-5;  ///< |analytic - numeric| <= atol + rtol * |numeric|
  double rtol = 1e-3;
  /// By how much two backward passes over the same graph may differ.
  double nondet_tol = 0;
  /// Compare one random combination of all derivatives for each pair of input and output instead of every derivative:
  /// as many evaluations as there are inputs, not input elements.
  bool fast_mode = false;
  AtKink at_kink = AtKink::refuse;
  /// Accept an input on which nothing depends, such as that of floor().
  bool allow_zero = false;
  /// false: return false instead of throwing GradcheckError.
  bool raise_exception = true;
  /// Tensors the function uses besides its arguments, such as a module's parameters; checked as the inputs are.
  TensorList parameters = {};
  std::vector<std::string> parameter_names = {};  ///< for messages
};

/// Compares the gradients of `fn` with central differences and returns true, so that a test can assert it, or throws
/// GradcheckError naming the derivative that is furthest off.
///
/// Every input and parameter that requires grad is checked. They must be float64; their layout is free: an input that
/// shows one memory location as several elements, or shares memory with another, is evaluated through copies. Each
/// element of each output is differentiated alone, the other outputs' gradients being undefined.
///
/// A check that proves nothing throws AutogradError: if no input requires grad, no output is floating or has elements,
/// or if all derivatives by some input are zero. So does a function whose results are not the same every time, or
/// differ between recorded and unrecorded calls. <taper/nn/gradcheck.h> has the forms for modules.
bool gradcheck(const std::function<TensorList(const TensorList&)>& fn, const TensorList& inputs,
               const GradcheckOptions& options = {});
bool gradcheck(const std::function<Tensor(const TensorList&)>& fn, const TensorList& inputs,
               const GradcheckOptions& options = {});

/// The same for second derivatives: checks the gradients of what `fn`'s backward pass computes when it is recorded
/// (create_graph), by the inputs and by the gradients that it starts from.
bool gradgradcheck(const std::function<TensorList(const TensorList&)>& fn, const TensorList& inputs,
                   const GradcheckOptions& options = {});
bool gradgradcheck(const std::function<Tensor(const TensorList&)>& fn, const TensorList& inputs,
                   const GradcheckOptions& options = {});

}  // namespace autograd
}  // namespace taper
