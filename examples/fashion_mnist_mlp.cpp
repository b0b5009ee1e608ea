// Trains a network with one hidden layer (784-128-10, about 101 800 parameters) on Fashion-MNIST.
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

struct Mlp final : nn::Module {
  nn::Linear fc1{28 * 28, 128}, fc2{128, 10};

  Tensor forward(const Tensor& x) override {
    return fc2(relu(fc1(x.flatten(1))));  // logits; cross_entropy takes care of the softmax
  }
  void members(nn::MemberVisitor& v) override { v("fc1", fc1), v("fc2", fc2); }
};

int train(const Options& options) {
  if (options.threads > 0) set_num_threads(options.threads);
  manual_seed(options.seed);
  const Device device(options.device);

  const std::string folder = options.data.empty() ? data::fashion_mnist_folder() : options.data;
  const data::LabelledImages train_set = data::load_mnist(folder, true), test_set = data::load_mnist(folder, false);

  Mlp model;
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
      Tensor loss = cross_entropy(model(images.to(device)), labels.to(device));
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
  write_report(options.report, "A network with one hidden layer on Fashion-MNIST", history, result);
  std::printf("\nreport: %s\n", std::filesystem::absolute(options.report).c_str());
  print_table(result);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options =
      parse_options(argc, argv, "Trains a network with one hidden layer on Fashion-MNIST with Taper.");
  try {
    return train(options);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "fashion_mnist_mlp: %s\n", e.what());
    return 1;
  }
}
