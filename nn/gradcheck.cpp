#include <taper/nn/gradcheck.h>

namespace taper::nn {
namespace {

using autograd::GradcheckOptions;
using Function = std::function<TensorList(const TensorList&)>;

/// Sets a module's buffers back to what they were. Those that nobody wrote to are left alone, so that a backward pass
/// may still need them.
class Buffers {
 public:
  explicit Buffers(const Module& m) : tensors_(m.buffers()) {
    for (const Tensor& t : tensors_) {
      values_.push_back(t.detach().clone());
      versions_.push_back(t.version());
    }
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  ~Buffers() { restore(); }
  void restore() {
    const NoGradGuard no_grad;
    for (std::size_t i = 0; i < tensors_.size(); ++i)
      if (tensors_[i].version() != versions_[i]) {
        tensors_[i].copy_(values_[i]);
        versions_[i] = tensors_[i].version();
      }
  }

 private:
  TensorList tensors_, values_;
  std::vector<std::uint32_t> versions_;
};

using Check = bool (*)(const Function&, const TensorList&, const GradcheckOptions&);

bool run(Check check_function, Module& module, const Function& fn, const TensorList& inputs,
         const GradcheckOptions& options) {
  GradcheckOptions all = options;
  all.parameter_names.resize(options.parameters.size());
  for (std::size_t i = 0; i < options.parameters.size(); ++i)
    if (all.parameter_names[i].empty()) all.parameter_names[i] = std::to_string(i);
  for (auto& [name, parameter] : module.named_parameters()) {
    all.parameters.push_back(parameter);
    all.parameter_names.push_back(name);
  }
  Buffers buffers(module);
  const Function from_the_same_state = [&](const TensorList& in) {
    buffers.restore();
    return fn(in);
  };
  return check_function(from_the_same_state, inputs, all);
}

Function listed(const std::function<Tensor(const TensorList&)>& fn) {
  return [&fn](const TensorList& in) { return TensorList{fn(in)}; };
}
Function forward(Module& module) {
  return [&module](const TensorList& in) { return TensorList{module(in[0])}; };
}

}  // namespace

bool gradcheck(Module& module, const Tensor& x, const GradcheckOptions& options) {
  return run(autograd::gradcheck, module, forward(module), {x}, options);
}
bool gradgradcheck(Module& module, const Tensor& x, const GradcheckOptions& options) {
  return run(autograd::gradgradcheck, module, forward(module), {x}, options);
}
bool gradcheck(Module& module, const Function& fn, const TensorList& inputs, const GradcheckOptions& options) {
  return run(autograd::gradcheck, module, fn, inputs, options);
}
bool gradcheck(Module& module, const std::function<Tensor(const TensorList&)>& fn, const TensorList& inputs,
               const GradcheckOptions& options) {
  return run(autograd::gradcheck, module, listed(fn), inputs, options);
}
bool gradgradcheck(Module& module, const Function& fn, const TensorList& inputs, const GradcheckOptions& options) {
  return run(autograd::gradgradcheck, module, fn, inputs, options);
}
bool gradgradcheck(Module& module, const std::function<Tensor(const TensorList&)>& fn, const TensorList& inputs,
                   const GradcheckOptions& options) {
  return run(autograd::gradgradcheck, module, listed(fn), inputs, options);
}

}  // namespace taper::nn
