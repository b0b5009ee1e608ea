// A kind of tensor that says nothing of how it is copied: make_tensor() must refuse to compile it, and say why.
#include <taper/tensor.h>

struct Careless final : taper::TensorImpl {
  using TensorImpl::TensorImpl;
  int state = 7;
};

taper::Tensor make(const taper::Tensor& t) {
  return taper::make_tensor<Careless>(t.storage(), t.dtype(), t.impl()->geometry());
}
