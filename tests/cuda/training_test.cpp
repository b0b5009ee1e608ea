// Training on CUDA devices: the same losses as on the cpu, and nothing that makes the host wait.
#include <taper/autograd/engine.h>
#include <taper/cuda.h>
#include <taper/factory.h>
#include <taper/nn/batchnorm.h>
#include <taper/nn/conv.h>
#include <taper/nn/graphed.h>
#include <taper/nn/linear.h>
#include <taper/nn/optim.h>
#include <taper/nn/pooling.h>
#include <taper/ops/activation.h>
#include <taper/ops/copy.h>
#include <taper/ops/loss.h>
#include <taper/ops/pointwise.h>
#include <taper/ops/pool.h>
#include <taper/ops/reduce.h>
#include <taper/ops/view.h>
#include <taper/random.h>

#include <cmath>

#include "tests/support/catch.h"
#include "tests/support/message.h"
#include "tests/support/values.h"

using namespace taper;

namespace {

const Device kCuda("cuda");

/// While it lives, tensors are made on the cpu, whatever device the tests run on.
struct MadeOnCpu {
  MadeOnCpu() { set_default_device(cpu); }
  ~MadeOnCpu() { set_default_device(before); }
  MadeOnCpu(const MadeOnCpu&) = delete;
  MadeOnCpu& operator=(const MadeOnCpu&) = delete;
  const Device before = default_device();
};

/// The networks of examples/fashion_mnist_mlp.cpp and fashion_mnist_cnn.cpp.
struct Mlp final : nn::Module {
  static constexpr std::int64_t kSide = 28;  // of the images
  nn::Linear fc1{28 * 28, 128}, fc2{128, 10};

  Tensor forward(const Tensor& x) override { return fc2(relu(fc1(x.flatten(1)))); }
  void members(nn::MemberVisitor& v) override { v("fc1", fc1), v("fc2", fc2); }
};
struct LeNet final : nn::Module {
  static constexpr std::int64_t kSide = 28;
  nn::Conv2d conv1{1, 6, 5, {.padding = 2}}, conv2{6, 16, 5};
  nn::Linear fc1{16 * 5 * 5, 120}, fc2{120, 84}, fc3{84, 10};

  Tensor forward(const Tensor& x) override {
    Tensor h = max_pool2d(relu(conv1(x)), 2);
    h = max_pool2d(relu(conv2(h)), 2);
    h = relu(fc1(h.flatten(1)));
    h = relu(fc2(h));
    return fc3(h);
  }
  void members(nn::MemberVisitor& v) override {
    v("conv1", conv1), v("conv2", conv2), v("fc1", fc1), v("fc2", fc2), v("fc3", fc3);
  }
};
/// A small one with batch normalization.
struct Cnn final : nn::Module {
  static constexpr std::int64_t kSide = 12;
  nn::Conv2d conv1{1, 4, 5, {.padding = 2}};  // [n, 1, 12, 12] -> [n, 4, 12, 12]
  nn::BatchNorm2d norm{4};
  nn::Conv2d conv2{4, 8, 3};  // [n, 4, 6, 6] -> [n, 8, 4, 4]
  nn::Linear fc{8 * 2 * 2, 10};

  Tensor forward(const Tensor& x) override {
    const Tensor h = max_pool2d(relu(norm(conv1(x))), 2);
    return fc(avg_pool2d(relu(conv2(h)), 2).flatten(1));
  }
  void members(nn::MemberVisitor& v) override { v("conv1", conv1), v("norm", norm), v("conv2", conv2), v("fc", fc); }
};

constexpr int kSteps = 30, kBatch = 16, kBatches = 4;
enum class How { eagerly, by_graph };

/// The losses of a network on a device, of steps in which the host must not wait for it. By graph: all but the first
/// three steps are replays of one.
template <class Model, class Optimizer, class Options>
std::vector<double> losses_on(Device device, How how, const Options& options) {
  const MadeOnCpu made;
  manual_seed(5);
  Model model;
  TensorList all_images, all_labels;
  for (int b = 0; b < kBatches; ++b) {
    all_images.push_back(randn({kBatch, 1, Model::kSide, Model::kSide}).to(device));
    all_labels.push_back(arange(kBatch).mul(7 + b).remainder(10).to(device));
  }
  model.to(device);
  Optimizer optimizer(model.parameters(), options);
  Tensor images = all_images[0].clone(), labels = all_labels[0].clone();
  int calls = 0;
  const auto step = [&] {
    ++calls;
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(model.forward(images), labels);
    loss.backward();
    optimizer.step();
    return loss.detach();
  };
  auto graphed = nn::make_graphed(step);
  TensorList losses;
  for (int i = 0; i < kSteps; ++i) {
    const cuda::ForbidSync forbidden;
    images.copy_(all_images[std::size_t(i % kBatches)]);
    labels.copy_(all_labels[std::size_t(i % kBatches)]);
    losses.push_back(how == How::by_graph ? graphed().clone() : step());
  }
  CHECK(calls == (how == How::by_graph ? 4 : kSteps));
  std::vector<double> values;
  for (const Tensor& loss : losses) values.push_back(loss.item<double>());
  return values;
}

/// Sums in another order differ by some 1e-7 of a loss in the first step, and training multiplies it.
constexpr double kTolerance = 2e-4;

template <class Model, class Optimizer, class Options>
void check_same_losses(const Options& options) {
  const std::vector<double> on_cpu = losses_on<Model, Optimizer>(cpu, How::eagerly, options);
  const std::vector<double> eager = losses_on<Model, Optimizer>(kCuda, How::eagerly, options);
  const std::vector<double> graph = losses_on<Model, Optimizer>(kCuda, How::by_graph, options);
  for (std::size_t i = 0; i < on_cpu.size(); ++i) CHECK(eager[i] == Approx(on_cpu[i]).epsilon(kTolerance));
  CHECK(graph == eager);
  CHECK(on_cpu.back() < 0.85 * on_cpu.front());
}

/// Parameters of many sizes, more of them than one launch takes, some in an order of their own.
TensorList parameters_on(Device device) {
  TensorList params;
  for (int i = 0; i < 70; ++i) {
    const std::int64_t n = i == 40 ? 5000 : i % 7 + 1;
    const Tensor values = arange(3 * n).to(float32).mul(0.37).sin().view({3, n}).to(device);
    params.push_back(i == 30 ? values.t().clone().t() : i == 31 ? values.to(float64) : values);
    params.back().requires_grad_();
  }
  return params;
}
template <class Optimizer, class Options>
void check_same_steps(const Options& options) {
  const MadeOnCpu made;
  const auto after_steps = [&](Device device) {
    TensorList params = parameters_on(device);
    Optimizer optimizer(params, options);
    for (int step = 1; step <= 3; ++step) {
      for (std::size_t i = 0; i < params.size(); ++i) {
        const bool is_absent = step == 2 && i % 5 == 0;  // so that numbers of steps differ
        const Tensor grad = params[i].detach().mul(double(step)).cos();
        params[i].set_grad(is_absent ? Tensor() : i == 32 ? grad.t().clone().t() : grad);
      }
      optimizer.step();
    }
    return params;
  };
  const TensorList want = after_steps(cpu), got = after_steps(kCuda);
  for (std::size_t i = 0; i < want.size(); ++i) {
    INFO("parameter " << i);
    CHECK(got[i].detach().cpu().allclose(want[i].detach(), 1e-5, 1e-6));
  }
}

}  // namespace

TEST_CASE("the multilayer perceptron of the examples trains on cuda as on the cpu, eagerly and as a graph", "[cuda]") {
  check_same_losses<Mlp, optim::Adam>(optim::AdamOptions{.lr = 1e-3});
}

TEST_CASE("the convolutional network of the examples trains on cuda as on the cpu, eagerly and as a graph", "[cuda]") {
  check_same_losses<LeNet, optim::Adam>(optim::AdamOptions{.lr = 1e-3});
}

TEST_CASE("a network with batch normalization trains on cuda as on the cpu, eagerly and as a graph", "[cuda]") {
  check_same_losses<Cnn, optim::SGD>(optim::SGDOptions{.lr = 0.05, .momentum = 0.9});
}

TEST_CASE("optimizers make the same steps on cuda, many parameters at once", "[cuda]") {
  check_same_steps<optim::SGD>(optim::SGDOptions{.lr = 0.1});
  check_same_steps<optim::SGD>(optim::SGDOptions{.lr = 0.1, .momentum = 0.9, .weight_decay = 0.1, .nesterov = true});
  check_same_steps<optim::Adam>(optim::AdamOptions{.lr = 0.1, .weight_decay = 0.1, .amsgrad = true});
  check_same_steps<optim::AdamW>(optim::AdamWOptions{.lr = 0.1, .maximize = true});
}

TEST_CASE("a target that is no class is found on cuda when the host waits, and changes no weight", "[cuda]") {
  const bool before = cuda::immediate_checks();
  cuda::set_immediate_checks(false);
  const Tensor x = zeros({2, 3}, {.device = kCuda}).requires_grad_();
  const Tensor target = from_vector(std::vector<std::int64_t>{1, 3}).to(kCuda);

  const Tensor loss = cross_entropy(x, target, {.reduction = Reduction::sum});
  loss.backward();
  CHECK(contains(message_of<IndexError>([&] { loss.item(); }), "cross_entropy: a target is 3, which is not a class"));
  CHECK(std::isnan(loss.item<double>()));  // said once
  CHECK(x.grad().cpu()[1].equal(zeros({3}, {.device = cpu})));
  cuda::set_immediate_checks(before);
}
