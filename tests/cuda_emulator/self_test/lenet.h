// A LeNet training step by hand (NHWC, im2col + GEMM), eager or inside a captured graph.
#pragma once
#include <vector>

#include "device.h"
#include "kernels.h"
namespace self_test {
struct LeNet {
  int batch;
  Conv c1, c2;
  Pool p1, p2;
  std::vector<int> sizes;  // elements of each parameter
  std::vector<Buffer<float>> param, grad, m, v;
  Buffer<float> x, loss, lr, step;
  Buffer<int> target;
  explicit LeNet(int batch_size);
  void train_step();  // forward, backward, Adam: about 45 launches, no host sync
};
}  // namespace self_test
