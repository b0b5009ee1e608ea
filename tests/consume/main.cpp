// A user's program, small enough to read and large enough to need every layer of the library.
#include <taper/taper.h>

#include <cstdio>

#if __has_include("tensor.h") || __has_include("lib/tensor.cpp") || __has_include("view_rebase.h") || \
    __has_include("cpu/parallel.h") || __has_include(<Eigen/Core>)
#error "Taper put more than <taper/...> on the include path of its user"
#endif

int main() {
  taper::manual_seed(1);
  taper::nn::Linear layer(3, 2);
  taper::Tensor x = taper::ones({4, 3});
  taper::Tensor loss = taper::sum(taper::relu(layer.forward(x)));
  loss.backward();

  taper::Tensor expected = taper::sum(x, {0});
  std::printf("taper: loss %.4f, gradient of %lld weights\n", loss.item<float>(),
              static_cast<long long>(layer.weight.grad().numel()));
  return layer.weight.grad().defined() && expected.numel() == 3 ? 0 : 1;
}
