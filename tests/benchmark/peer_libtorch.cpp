// The peer: libtorch at its best settings for these cases (gradients dropped rather than zero-filled).
#include <torch/torch.h>

#include "operator_rows.h"
#include "peer.h"

extern "C" void openblas_set_num_threads(int) __attribute__((weak));

namespace peer {
namespace {

namespace nn = torch::nn;

nn::Sequential make_model(const std::string& name) {
  if (name == "mlp") return nn::Sequential(nn::Linear(784, 128), nn::ReLU(), nn::Linear(128, 10));
  const auto pool = [] { return nn::MaxPool2d(nn::MaxPool2dOptions(2)); };
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 6, 5).padding(2)), nn::ReLU(), pool(),
                        nn::Conv2d(nn::Conv2dOptions(6, 16, 5)), nn::ReLU(), pool(), nn::Flatten(),
                        nn::Linear(400, 120), nn::ReLU(), nn::Linear(120, 84), nn::ReLU(), nn::Linear(84, 10));
}

struct Training {
  nn::Sequential model{nullptr};
  std::vector<torch::Tensor> parameters;
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  torch::Tensor x, y;

  torch::Tensor step() {
    for (torch::Tensor& p : parameters) p.mutable_grad().reset();
    torch::Tensor loss = nn::functional::cross_entropy(model->forward(x), y);
    loss.backward();
    optimizer->step();
    return loss;
  }
};

}  // namespace

void set_threads(int n) {
  at::set_num_threads(n);
  if (openblas_set_num_threads) openblas_set_num_threads(n);
}

TrainStep train_step(const std::string& model, const std::string& optimizer, std::int64_t batch,
                     const std::vector<std::vector<float>>& parameters, const std::vector<float>& images,
                     const std::vector<std::int64_t>& labels) {
  auto t = std::make_shared<Training>();
  t->model = make_model(model);
  t->parameters = t->model->parameters();
  const auto& own = t->parameters;
  {
    torch::NoGradGuard no_grad;
    for (std::size_t i = 0; i < own.size(); ++i) own[i].copy_(torch::tensor(parameters[i]).view(own[i].sizes()));
  }
  if (optimizer == "sgd")
    t->optimizer = std::make_unique<torch::optim::SGD>(own, torch::optim::SGDOptions(kSgdRate).momentum(0.9));
  else
    t->optimizer = std::make_unique<torch::optim::Adam>(own, torch::optim::AdamOptions(kAdamRate));
  t->x = torch::tensor(images);
  t->x = model == "mlp" ? t->x.view({batch, 784}) : t->x.view({batch, 1, 28, 28});
  t->y = torch::tensor(labels);
  return {[t] { t->step(); }, [t] { return t->step().item<double>(); }};
}

std::function<void()> small_op(const std::string& name) {
  const torch::Tensor a = torch::ones({1}), b = torch::ones({1});
  const torch::Tensor w = torch::ones({1}, torch::requires_grad());
  const torch::Tensor m = torch::ones({4, 4}), mw = torch::ones({4, 4}, torch::requires_grad());
  if (name == "add, 1 element") return [=] { a.add(b); };
  if (name == "add, 1 element, recorded") return [=] { w.add(b); };
  if (name == "mul, 1 element, recorded") return [=] { w.mul(b); };
  if (name == "add_, 1 element") return [=] { const_cast<torch::Tensor&>(a).add_(b); };
  if (name == "view") return [=] { m.view({16}); };
  if (name == "view, recorded") return [=] { mw.view({16}); };
  if (name == "empty, 64 elements") return [=] { torch::empty({64}); };
  if (name == "backward, per node of 100 mul")
    return [=] {
      torch::Tensor y = w;
      for (int i = 0; i < 100; ++i) y = y.mul(b);
      y.backward();
      w.mutable_grad().reset();
    };
  return {};
}

namespace {

/// See operator_rows.h.
struct Side {
  using Tensor = torch::Tensor;
  using Dims = std::vector<std::int64_t>;
  template <class V>
  static Tensor tensor(const std::vector<V>& values, const Dims& sizes) {
    return torch::tensor(values).view(sizes);
  }
  static std::vector<float> read(const Tensor& t) {
    const Tensor dense = t.detach().to(torch::kFloat).contiguous();
    const float* p = dense.data_ptr<float>();
    return std::vector<float>(p, p + dense.numel());
  }
  static void drop_grad(Tensor& t) { t.mutable_grad().reset(); }
  static Tensor var_of_rows(const Tensor& x) { return x.var(at::IntArrayRef{1}, true); }
  static Tensor cat(const Tensor& x, const Tensor& y, std::int64_t dim) { return torch::cat({x, y}, dim); }
  static Tensor conv2d(const Tensor& x, const Tensor& weight, const Tensor& bias, std::int64_t padding) {
    return torch::conv2d(x, weight, bias, 1, padding);
  }
  static Tensor max_pool2d(const Tensor& x, std::int64_t size) { return torch::max_pool2d(x, size); }
  static Tensor avg_pool2d(const Tensor& x, std::int64_t size) { return torch::avg_pool2d(x, size); }
  static Tensor twice_as_large(const Tensor& x) {
    return torch::upsample_bilinear2d(x, {2 * x.size(2), 2 * x.size(3)}, false);
  }
};

}  // namespace

std::vector<bench::OperatorRow> operator_rows() { return bench::operator_rows<Side>(); }

}  // namespace peer
