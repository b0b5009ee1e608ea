// Trains a small convolutional network (LeNet-5 with ReLU, about 61 700 parameters) on Fashion-MNIST.
// LeCun, Bottou, Bengio, Haffner 1998, "Gradient-based learning applied to document recognition".
#include <taper/taper.h>

#include <cstdio>
#include <filesystem>

#include "support/evaluate.h"
#include "support/options.h"
#include "support/progress.h"
#include "support/report.h"

using namespace taper;

namespace {

constexpr double kMean = 0.2860, kStd = 0.3530;  // of the training images' pixels, scaled to [0, 1]

struct Cnn final : nn::Module {
  nn::Conv2d conv1{1, 6, 5, {.padding = 2}};  // [n, 1, 28, 28] -> [n, 6, 28, 28]
  nn::Conv2d conv2{6, 16, 5};                 // [n, 6, 14, 14] -> [n, 16, 10, 10]
  nn::Linear fc1{16 * 5 * 5, 120}, fc2{120, 84}, fc3{84, 10};

  Tensor forward(const Tensor& x) override {
    Tensor h = max_pool2d(relu(conv1(x)), 2);
    h = max_pool2d(relu(conv2(h)), 2);
    h = relu(fc1(h.flatten(1)));
    h = relu(fc2(h));
    return fc3(h);  // logits; cross_entropy takes care of the softmax
  }
  void members(nn::MemberVisitor& v) override {
    v("conv1", conv1), v("conv2", conv2), v("fc1", fc1), v("fc2", fc2), v("fc3", fc3);
  }
};

int train(const Options& options) {
  if (options.threads > 0) set_num_threads(options.threads);
  manual_seed(options.seed);
  const Device device(options.device);

  const std::string folder = options.data.empty() ? data::fashion_mnist_folder() : options.data;
  const data::LabelledImages train_set = data::load_mnist(folder, true), test_set = data::load_mnist(folder, false);

  Cnn model;
  model.to(device);
  optim::Adam optimizer(model.parameters(), {.lr = options.lr});
  optim::StepLR scheduler(optimizer, 3, options.gamma);  // smaller steps after every third epoch
  data::DataLoader loader(data::TensorDataset(train_set.images, train_set.labels),
                          {.batch_size = options.batch_size,
                           .shuffle = true,
                           .num_workers = 1,
                           .seed = options.seed,
                           .transform = data::Normalize(kMean, kStd)});
  if (!options.load.empty()) loader.set_epoch(nn::load_checkpoint(options.load, model, optimizer, {&scheduler}).epoch);

  std::vector<EpochResult> history;
  const auto first = int(loader.epoch());
  for (int epoch = first; epoch < first + options.epochs; ++epoch) {
    Progress progress(epoch + 1, first + options.epochs, train_set.images.size(0));
    for (auto& [images, labels] : loader) {
      optimizer.zero_grad();
      Tensor loss = cross_entropy(model(images.to(device).unsqueeze(1)), labels.to(device));
      loss.backward();
      optimizer.step();
      progress.step(images.size(0), loss);
    }
    scheduler.step();
    const double accuracy = evaluate(model, device, test_set, kMean, kStd).accuracy();
    history.push_back({progress.finish(accuracy), accuracy});
    if (!options.save.empty()) nn::save_checkpoint(options.save, model, optimizer, {.epoch = epoch + 1}, {&scheduler});
  }

  const Evaluation result = evaluate(model, device, test_set, kMean, kStd);
  write_report(options.report, "A convolutional network on Fashion-MNIST", history, result);
  std::printf("\nreport: %s\n", std::filesystem::absolute(options.report).c_str());
  print_table(result);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse_options(argc, argv, "Trains a convolutional network on Fashion-MNIST with Taper.");
  try {
    return train(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fashion_mnist_cnn: %s\n", e.what());
    return 1;
  }
}
