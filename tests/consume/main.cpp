// A user's program, small enough to read and large enough to need every layer of the library.
#include <taper/taper.h>

#include <cstdio>

// Only <taper/...> is on the include path: no header by its bare name, nothing private, nothing of a dependency.
#if __has_include("tensor.h")
#error "lib/include/taper is on the include path"
#elif __has_include("cpu/parallel.h") || __has_include("rules/rules.h")
#error "a private folder is on the include path"
#elif __has_include(<Eigen/Core>)
#error "Eigen is on the include path"
#endif

int main() {
  taper::manual_seed(1);
  taper::nn::Linear layer(3, 2);
  taper::Tensor loss = taper::sum(taper::relu(layer.forward(taper::ones({4, 3}))));
  loss.backward();
  std::printf("loss %.4f\n", loss.item<float>());
  return layer.weight.grad().sizes() == layer.weight.sizes() ? 0 : 1;
}
