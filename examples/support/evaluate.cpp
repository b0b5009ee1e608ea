#include "evaluate.h"

#include <taper/nn/data.h>
#include <taper/ops/softmax.h>

#include <algorithm>

using namespace taper;

Evaluation evaluate(nn::Module& model, Device device, const data::LabelledImages& test, double mean, double std) {
  constexpr std::size_t kWorst = 20;
  Evaluation e;
  e.rows = int(test.images.size(1)), e.columns = int(test.images.size(2));
  const NoGradGuard no_grad;
  model.eval();
  data::DataLoader loader(data::TensorDataset(test.images, test.labels),
                          {.batch_size = 500, .transform = data::Normalize(mean, std)});
  std::int64_t first = 0;
  for (auto& [images, labels] : loader) {
    const std::int64_t n = images.size(0);
    const Tensor probabilities = softmax(model(images.to(device).view({n, 1, e.rows, e.columns})), 1).to(cpu);
    const auto [best, answers] = probabilities.max(1);
    for (std::int64_t i = 0; i < n; ++i) {
      const int truth = int(labels[i].item<std::int64_t>()), answer = int(answers[i].item<std::int64_t>());
      ++e.confusion[std::size_t(truth * e.classes + answer)];
      if (truth == answer) continue;
      const double p = best[i].item<double>();
      if (e.worst.size() == kWorst && p <= e.worst.back().probability) continue;
      e.worst.push_back({p, truth, answer, test.images[first + i].to_vector<std::uint8_t>()});
      std::sort(e.worst.begin(), e.worst.end(), [](auto& a, auto& b) { return a.probability > b.probability; });
      if (e.worst.size() > kWorst) e.worst.pop_back();
    }
    first += n;
  }
  model.train();
  return e;
}
