#pragma once
#include <taper/nn/module.h>

#include <utility>
#include <vector>

namespace taper::nn {

/// Whether a and b are tensors of one class, as set_data() needs.
bool is_same_kind(const Tensor& a, const Tensor& b);

/// A state that fits a module, ready to be copied into it: what can fail has been done.
class StatePlan {
 public:
  /// Throws if the state does not fit.
  StatePlan(const Module& m, const TensorDict& state, bool strict, bool assign);
  void carry_out();
  const LoadResult& result() const { return result_; }

 private:
  struct Write {
    Tensor* to;
    Tensor value;
  };
  std::vector<Write> writes_;
  LoadResult result_;
  bool assign_;
};

}  // namespace taper::nn
